import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { judged, methods } from "./judge.ts";
import { served } from "./matrix.ts";
import type { Program } from "./programs.ts";
import { type Recorder, startRecorder } from "./recorder.ts";
import { type CaseResult, type Introduction, readLine } from "./result.ts";
import { type Facts, keys, writeWorld } from "./world.ts";

const secondsForAClient = 180;

/** Results of a client's program. */
export interface Run {
  readonly introduction: Introduction;
  readonly results: readonly CaseResult[];
}

const broken = (client: string, name: string, detail: string): CaseResult => ({
  client,
  operation: methods,
  case: name,
  ok: false,
  detail,
});

/** Runs a client's program; an error exit or a timeout counts as a failed case. */
const drive = async (
  { name, command, arguments: rest, environment }: Program,
  world: string,
  recorder: Recorder,
): Promise<Run> => {
  const child = spawn(command, [...rest, world], {
    stdio: ["pipe", "pipe", "pipe"],
    timeout: secondsForAClient * 1000,
    env: { ...process.env, ...environment },
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  // A program that has exited reads no acknowledgement.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`));
  });
  let introduction: Introduction = { client: name, version: "" };
  const results: CaseResult[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = readLine(text);
    if (line === undefined) continue;
    const exchanges = recorder.take();
    if ("version" in line) introduction = line;
    else results.push(judged(line, exchanges, served.includes(line.operation)));
    child.stdin.write("\n");
  }
  const fault = await ended;
  if (fault !== undefined) results.push(broken(name, "runs to its end", `${fault}: ${errors.trim().slice(-1500)}`));
  return { introduction, results };
};

interface Place {
  /** Temporary directory of the run. */
  readonly home: string;
  /** The database that each client gets a copy of. */
  readonly database: string;
  readonly truth: Facts;
}

const driveAlone = async (program: Program, { home, database, truth }: Place): Promise<Run> => {
  const service = await startReadyServiceProcess({
    copyOf: database,
    tokens: [staticToken("docs-stats", keys.docsStats, ["stats"], ["docs"])],
    environment: { LAKEHEAD_WRITES: "on", LAKEHEAD_FUNCTIONS: "on", LAKEHEAD_STABLE_ROW_IDS: "on" },
  });
  const recorder = await startRecorder(service.port);
  const world = join(home, "world.json");
  try {
    await writeWorld(world, recorder.endpoint, truth);
    return await drive(program, world, recorder);
  } finally {
    recorder.close();
    await service.stop();
  }
};

/** Runs a client against a service of its own. If the service does not start, the client's run fails. */
export const runClient = async (program: Program, place: Place): Promise<Run> =>
  driveAlone(program, place).catch((error: unknown) => ({
    introduction: { client: program.name, version: "" },
    results: [broken(program.name, "is started", String(error))],
  }));
