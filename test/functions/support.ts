import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Running, startProcess } from "../support/process.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Seconds without a sign of life after which a job is taken over. */
export const leaseSeconds = 3;

/** A cluster on this machine. */
export const startHead = async (python: string): Promise<{ readonly address: string; stop(): Promise<void> }> => {
  const head = startProcess(python, [here("head.py")], {});
  const [, address = ""] = await head.printed(/address (\S+)/);
  return {
    address,
    stop: async () => {
      head.child.kill("SIGTERM");
      await head.exited();
    },
  };
};

/** A runner that waits for jobs. */
export const startRunner = async (
  python: string,
  database: string,
  address: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> => {
  const runner = startProcess(python, ["-u", here("../../runner/main.py")], {
    LAKEHEAD_DATABASE: database,
    LAKEHEAD_RAY_ADDRESS: address,
    LAKEHEAD_JOBS_LEASE_SECONDS: String(leaseSeconds),
    LAKEHEAD_FUNCTIONS_WORKERS: "2",
    ...environment,
  });
  await runner.printed(/waiting for jobs/);
  return runner;
};

export const end = async (runner: Running, signal: NodeJS.Signals): Promise<void> => {
  runner.child.kill(signal);
  await runner.exited();
};

interface Wanted {
  readonly source: string;
  /** Files of other modules, by path. */
  readonly modules?: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, string>>;
  readonly output: object;
  readonly initialization?: readonly object[];
  readonly python?: string;
}

const python = "3.11";

export const scalar = (type: string) => ({ kind: "scalar", arrow_type: type, nullable: true });

// biome-ignore lint/suspicious/noExplicitAny: answers of the service
type Answer = any;

/** A service, in whatever process. */
export interface Service {
  ask(path: string, body: object): Promise<{ readonly status: number; readonly body: Answer }>;
}

const ask = async (service: Service, path: string, body: object): Promise<Answer> => {
  const answer = await service.ask(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

export const jobOf = (service: Service, id: string): Promise<Answer> =>
  ask(service, "/v1/jobs/describe", { job_id: id });

export const ended = async (service: Service, id: string): Promise<Answer> => {
  for (;;) {
    const job = await jobOf(service, id);
    if (job.job_state !== "IN_PROGRESS") return job;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** Registers a Function by the name of its entry. */
export const register = async (service: Service, wanted: Wanted): Promise<Answer> => {
  const { inputs, output, initialization, modules } = wanted;
  const [, entrypoint = ""] = /^(?:def|class) (\w+)/m.exec(wanted.source) ?? [];
  const source =
    modules === undefined
      ? wanted.source
      : JSON.stringify({ files: { "user_function.py": wanted.source, ...modules } });
  const { job_id: id } = await ask(service, `/v1/function/${entrypoint}/create`, {
    artifact: {
      kind: modules === undefined ? "python_callable" : "python_bundle",
      digest: `sha256:${createHash("sha256").update(source).digest("hex")}`,
      content: { encoding: "base64", data: Buffer.from(source).toString("base64") },
      entrypoint,
      adapter: { kind: "scalar_to_arrow_batch", version: 1 },
    },
    signature: {
      inputs: Object.entries(inputs).map(([name, type]) => ({ name, arrow_type: type, nullable: false })),
      output,
      ...(initialization === undefined ? {} : { initialization }),
    },
    runtime: { kind: "python", python_version: wanted.python ?? python, environment: { kind: "pip" } },
  });
  return (await ended(service, id)).result;
};

/** Binds a Function to new columns of a table. @param columns by name, the field of the result. */
export const bind = async (
  service: Service,
  table: string,
  { name, version }: Answer,
  inputs: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, string>>,
  { initialization, branch }: { readonly initialization?: object; readonly branch?: string } = {},
): Promise<void> => {
  const outputs = Object.entries(columns);
  await ask(service, `/v1/table/${table}/add_columns`, {
    branch,
    new_columns: outputs.map(([column]) => ({ name: column, all_null: true })),
    function: {
      application: {
        function: { name, version },
        inputs: Object.entries(inputs).map(([parameter, path]) => ({ parameter, kind: "column", value: { path } })),
        ...(initialization === undefined ? {} : { initialization }),
      },
      binding_metadata_version: 1,
      outputs: outputs.map(([column, field]) => ({ output_name: column, result_field: field })),
    },
  });
};

export const refresh = async (service: Service, table: string, column: string, branch?: string): Promise<string> =>
  (await ask(service, `/v1/table/${table}/backfill_column`, { column, branch })).job_id;
