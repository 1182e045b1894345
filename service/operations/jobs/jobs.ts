import { z } from "zod";
import type { Principal } from "../../auth/index.ts";
import { ServiceError } from "../../errors.ts";
import { isOpen, type JobRecord, jobStates, type ListedJob } from "../../jobs/index.ts";
import { count } from "../../query/answers.ts";
import { optional } from "../../query/fields.ts";
import { ByteStream, type Call, defineOperation, OperationResponse, type Tools } from "../operation.ts";
import { callerOf } from "../shared/current-call.ts";
import { pageOf, pageToken } from "../shared/page.ts";

const jobId = z.string().min(1, { error: "must not be empty" }).describe("The id, from the response that started it");
const oneJob = z.object({ job_id: jobId });
const example = { job_id: "5f0c8a52-6f3e-4b5a-9d5c-2d7f5f6f2a10" };
const free = z.record(z.string(), z.unknown());

/** A job is its owner's, and of those who may manage its table. */
const sees = ({ scopes, tables }: Principal, job: ListedJob, caller: string): boolean =>
  job.owner === caller || (job.table !== "" && scopes.has("manage") && tables.permits(job.table.split("$")));

/** @throws ServiceError code 10 for a job that does not exist or that the caller may not see. */
const find = async ({ jobs }: Tools, id: string, { principal }: Pick<Call, "principal">): Promise<JobRecord> => {
  const job = await jobs.describe(id);
  if (job === undefined || !sees(principal, job, callerOf()))
    throw new ServiceError(10, { message: "job not found: there is none of this id, or it is no longer kept" });
  return job;
};

/** What every operation on jobs has in common. */
const common = {
  target: "root",
  extension: "lancedb",
  scope: null,
  admission: "metadata",
} as const;

const state = z.enum(jobStates);

export const describeJob = defineOperation({
  ...common,
  name: "describe_job",
  path: "jobs/describe",
  errors: [10],
  summary: "Returns the state of a job of the caller, or of a table that the caller may manage, and what came of it",
  body: oneJob,
  example,
  answer: z.object({
    job_id: z.string(),
    job_type: z.string(),
    job_state: state,
    creation_ms: count,
    spec: free,
    result: free.optional().describe("Of a job that is done"),
    progress: free
      .optional()
      .describe("Of a job in progress that tells: rows_done, rows_total and seconds_left, by the rate so far"),
    failure: z.object({ phase: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
  }),
  handle: async (tools, _, { job_id: id }, call) => {
    const { type, state: now, createdAt, spec, result, failure } = await find(tools, id, call);
    return {
      job_id: id,
      job_type: type,
      job_state: now,
      creation_ms: createdAt,
      spec,
      ...(result !== null && now === "DONE" ? { result } : {}),
      ...(result !== null && now === "IN_PROGRESS" ? { progress: result } : {}),
      ...(failure === null ? {} : { failure }),
    };
  },
});

const maxListed = 1000;

export const listJobs = defineOperation({
  ...common,
  name: "list_jobs",
  path: "jobs/list",
  errors: [],
  summary: "Lists the jobs of the caller and of the tables that the caller may manage, the newest first",
  body: z.object({
    page_token: optional(z.string()).describe("The `page_token` of the previous page"),
    limit: optional(z.int().min(1).max(maxListed)),
  }),
  answer: z.object({
    jobs: z.array(
      z.object({
        job_id: z.string(),
        table: z.string().describe("The id of the table, its parts joined by $"),
        job_type: z.string(),
        state,
        created_at_millis: count,
      }),
    ),
    page_token: pageToken,
  }),
  handle: async ({ jobs }, _, { page_token: token, limit = maxListed }, { principal }) => {
    const caller = callerOf();
    const seen = (await jobs.list()).filter((job) => sees(principal, job, caller));
    // In the order of the list: the newest first, and those of one moment by their ids.
    const keyOf = ({ createdAt, id }: ListedJob): string => `${String(1e15 - createdAt).padStart(16, "0")}.${id}`;
    const page = pageOf(seen, { page_token: token, limit }, keyOf);
    return {
      jobs: page.entries.map((job) => ({
        job_id: job.id,
        table: job.table,
        job_type: job.type,
        state: job.state,
        created_at_millis: job.createdAt,
      })),
      ...page.token,
    };
  },
});

export const cancelJob = defineOperation({
  ...common,
  name: "cancel_job",
  path: "jobs/cancel",
  errors: [10],
  summary: "Asks a job to end; it is cancelled when its work has stopped. A job that has ended stays as it is",
  body: oneJob,
  example,
  answer: z.object({}),
  handle: async (tools, _, { job_id: id }, call) => {
    const job = await find(tools, id, call);
    if (isOpen(job)) await tools.jobs.ask(id, "cancel");
    return {};
  },
});

/** @throws ServiceError code 0 for a job that cannot be paused, and as {@link find} does. */
const findPausable: typeof find = async (tools, id, call) => {
  const job = await find(tools, id, call);
  if (tools.jobs.canPause(job.type)) return job;
  throw new ServiceError(0, { message: `jobs of the type ${job.type} cannot be paused: cancel the job instead` });
};

export const pauseJob = defineOperation({
  ...common,
  name: "pause_job",
  path: "jobs/pause",
  errors: [0, 10],
  summary: "Stops the work of a job until it is resumed; what it has committed stays",
  body: oneJob,
  example,
  answer: z.object({ paused: z.boolean().describe("False for a job that has ended"), committing: z.boolean() }),
  handle: async (tools, _, { job_id: id }, call) => {
    const job = await findPausable(tools, id, call);
    return { paused: isOpen(job) && (await tools.jobs.ask(id, "pause")), committing: false };
  },
});

export const resumeJob = defineOperation({
  ...common,
  name: "resume_job",
  path: "jobs/resume",
  errors: [0, 10],
  summary: "Continues a job that was paused",
  body: oneJob,
  example,
  answer: z.object({ resumed: z.boolean().describe("False for a job that has ended"), still_pausing: z.boolean() }),
  handle: async (tools, _, { job_id: id }, call) => {
    const job = await findPausable(tools, id, call);
    return { resumed: isOpen(job) && (await tools.jobs.resume(id)), still_pausing: false };
  },
});

const eventLimits = { usual: 1000, most: 10_000 } as const;

export const queryJobEvents = defineOperation({
  ...common,
  name: "query_job_events",
  path: "jobs/query_events",
  errors: [10, 12],
  summary: "Returns the events of a job as an Arrow IPC stream",
  body: oneJob.extend({
    limit: optional(z.int().min(1).max(eventLimits.most)).describe(`Maximum events; default: ${eventLimits.usual}`),
    filter: optional(z.string()).describe(
      "SQL over state, updated_by, emitted_from, emitted_by, claim_entity and rows_processed",
    ),
  }),
  example,
  media: "arrowStream",
  answer: z.unknown(),
  handle: async (tools, _, { job_id: id, limit = eventLimits.usual, filter }, call) => {
    await find(tools, id, call);
    const verified = filter === undefined ? {} : { filter: tools.guard.predicate(filter) };
    const bytes = await tools.jobs.events(id, { limit, ...verified });
    const content = new ByteStream(bytes.byteLength, bytes.byteLength, async function* () {
      yield bytes;
    });
    return new OperationResponse(content, {});
  },
});
