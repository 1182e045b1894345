import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { scopesOf } from "../../../service/catalog/rights.ts";
import { ownToken, startGoogleExchange } from "../../support/google-exchange.ts";
import { bucketName, startObjectStore } from "../../support/object-store.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { staticToken } from "../../support/static-token.ts";
import { startFakeGcs } from "../fake-gcs.ts";
import { sendTo } from "../forward.ts";
import { startMinio } from "../minio.ts";
import type { Store } from "./matrix.ts";
import { startShortSessions } from "./short-sessions.ts";

/** Life of a credential that ends during a write, time of that write, and life of another one, in seconds. */
export const life = 10;
export const slow = 16;
export const longLife = 900;

/** What a store saw of lent credentials so far. */
export interface Lent {
  readonly opened: number;
  /** Those with which something was written. */
  readonly wroteWith: number;
  /** Requests with one that had ended. */
  readonly late: number;
}

/** A store of tables, as a service gets it. */
export interface Place {
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  /** Variables by which the service lends credentials. */
  readonly vending: Readonly<Record<string, string>>;
  /** What the store saw of lent credentials; absent where none are lent. */
  readonly lent?: () => Lent;
  /** Sets the life of the next credentials, in seconds. */
  readonly lend?: (seconds: number) => void;
  stop(): Promise<void>;
}

type Missing = { readonly missing: string };
type Start = (log: (line: string) => void) => Promise<Place | Missing>;

const onS3: Start = async (log) => {
  const minio = await startMinio(log);
  if (minio.base === undefined) return minio;
  const sessions = await startShortSessions(minio.base);
  return {
    uri: minio.uri,
    // Clients reach the store by this address, too.
    storageOptions: { ...minio.storageOptions, aws_endpoint: sessions.base },
    vending: {
      LAKEHEAD_VENDING: "assume-role",
      LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
    },
    lend: (seconds) => {
      sessions.seconds = seconds;
    },
    lent: () => ({ opened: sessions.opened(), wroteWith: sessions.wroteWith(), late: sessions.late() }),
    async stop() {
      sessions.close();
      await minio.stop();
    },
  };
};

const onGoogle: Start = async (log) => {
  const server = await startFakeGcs(log);
  if ("missing" in server) return server;
  const store = await startObjectStore({ cloud: "gs", behind: server.behind });
  const exchange = await startGoogleExchange({ enforces: true, objects: sendTo(store.endpoint) });
  return {
    uri: `gs://${bucketName}/tables`,
    storageOptions: { google_base_url: exchange.base, google_storage_token: ownToken, allow_http: "true" },
    vending: {
      LAKEHEAD_VENDING: "google",
      LAKEHEAD_VENDING_STS: `${exchange.base}/v1/token`,
      LAKEHEAD_VENDING_METADATA: exchange.base,
    },
    lend: (seconds) => {
      exchange.seconds = seconds;
    },
    lent: () => ({ opened: exchange.boundaries.length, wroteWith: exchange.wroteWith(), late: exchange.late() }),
    async stop() {
      exchange.close();
      await store.close();
      await server.stop();
    },
  };
};

const onDirectory: Start = async () => {
  const uri = await mkdtemp(join(tmpdir(), "lakehead-tables-"));
  return { uri, storageOptions: {}, vending: {}, stop: () => rm(uri, { recursive: true, force: true }) };
};

/** Token of a person who may write files of all tables. */
export const personsToken = "token-of-a-person-without-keys";

/** Parameters of a namespace for that person, by lance-ray's names. */
export const personsParameters = (uri: string) => ({
  namespace_impl: "rest",
  namespace_properties: { uri, "headers.authorization": `Bearer ${personsToken}` },
});

/** A service over a store with the namespace `team`. */
export const serveTables = async (
  { uri, storageOptions, vending }: Place,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const connection = await connect(uri, { storageOptions: { ...storageOptions } });
  await connection.createNamespace(["team"]);
  connection.close();
  return startReadyServiceProcess({
    tokens: [staticToken("person", personsToken, scopesOf.write)],
    environment: {
      LAKEHEAD_DATABASE: uri,
      LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storageOptions),
      LAKEHEAD_WRITES: "on",
      LAKEHEAD_QUEUE_SECONDS: "120",
      ...vending,
      ...environment,
    },
  });
};

export const startStore: Readonly<Record<Store, Start>> = { S3: onS3, Google: onGoogle, "a directory": onDirectory };
