/** Settings of the stand-ins, which the end-to-end suite passes in the environment of the engine. */

import { join } from "node:path";

export interface Settings {
  /** Folder of the journals. */
  readonly folder: string;
  /** host:port of the Kubernetes API server behind every cluster of this cloud. */
  readonly apiHost: string;
  /** Path of the API server's certificate authority, PEM. */
  readonly apiCa: string;
  /** Bearer token of the deployer. */
  readonly apiToken: string;
  /** The AWS account of the caller's credentials. */
  readonly account: string;
  /** The caller's principal. AWS admits it to a cluster only by an access entry. */
  readonly principal: string;
  /** Length of a simulated minute of the cloud, in milliseconds; 0 for no delays. */
  readonly minute: number;
  /** The operation that fails, as `<operation> <type> <resource name>`, such as `create aws:eks/nodeGroup:NodeGroup nodes-system`. */
  readonly fail: string | undefined;
}

const names = {
  folder: "LAKEHEAD_E2E_CLOUD",
  apiHost: "LAKEHEAD_E2E_API_HOST",
  apiCa: "LAKEHEAD_E2E_API_CA",
  apiToken: "LAKEHEAD_E2E_API_TOKEN",
  account: "LAKEHEAD_E2E_ACCOUNT",
  principal: "LAKEHEAD_E2E_PRINCIPAL",
  minute: "LAKEHEAD_E2E_MINUTE",
  fail: "LAKEHEAD_E2E_FAIL",
} as const satisfies Record<keyof Settings, string>;

/** @throws Error that names a variable which must be set and is not. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const required = (key: keyof Settings): string => {
    const value = environment[names[key]];
    if (value === undefined || value === "") throw new Error(`${names[key]} is not set: the e2e suite sets it`);
    return value;
  };
  return {
    folder: required("folder"),
    apiHost: required("apiHost"),
    apiCa: required("apiCa"),
    apiToken: required("apiToken"),
    account: required("account"),
    principal: environment[names.principal] ?? "",
    minute: Number(environment[names.minute] ?? "0"),
    fail: environment[names.fail],
  };
}

export function settingsEnvironment(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    (Object.keys(names) as (keyof Settings)[]).flatMap((key) =>
      settings[key] === undefined ? [] : [[names[key], String(settings[key])]],
    ),
  );
}

export const providerNames = ["aws", "docker-build"] as const;
export type ProviderName = (typeof providerNames)[number];

export const journalPath = (folder: string, provider: ProviderName): string => join(folder, `${provider}.jsonl`);
