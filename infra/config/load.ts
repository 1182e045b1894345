import * as pulumi from "@pulumi/pulumi";
import { findForeignKeys } from "./foreign-keys.ts";
import { parseConfig, rawConfig, type StackDefinition } from "./parse.ts";
import { findPlaceholders } from "./placeholders.ts";
import { ConfigError, describeFinding } from "./report.ts";

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
