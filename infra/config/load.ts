import * as pulumi from "@pulumi/pulumi";
import { parseConfig, rawConfig, type StackDefinition } from "./parse.ts";
import { findPlaceholders } from "./placeholders.ts";
import { ConfigError, describeFinding, errorIf, type Finding } from "./report.ts";

/** Namespaces of Pulumi's providers, and where their settings come from instead: no resource uses a default provider. */
const providers: Readonly<Record<string, (project: string) => string>> = {
  aws: (project) => `write ${project}:region and ${project}:account, and select credentials by AWS_PROFILE`,
  gcp: (project) =>
    `write ${project}:project and ${project}:region, and log in with gcloud auth application-default login`,
  kubernetes: () => "remove it; an existing cluster is chosen by lakehead:kubeconfigPath and lakehead:context",
};

/** An error for each key of a stack that neither this program nor the engine (`pulumi:`) reads. */
export function findForeignKeys(all: Readonly<Record<string, string>>, project: string): Finding[] {
  return Object.entries(all).flatMap(([key, value]) => {
    const [namespace = "", ...rest] = key.split(":");
    if (namespace === project || namespace === "pulumi") return [];
    const provider = providers[namespace];
    return provider === undefined
      ? errorIf(true, [key, value], `no program reads the namespace ${namespace}`, `write ${project}:${rest.join(":")}`)
      : errorIf(true, [key, value], `the stack's ${namespace} provider does not read this key`, provider(project));
  });
}

/** Values that the engine keeps secret; absent when the stack does not set them. */
export type SecretValues<Key extends string> = { readonly [Name in Key]?: pulumi.Output<string> };

/** Set by the offline plan, which creates nothing: there the placeholders of an example are a warning. */
const isOfflinePlan = (): boolean => process.env.LAKEHEAD_OFFLINE_PLAN !== undefined;

/**
 * Reads the current stack's configuration; the only reader of `pulumi.Config`. The engine logs the warnings.
 * @throws RunError with the message of a ConfigError, before any resource
 */
export function loadConfig<Config, SecretKey extends string>(
  definition: StackDefinition<Config, SecretKey>,
): { readonly config: Config; readonly secrets: SecretValues<SecretKey> } {
  const reader = new pulumi.Config();
  const secrets: Partial<Record<SecretKey, pulumi.Output<string>>> = {};
  for (const key of Object.keys(definition.secrets) as SecretKey[]) {
    const value = reader.getSecret(key);
    if (value !== undefined) secrets[key] = value;
  }
  const all = pulumi.runtime.allConfig();
  const raw = rawConfig(definition, all, pulumi.getProject());
  const placeholders = findPlaceholders(raw);
  const found = [...findForeignKeys(all, pulumi.getProject()), ...(isOfflinePlan() ? [] : placeholders)];
  const { config, warnings } = withoutStack(() =>
    parseConfig(definition, raw, { secrets: new Set(Object.keys(secrets)), found }),
  );
  if (isOfflinePlan() && placeholders.length > 0)
    pulumi.log.warn(placeholderWarning(placeholders.map(({ key }) => key))).catch(() => {});
  for (const warning of warnings)
    pulumi.log.warn(describeFinding(warning, definition.namespace).trim()).catch(() => {});
  const off = isOfflinePlan() ? (definition.off?.(config) ?? []) : [];
  if (off.length > 0) pulumi.log.info(`off: ${off.join(", ")}`).catch(() => {});
  return { config, secrets };
}

function placeholderWarning(keys: readonly string[]): string {
  return `placeholders are left, which pulumi preview and pulumi up refuse: ${[...new Set(keys)].join(", ")}`;
}

/** The CLI prints only the message of a RunError; of any other error it prints the call stack too. */
function withoutStack<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof ConfigError ? new pulumi.RunError(cause.message) : cause;
  }
}
