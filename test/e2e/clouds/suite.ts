/**
 * `aws-dev` and `gcp-dev` on Pulumi's real engine and a real API server, with stand-ins for the clouds: the same
 * program, from preview to destroy, with failures half-way in both directions.
 */

import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installStandIns } from "../providers/install.ts";
import { Journal } from "../providers/journal.ts";
import { journalPath, type Settings, settingsEnvironment } from "../providers/settings.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type Engine, openEngine } from "../support/engine.ts";
import type { Report } from "../support/report.ts";
import { Scenario } from "./scenario.ts";
import { type CloudStack, factsOf, offline } from "./stacks.ts";

/** Milliseconds that stand for a minute of a cloud's: `LAKEHEAD_E2E_MINUTE=1000` makes the figures finer. */
const defaultMinute = 100;

/** @throws MissingPart when a part can neither be found nor built */
export async function runCloud(report: Report, stack: CloudStack): Promise<void> {
  const facts = factsOf(stack);
  const folder = await mkdtemp(join(tmpdir(), "lakehead-e2e-cloud-"));
  let cluster: Cluster | undefined;
  let engine: Engine | undefined;
  try {
    cluster = await startCluster({ log: report.log });
    const settings: Settings = {
      folder,
      apiHost: cluster.endpoint.replace(/^https:\/\//, ""),
      apiCa: join(folder, "ca.pem"),
      apiToken: cluster.token,
      account: facts.account,
      principal: facts.principal,
      minute: Number(process.env.LAKEHEAD_E2E_MINUTE ?? defaultMinute),
      fail: undefined,
    };
    writeFileSync(settings.apiCa, Buffer.from(cluster.certificateAuthority, "base64"));
    const plugins = join(folder, "bin");
    installStandIns(plugins);
    engine = await openEngine({
      log: report.log,
      plugins: [plugins],
      env: {
        ...settingsEnvironment(settings),
        // GKE's DNS endpoint has a certificate that the machine trusts; here the suite tells the machine to.
        SSL_CERT_FILE: settings.apiCa,
        NODE_EXTRA_CA_CERTS: settings.apiCa,
      },
    });
    const base = await offline(stack);
    const scenario = new Scenario({
      report,
      name: stack,
      facts,
      engine,
      cluster,
      base,
      stack: await engine.stack(stack, { overrides: base }),
      journal: new Journal(journalPath(folder, facts.cloud)),
      minute: settings.minute,
    });
    await scenario.run();
  } catch (error) {
    if (cluster !== undefined) report.log(cluster.lastWords.split("\n").slice(-40).join("\n"));
    throw error;
  } finally {
    await engine?.close();
    await cluster?.close();
    await rm(folder, { recursive: true, force: true });
  }
}
