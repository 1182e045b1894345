import { setTimeout as sleep } from "node:timers/promises";
import { type StoreRequest, startObjectStore } from "../test/support/object-store.ts";
import type { Round, Task } from "./measure.ts";
import { startServer, token } from "./servers.ts";
import { startWorker } from "./task-process.ts";
import { createWorkloads } from "./workloads.ts";

/** Latency of a request to the store in milliseconds, as within a cloud region. */
export const storeLatencyMs = 20;

/** Store requests and latency of one warm request of an operation. */
export interface StoreCost {
  readonly workload: string;
  /** Requests by kind, for instance `2 HEAD, 1 GET`. */
  readonly requests: string;
  /** Median in milliseconds. */
  readonly p50: number;
}

const counted = (requests: readonly StoreRequest[], calls: number): string => {
  const counts = new Map<string, number>();
  for (const { kind } of requests) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${Math.round((count / calls) * 100) / 100} ${kind}`).join(", ") || "none";
};

/**
 * Counts for one consistency bound.
 * @param directory a local database that the store begins with.
 */
export const countStoreRequests = async (directory: string, consistencySeconds: number): Promise<StoreCost[]> => {
  const store = await startObjectStore({ seed: directory, weather: { latencyMs: storeLatencyMs } });
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: store.uri,
    LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(store.storageOptions),
    LAKEHEAD_CONSISTENCY_SECONDS: String(consistencySeconds),
  });
  const load = startWorker<Task, Round>(new URL("load.ts", import.meta.url), [String(server.port), token, "store"]);
  const costs: StoreCost[] = [];
  const calls = 10;
  try {
    for (const { name: workload } of createWorkloads("")) {
      const task = { workload, concurrency: 1, seconds: 0, requests: calls };
      await load.run({ ...task, from: 0 });
      await sleep(storeLatencyMs);
      store.take();
      const { p50 } = await load.run({ ...task, from: calls });
      costs.push({ workload, requests: counted(store.take(), calls), p50 });
    }
    return costs;
  } finally {
    load.stop();
    await server.stop();
    await store.close();
  }
};
