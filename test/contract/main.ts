/**
 * `npm run test:contract [-- --seed N]`: the running service against its own OpenAPI document (Schemathesis) and that
 * document against the specification (its generated Python client).
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pythonWith } from "../../tools/parts/python.ts";
import { testToken as token } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { compare } from "./compare.ts";
import { makeData, type Real, startJobs } from "./data.ts";
import { deviations } from "./deviations.ts";
import { type Described, type OpenApi, operationsOf } from "./document.ts";
import { judge, textOf } from "./judge.ts";
import { excludedChecks, runSchemathesis } from "./schemathesis.ts";
import { readUpstream } from "./upstream.ts";

interface LogLine {
  readonly msg?: string;
  readonly level?: string;
  readonly status?: number;
  readonly operation?: string;
  readonly cause?: string;
  readonly text?: string;
}

const parse = (line: string): LogLine => {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { text: line };
  }
};

/** Lines of the service's log, parsed; a line that is not JSON becomes `{ text }`. */
const parseLog = (output: string): readonly LogLine[] =>
  output
    .split("\n")
    .filter((text) => text.trim() !== "")
    .map(parse);

/** Lines that a log must not hold after a run: internal errors, uncaught exceptions, ended workers. */
const logFaults = (lines: readonly LogLine[]): readonly string[] =>
  lines.flatMap(({ msg, status, operation, cause, level, text }) => {
    if (status !== undefined) return status >= 500 ? [`${operation} answered ${status}: ${cause}`] : [];
    if (text !== undefined) return [`the log has a line that is no JSON: ${text.slice(0, 300)}`];
    return level === "error" || level === "warn" ? [`the log says: ${msg} ${cause ?? ""}`] : [];
  });

/** Number of responses by status, the lowest status first. */
const statuses = (lines: readonly LogLine[]): readonly (readonly [status: number, count: number])[] => {
  const counts = new Map<number, number>();
  for (const { status } of lines) if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].sort(([left], [right]) => left - right);
};

/** Calls an operation that this service does not implement: it must not return 404, which clients read as "no such table". */
const routeFault = async (base: string, token: string, operation: Described): Promise<string | undefined> => {
  const { method, path } = operation;
  const address = `${base}${path.replaceAll("{id}", "docs").replaceAll(/\{\w+\}/g, "any")}`;
  for (const url of [address, `${address}/`]) {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    const text = await response.text();
    const { code } = JSON.parse(text === "" ? "{}" : text) as { readonly code?: number };
    if (response.status !== 406 || code !== 0)
      return `${method} ${url.slice(base.length)} answers ${response.status} with code ${code}, not 406 with code 0`;
  }
  return undefined;
};

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" } } });
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0, skipped: 0 };

/** Counts a check: prints a fault, or counts a pass. */
const note = (fault: string | undefined): void => {
  if (fault === undefined) count.passed++;
  else {
    count.failed++;
    print(`FAILED  ${fault}`);
  }
};

const compareWithUpstream = async (python: string, service: ServiceProcess): Promise<void> => {
  const upstream = await readUpstream(python);
  const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as OpenApi;
  const comparisons = compare(upstream.operations, operationsOf(document));
  const { unlisted, stale, listed } = judge(comparisons, deviations);
  print(
    `\nSpecification (${upstream.source}): ${upstream.operations.length} operations, ${listed} deviations listed in ` +
      "test/contract/deviations.ts with their reasons",
  );
  for (const { operation, method, differences } of comparisons) {
    const faults = differences.filter((difference) => unlisted.has(difference)).map(textOf);
    note(
      faults.length === 0
        ? undefined
        : `${method} ${operation} deviates, and the deviation is not listed:\n  ${faults.join("\n  ")}`,
    );
  }
  for (const entry of stale) note(`listed as a deviation, but it no longer deviates: ${entry}`);

  const documented = new Set(Object.keys(document.paths));
  const others = upstream.operations.filter(({ path }) => !documented.has(path));
  for (const operation of others) note(await routeFault(service.base, token, operation));
  print(
    `${upstream.operations.length - others.length} of them are served; each of the ${others.length} others was called`,
  );
};

const checkService = async (service: ServiceProcess): Promise<void> => {
  const ready = service.ended() === null && (await service.readiness().catch(() => 0)) === 200;
  note(ready ? undefined : "the service has ended or is not ready");
  const log = parseLog(service.output());
  for (const fault of logFaults(log)) note(fault);
  const shares = statuses(log);
  const all = shares.reduce((sum, [, number]) => sum + number, 0);
  print(
    `\nCalls by status: ${shares.map(([status, number]) => `${status} ${number} (${((100 * number) / all).toFixed(1)} %)`).join(", ")}`,
  );
};

/** With writes, on a database of its own: generated requests change and drop tables. */
const checkWrites = async (python: string, home: string, copyOf: string, made: Real): Promise<void> => {
  const service = await startReadyServiceProcess({
    copyOf,
    environment: { LAKEHEAD_WRITES: "on", LAKEHEAD_FUNCTIONS: "on", LAKEHEAD_STABLE_ROW_IDS: "on" },
  });
  try {
    await compareWithUpstream(python, service);
    print("\nWrites:");
    const seed = Number(values.seed);
    const real = await startJobs(service, made);
    const outcome = await runSchemathesis({ python, home, base: service.base, token, real, seed, writes: true });
    count.passed += outcome.passed;
    count.failed += outcome.failed;
    for (const fault of outcome.faults) note(fault);
    await checkService(service);
  } finally {
    await service.stop();
  }
};

const run = async (python: string): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-contract-"));
  const database = join(home, "data");
  const real = await makeData(database);
  const service = await startReadyServiceProcess({ environment: { LAKEHEAD_DATABASE: database } });
  try {
    for (const [check, reason] of Object.entries(excludedChecks)) print(`Check not run: ${check}: ${reason}`);
    const seed = Number(values.seed);
    const outcome = await runSchemathesis({ python, home, base: service.base, token, real, seed, writes: false });
    count.passed += outcome.passed;
    count.failed += outcome.failed;
    for (const fault of outcome.faults) note(fault);
    await checkService(service);
    const code = await service.stop();
    note(code === 0 ? undefined : `the service ended with ${code}, not 0`);
  } finally {
    await service.stop();
  }
  await checkWrites(python, home, database, real);
  await rm(home, { recursive: true, force: true });
};

const { python, missing } = await pythonWith(fileURLToPath(new URL("requirements.txt", import.meta.url)), print);
if (python === undefined) {
  print(`skipped: the contract tests need Python 3 with Schemathesis: ${missing}`);
  count.skipped++;
} else await run(python);
print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exitCode = count.failed === 0 ? 0 : 1;
