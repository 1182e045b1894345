/** The suite where the cluster is: in the namespaces that `main.ts` makes, or anywhere with KUBECONFIG. */

import { once } from "node:events";
import { parseArgs } from "node:util";
import { MissingPart } from "../../tools/parts/control-plane/go.ts";
import { Report } from "../e2e/support/report.ts";
import { openStack, openSurroundings } from "./surroundings.ts";

const { values: options, positionals } = parseArgs({ options: { keep: { type: "boolean" } }, allowPositionals: true });

const report = new Report();
const started = performance.now();
const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`;
try {
  const surroundings = await openSurroundings(report.log);
  try {
    report.log(`${surroundings.title}, after ${seconds()}`);
    const stack = await openStack(surroundings);
    const up = await report.check("pulumi up creates the stack", async () => {
      const { changes, seconds: took } = await stack.up();
      return `${Object.entries(changes)
        .map(([op, count]) => `${count} ${op}`)
        .join(", ")} in ${took.toFixed(0)} s`;
    });
    if (options.keep === true) {
      report.log(`KUBECONFIG=${surroundings.kubeconfig}; Ctrl-C ends the cluster`);
      await once(process, "SIGINT");
    } else if (up) {
      process.stdout.write(`${positionals.join(" ")}\n`);
    }
    report.summarize(`${surroundings.title}: ${seconds()}`);
  } finally {
    await surroundings.close();
  }
} catch (error) {
  if (!(error instanceof MissingPart)) throw error;
  report.skip("all", error.message);
}
process.exit(report.end());
