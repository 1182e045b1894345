import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { type Config, configSchema, type SecretKey, secretKeys } from "../clouds/schema.ts";
import { type ParseOptions, parseConfig } from "./parse.ts";
import { ConfigError, describeFinding } from "./report.ts";

export type { AwsConfig, Config, GcpConfig, KubeconfigConfig, SecretKey } from "../clouds/schema.ts";
export { roleOptions } from "../model/role-options.ts";
export { parseConfig } from "./parse.ts";
export { ConfigError } from "./report.ts";

/** Values that the engine keeps secret; absent when the stack does not set them. */
export type Secrets = { readonly [Key in SecretKey]?: pulumi.Output<string> };

export interface Loaded {
  readonly config: Config;
  readonly secrets: Secrets;
}

/**
 * Reads the current stack's configuration; the only reader of `pulumi.Config`. Warnings go to the engine's log.
 * @throws RunError with the words of a ConfigError, every error at once, before any resource
 */
export function loadConfig(): Loaded {
  const reader = new pulumi.Config();
  const secrets: Partial<Record<SecretKey, pulumi.Output<string>>> = {};
  for (const key of Object.keys(secretKeys) as SecretKey[]) {
    const value = reader.getSecret(key);
    if (value !== undefined) secrets[key] = value;
  }
  const raw = rawConfig(pulumi.runtime.allConfig(), pulumi.getProject());
  const { config, warnings } = judged(raw, { secrets: new Set(Object.keys(secrets) as SecretKey[]) });
  for (const warning of warnings) pulumi.log.warn(describeFinding(warning).trim()).catch(() => {});
  return { config, secrets };
}

/** The CLI prints a RunError's message alone, without the stack of a fault in the program. */
function judged(raw: unknown, options: ParseOptions): ReturnType<typeof parseConfig> {
  try {
    return parseConfig(raw, options);
  } catch (cause) {
    throw cause instanceof ConfigError ? new pulumi.RunError(cause.message) : cause;
  }
}

/** The project's own keys, decoded: the engine hands every value over as text, objects and numbers as JSON. */
export function rawConfig(all: Readonly<Record<string, string>>, project: string): Record<string, unknown> {
  const own = Object.entries(all).flatMap(([name, text]): [string, unknown][] => {
    if (!name.startsWith(`${project}:`)) return [];
    const key = name.slice(project.length + 1);
    return Object.hasOwn(secretKeys, key) ? [] : [[key, textKeys.has(key) ? text : decode(text)]];
  });
  return Object.fromEntries(own);
}

/** The top-level keys whose values are text, which `"1.35"` and an account id must stay. */
const textKeys: ReadonlySet<string> = new Set(
  configSchema.options.flatMap(({ shape }) =>
    Object.entries(shape).flatMap(([key, field]) =>
      ["string"].includes(String(z.toJSONSchema(field, { io: "input", unrepresentable: "any" }).type)) ? [key] : [],
    ),
  ),
);

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
