/** The table service's pod as the stack deploys it: what it serves, what it may, and what it survives. */

import { readdir, readFile } from "node:fs/promises";
import { until } from "../../e2e/support/daemon.ts";
import { holds } from "../../e2e/support/report.ts";
import {
  askFrom,
  caller,
  expectStatus,
  operation,
  podsOf,
  readyPods,
  restarts,
  type Subject,
  serviceName,
  tableName,
  tableRows,
  tableServicePods,
} from "../support.ts";
import { namespace } from "../surroundings.ts";

const container = "table-service";

/** Runs a program of Node in the service's container. @returns what it printed */
export const evaluate = async ({ kubectl }: Pick<Subject, "kubectl">, program: string): Promise<string> =>
  (await kubectl(["-n", namespace, "exec", `deployment/${container}`, "--", "node", "-e", program])).trim();

export async function checkTableService(subject: Subject): Promise<void> {
  const { surroundings, report, kubectl } = subject;

  await report.check("the table service's pod is ready", async () => {
    const [pod] = await readyPods(surroundings, tableServicePods);
    return `${pod.metadata.name} on ${pod.spec.nodeName}`;
  });
  await report.check("it serves through its ClusterIP and by its DNS name", async () => {
    const service = await surroundings.api.get({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: container, namespace },
    });
    const hosts = [service?.spec.clusterIP as string, serviceName];
    for (const host of hosts) {
      const url = `http://${host}/v1/table/${tableName}/stats`;
      const answer = await askFrom(subject, caller, { url, body: {} });
      expectStatus(answer, 200, host);
      holds((JSON.parse(answer.body) as { num_rows: number }).num_rows === tableRows, answer.body);
    }
    return hosts.join(", ");
  });
  await report.check("it refuses a stranger", async () => {
    expectStatus(await operation(subject, "stats", {}, { token: "" }), 401, "without a token");
    expectStatus(await operation(subject, "stats", {}, { token: "0".repeat(48) }), 401, "with an unknown token");
    return "401 without a token and with an unknown one";
  });
  await report.check("its security context is effective", () => checkSecurity(subject));
  await report.check("a tag on its volume survives kubectl delete pod", async () => {
    expectStatus(await operation(subject, "tags/create", { tag: "kept", version: 1 }), 200, "tags/create");
    const [before] = await readyPods(surroundings, tableServicePods);
    await kubectl(["-n", namespace, "delete", "pod", before.metadata.name]);
    const [after] = await readyPods(surroundings, tableServicePods);
    holds(after.metadata.name !== before.metadata.name, "the pod is the same");
    const answer = await operation(subject, "tags/version", { tag: "kept" });
    holds(answer.body === '{"version":1}', `${answer.status} ${answer.body}`);
    return `${before.metadata.name}, then ${after.metadata.name}`;
  });
  const pid = await mainProcess(subject);
  if (pid === undefined) report.skip("probes", "a process of another machine's node cannot be stopped");
  else await report.check("its probes fail while it does not respond, and recover", () => checkProbes(subject, pid));
  await report.check("its container starts again after its process was killed", async () => {
    const [before] = await readyPods(surroundings, tableServicePods);
    const { count } = restarts(before, container);
    await killMain(subject);
    const after = await restarted(subject, count);
    expectStatus(await operation(subject, "stats", {}), 200, "after the restart");
    return `restart ${after.count}, ${after.reason}`;
  });
}

/** The service's first process by its number in this machine's namespaces; undefined where the nodes are elsewhere. */
async function mainProcess({ surroundings }: Subject): Promise<number | undefined> {
  if (surroundings.own === undefined) return undefined;
  for (const pid of await readdir("/proc")) {
    const command = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "") : "";
    if (command === "node\0service/main.ts\0") return Number(pid);
  }
  throw new Error("no process of this machine is the service's");
}

/** Ends the service without warning; where that is impossible, by the second SIGTERM, which ends it at once. */
async function killMain(subject: Subject): Promise<void> {
  const pid = await mainProcess(subject);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  else
    for (let signal = 0; signal < 2; signal++)
      await evaluate(subject, "process.kill(1, 'SIGTERM')").catch(() => undefined);
}

/** Waits until the container was restarted once more than `count` times, and is ready. */
export async function restarted({ surroundings }: Subject, count: number): Promise<{ count: number; reason: string }> {
  const seen = await until(
    "the container's restart",
    async () => {
      const [pod] = await podsOf(surroundings, tableServicePods);
      const now = restarts(pod, container);
      return now.count > count ? now : undefined;
    },
    { seconds: 300, every: 500 },
  );
  await readyPods(surroundings, tableServicePods);
  return seen;
}

/** What the kernel says of the service's first process, and of writing to the image. */
async function checkSecurity(subject: Subject): Promise<string> {
  const status = await evaluate(subject, "console.log(fs.readFileSync('/proc/1/status', 'utf8'))");
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1]?.trim() ?? "";
  const expected: Readonly<Record<string, RegExp>> = {
    Uid: /^1000\s+1000\s+1000\s+1000$/,
    Gid: /^1000\s+1000\s+1000\s+1000$/,
    CapEff: /^0+$/,
    CapBnd: /^0+$/,
    NoNewPrivs: /^1$/,
    Seccomp: /^2$/,
  };
  for (const [name, pattern] of Object.entries(expected)) holds(pattern.test(field(name)), `${name}: ${field(name)}`);
  const write = (path: string) =>
    evaluate(
      subject,
      `try { fs.writeFileSync(${JSON.stringify(path)}, ''); console.log('written'); } catch ({ code }) { console.log(code); }`,
    );
  holds((await write("/app/service/written")) === "EROFS", "the image's files can be written");
  holds((await write("/tmp/written")) === "written", "/tmp cannot be written");
  const account = await evaluate(
    subject,
    "console.log(fs.existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token'))",
  );
  holds(account === "false", "the pod has a token of its service account");
  return "uid 1000, no capabilities, no new privileges, seccomp, read-only root, no account token";
}

/** Stops every thread of the service's process and lets it go on: probes must see both. */
async function checkProbes(subject: Subject, pid: number): Promise<string> {
  const { surroundings } = subject;
  const [before] = await readyPods(surroundings, tableServicePods);
  const { count } = restarts(before, container);
  process.kill(pid, "SIGSTOP");
  try {
    await until(
      "the pod's being unready",
      async () => {
        const [pod] = await podsOf(surroundings, tableServicePods);
        const ready = pod?.status?.conditions?.find(({ type }: { type: string }) => type === "Ready");
        return ready?.status === "False" ? true : undefined;
      },
      { seconds: 60, every: 200 },
    );
  } finally {
    process.kill(pid, "SIGCONT");
  }
  const [after] = await readyPods(surroundings, tableServicePods, { seconds: 300 });
  holds(restarts(after, container).count === count, "the container was restarted");
  process.kill(pid, "SIGSTOP");
  const { reason } = await restarted(subject, count);
  return `unready while stopped and ready again; stopped for good, the container starts again (${reason})`;
}
