/** `npm run test:monitoring`: Prometheus's own tool checks the alerts, and that each fires and does not fire. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { ruleGroups } from "../../infra/model/alerts.ts";
import { alertNames, namespace, unitTests } from "./promtool.ts";

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

if (spawnSync("promtool", ["--version"]).status !== 0) {
  print("test:monitoring skipped: no promtool; on Debian, apt-get install prometheus");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "lakehead-monitoring-"));
let failed = 0;
const promtool = (what: string, ...args: string[]): void => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) failed++;
  print(status === 0 ? `ok      ${what}` : `FAILED  ${what}\n${stdout}${stderr}`);
};
try {
  writeFileSync(join(folder, "rules.yaml"), stringify({ groups: ruleGroups(namespace) }));
  writeFileSync(join(folder, "tests.yaml"), stringify(unitTests("rules.yaml")));
  promtool("promtool reads every rule", "check", "rules", "rules.yaml");
  promtool(`${alertNames.length} alerts fire when they should, and only then`, "test", "rules", "tests.yaml");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(`${2 - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
