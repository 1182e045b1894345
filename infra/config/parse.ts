import { type Config, configSchema, type SecretKey } from "../clouds/schema.ts";
import { checkConfig } from "./checks.ts";
import { at, ConfigError, type Finding, findingsOf } from "./report.ts";

export interface ParseOptions {
  /** Which secrets the stack sets; their values are not needed to judge the configuration. */
  readonly secrets?: ReadonlySet<SecretKey>;
  /** The day to judge versions' ends of support by; default today. */
  readonly today?: Date;
}

/**
 * Judges a whole configuration at once.
 * @param raw the stack's keys without the project's namespace, values already decoded from JSON
 * @returns the configuration with every default filled in, and what is doubtful in it
 * @throws ConfigError with every error: those of the schema, and those between keys as far as the rest allows
 */
export function parseConfig(raw: unknown, options: ParseOptions = {}): { config: Config; warnings: Finding[] } {
  const parsed = configSchema.safeParse(raw);
  if (parsed.success) {
    const findings = checkConfig(parsed.data, options);
    if (findings.some(({ level }) => level === "error")) throw new ConfigError(findings);
    return { config: parsed.data, warnings: findings };
  }
  const wrong = findingsOf(parsed.error, raw);
  throw new ConfigError([...wrong, ...checkTheRest(raw, wrong, options)]);
}

/** Values for required keys that are missing or wrong, so that what is right can be judged all the same. */
const standIns: Readonly<Record<string, unknown>> = {
  account: "000000000000",
  deployerArn: "arn:aws:iam::000000000000:role/stand-in",
  project: "stand-in",
  bucket: { name: "stand-in" },
};
const standInRegions: Readonly<Record<string, string>> = { aws: "xx-standin-1", gcp: "xx-standin1" };

/** Checks between keys with the wrong values taken out, so that a typing mistake does not hide a sizing mistake. */
function checkTheRest(raw: unknown, wrong: readonly Finding[], options: ParseOptions): Finding[] {
  if (typeof raw !== "object" || raw === null) return [];
  const rest = structuredClone(raw) as Record<string, unknown>;
  const bad = wrong.map(({ key }) => key);
  for (const key of bad) {
    const path = key.split(".");
    const parent = path.slice(0, -1);
    removeKey(rest, Array.isArray(at(rest, parent)) ? parent : path);
  }
  const parsed = configSchema.safeParse(withStandIns(rest));
  if (!parsed.success) return [];
  return checkConfig(parsed.data, options).filter(
    ({ key, problem }) =>
      !problem.includes("standin") &&
      !bad.some((other) => key === other || key.startsWith(`${other}.`) || other.startsWith(`${key}.`)),
  );
}

function withStandIns(rest: Record<string, unknown>): Record<string, unknown> {
  const cloud = String(rest.cloud);
  const known = Object.keys(configSchema.options.find(({ shape }) => shape.cloud.value === cloud)?.shape ?? {});
  const own = Object.entries({ ...standIns, region: standInRegions[cloud] }).filter(([key]) => known.includes(key));
  const { bucket } = rest;
  return {
    ...Object.fromEntries(own),
    ...rest,
    ...(known.includes("bucket") && typeof bucket === "object" ? { bucket: { name: "stand-in", ...bucket } } : {}),
  };
}

function removeKey(root: unknown, path: readonly string[]): void {
  const parent = at(root, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === "object" && parent !== null && last !== undefined) {
    delete (parent as Record<string, unknown>)[last];
  }
}
