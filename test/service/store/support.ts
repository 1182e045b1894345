import { type Connection, connect } from "@lancedb/lancedb";
import { inject } from "vitest";
import { removeStrayOptions } from "../../../service/lance/connection/environment.ts";
import {
  type ObjectStore,
  type ObjectStoreOptions,
  type StoreRequest,
  startObjectStore,
} from "../../support/object-store.ts";
import { startTestService, type TestService, useStarted } from "../../support/service.ts";

/** The service with tables in an object store that records its requests. */
export interface StoredService {
  readonly store: ObjectStore;
  readonly service: TestService;
  /** The requests to the store during `action`. */
  during(action: () => Promise<unknown>): Promise<StoreRequest[]>;
  stop(): Promise<void>;
}

export interface StoredServiceOptions extends Omit<ObjectStoreOptions, "seed"> {
  readonly consistencySeconds: number;
  /** False disables the retries of the SDK, to keep tests of failures short. */
  readonly retries?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

const withoutRetries = { client_max_retries: "0", lance_aimd_max_retries: "0" };

export const startStoredService = async ({
  consistencySeconds,
  retries,
  environment,
  ...storeOptions
}: StoredServiceOptions): Promise<StoredService> => {
  // Like the service at its start: vitest sets BASE_URL, which the SDK mistakes for Google's address.
  removeStrayOptions(process.env);
  const store = await startObjectStore({ seed: inject("tables"), ...storeOptions });
  const service = await startTestService({
    database: store.uri,
    environment: {
      LAKEHEAD_STORAGE_OPTIONS: JSON.stringify({
        ...store.storageOptions,
        ...(retries === false ? withoutRetries : {}),
      }),
      LAKEHEAD_CONSISTENCY_SECONDS: String(consistencySeconds),
      ...environment,
    },
  });
  return {
    store,
    service,
    during: async (action) => {
      store.take();
      await action();
      return store.take();
    },
    stop: async () => {
      await service.stop();
      await store.close();
    },
  };
};

export const useStoredService = (options: StoredServiceOptions | (() => StoredServiceOptions)): StoredService =>
  useStarted(
    () => startStoredService(typeof options === "function" ? options() : options),
    (stored) => stored.stop(),
  );

/** A second client of the same tables, with a separate cache, like another process. */
export const connectElsewhere = (store: ObjectStore): Promise<Connection> =>
  connect(store.uri, { storageOptions: { ...store.storageOptions } });

/** Requests by kind, for instance `{LIST: 1, GET: 1}`. */
export const byKind = (requests: readonly StoreRequest[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of requests) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

/** Requests for the files of a table. */
export const ofTable = (requests: readonly StoreRequest[], table: string): StoreRequest[] =>
  requests.filter(({ key }) => key.startsWith(`tables/${table}.lance/`));

/** Runs `total` calls, `count` of them concurrently. */
export const atConcurrency = async (
  count: number,
  total: number,
  call: (index: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < total) await call(next++);
  };
  await Promise.all(Array.from({ length: count }, worker));
};
