import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../tools/parts/free-port.ts";
import { Inspector, inspectable } from "./inspector.ts";
import type { Round, Task } from "./measure.ts";
import { figureTable } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { startWorker } from "./task-process.ts";

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

/** A profile of V8: samples, and the time until the next one, in microseconds. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** The module of a frame's code: a folder of the service, a package, a part of Node, or the engine. */
const moduleOf = ({ url, functionName }: Frame): string => {
  const part = /^node:(?:internal\/)?([^/]+)/.exec(url)?.[1];
  if (part !== undefined) return `Node: ${part.replace(/^_/, "").replace(/_.*/, "")}`;
  if (url === "") return functionName.startsWith("(") ? functionName : "native functions";
  const path = relative(root, fileURLToPath(url));
  const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return name ?? path.split("/").slice(0, 2).join("/");
};

const idle: ReadonlySet<string> = new Set(["(idle)", "(root)"]);

/** Self time by key, as shares of the time that was not idle. */
const sharesBy = (profile: CpuProfile, keyOf: (frame: Frame) => string): [key: string, share: number][] => {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || idle.has(frame.functionName)) continue;
    const time = profile.timeDeltas[index] ?? 0;
    const key = keyOf(frame);
    times.set(key, (times.get(key) ?? 0) + time);
    busy += time;
  }
  return [...times].map(([key, time]): [string, number] => [key, time / busy]).sort((a, b) => b[1] - a[1]);
};

const functionOf = (frame: Frame): string => {
  const name = frame.functionName || "(anonymous)";
  return frame.url === "" ? name : `${name} (${moduleOf(frame)})`;
};

const workloads = ["stats", "tags/version", "explain_plan, 128 dimensions", "explain_plan, 1536 dimensions"];
const concurrency = 16;
const rows = 14;

const profileOf = async (port: number, run: () => Promise<unknown>): Promise<CpuProfile> => {
  const profiler = await Inspector.connect(port);
  await profiler.ask("Profiler.enable");
  await profiler.ask("Profiler.setSamplingInterval", { interval: 200 });
  await profiler.ask("Profiler.start");
  await run();
  const { profile } = await profiler.ask<{ readonly profile: CpuProfile }>("Profiler.stop");
  profiler.close();
  return profile;
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** One table for each workload: self time by module on the left, by function on the right. */
const printed = (workload: string, cpu: number, profile: CpuProfile): string => {
  const modules = sharesBy(profile, moduleOf).slice(0, rows);
  const functions = sharesBy(profile, functionOf).slice(0, rows);
  const lines = modules.map(([name, share], index) => {
    const [other = "", of = 0] = functions[index] ?? [];
    return [name, percent(share), other, percent(of)];
  });
  const head = ["module", "self time", "function", "self time"];
  return `### ${workload}, ${cpu.toFixed(0)} µs of CPU a request\n\n${figureTable(head, lines)}`;
};

/**
 * Where the service's own process spends its time, by V8's profiler: native threads of the database are not in it.
 * @param directory of a database with the tables of the workloads.
 * @param seconds of load for each workload.
 */
export const profileService = async (directory: string, seconds: number): Promise<string> => {
  const inspector = await freePort();
  const server = await startServer(
    "../service/main.ts",
    { LAKEHEAD_DATABASE: directory },
    { flags: inspectable(inspector) },
  );
  const load = startWorker<Task, Round>(new URL("load.ts", import.meta.url), [String(server.port), token, "profile"]);
  const parts: string[] = [];
  try {
    for (const workload of workloads) {
      const task = { workload, concurrency, seconds, from: 0 };
      // Warm up: V8 compiles the code.
      await load.run(task);
      const before = await server.cpuSeconds();
      const { requests } = await load.run(task);
      const cpu = (((await server.cpuSeconds()) - before) / requests) * 1e6;
      parts.push(printed(workload, cpu, await profileOf(inspector, () => load.run(task))));
    }
    return parts.join("\n\n");
  } finally {
    load.stop();
    await server.stop();
  }
};
