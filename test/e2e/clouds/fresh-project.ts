/**
 * The cloud of `gcp-dev` in a project that is new, on Pulumi's engine and Google provider: Google refuses requests to an API for
 * a while after it was enabled. Without workloads, so that no control plane is needed.
 */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GoogleCloud } from "../google/cloud.ts";
import { openDiscovery } from "../google/discovery.ts";
import { findGoogleProvider, startGoogle } from "../google/index.ts";
import { requireRefusals } from "../google/refusals.ts";
import { installProvider, installStandIns } from "../providers/install.ts";
import { settingsEnvironment } from "../providers/settings.ts";
import { type Engine, openEngine } from "../support/engine.ts";
import { changing } from "../support/events.ts";
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

/** Of no API server. */
const host = "none.invalid";

/** @throws MissingPart without the provider, or when the engine can neither be found nor built */
export async function runFreshProject(report: Report): Promise<void> {
  const discovery = await openDiscovery(report.log);
  await report.check("gcp-fresh: the double of Google's API refuses what Google refuses", () =>
    requireRefusals(discovery),
  );
  const { path, label } = await findGoogleProvider();
  report.summarize(`gcp-fresh: ${label}`);
  const folder = await mkdtemp(join(tmpdir(), "lakehead-e2e-fresh-"));
  const opened: { close(): unknown }[] = [];
  try {
    const { account, region } = factsOf("gcp-dev");
    const apiServer = { host, ca: "" };
    const google = await startGoogle({
      discovery,
      folder,
      project: account,
      region,
      apiServer,
      apiDelay,
      nodes: undefined,
    });
    opened.push(google);
    const apiCa = join(folder, "ca.pem");
    await writeFile(apiCa, "");
    const plugins = join(folder, "bin");
    installStandIns(plugins);
    installProvider(plugins, path, google.env);
    const settings = {
      folder,
      apiHost: host,
      apiCa,
      apiToken: "none",
      account,
      principal: "",
      minute: 0,
      fail: undefined,
    };
    const engine = await openEngine({ log: report.log, plugins: [plugins], env: settingsEnvironment(settings) });
    opened.push(engine);
    await check(report, engine, google.cloud);
  } finally {
    for (const one of opened.reverse()) await one.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function check(report: Report, engine: Engine, cloud: GoogleCloud): Promise<void> {
  const project = join(engine.project, "Pulumi.yaml");
  await writeFile(project, (await readFile(project, "utf8")).replace("main: infra/index.ts", "main: program/fresh.ts"));
  await mkdir(join(engine.project, "program"));
  await writeFile(join(engine.project, "program", "fresh.ts"), program);
  const stack = await engine.stack("gcp-dev", { overrides: ownValues("gcp-dev") });
  await report.check("gcp-fresh: the first up waits until the project's APIs answer", async () => {
    const { changes } = await stack.up();
    const refused = cloud.refusals.filter((line) => line.includes("has not been used"));
    holds(refused.length > 0, "Google refused nothing");
    return `${changes.create} created after ${refused.length} refusals`;
  });
  await report.check("gcp-fresh: a second up repeats what was refused, and then nothing changes", async () => {
    await stack.up();
    const steps = changing([...(await stack.up()).ended, ...(await stack.refresh()).ended]);
    holds(steps.length === 0, steps.map(({ op, urn, paths }) => `${op} ${urn} ${paths.join(", ")}`).join("\n"));
    return undefined;
  });
  await report.check("gcp-fresh: what Google refuses for another reason fails at once", async () => {
    await stack.configure({ ...ownValues("gcp-dev"), "lakehead:clusterName": "another" });
    cloud.failing = "create container.clusters another";
    const { diagnostics, seconds } = await stack.up("failure");
    holds(
      diagnostics.some(({ message }) => message.includes("InternalFailure")),
      diagnostics.map(({ message }) => message).join("\n"),
    );
    return `${seconds.toFixed(0)} s`;
  });
  await report.check("gcp-fresh: destroy leaves nothing", async () => {
    cloud.failing = undefined;
    await stack.destroy();
    holds(cloud.left.length === 0, cloud.left.join("\n"));
    return `${cloud.calls.size} methods of Google's API`;
  });
}
