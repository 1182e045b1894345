import * as pulumi from "@pulumi/pulumi";
import { parseConfig, rawConfig, type StackDefinition } from "./parse.ts";
import { ConfigError, describeFinding } from "./report.ts";

/** Values that the engine keeps secret; absent when the stack does not set them. */
export type SecretValues<Key extends string> = { readonly [Name in Key]?: pulumi.Output<string> };

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
  const raw = rawConfig(definition, pulumi.runtime.allConfig(), pulumi.getProject());
  const { config, warnings } = withoutStack(() =>
    parseConfig(definition, raw, { secrets: new Set(Object.keys(secrets)) }),
  );
  for (const warning of warnings) pulumi.log.warn(describeFinding(warning).trim()).catch(() => {});
  return { config, secrets };
}

/** The CLI prints only the message of a RunError; of any other error it prints the call stack too. */
function withoutStack<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof ConfigError ? new pulumi.RunError(cause.message) : cause;
  }
}
