/**
 * `node infra/pull-request/main.ts [--allowed] <stack>=<file>...`: writes the comment of a pull request to standard
 * output. A file is what `pulumi preview --json`, `npm run plan -- <stack> --against <rev> --json` or this program with
 * `--reduce` printed. Exit code 3 when a cluster, node group, bucket, key or identity would be replaced or deleted and that
 * is not allowed; 1 when a file cannot be read, for what cannot be judged must not pass.
 *
 * `--reduce <stack>=<file>` writes the file's operations and names as JSON, without any value.
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { PlanDiff } from "../offline-plan/diff.ts";
import { renderComment, type StackSteps } from "./comment.ts";
import { StepsError, stepsOfDiff, stepsOfPreview } from "./guard.ts";

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
  if (typeof document !== "object" || document === null) throw new StepsError(`${file} of ${stack} holds no plan`);
  if ("source" in document) {
    const reduced = document as StackSteps;
    if (reduced.stack !== stack) throw new StepsError(`${file} is of ${reduced.stack}, not of ${stack}`);
    return reduced;
  }
  if ("resources" in document) return { stack, steps: stepsOfDiff(document as PlanDiff), source: "offline plan" };
  return { stack, steps: stepsOfPreview(document), source: "preview" };
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { allowed: { type: "boolean", default: false }, reduce: { type: "boolean", default: false } },
  });
  const [first, ...others] = positionals;
  if (first === undefined) throw new StepsError("say which previews to read: <stack>=<file>...");
  if (values.reduce) {
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
