/** Every configuration key of a stack as Markdown tables, made from the schema alone. Pure. */

import { z } from "zod";
import { schema as bootstrapSchema } from "../../bootstrap/config.ts";
import { type CloudName, configSchema, secretKeys } from "../../infra/clouds/schema.ts";
import { inlineCode, markdownTable } from "../markdown-table.ts";

/** The part of JSON Schema that zod writes for this configuration. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Row {
  readonly key: string;
  /** What may be written, in words. */
  readonly value: string;
  /** `required`, a value as YAML would have it, or empty for none. */
  readonly preset: string;
  readonly meaning: string;
}

const code = (value: unknown): string => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
const alternatives = (schema: Schema): readonly Schema[] => schema.oneOf ?? schema.anyOf ?? [];

function valuesOf(schema: Schema): string {
  const { type, minimum, maximum, items, additionalProperties } = schema;
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  if (alternatives(schema).length > 0) return [...new Set(alternatives(schema).map(valuesOf))].join(", or ");
  if (type === "array") return `list of ${items === undefined ? "values" : valuesOf(items)}`;
  if (type === "object") return additionalProperties ? `map to ${valuesOf(additionalProperties)}` : "map";
  if (minimum !== undefined && minimum === maximum) return code(minimum);
  if ((type === "integer" || type === "number") && minimum !== undefined && maximum !== undefined)
    return `${type} from ${minimum} to ${maximum}`;
  return type ?? "any";
}

/** Whether the schema is a map of keys that are documented one by one. */
const isGroup = (schema: Schema): boolean =>
  schema.properties !== undefined || alternatives(schema).some(({ properties }) => properties !== undefined);

/** The discriminator of a union of maps, and what each of its values means. */
function choice(schema: Schema): { key: string; options: readonly Schema[] } | undefined {
  const [first, ...others] = alternatives(schema);
  const key = Object.entries(first?.properties ?? {}).find(([, { const: value }]) => value !== undefined)?.[0];
  if (first === undefined || key === undefined) return undefined;
  return { key, options: [first, ...others].flatMap(({ properties }) => properties?.[key] ?? []) };
}

function rows(schema: Schema, prefix: string, note = ""): Row[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child]): Row[] => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (isGroup(child)) return rows(child, key, note);
    const required = schema.required?.includes(name) ?? false;
    const preset = child.default !== undefined ? code(child.default) : required ? "required" : "";
    return [{ key, value: valuesOf(child), preset, meaning: `${child.description ?? ""}${note}` }];
  });
  const chosen = choice(schema);
  if (chosen === undefined) return own;
  const initial = (schema.default as Record<string, unknown> | undefined)?.[chosen.key];
  return [
    ...own,
    {
      key: `${prefix}.${chosen.key}`,
      value: chosen.options.map(valuesOf).join(", "),
      preset: initial === undefined ? "required" : code(initial),
      meaning: chosen.options.map((option) => `${code(option.const)}: ${option.description ?? ""}`).join("; "),
    },
    ...alternatives(schema).flatMap((option) => {
      const { [chosen.key]: mode, ...properties } = option.properties ?? {};
      return rows({ ...option, properties }, prefix, `${note} (with ${chosen.key} ${code(mode?.const)})`);
    }),
  ];
}

/** The rows of one cloud's configuration, in the order of the schema; what two alternatives share is said once. */
export function configRows(cloud: CloudName): Row[] {
  const option = configSchema.options.find(({ shape }) => shape.cloud.value === cloud);
  if (option === undefined) throw new Error(`the schema has no cloud ${cloud}`);
  return rowsOf(option);
}

function rowsOf(option: z.ZodType): Row[] {
  const all = rows(z.toJSONSchema(option, { io: "input", unrepresentable: "any" }) as Schema, "");
  return [...new Map(all.map((row) => [JSON.stringify(row), row])).values()];
}

/** The keys of `bootstrap/`, one table for each cloud. */
export function bootstrapTable(): string {
  return bootstrapSchema.options
    .flatMap((option) => [`### ${inlineCode(`cloud: ${option.shape.cloud.value}`)}`, table(rowsOf(option))])
    .join("\n\n");
}

const table = (list: readonly Row[]): string =>
  markdownTable(
    ["key", "value", "default", "meaning"],
    list.map(({ key, value, preset, meaning }) => [inlineCode(key), value, preset, meaning]),
  );

/** The keys that every cloud has, then each cloud's own, then the secrets. */
export function configTable(): string {
  const clouds = configSchema.options.map(({ shape }) => shape.cloud.value);
  const byCloud = new Map(clouds.map((cloud) => [cloud, configRows(cloud)]));
  const holders = Map.groupBy(
    [...byCloud].flatMap(([cloud, list]) => list.map((row) => ({ cloud, text: JSON.stringify(row) }))),
    ({ text }) => text,
  );
  const shared = (row: Row): boolean => holders.get(JSON.stringify(row))?.length === clouds.length;
  return [
    "## Every cloud",
    table((byCloud.get(clouds[0] ?? "aws") ?? []).filter(shared)),
    ...[...byCloud].flatMap(([cloud, list]) => [
      `## ${inlineCode(`cloud: ${cloud}`)}`,
      table(list.filter((row) => !shared(row))),
    ]),
    "## Secrets",
    "Set a secret with `pulumi config set --secret <key>`.",
    markdownTable(
      ["key", "meaning"],
      Object.entries(secretKeys).map(([key, meaning]) => [inlineCode(key), meaning]),
    ),
  ].join("\n\n");
}
