/**
 * `aws-dev` and `gcp-dev` on Pulumi's real engine and a real API server, with a stand-in for the AWS provider and a double of
 * Google's API behind Pulumi's own: the same program, from preview to destroy, with failures half-way in both directions.
 */

import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDiscovery } from "../google/discovery.ts";
import { findGoogleProvider, type Google, startGoogle } from "../google/index.ts";
import { installProvider, installStandIns } from "../providers/install.ts";
import { Journal } from "../providers/journal.ts";
import { journalPath, type Settings, settingsEnvironment } from "../providers/settings.ts";
import { Api } from "../support/api.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type Engine, openEngine } from "../support/engine.ts";
import type { Report } from "../support/report.ts";
import { type CloudView, Scenario } from "./scenario.ts";
import { type CloudFacts, type CloudStack, factsOf, offline } from "./stacks.ts";

/** Milliseconds that stand for a minute of a cloud's: `LAKEHEAD_E2E_MINUTE=1000` makes the figures finer. */
const defaultMinute = 100;

/** @throws MissingPart when a part can neither be found nor built */
export async function runCloud(report: Report, stack: CloudStack): Promise<void> {
  const facts = factsOf(stack);
  const provider = facts.cloud === "gcp" ? await findGoogleProvider() : undefined;
  const folder = await mkdtemp(join(tmpdir(), "lakehead-e2e-cloud-"));
  const opened: { close(): unknown }[] = [];
  let cluster: Cluster | undefined;
  try {
    cluster = await startCluster({ log: report.log });
    opened.push(cluster);
    const apiHost = cluster.endpoint.replace(/^https:\/\//, "");
    const settings: Settings = {
      folder,
      apiHost,
      apiCa: join(folder, "ca.pem"),
      apiToken: cluster.token,
      account: facts.account,
      principal: facts.principal,
      minute: Number(process.env.LAKEHEAD_E2E_MINUTE ?? defaultMinute),
      fail: undefined,
    };
    const ca = Buffer.from(cluster.certificateAuthority, "base64");
    writeFileSync(settings.apiCa, ca);
    const plugins = join(folder, "bin");
    installStandIns(plugins);
    const google = provider === undefined ? undefined : await openGoogle(report, settings, facts, ca);
    if (provider !== undefined && google !== undefined) {
      opened.push(google);
      installProvider(plugins, provider.path, google.env);
      report.summarize(`${stack}: ${provider.label}`);
    }
    const engine = await openEngine({
      log: report.log,
      plugins: [plugins],
      env: {
        ...settingsEnvironment(settings),
        // GKE's DNS endpoint has a certificate that the machine trusts; here the suite tells the machine to.
        SSL_CERT_FILE: settings.apiCa,
        NODE_EXTRA_CA_CERTS: settings.apiCa,
      },
    });
    opened.push(engine);
    const base = await offline(stack);
    const scenario = new Scenario({
      report,
      name: stack,
      facts,
      engine,
      cluster,
      base,
      stack: await engine.stack(stack, { overrides: base }),
      cloud: google === undefined ? journalView(engine, folder) : googleView(google),
      minute: settings.minute,
    });
    await scenario.run();
    if (google !== undefined) report.summarize(`${stack}: ${accountOf(google)}`);
  } catch (error) {
    if (cluster !== undefined) report.log(cluster.lastWords.split("\n").slice(-40).join("\n"));
    throw error;
  } finally {
    for (const one of opened.reverse()) await one.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const openGoogle = async ({ log }: Report, settings: Settings, { account, region }: CloudFacts, ca: Buffer) =>
  startGoogle({
    discovery: await openDiscovery(log),
    folder: settings.folder,
    project: account,
    region,
    apiServer: { host: settings.apiHost, ca: ca.toString("base64") },
    apiDelay: 0,
    nodes: new Api({
      server: new URL(`https://${settings.apiHost}`),
      ca: ca.toString("utf8"),
      cert: undefined,
      key: undefined,
      token: async () => settings.apiToken,
    }),
  });

function journalView(engine: Engine, folder: string): CloudView {
  const journal = new Journal(journalPath(folder, "aws"));
  return {
    left: () => journal.items().map(({ type, id }) => `${type} ${id}`),
    entries: () => journal.entries(),
    fail: (operation) => {
      if (operation === undefined) delete engine.env.LAKEHEAD_E2E_FAIL;
      else engine.env.LAKEHEAD_E2E_FAIL = operation;
    },
  };
}

const googleView = ({ cloud }: Google): CloudView => ({
  left: () => cloud.left,
  entries: () => [],
  fail: (operation) => {
    cloud.failing = operation;
  },
});

const accountOf = ({ cloud, strangers }: Google): string =>
  `${[...cloud.calls.values()].reduce((sum, one) => sum + one, 0)} requests to ${cloud.calls.size} methods of Google's documents` +
  (strangers.size === 0 ? "" : `; requests to ${[...strangers].join(", ")} were refused`);
