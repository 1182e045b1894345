/** `node main.ts aws|docker-build`: the plugin process that the engine starts. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Api } from "../support/api.ts";
import { awsCloud } from "./aws.ts";
import { type Cloud, type Refusal, valuesAt } from "./cloud.ts";
import { Journal } from "./journal.ts";
import { followNodes } from "./nodes.ts";
import { StandIn } from "./provider.ts";
import { serve } from "./server.ts";
import { journalPath, type ProviderName, providerNames, readSettings, type Settings } from "./settings.ts";

/** What the provider of images refuses. Nothing is built. */

const image = "docker-build:index:Image";

const first = (inputs: Parameters<Refusal>[0]["inputs"], path: string): unknown => valuesAt(inputs, path)[0];

/** The provider resolves a relative place against its own working directory, which the engine chooses. */
const hasDockerfile: Refusal = ({ inputs }) => {
  const location = String(first(inputs, "context.location"));
  return existsSync(join(process.cwd(), location, "Dockerfile"))
    ? undefined
    : `"${location}" of ${process.cwd()}: there is no Dockerfile`;
};

const isPushed: Refusal = ({ inputs }) =>
  first(inputs, "exports.image.push") === true && valuesAt(inputs, "exports.image.names").length > 0
    ? undefined
    : "at least one tag or export name is needed when pushing to a registry";

const hasToken: Refusal = ({ inputs }) =>
  valuesAt(inputs, "registries.password").length > 0 ? undefined : "401 Unauthorized: the registry got no token";

const imageBuilder = (): Cloud => ({
  sdk: "@pulumi/docker-build",
  references: {},
  refusals: { [image]: [hasDockerfile, isPushed, hasToken] },
  refusedUpdates: {},
  keeps: {},
  inherited: () => ({}),
  refuseConfiguration: () => undefined,
  onUpdate: {},
});

const clouds: Readonly<Record<ProviderName, (settings: Settings) => Cloud>> = {
  aws: ({ account }) => awsCloud(account),
  "docker-build": imageBuilder,
};
const kind = providerNames.find((name) => name === process.argv[2]);
if (kind === undefined) throw new Error(`a stand-in for ${providerNames.join(", ")}, not for ${process.argv[2]}`);
const settings = readSettings(process.env);
const cloud = clouds[kind](settings);
const journal = new Journal(journalPath(settings.folder, kind));
const api = new Api({
  server: new URL(`https://${settings.apiHost}`),
  ca: readFileSync(settings.apiCa, "utf8"),
  cert: undefined,
  key: undefined,
  token: async () => settings.apiToken,
});
await serve(new StandIn(cloud, journal, settings, (before, after) => followNodes(api, before, after)));
