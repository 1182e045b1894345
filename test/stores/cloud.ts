import { afterAll, beforeAll, describe, test } from "vitest";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";
import { acceptance } from "./acceptance.ts";
import { clientWrites } from "./client-writes.ts";
import { conditionalPuts } from "./conditions.ts";
import { crashes } from "./crashes.ts";
import { failingWrites } from "./failing-writes.ts";
import { faults } from "./faults.ts";
import { inStore } from "./maintained-tables.ts";
import { maintenance } from "./maintenance.ts";
import { maintenanceBesideWriters } from "./maintenance-writers.ts";
import { fill } from "./place.ts";
import { replicas } from "./replicas.ts";
import type { StoreServer } from "./store-server.ts";
import { writers } from "./writers.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * All suites on a cloud's kind of store. If the real server is not available, a test named after it is skipped with the
 * reason, and the suites run on the in-memory store of `test/support`: they test the service, not the server.
 */
export const onCloud = async (
  cloud: "s3" | "gs",
  startServer: (log: (line: string) => void) => Promise<StoreServer>,
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
      await fill(store);
    });
    afterAll(async () => {
      await store?.close();
      if ("stop" in server) await server.stop();
    });

    conditionalPuts(cloud, () => store);
    acceptance(() => store);
    clientWrites(() => store);
    replicas(() => store);
    faults(() => store);
    crashes(cloud, () => ("behind" in server ? server.behind : undefined));
    failingWrites(cloud, () => ("behind" in server ? server.behind : undefined));
    writers(() => store);
    maintenance(cloud, () => ("behind" in server ? server.behind : undefined));
    maintenanceBesideWriters(() => inStore(store), 1000);
  });
};
