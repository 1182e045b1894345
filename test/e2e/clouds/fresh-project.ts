/**
 * The cloud of `gcp-dev` in a project that is new, on Pulumi's engine: Google refuses requests to an API for a while after it
 * was enabled. Without workloads, so that no control plane is needed.
 */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installStandIns } from "../providers/install.ts";
import { Journal } from "../providers/journal.ts";
import { journalPath, noApiServer, settingsEnvironment } from "../providers/settings.ts";
import { openEngine } from "../support/engine.ts";
import { holds, type Report } from "../support/report.ts";
import { factsOf, ownValues } from "./stacks.ts";

const program = `import { createCloud } from "../infra/clouds/index.ts";
import { stackDefinition } from "../infra/clouds/schema.ts";
import { loadConfig } from "../infra/config/load.ts";
const { config, secrets } = loadConfig(stackDefinition);
await createCloud(config, secrets);
`;

/** Longer than one pause of the program, so that it waits twice. */
const apiDelay = 8000;

/** @throws MissingPart when the engine can neither be found nor built */
export async function runFreshProject(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-e2e-fresh-"));
  const settings = {
    folder,
    apiHost: noApiServer,
    apiCa: join(folder, "ca.pem"),
    apiToken: "none",
    account: factsOf("gcp-dev").account,
    principal: "",
    minute: 0,
    fail: undefined,
    apiDelay,
  };
  await writeFile(settings.apiCa, "");
  const plugins = join(folder, "bin");
  installStandIns(plugins);
  const engine = await openEngine({ log: report.log, plugins: [plugins], env: settingsEnvironment(settings) });
  try {
    const project = join(engine.project, "Pulumi.yaml");
    await writeFile(
      project,
      (await readFile(project, "utf8")).replace("main: infra/index.ts", "main: program/fresh.ts"),
    );
    await mkdir(join(engine.project, "program"));
    await writeFile(join(engine.project, "program", "fresh.ts"), program);
    const stack = await engine.stack("gcp-dev", { overrides: ownValues("gcp-dev") });
    const journal = new Journal(journalPath(folder, "gcp"));
    await report.check("gcp-fresh: the first up waits until the project's APIs answer", async () => {
      const { changes } = await stack.up();
      const refused = journal.entries().filter(({ reason }) => reason?.startsWith("SERVICE_DISABLED") === true);
      holds(refused.length > 0, "Google refused nothing");
      return `${changes.create} created after ${refused.length} refusals`;
    });
    await report.check("gcp-fresh: what Google refuses for another reason fails at once", async () => {
      await stack.configure({ ...ownValues("gcp-dev"), "lakehead:clusterName": "another" });
      engine.env.LAKEHEAD_E2E_FAIL = "create gcp:container/cluster:Cluster cluster";
      const { diagnostics, seconds } = await stack.up("failure");
      holds(
        diagnostics.some(({ message }) => message.includes("InternalFailure")),
        diagnostics.map(({ message }) => message).join("\n"),
      );
      return `${seconds.toFixed(0)} s`;
    });
  } finally {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
}
