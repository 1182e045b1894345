import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bucketName, type ObjectStore, startObjectStore } from "../support/object-store.ts";
import type { Responder } from "../support/object-store-protocol.ts";
import { acceptance } from "./acceptance.ts";
import { blobs } from "./blobs.ts";
import { clientWrites } from "./client-writes.ts";
import { crashes } from "./crashes.ts";
import { failingWrites } from "./failing-writes.ts";
import { faults } from "./faults.ts";
import { jobsOfReplicas } from "./jobs.ts";
import { inStore } from "./maintained-tables.ts";
import { maintenance } from "./maintenance.ts";
import { maintenanceBesideWriters } from "./maintenance-writers.ts";
import { fill } from "./place.ts";
import { replicas } from "./replicas.ts";
import type { StoreServer } from "./store-server.ts";
import { writers } from "./writers.ts";

/** The header for "only if the object does not exist", by cloud. moto accepts every signature. */
const conditions = {
  s3: {
    "if-none-match": "*",
    authorization:
      "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
  },
  gs: { "x-goog-if-generation-match": "0" },
} as const;

/** A precondition of the other tests: of many concurrent conditional puts, the store accepts one. */
const conditionalPuts = (cloud: keyof typeof conditions, store: () => ObjectStore): void => {
  test("the store accepts one of 64 conditional puts, and keeps its content", async () => {
    for (let round = 1; round <= 3; round++) {
      const url = `${store().endpoint}/${bucketName}/race/${round}`;
      const headers = conditions[cloud];
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          const response = await fetch(url, { method: "PUT", headers, body: `put ${index}` });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect([...statuses].sort()).toEqual([200, ...Array.from({ length: 63 }, () => 412)]);
      expect(await (await fetch(url, { headers })).text()).toBe(`put ${statuses.indexOf(200)}`);
    }
  });
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface Cloud {
  readonly cloud: "s3" | "gs";
  readonly store: () => ObjectStore;
  /** The real server behind the store, if there is one. */
  readonly behind: () => Responder | undefined;
}

/** The suites of the service. */
export const serviceSuites = ({ cloud, store, behind }: Cloud): void => {
  beforeAll(() => fill(store()));

  conditionalPuts(cloud, store);
  acceptance(store);
  clientWrites(store);
  blobs(store);
  replicas(store);
  faults(store);
  crashes(cloud, behind);
  failingWrites(cloud, behind);
  writers(store);
  jobsOfReplicas(cloud, behind);
};

/** The suites of the maintenance, in files of their own, so that they run beside those of the service. */
export const maintenanceSuites = ({ cloud, store, behind }: Cloud): void => {
  maintenance(cloud, behind);
  maintenanceBesideWriters(() => inStore(store()), 1000);
};

/**
 * Suites on a cloud's kind of store. If the real server is not available, a test named after it is skipped with the
 * reason, and the suites run on the in-memory store of `test/support`: they test the service, not the server.
 */
export const onCloud = async (
  cloud: "s3" | "gs",
  startServer: (log: (line: string) => void) => Promise<StoreServer>,
  suites: (cloud: Cloud) => void,
): Promise<void> => {
  const server = await startServer(say);
  const missing = "missing" in server ? server.missing : undefined;
  if (missing !== undefined) {
    say(`skipped: ${missing}; ${cloud}:// runs on the in-memory store of test/support instead`);
    test.skip(`${cloud}:// on ${missing}`);
  }
  describe(`${cloud}:// on ${"name" in server ? server.name : "the store of test/support"}`, () => {
    let store: ObjectStore;
    beforeAll(async () => {
      store = await startObjectStore({ cloud, ...("behind" in server && { behind: server.behind }) });
    });
    afterAll(async () => {
      await store?.close();
      if ("stop" in server) await server.stop();
    });

    suites({ cloud, store: () => store, behind: () => ("behind" in server ? server.behind : undefined) });
  });
};
