import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { functionOperations, writeOperations } from "../../service/operations/index.ts";
import { addressOf } from "../../service/operations/operation.ts";
import type { Real } from "./data.ts";

/** Checks that are not run, each with its reason. All other checks of this version of Schemathesis run. */
export const excludedChecks: Readonly<Record<string, string>> = {
  object_level_authorization:
    "asks whether one caller sees what another one made; tables here belong to no caller: which ones a token may name is tested by test/service/auth",
};

/** Minimum number of requests: a change of the document could leave little to generate from. */
export const leastCalls = { reads: 5000, writes: 1000 } as const;

/** What changes something and the jobs that this starts, of a document that has more, as a regular expression of addresses. */
const changes = [...writeOperations, ...functionOperations].map((operation) =>
  addressOf(operation).replace(/[{}]/g, "\\$&"),
);
const writePaths = `^(${["/v1/jobs/.*", ...changes].join("|")})$`;

interface Report {
  readonly complete: boolean;
  readonly operations: { readonly selected: number; readonly tested: number; readonly errored: number };
  readonly test_cases: {
    readonly generated: number;
    readonly with_failures: number;
    readonly errored: number;
    /** Requests without credentials or with wrong ones. */
    readonly without_checks: number;
  };
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Faults of the run as a whole. */
  readonly faults: readonly string[];
}

interface Run {
  readonly python: string;
  readonly home: string;
  readonly base: string;
  readonly token: string;
  readonly real: Real;
  readonly seed: number;
  /** Whether to call the writes, and no other operation. */
  readonly writes: boolean;
}

const faultsOf = ({ complete, operations, test_cases: cases }: Report, least: number): readonly string[] => [
  ...(complete ? [] : ["Schemathesis did not finish"]),
  ...(operations.tested === operations.selected
    ? []
    : [`${operations.tested} of ${operations.selected} operations were tested`]),
  ...(operations.errored + cases.errored > 0 ? ["Schemathesis had errors of its own; they are printed above"] : []),
  ...(cases.generated >= least ? [] : [`${cases.generated} calls were generated, at least ${least} must be`]),
];

/** Runs Schemathesis over the served document; its own report goes to the terminal. */
export const runSchemathesis = async ({ python, home, base, token, real, seed, writes }: Run): Promise<Outcome> => {
  const realFile = join(home, "real.json");
  const reportFile = join(home, "report.json");
  await writeFile(realFile, JSON.stringify(real));
  const parameters = [
    ["--header", `Authorization: Bearer ${token}`],
    ["--checks", "all"],
    ["--exclude-checks", Object.keys(excludedChecks).join(",")],
    ["--max-examples", "100"],
    // Its own 10 s, of both, are less than the work on a table takes that a minute of writes left behind.
    ["--request-timeout", "120"],
    ["--max-response-time", "120"],
    ["--seed", String(seed)],
    ...(writes ? [["--include-path-regex", writePaths]] : []),
    ["--continue-on-failure"],
    // Findings of an earlier run would change the generated requests.
    ["--generation-database", "none"],
    ["--report", "json"],
    ["--report-json-path", reportFile],
  ];
  const child = spawn(join(dirname(python), "st"), ["run", `${base}/openapi.json`, ...parameters.flat()], {
    // It writes files to its working directory.
    cwd: home,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: fileURLToPath(new URL("hooks.py", import.meta.url)),
      LAKEHEAD_CONTRACT_REAL: realFile,
      ...(writes ? { LAKEHEAD_CONTRACT_WRITES: "1" } : {}),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const report = await readFile(reportFile, "utf8").then(
    (text) => JSON.parse(text) as Report,
    () => undefined,
  );
  if (report === undefined) return { passed: 0, failed: 0, faults: [`Schemathesis ended with ${code} and no report`] };
  const { generated, with_failures: failed, without_checks: probes } = report.test_cases;
  const faults = faultsOf(report, writes ? leastCalls.writes : leastCalls.reads);
  return {
    passed: generated - failed - probes,
    failed,
    faults: code !== 0 && failed === 0 && faults.length === 0 ? [`Schemathesis ended with ${code}`] : faults,
  };
};
