/** Runs `npm run verify` and compares what it calls wrong with what must be wrong where pods are simulated. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Engine } from "./engine.ts";
import { holds } from "./report.ts";

/** A line that verification must call wrong, and why. */
export interface ExpectedFault {
  readonly line: RegExp;
  readonly reason: string;
}

/** The control plane of this suite has no KubeRay Deployment. */
export const operatorOutside: ExpectedFault = {
  line: /^operator: no Deployment in the cluster runs KubeRay's image$/,
  reason: "KubeRay runs as a process beside the cluster",
};

const verifier = fileURLToPath(new URL("../../../infra/verify/main.ts", import.meta.url));

/**
 * @returns The summary line, and each expected fault with its reason.
 * @throws Error with the whole output when another line is wrong, or an expected fault is missing.
 */
export async function verifyStack(
  engine: Engine,
  stack: string,
  args: readonly string[],
  token: string | undefined,
  expected: readonly ExpectedFault[],
): Promise<string> {
  const { stdout = "", stderr = "" } = await promisify(execFile)(
    process.execPath,
    [verifier, stack, "--root", engine.project, ...args],
    { env: { ...engine.env, ...(token === undefined ? {} : { LAKEHEAD_TOKEN: token }) }, maxBuffer: 2 ** 24 },
  ).catch((error: { stdout?: string; stderr?: string }) => error);
  const summary = /^.*\d+ ok, \d+ wrong, \d+ unknown$/m.exec(stdout)?.[0];
  const wrong = [...stdout.matchAll(/^WRONG +(.*)$/gm)].map(([, line = ""]) => line);
  const unexpected = wrong.filter((line) => !expected.some((fault) => fault.line.test(line)));
  const missing = expected.filter((fault) => !wrong.some((line) => fault.line.test(line)));
  holds(
    summary !== undefined && unexpected.length + missing.length === 0,
    [
      ...unexpected.map((line) => `unexpectedly wrong: ${line}`),
      ...missing.map(({ line, reason }) => `not wrong, although ${reason}: ${line.source}`),
      `${stdout}${stderr}`.trim(),
    ].join("\n"),
  );
  return [summary, ...expected.map(({ line, reason }) => `wrong as expected, ${reason}: ${line.source}`)].join("; ");
}
