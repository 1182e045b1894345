/**
 * Property values that a program sends to the engine, decoded from Pulumi's markers: known, known after an update
 * (`computed`), and secret. Source of the markers: sdk/nodejs/runtime/rpc.ts of pulumi/pulumi.
 */

import { createHash } from "node:crypto";

/** JSON, for printing, comparing and storing. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };
export type Value = null | boolean | number | string | Computed | Secret | Value[] | { [key: string]: Value };
export type Properties = Record<string, Value>;

/** A value that is unknown until its resource exists. */
export class Computed {
  readonly computed = true;
}
export const computed = new Computed();

/** A value that is never printed. */
export class Secret {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

export const unknownMarker = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const signatureKey = "4dabf18193072939515e22adb298388d";
const onlyMarker: ReadonlySet<unknown> = new Set([unknownMarker]);
const signatures = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  asset: "c44067f5952c0a294b673a41bacd8c17",
  archive: "0def7320c3a5731c473e5ecbe6d01bc7",
  resource: "5cf8f73096256a8f31e491e813e4eb8e",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Assets and resource references become short descriptions in angle brackets.
 *
 * @param unknowns - Texts that are unknown values: the marker, and placeholders of `unknowns.ts`.
 */
export function decode(wire: unknown, unknowns: ReadonlySet<unknown> = onlyMarker): Value {
  if (unknowns.has(wire)) return computed;
  if (wire === null || typeof wire === "boolean" || typeof wire === "number" || typeof wire === "string") return wire;
  if (Array.isArray(wire)) return wire.map((item) => decode(item, unknowns));
  if (!isRecord(wire)) return null;
  switch (wire[signatureKey]) {
    case undefined:
      return decodeProperties(wire, unknowns);
    case signatures.secret:
      return new Secret(decode(wire.value ?? null, unknowns));
    case signatures.output: {
      const inner = "value" in wire ? decode(wire.value, unknowns) : computed;
      return wire.secret === true ? new Secret(inner) : inner;
    }
    case signatures.asset:
    case signatures.archive:
      return `<asset ${text(wire.path) || text(wire.uri) || digest(JSON.stringify(wire))}>`;
    case signatures.resource:
      return `<resource ${text(wire.urn)}>`;
    default:
      return `<unknown wire marker ${String(wire[signatureKey])}>`;
  }
}

export function decodeProperties(wire: unknown, unknowns: ReadonlySet<unknown> = onlyMarker): Properties {
  return isRecord(wire)
    ? Object.fromEntries(Object.entries(wire).map(([key, value]) => [key, decode(value, unknowns)]))
    : {};
}

const digest = (value: string): string => `sha256:${createHash("sha256").update(value).digest("hex").slice(0, 12)}`;

/** Replaces unknown values by `<computed>` and secrets by `<secret>`, and sorts keys. */
export function mask(value: Value): Plain {
  if (value instanceof Secret) return "<secret>";
  if (value instanceof Computed) return "<computed>";
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, mask(value[key] ?? null)]),
  );
}

/** Replaces parts longer than `limit` characters of JSON by length and digest (a CRD has 0.9 MB). */
export function abridge(value: Plain, limit = 8_000): Plain {
  const json = JSON.stringify(value);
  if (json.length <= limit) return value;
  if (Array.isArray(value) || typeof value !== "object" || value === null)
    return `<${json.length} characters, ${digest(json)}>`;
  const shorter = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abridge(inner, limit)]));
  return JSON.stringify(shorter).length <= limit * 4 ? shorter : `<${json.length} characters, ${digest(json)}>`;
}

/** Every string outside of secrets, with its path. */
export function* plaintext(value: Value, path = ""): Generator<[path: string, text: string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* plaintext(item, `${path}[${index}]`);
  else if (typeof value === "object" && value !== null && !(value instanceof Secret) && !(value instanceof Computed))
    for (const [key, item] of Object.entries(value)) yield* plaintext(item, path === "" ? key : `${path}.${key}`);
}
