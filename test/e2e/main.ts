/**
 * `npm run test:e2e [-- suite…]`: the program on Pulumi's engine and a Kubernetes API server, from preview to destroy.
 *
 * Nodes and pods are simulated: `npm run test:nodes` has real ones. Engine and control plane are built from their Go modules into
 * a cache, once. If that is impossible, the suite prints one line and does not fail. With `--built` it runs only if the cache
 * has them: building takes twenty minutes.
 */

import { parseArgs } from "node:util";
import { MissingPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import type { PartName } from "../../tools/parts/control-plane/table.ts";
import { controlPlane } from "./support/cluster.ts";
import { Report } from "./support/report.ts";

type Suite = (report: Report) => Promise<void>;

/** Loaded on demand, because each stack needs other parts. */
const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  local: async () => (await import("./local/suite.ts")).runLocal,
  queue: async () => (await import("./queue.ts")).runQueue,
  "gcp-fresh": async () => (await import("./clouds/fresh-project.ts")).runFreshProject,
  "aws-dev": async () => {
    const { runCloud } = await import("./clouds/suite.ts");
    return (report) => runCloud(report, "aws-dev");
  },
  "gcp-dev": async () => {
    const { runCloud } = await import("./clouds/suite.ts");
    return (report) => runCloud(report, "gcp-dev");
  },
};

/** Of suites that do not need both the engine and a control plane. */
const partsOf: Readonly<Record<string, readonly PartName[]>> = {
  "gcp-fresh": ["pulumi"],
  queue: [...controlPlane, "kwok", "kueue", "helm"],
};

const { values: options, positionals: wanted } = parseArgs({
  options: { built: { type: "boolean" } },
  allowPositionals: true,
});
const names = wanted.length > 0 ? wanted : Object.keys(suites);
const unknown = names.filter((name) => !(name in suites));
if (unknown.length > 0) {
  process.stderr.write(
    `no end-to-end suite for ${unknown.join(", ")}: choose from ${Object.keys(suites).join(", ")}\n`,
  );
  process.exit(2);
}

const report = new Report();
for (const name of names) {
  process.stdout.write(`\n${name}\n`);
  const parts = partsOf[name] ?? ["pulumi", ...controlPlane, "kwok"];
  const missing = options.built === true ? unbuilt(parts) : [];
  if (missing.length > 0) {
    report.skip(name, `${missing.join(", ")} not built: run npm run build:e2e, which takes some twenty minutes`);
    continue;
  }
  try {
    const run = await suites[name]?.();
    await run?.(report);
  } catch (error) {
    if (error instanceof MissingPart) report.skip(name, error.message);
    else await report.check(`the suite of ${name}`, () => Promise.reject(error));
  }
}
process.exitCode = report.end();
