/** Functions on a RayCluster of their own: what one computes, and what one that attacks reaches. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { promisify } from "node:util";
import { functionsWorkerPolicy } from "../../../infra/clouds/aws/identity/cluster-policies.ts";
import { ray as rayVersions } from "../../../infra/versions.ts";
import { ports } from "../../../service/contract.ts";
import { readKubeconfig } from "../../e2e/support/kubeconfig.ts";
import { rayClusterReady } from "../../e2e/support/placement.ts";
import { holds } from "../../e2e/support/report.ts";
import { bind, ended, refresh, register, type Service, scalar } from "../../functions/support.ts";
import { sessionOptions, startMinio } from "../../stores/minio.ts";
import { bucketName } from "../../support/object-store.ts";
import { machineAddress } from "../cluster/isolation.ts";
import { askFrom, caller, callerPod, readyPods, type Subject, serviceName, tableServicePods } from "../support.ts";
import { configured, namespace, tableService, token } from "../surroundings.ts";
import { heads, python } from "./ray.ts";

const functionsHeads = "ray.io/node-type=head,ray.io/cluster=functions";
const runners = "app.kubernetes.io/name=functions-runner";
const secret = "nodes$secret";
const inNamespace = ["-n", namespace];
const metadataAddress = "169.254.169.254";

const here = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

export async function checkFunctions(subject: Subject): Promise<void> {
  const { surroundings, report } = subject;
  if (surroundings.own === undefined)
    return report.skip("functions", "the suite has no object store in the cluster of KUBECONFIG");
  const minio = await startMinio(report.log, {}, machineAddress);
  if (minio.base === undefined) return report.skip("functions", minio.missing);
  const listeners = await listen();
  try {
    const ready = await report.check("pulumi up makes a RayCluster for Functions, and runners that wait", () =>
      openStack(subject, minio),
    );
    if (!ready) return;
    await report.check(
      "LanceDB's client registers a Function, and a worker that the autoscaler adds fills a column",
      () => fill(subject),
    );
    await report.check("a Function reaches its tables, and nothing else that it tries", () => attack(subject, minio));
    await report.check("code on the head of Functions has no token, and reaches the API server alone", () =>
      attackFromHead(subject),
    );
  } finally {
    for (const listener of listeners) listener.close();
    await minio.stop();
  }
}

/** Where something listens, only a policy can refuse. */
async function listen(): Promise<readonly Server[]> {
  await promisify(execFile)("ip", ["address", "add", `${metadataAddress}/32`, "dev", "lo"]);
  const answering = (answer: string): Server =>
    createServer((socket) => socket.on("error", () => undefined).end(answer));
  return [
    answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").listen(80, metadataAddress),
    answering("").listen(closedPort, machineAddress),
  ];
}

type Store = Exclude<Awaited<ReturnType<typeof startMinio>>, { readonly missing: string }>;

async function openStack({ surroundings, stack }: Subject, minio: Store): Promise<string> {
  const { aws_access_key_id: id, aws_secret_access_key: key, ...storageOptions } = minio.storageOptions;
  const prefixes = ["shouted.lance", "attacks.lance"];
  await stack.configure(
    configured(surroundings, {
      "lakehead:database": { uri: minio.uri, storageOptions },
      "lakehead:maintenance": { enabled: false },
      "lakehead:tableService": {
        ...tableService,
        memory: "2Gi",
        writes: true,
        functions: {
          enabled: true,
          prefixes,
          egressCidrs: [`${machineAddress}/32`],
          secrets: [secret],
          cpus: 0.25,
          memory: "1Gi",
          ray: {
            head: { cpus: 1, memory: "2Gi", ephemeralStorage: "4Gi" },
            cpuWorkers: { cpus: 2, memory: "3Gi", ephemeralStorage: "4Gi", maxReplicas: 1 },
          },
        },
      },
    }),
  );
  const place = { partition: "aws", region: "us-east-1", account: "123456789012", cluster: "lancedb" };
  const scope = { bucket: bucketName, prefix: minio.uri.split("/").at(-1) ?? "" };
  const keys = (options: Readonly<Record<string, string>>) =>
    JSON.stringify(Object.fromEntries(Object.entries(options).filter(([name]) => !(name in storageOptions))));
  const worker = await sessionOptions(minio, functionsWorkerPolicy(place, scope, prefixes));
  await stack.setSecret(
    "lakehead:storageOptions",
    keys({ aws_access_key_id: id ?? "", aws_secret_access_key: key ?? "" }),
  );
  await stack.setSecret("lakehead:functionsStorageOptions", keys(worker));
  await stack.setSecret("lakehead:functionSecrets", JSON.stringify({ [secret]: "sesame" }));
  await stack.up();
  await readyPods(surroundings, tableServicePods, { seconds: 900 });
  const [runner] = await readyPods(surroundings, runners, { seconds: 900 });
  return `${await rayClusterReady(surroundings.api, namespace, "functions", 900)}; ${runner.metadata.name}`;
}

/** Runs `test/functions/client.py` where LanceDB's client is: in the head of the stack's other cluster. */
async function fill(subject: Subject): Promise<string> {
  const [head] = await readyPods(subject.surroundings, heads, { seconds: 900 });
  const source = await here("../../functions/client.py");
  const program = `
import runpy, sys
open("/tmp/client.py", "w").write(${JSON.stringify(source)})
sys.argv = ["client.py", "http://${serviceName}", "${token}"]
runpy.run_path("/tmp/client.py", run_name="__main__")`;
  const said = (await python(subject, head.metadata.name, program)).trim().split("\n").at(-1) ?? "";
  holds(said === "3 0 ['A!', 'C!', 'None']", said);
  return said;
}

const denied = /^refused: .*access.?denied/i;
const closed = /^refused: .*(timed out|refused|unreachable)/i;
/** How each kind of attempt ends that does not reach its goal: not because nothing is there. */
const refusals = {
  ...{ read: denied, write: denied, list: denied, delete: denied },
  ...{ connect: closed, ask: closed },
  file: /^refused: FileNotFoundError/,
  variable: /^refused: KeyError/,
} as const;

/** What a Function tries, and whether it reaches it. A row here is a row of docs/functions.md. */
interface Try {
  readonly what: string;
  readonly attempt: readonly [keyof typeof refusals, ...(string | number)[]];
  readonly reached?: string;
}

async function attack(subject: Subject, minio: Store): Promise<string> {
  const { surroundings, kubectl, report } = subject;
  await callerPod(subject, namespace, "neighbour");
  const [service] = await readyPods(surroundings, tableServicePods);
  const neighbour = await kubectl([...inNamespace, "get", "pod", "neighbour", "-o", "jsonpath={.status.podIP}"]);
  const [runner] = await readyPods(surroundings, runners);
  const { server: apiServer } = readKubeconfig(surroundings.kubeconfig);
  const bucket = `${bucketName}/tables`;
  const first = "_versions/18446744073709551614.manifest";
  const otherHead = `geneva-head-svc.${namespace}.svc`;
  const tries: readonly Try[] = [
    {
      what: "a table of the stack's prefixes",
      attempt: ["read", `${bucket}/shouted.lance/${first}`],
      reached: "reached",
    },
    {
      what: "a secret of the stack's key",
      attempt: ["file", `/etc/lakehead/function-secrets/${secret}`],
      reached: "reached: sesame",
    },
    {
      what: "the store's address",
      attempt: ["connect", machineAddress, Number(new URL(minio.base).port)],
      reached: "reached",
    },
    { what: "another table: read", attempt: ["read", `${bucket}/private.lance/${first}`] },
    { what: "another table: list", attempt: ["list", `${bucket}/private.lance`] },
    { what: "another table: write", attempt: ["write", `${bucket}/private.lance/data/fn-attack.lance`] },
    { what: "a manifest of its own table: write", attempt: ["write", `${bucket}/shouted.lance/${first}`] },
    { what: "a file of its own table: delete", attempt: ["delete", `${bucket}/shouted.lance/${first}`] },
    { what: "the service's records: read", attempt: ["read", `${bucket}/_lakehead/jobs.lance/${first}`] },
    { what: "the rest of the bucket: list", attempt: ["list", bucketName] },
    { what: "the rest of the bucket: write", attempt: ["write", `${bucketName}/elsewhere`] },
    { what: "the metadata server", attempt: ["ask", `http://${metadataAddress}/latest/meta-data/`] },
    { what: "the API server by its Service", attempt: ["connect", "kubernetes.default.svc", 443] },
    { what: "the API server by its address", attempt: ["connect", apiServer.hostname, Number(apiServer.port)] },
    { what: "a token of the API server", attempt: ["file", "/var/run/secrets/kubernetes.io/serviceaccount/token"] },
    { what: "the stack's other RayCluster: client port", attempt: ["connect", otherHead, 10_001] },
    { what: "the stack's other RayCluster: dashboard", attempt: ["connect", otherHead, 8265] },
    { what: "the stack's other RayCluster: control store", attempt: ["connect", otherHead, 6379] },
    { what: "the table service: API", attempt: ["connect", service.status.podIP, ports.api] },
    { what: "the table service: operations port", attempt: ["connect", service.status.podIP, ports.operations] },
    { what: "another pod of the namespace", attempt: ["connect", neighbour.trim(), 8080] },
    { what: "the keys of the runner", attempt: ["variable", "LAKEHEAD_STORAGE_OPTIONS"] },
    { what: "the runner's pod", attempt: ["connect", runner.status.podIP, 22] },
    { what: "the store's host on another port", attempt: ["connect", machineAddress, closedPort] },
  ];
  const rows = tries.map(({ attempt }) => ({ target: JSON.stringify(attempt) }));
  await writeTables(subject, rows);
  const asked: Service = {
    ask: async (path, body) => {
      const answer = await askFrom(subject, caller, { url: `http://${serviceName}${path}`, body });
      return { ...answer, body: JSON.parse(answer.body) as unknown };
    },
  };
  const made = await register(asked, {
    source: await here("../../functions/attacks.py"),
    inputs: { target: "utf8" },
    output: scalar("utf8"),
    python: rayVersions.python,
  });
  await bind(asked, "attacks", made, { target: "target" }, { seen: "$value" });
  const job = await ended(asked, await refresh(asked, "attacks", "seen"));
  holds(job.job_state === "DONE", JSON.stringify(job));
  const seen = await readSeen(subject);
  const wrong: string[] = [];
  for (const { what, attempt, reached } of tries) {
    const found = seen.get(JSON.stringify(attempt)) ?? "nothing";
    report.log(`${what}: ${found.slice(0, 120)}`);
    const fits = reached === undefined ? refusals[attempt[0]].test(found) : found === reached;
    if (!fits) wrong.push(`${what}: ${found}`);
  }
  holds(wrong.length === 0, wrong.join("\n"));
  const open = await openFromElsewhere(subject, tries);
  const count = tries.filter(({ reached }) => reached === undefined).length;
  return `${tries.length - count} reached, ${count} refused, of which ${open} are open to a pod that no policy holds`;
}

/** A port of the store's host that is not the store's. */
const closedPort = 444;

/** Runs a program of Node with LanceDB's SDK on the tables, in the table service's pod. @returns what it printed */
const onTables = ({ kubectl }: Subject, program: string): Promise<string> => {
  const opened = `
import { connect } from "@lancedb/lancedb";
const database = await connect(process.env.LAKEHEAD_DATABASE, { storageOptions: JSON.parse(process.env.LAKEHEAD_STORAGE_OPTIONS) });
${program}`;
  return kubectl([
    ...inNamespace,
    "exec",
    "deployment/table-service",
    "--",
    "node",
    "--input-type=module",
    "-e",
    opened,
  ]);
};

/** A table of attacks, and one that is none of the stack's prefixes. */
const writeTables = (subject: Subject, rows: readonly object[]): Promise<string> =>
  onTables(
    subject,
    `await database.createTable("private", [{ id: 1 }]);
await database.createTable("attacks", ${JSON.stringify(rows)});`,
  );

async function readSeen(subject: Subject): Promise<ReadonlyMap<string, string>> {
  const text = await onTables(
    subject,
    `const rows = await (await database.openTable("attacks")).query().toArray();
console.log(JSON.stringify(rows.map(({ target, seen }) => [target, seen])));`,
  );
  return new Map(JSON.parse(text) as [string, string][]);
}

/** The refused connections that the stack's other RayCluster has, whose egress no policy restricts. */
async function openFromElsewhere(subject: Subject, tries: readonly Try[]): Promise<number> {
  const [head] = await readyPods(subject.surroundings, heads);
  const targets = tries.filter(({ attempt, reached }) => reached === undefined && attempt[0] === "connect");
  const ends = [...targets.map(({ attempt }) => attempt.slice(1)), [metadataAddress, 80]];
  return (await connections(subject, [head.metadata.name, "ray-head"], ends)).filter((open) => open).length;
}

/** Which of these ends a container connects to. */
async function connections(
  { kubectl }: Subject,
  [pod, container]: readonly [string, string],
  ends: readonly (readonly (string | number)[])[],
): Promise<readonly boolean[]> {
  const program = `
import json, socket, sys
def open_to(end):
    try:
        socket.create_connection(tuple(end), 4).close()
        return True
    except OSError:
        return False
print(json.dumps([open_to(end) for end in json.loads(sys.argv[1])]))`;
  const exec = [...inNamespace, "exec", pod, "-c", container, "--", "python", "-c", program, JSON.stringify(ends)];
  return JSON.parse(await kubectl(exec)) as boolean[];
}

async function attackFromHead(subject: Subject): Promise<string> {
  const { surroundings, kubectl } = subject;
  const [head] = await readyPods(surroundings, functionsHeads);
  const [service] = await readyPods(surroundings, tableServicePods);
  const ends = [
    [metadataAddress, 80],
    [`geneva-head-svc.${namespace}.svc`, 10_001],
    [service.status.podIP, ports.api],
    [service.status.podIP, ports.operations],
    ["kubernetes.default.svc", 443],
  ];
  const open = await connections(subject, [head.metadata.name, "ray-head"], ends);
  holds(open.join() === "false,false,false,false,true", open.join());
  const tokens = (container: string) =>
    kubectl([
      ...inNamespace,
      "exec",
      head.metadata.name,
      "-c",
      container,
      "--",
      "ls",
      "/var/run/secrets/kubernetes.io/serviceaccount",
    ]).catch(() => "none");
  const [own, autoscaler] = [await tokens("ray-head"), await tokens("autoscaler")];
  holds(own === "none" && autoscaler.includes("token"), `ray-head: ${own}; autoscaler: ${autoscaler}`);
  return `${ends.length - 1} refused; the token is the autoscaler's`;
}
