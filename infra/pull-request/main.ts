/**
 * `node infra/pull-request/main.ts [--allowed] <stack>=<file>...` prints the comment of a pull request. A file is the
 * output of `pulumi preview --json`, of `npm run plan -- <stack> --against <rev> --json` or of `--reduce`.
 * Exit code 3: a dangerous step without `--allowed`. Exit code 1: a file cannot be read.
 *
 * `--reduce <stack>=<file>` prints the operations, names and values that are no secret of a file as JSON.
 * `--diagnostics <file>` prints why a preview failed.
 * `--digest <file>` prints a digest of all that a preview would do, by which a later preview is known to be the same.
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { PlanDiff } from "../offline-plan/diff.ts";
import { renderComment, type StackSteps } from "./comment.ts";
import { digestOfPreview, StepsError, stepsOfDiff, stepsOfPreview } from "./guard.ts";

/** Why a preview failed: `pulumi preview --json` writes its diagnostics into the document, not to standard error. */
interface Diagnostic {
  readonly severity?: unknown;
  readonly message?: unknown;
  readonly urn?: unknown;
}

const quiet = new Set(["debug", "info", "info#err"]);

/** `<severity>: <message>`, with the resource's name where there is one. Information only where there is nothing else. */
function diagnosticsOf(output: string): string[] {
  let found: readonly Diagnostic[] = [];
  try {
    const { diagnostics } = JSON.parse(output) as { diagnostics?: unknown };
    if (Array.isArray(diagnostics)) found = diagnostics as readonly Diagnostic[];
  } catch {
    return ["the preview printed no JSON; its standard error has the reason"];
  }
  const serious = found.filter(({ severity }) => !quiet.has(String(severity)));
  const lines = (serious.length > 0 ? serious : found).map(({ severity, message, urn }) => {
    const name = typeof urn === "string" ? urn.split("::").slice(3).join("::") : "";
    return `${String(severity)}: ${name === "" ? "" : `${name}: `}${String(message).trim()}`;
  });
  return lines.length > 0 ? lines : ["the preview reported no diagnostics; its standard error has the reason"];
}

function read(argument: string): StackSteps {
  const [stack = "", ...rest] = argument.split("=");
  const file = rest.join("=");
  if (stack === "" || file === "") throw new StepsError(`"${argument}" is not <stack>=<file>`);
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new StepsError(`${file} of ${stack} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof document !== "object" || document === null) throw new StepsError(`${file} of ${stack} is not a plan`);
  if ("source" in document) {
    const reduced = document as StackSteps;
    if (reduced.stack !== stack) throw new StepsError(`${file} belongs to ${reduced.stack}, not to ${stack}`);
    return reduced;
  }
  if ("resources" in document) return { stack, steps: stepsOfDiff(document as PlanDiff), source: "offline plan" };
  return { stack, steps: stepsOfPreview(document), source: "preview" };
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      allowed: { type: "boolean", default: false },
      reduce: { type: "boolean", default: false },
      diagnostics: { type: "boolean", default: false },
      digest: { type: "boolean", default: false },
    },
  });
  const [first, ...others] = positionals;
  if (first === undefined) throw new StepsError("name the previews: <stack>=<file>...");
  if (values.diagnostics) {
    process.stdout.write(`${diagnosticsOf(readFileSync(first, "utf8")).join("\n")}\n`);
  } else if (values.digest) {
    process.stdout.write(`${digestOfPreview(JSON.parse(readFileSync(first, "utf8")))}\n`);
  } else if (values.reduce) {
    if (others.length > 0) throw new StepsError("--reduce takes one <stack>=<file>");
    process.stdout.write(`${JSON.stringify(read(first))}\n`);
  } else {
    const { text, passes } = renderComment([first, ...others].map(read), values.allowed);
    process.stdout.write(`${text}\n`);
    if (!passes) process.exitCode = 3;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
