/** The maintenance of a table too large for one machine: a run of the stack's own CronJob gives it to Ray, and a worker dies. */

import { until } from "../../e2e/support/daemon.ts";
import { rayClusterReady } from "../../e2e/support/placement.ts";
import { holds } from "../../e2e/support/report.ts";
import type { Store } from "../cluster/object-store.ts";
import { askFrom, caller, expectStatus, podsOf, readyPods, type Subject, serviceName } from "../support.ts";
import { configured, namespace, ray } from "../surroundings.ts";
import { heads, python, workers } from "./ray.ts";

const table = "large";
/** Lance merges to a million rows, so these are four tasks of a hundred fragments each. */
const fragments = 400;
const fragmentRows = 11_000;
/** A table with a vector index of five parts. */
const parts = "parts";
const job = "maintenance-of-a-large-table";
const inNamespace = ["-n", namespace];

export async function checkMaintenance(subject: Subject, store: Store): Promise<void> {
  const { surroundings, stack, report } = subject;
  const prepared = await report.check(
    `pulumi up moves the tables to an object store; a table of ${fragments} fragments is there`,
    async () => {
      const { uri, storageOptions } = store;
      await stack.configure(
        configured(surroundings, {
          "lakehead:database": { uri, storageOptions },
          "lakehead:ray": { ...ray, cpuWorkers: { ...ray.cpuWorkers, memory: "4Gi", maxReplicas: 3 } },
          "lakehead:maintenance": {
            enabled: true,
            // Never by itself while the suite runs.
            schedule: "0 0 29 2 *",
            cpus: 0.25,
            memory: "1Gi",
            ray: { gigabytes: 1, workers: 2 },
          },
        }),
      );
      await stack.setSecret("lakehead:storageOptions", JSON.stringify(store.secretOptions));
      await stack.up();
      await rayClusterReady(surroundings.api, namespace, "geneva", 900);
      const [head] = await readyPods(surroundings, heads, { seconds: 900 });
      return python(subject, head.metadata.name, writeProgram(store));
    },
  );
  if (!prepared) return;
  await report.check("a run gives it to Ray, two workers share it, one of them is killed, and the run ends well", () =>
    runAndKill(subject),
  );
  await report.check("no row is lost or doubled, and the table service counts them", () => countRows(subject, store));
}

const openProgram = ({ uri, storageOptions, secretOptions }: Store): string => `
import lance, pyarrow as pa
uri = "${uri}/${table}.lance"
options = ${JSON.stringify({ ...storageOptions, ...secretOptions })}
`;

const writeProgram = (store: Store): string => `${openProgram(store)}
import numpy as np
rows = ${fragments * fragmentRows}
vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.random.rand(rows * 8).astype("float32")), 8)
data = pa.table({"id": pa.array(range(rows), pa.int64()), "vector": vectors})
made = lance.write_dataset(data, uri, storage_options=options, max_rows_per_file=${fragmentRows})
slice = lambda at: (data.slice(at * 2000, 2000), "${store.uri}/${parts}.lance")
small = lance.write_dataset(*slice(0), storage_options=options)
small.create_index("vector", "IVF_PQ", metric="cosine", num_partitions=4, num_sub_vectors=2)
for at in range(1, 5):
    small = lance.write_dataset(*slice(at), storage_options=options, mode="append")
    small.optimize.optimize_indices(num_indices_to_merge=0)
print(len(made.get_fragments()), "fragments,", made.count_rows(), "rows")`;

interface Line {
  readonly table?: string;
  readonly audit?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly fragmentsRemoved?: number;
  readonly fragmentsAdded?: number;
  readonly status?: string;
  readonly log?: readonly string[];
  readonly result?: { readonly before: Figures; readonly after: Figures };
}

interface Figures {
  readonly deltas: number;
  readonly unindexedRows: number;
}

/** A run of the CronJob's template, for which any table is large. */
async function startRun({ kubectl }: Subject): Promise<void> {
  const cronJob = JSON.parse(await kubectl([...inNamespace, "get", "cronjob", "maintenance", "-o", "json"])) as {
    spec: { jobTemplate: { spec: { template: { spec: { containers: { env: object[] }[] } } } } };
  };
  const { spec } = cronJob.spec.jobTemplate;
  spec.template.spec.containers[0]?.env.push({ name: "LAKEHEAD_MAINTENANCE_RAY_BYTES", value: "1" });
  const object = { apiVersion: "batch/v1", kind: "Job", metadata: { name: job, namespace }, spec };
  await kubectl(["create", "-f", "-"], { input: JSON.stringify(object) });
}

/**
 * The addresses of the pods that have begun tasks by now, and of the job's own process. Ray's log has no address for workers
 * beside that process.
 */
const seenProgram = `
import json, re, urllib.request
read = lambda path: json.load(urllib.request.urlopen("http://127.0.0.1:8265/api/jobs/" + path))
for job in read(""):
    log = read(job["submission_id"] + "/logs")["logs"] or ""
    driver = (job["driver_info"] or {}).get("node_ip_address")
    tasks = re.findall(r"pid=\\d+(?:, ip=([\\d.]+))?\\)\\S* Executing compaction task", log)
    print(json.dumps({"driver": driver, "tasks": [ip or driver for ip in tasks]}))`;

async function runAndKill(subject: Subject): Promise<string> {
  const { surroundings, kubectl } = subject;
  const [head] = await readyPods(surroundings, heads);
  // The head is ready before its dashboard takes jobs; a run would do the work on one machine.
  const read = () => python(subject, head.metadata.name, seenProgram).catch(() => undefined);
  await until("an answer of Ray's dashboard", read, { seconds: 180, every: 500 });
  await startRun(subject);
  const logs = () => kubectl([...inNamespace, "logs", `job/${job}`]).catch(() => "");
  const seen = await until(
    "tasks of two workers",
    async () => {
      const text = await python(subject, head.metadata.name, seenProgram).catch(() => "");
      const line = text.trim().split("\n").at(-1) ?? "";
      const found = line === "" ? undefined : (JSON.parse(line) as { driver: string; tasks: string[] });
      return found !== undefined && new Set(found.tasks).size > 1 ? found : undefined;
    },
    { seconds: 900, every: 500 },
  ).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await logs()}\n${await kubectl(["get", "pods", "-A", "-o", "wide"])}`);
  });
  const pods = await podsOf(surroundings, workers);
  const nameOf = (ip: string) => pods.find(({ status }) => status.podIP === ip)?.metadata.name ?? ip;
  const victim = seen.tasks.find((ip) => ip !== seen.driver) ?? "";
  await kubectl([...inNamespace, "delete", "pod", nameOf(victim), "--grace-period=0", "--force"]);
  await kubectl([...inNamespace, "wait", "--for=condition=Complete", `job/${job}`, "--timeout=900s"]).catch(
    async (error: Error) => {
      throw new Error(`${error.message}\n${await logs()}`);
    },
  );
  const text = await logs();
  const lines = text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  const work = lines.find((line) => line.table === table && line.action === "ray");
  holds(work?.fragmentsRemoved === fragments, `it merged ${work?.fragmentsRemoved} fragments:\n${text.slice(-3000)}`);
  const doneOf = (name: string) => lines.find((line) => line.table === name && line.outcome === "done")?.result;
  holds(doneOf(table) !== undefined, text.slice(-3000));
  const { before, after } = doneOf(parts) ?? {};
  holds(before?.deltas === 5 && after?.deltas === 1 && after.unindexedRows === 0, text.slice(-3000));
  const rayJob = lines.find((line) => line.table === table && line.status === "SUCCEEDED");
  const ended = [...(rayJob?.log ?? []).join("\n").matchAll(/pid=\d+(?:, ip=([\d.]+))?\) Compaction task completed/g)];
  const later = await podsOf(surroundings, workers);
  const finished = ended.map(
    ([, ip = seen.driver]) => later.find(({ status }) => status.podIP === ip)?.metadata.name ?? nameOf(ip),
  );
  const tasks = Object.entries(Object.groupBy(finished, (name) => name)).map(
    ([name, each]) => `${each?.length} tasks on ${name}`,
  );
  return `${work?.fragmentsRemoved} fragments became ${work?.fragmentsAdded}; ${nameOf(victim)} was killed; ${tasks.join(", ")}; an index of 5 parts has ${after.deltas}`;
}

async function countRows(subject: Subject, store: Store): Promise<string> {
  const [head] = await readyPods(subject.surroundings, heads);
  const rows = fragments * fragmentRows;
  const program = `${openProgram(store)}
import numpy as np
seen = np.zeros(${rows}, "uint8")
for batch in lance.dataset(uri, storage_options=options).to_batches(columns=["id"], batch_size=65536):
    np.add.at(seen, batch["id"].to_numpy(), 1)
print((seen == 1).sum(), "rows once")`;
  const found = (await python(subject, head.metadata.name, program)).trim();
  holds(found === `${rows} rows once`, found);
  const url = `http://${serviceName}/v1/table/${table}/count_rows`;
  const answer = await askFrom(subject, caller, { url, body: {} });
  expectStatus(answer, 200, "count_rows");
  holds(answer.body === String(rows), `${answer.body} of ${rows} rows`);
  return `${answer.body} rows`;
}
