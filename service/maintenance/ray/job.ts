/** The work on a table as a job of a Ray cluster, by the HTTP API of its dashboard. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { RayConfig } from "../../config/maintenance.ts";
import type { RebuiltIndex } from "../../lance/maintenance/maintained-tables.ts";

export interface RayWork {
  /** The table's id, joined by `$`. */
  readonly table: string;
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  readonly indices: readonly RebuiltIndex[];
  /** Attempts at a step that conflicts with writers. */
  readonly attempts: number;
  /** Rows to which fragments are merged. */
  readonly fragmentRows: number;
  /** Of the engine, in the job's process and in the workers. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface RayBounds {
  readonly seconds: number;
  /** Stops the job; its reason says why. */
  readonly signal: AbortSignal;
}

/** What the job says of its work. */
export interface RayResult {
  readonly workers: number;
  readonly rebuilt: readonly string[];
  readonly fragmentsRemoved: number;
  readonly fragmentsAdded: number;
  readonly versionBefore: number;
  readonly versionAfter: number;
}

export interface EndedJob {
  readonly job: string;
  readonly status: string;
  readonly seconds: number;
  /** Its last lines. */
  readonly log: readonly string[];
  /** Undefined unless it succeeded. */
  readonly result: RayResult | undefined;
}

/** The cluster took no job, so nothing was done. */
export class NoRayCluster extends Error {}

const requestMs = 30_000;
/** How long the dashboard may be silent before a job counts as lost, in milliseconds. */
const silenceMs = 120_000;
const pollMs = 2000;
const logLines = 400;
/** Seconds that the job waits for the autoscaler before it asks for half as many workers. */
const reserveSeconds = 300;

interface JobInfo {
  readonly submission_id?: string | null;
  readonly status: string;
  readonly message?: string | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Not by `fetch`, whose header `sec-fetch-mode` Ray takes for a browser's and answers with 405. */
const request = async <T>(
  { address, token }: RayConfig,
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<T> => {
  const url = new URL(`${address.replace(/\/+$/, "")}/api/jobs/${path}`);
  const call = (url.protocol === "https:" ? https : http).request(url, {
    method,
    signal: AbortSignal.timeout(requestMs),
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(call, "response")) as [http.IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`Ray answered ${response.statusCode}: ${answer.slice(0, 500)}`);
  return JSON.parse(answer) as T;
};

const endedStatuses: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "STOPPED"]);

/** Jobs of runs that ended without their end go on by themselves. */
const stopOthers = async (ray: RayConfig, { table, uri }: RayWork): Promise<void> => {
  for (const { submission_id: job, status, metadata } of await request<readonly JobInfo[]>(ray, "GET", ""))
    if (job && !endedStatuses.has(status) && metadata?.lakehead_table === table && metadata.lakehead_uri === uri)
      await request(ray, "POST", `${job}/stop`);
};

const submit = async (ray: RayConfig, work: RayWork): Promise<string> => {
  const { table, uri, storageOptions, indices, attempts, fragmentRows, environment } = work;
  const program = await readFile(new URL("job.py", import.meta.url), "utf8");
  const given = {
    ...{ uri, indices, attempts, workers: ray.workers },
    ...{ reserve_seconds: reserveSeconds, fragment_rows: fragmentRows },
  };
  const job = `lakehead-maintenance-${randomUUID()}`;
  try {
    await stopOthers(ray, work);
    await request(ray, "POST", "", {
      // Ray prints the entrypoint into the log.
      entrypoint: `python -c 'import os; exec(os.environ["LAKEHEAD_PROGRAM"])' ${quoted(JSON.stringify(given))}`,
      submission_id: job,
      // Without it, the job's own process is on the head.
      entrypoint_num_cpus: 1,
      metadata: { lakehead_table: table, lakehead_uri: uri },
      runtime_env: {
        env_vars: {
          ...environment,
          LAKEHEAD_PROGRAM: program,
          LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storageOptions),
          RAY_DEDUP_LOGS: "0",
        },
        ...(ray.packages.length === 0 ? {} : { pip: ray.packages }),
      },
    });
  } catch (error) {
    throw new NoRayCluster(error instanceof Error ? error.message : String(error), { cause: error });
  }
  return job;
};

const resultOf = (log: readonly string[]): RayResult | undefined => {
  const line = log.findLast((each) => each.startsWith("result {"));
  return line === undefined ? undefined : (JSON.parse(line.slice("result ".length)) as RayResult);
};

const logOf = async (ray: RayConfig, job: string): Promise<readonly string[]> => {
  const { logs } = await request<{ readonly logs: string | null }>(ray, "GET", `${job}/logs`);
  // Ray colours the lines of workers.
  return stripVTControlCharacters(logs ?? "")
    .trimEnd()
    .split("\n")
    .slice(-logLines);
};

/** Waits until a job has ended. @throws Error if it is lost, or the signal ends the wait. */
const ended = async (ray: RayConfig, job: string, signal: AbortSignal): Promise<JobInfo> => {
  let heardAt = Date.now();
  for (;;) {
    signal.throwIfAborted();
    try {
      const info = await request<JobInfo>(ray, "GET", job);
      heardAt = Date.now();
      if (endedStatuses.has(info.status)) return info;
    } catch (error) {
      if (/answered 404/.test(String(error)))
        throw new Error(`Ray does not know the job ${job} any more: its head was restarted`);
      if (Date.now() - heardAt > silenceMs) throw error;
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
};

/**
 * Runs the work on a table as a job of the Ray cluster and waits for its end.
 * @throws NoRayCluster if the cluster took no job.
 * @throws Error if the work ended early; what is committed by then stays.
 */
export const runRayJob = async (
  ray: RayConfig,
  work: RayWork,
  { seconds, signal }: RayBounds,
  onEnd: (job: EndedJob) => void,
): Promise<RayResult> => {
  const from = performance.now();
  const job = await submit(ray, work);
  const deadline = AbortSignal.timeout(seconds * 1000);
  let info: JobInfo;
  try {
    info = await ended(ray, job, AbortSignal.any([signal, deadline]));
  } catch (error) {
    // One that cannot be stopped ends by itself; the next run on the table tries again.
    await request(ray, "POST", `${job}/stop`).catch(() => undefined);
    if (signal.aborted) throw new Error(String(signal.reason));
    throw deadline.aborted ? new Error(`the Ray job ${job} took more than ${seconds} s`) : error;
  }
  const log = await logOf(ray, job).catch((error) => [`its log cannot be read: ${error}`]);
  const result = resultOf(log);
  onEnd({ job, status: info.status, seconds: (performance.now() - from) / 1000, log, result });
  if (info.status === "SUCCEEDED" && result !== undefined) return result;
  const last = log.findLast((line) => line.trim() !== "") ?? "";
  throw new Error(`the Ray job ${job} ended with ${info.status}: ${last.slice(0, 500) || info.message}`);
};
