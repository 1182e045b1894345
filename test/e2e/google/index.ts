/** Pulumi's own Google provider in front of a double of Google's REST API. */

import { MissingPart } from "../../../tools/parts/control-plane/go.ts";
import { followNodes } from "../providers/nodes.ts";
import { Sdk } from "../providers/schema.ts";
import type { Api } from "../support/api.ts";
import { findProvider, versionOf } from "../support/installed-provider.ts";
import { GoogleCloud, type GoogleOptions } from "./cloud.ts";
import type { Discovery } from "./discovery.ts";
import type { Held } from "./kinds.ts";
import { startProxy } from "./proxy.ts";

export interface GoogleProvider {
  readonly path: string;
  /** Which version it is, and which the project's SDK has. */
  readonly label: string;
}

export interface Google {
  readonly cloud: GoogleCloud;
  /** What the provider alone is to see in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Hosts outside of Google's API that the provider asked for. */
  readonly strangers: ReadonlySet<string>;
  close(): void;
}

/** @throws MissingPart where there is none */
export async function findGoogleProvider(): Promise<GoogleProvider> {
  const { version: wanted } = new Sdk("@pulumi/gcp");
  const path = await findProvider("gcp", wanted);
  if (path === undefined)
    throw new MissingPart(
      `no Google provider on PATH or in Pulumi's plugin folder: pulumi plugin install resource gcp ${wanted}`,
    );
  const version = await versionOf(path);
  const other = version === wanted ? "" : `, while the project's SDK is ${wanted}`;
  return { path, label: `Pulumi's Google provider ${version}${other}` };
}

export interface StartGoogle extends Omit<GoogleOptions, "changed"> {
  readonly discovery: Discovery;
  /** For keys and certificates. */
  readonly folder: string;
  /** The API server whose nodes follow the pools; undefined: none. */
  readonly nodes: Api | undefined;
}

export async function startGoogle({ discovery, folder, nodes, ...options }: StartGoogle): Promise<Google> {
  const group = (held: Held | undefined) =>
    held === undefined ? undefined : { type: held.kind, inputs: held.body, id: held.path };
  const cloud = new GoogleCloud(discovery, {
    ...options,
    changed: async (before, after) => {
      if (nodes !== undefined) await followNodes(nodes, group(before), group(after));
    },
  });
  const { env, strangers, close } = await startProxy(folder, (method, url, body) => cloud.respond(method, url, body));
  return { cloud, env: { ...env, GOOGLE_OAUTH_ACCESS_TOKEN: "of-the-e2e-suite" }, strangers, close };
}
