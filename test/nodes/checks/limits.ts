/**
 * The pod's memory limit: the kernel ends worker processes, and the pod lives. With control groups of version 2 the kernel ends
 * all of the container at once, unless the kubelet has `singleProcessOOMKill`: then the container starts again.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { holds } from "../../e2e/support/report.ts";
import {
  askFrom,
  caller,
  expectStatus,
  operation,
  readyPods,
  restarts,
  type Subject,
  serviceName,
  tableName,
  tableServicePods,
} from "../support.ts";
import { namespace, token } from "../surroundings.ts";
import { evaluate, restarted } from "./table-service.ts";

/** The score and the memory of each process of the container. */
const processes = `
const rows = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).flatMap((pid) => {
  try {
    return [{ pid: Number(pid), score: Number(fs.readFileSync("/proc/" + pid + "/oom_score_adj", "utf8")),
      command: fs.readFileSync("/proc/" + pid + "/cmdline", "utf8").replaceAll("\\0", " ") }];
  } catch { return []; }
});
console.log(JSON.stringify(rows));`;

interface Process {
  readonly pid: number;
  readonly score: number;
  readonly command: string;
}

/** Takes memory in a worker's place, at a worker's score, until the limit ends it. */
const hog = `
fs.writeFileSync("/proc/self/oom_score_adj", "1000");
const held = [];
for (;;) held.push(Buffer.alloc(16 * 2 ** 20, 1));`;

/** Whether the kernel ends the container's processes together; the file is of version 2 alone. */
const together = `
try { console.log(fs.readFileSync("/sys/fs/cgroup/memory.oom.group", "utf8").trim()); } catch { console.log("0"); }`;

export async function checkLimits(subject: Subject): Promise<void> {
  const { surroundings, report, kubectl } = subject;
  await report.check("the kernel would end a worker process before the service", async () => {
    expectStatus(await operation(subject, "analyze_plan", { k: 3, vector: [1, 2, 3, 4] }), 200, "analyze_plan");
    const found = JSON.parse(await evaluate(subject, processes)) as Process[];
    const main = found.find(({ pid }) => pid === 1);
    const workers = found.filter(({ command }) => command.includes("worker-entry"));
    holds(main !== undefined && workers.length > 0, JSON.stringify(found));
    for (const { pid, score } of workers)
      holds(score > main.score, `process ${pid} has oom_score_adj ${score}, the service ${main.score}`);
    return `oom_score_adj ${main.score}, and ${workers.map(({ score }) => score).join(", ")} of the workers`;
  });
  await report.check("a process that takes all memory is ended by the limit, and the pod serves on", async () => {
    const [before] = await readyPods(surroundings, tableServicePods);
    const { count } = restarts(before, "table-service");
    const whole = (await evaluate(subject, together)) === "1";
    const place = ["-n", namespace, "exec", before.metadata.name, "--"];
    const ended = await kubectl([...place, "node", "-e", hog]).then(
      () => "it ended by itself",
      (error: Error) => error.message,
    );
    holds(/exit code 137/.test(ended), ended);
    const restart = whole ? await restarted(subject, count) : undefined;
    holds(restart === undefined || restart.reason === "OOMKilled", `the container ended for ${restart?.reason}`);
    const [after] = await readyPods(surroundings, tableServicePods);
    holds(after.metadata.name === before.metadata.name, "there is another pod");
    const now = restarts(after, "table-service").count;
    holds(now === count + (whole ? 1 : 0), `the container was restarted ${now - count} times`);
    expectStatus(await operation(subject, "stats", {}), 200, "stats");
    return `exit code 137, ${whole ? "with all of the container, which started again" : "no restart"}`;
  });
  await report.check("a flood of analyses is answered or refused, and the pod lives", () => flood(subject));
}

/** Far more analyses at once than the pod's workers, each of every row. */
const floodProgram = (url: string, bearer: string): string => `
const { Agent, request } = require("node:http");
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const counts = {};
const body = JSON.stringify({ k: 1000, vector: [1, 2, 3, 4], filter: "id >= 0", with_row_id: true });
const headers = { "content-type": "application/json", authorization: "Bearer ${bearer}", "content-length": body.length };
const one = () => new Promise((resolve) => {
  const asked = request("${url}", { agent, method: "POST", headers }, (response) => {
    response.resume();
    response.on("end", () => { counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1; resolve(); });
  });
  asked.on("error", ({ code }) => { counts[code] = (counts[code] ?? 0) + 1; resolve(); });
  asked.end(body);
});
const end = Date.now() + 15_000;
const line = async () => { while (Date.now() < end) await one(); };
Promise.all(Array.from({ length: 64 }, line)).then(() => console.log(JSON.stringify(counts)));`;

async function flood(subject: Subject): Promise<string> {
  const { surroundings, kubectl } = subject;
  const [before] = await readyPods(surroundings, tableServicePods);
  const { count } = restarts(before, "table-service");
  const program = floodProgram(`http://${serviceName}/v1/table/${tableName}/analyze_plan`, token);
  const [place, pod] = caller;
  const counts = JSON.parse(await kubectl(["-n", place, "exec", pod, "--", "node", "-e", program])) as Record<
    string,
    number
  >;
  holds((counts[200] ?? 0) > 0, JSON.stringify(counts));
  const strange = Object.keys(counts).filter((status) => !["200", "400", "429", "503"].includes(status));
  holds(strange.length === 0, JSON.stringify(counts));
  await sleep(2000);
  const [after] = await readyPods(surroundings, tableServicePods);
  holds(
    after.metadata.name === before.metadata.name && restarts(after, "table-service").count === count,
    "the pod ended",
  );
  const { status } = await askFrom(subject, caller, {
    url: `http://${serviceName}/v1/table/${tableName}/stats`,
    body: {},
  });
  holds(status === 200, `after the flood: ${status}`);
  return Object.entries(counts)
    .map(([status, times]) => `${times} of ${status}`)
    .join(", ");
}
