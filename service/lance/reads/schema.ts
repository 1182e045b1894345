import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import type { JsonField, JsonSchema } from "../../query/answers.ts";
import {
  type ArrowField,
  type ArrowSchema,
  type ArrowType,
  kinds,
  readArrowSchema,
  schemaFile,
} from "../arrow/schema.ts";

/**
 * How types are named. `lance` is Lance's own form (`string`, `float`, `timestamp:us:-`), the only one that LanceDB's
 * client reads; `arrow` is what the catalog's other clients read (`utf8`, `float32`, `timestamp`).
 */
export type Vocabulary = "lance" | "arrow";

/** A type's name and, where it has one, its length. */
type Named = readonly [name: string, length?: number];

type Naming = (field: ArrowField) => Named;

const units = ["s", "ms", "us", "ns"] as const;

/** Types with the same name in both vocabularies. */
const alike: Readonly<Record<number, Naming>> = {
  [kinds.null]: () => ["null"],
  [kinds.bool]: () => ["bool"],
  [kinds.int]: ({ type }) => [integer(type)],
  [kinds.binary]: () => ["binary"],
  [kinds.largeBinary]: () => ["large_binary"],
  [kinds.fixedSizeBinary]: ({ type }) => ["fixed_size_binary", type.length],
  [kinds.list]: () => ["list"],
  [kinds.largeList]: () => ["large_list"],
  [kinds.fixedSizeList]: ({ type }) => ["fixed_size_list", type.length],
  [kinds.struct]: () => ["struct"],
  [kinds.map]: () => ["map"],
};

const integer = ({ isSigned, bits }: ArrowType): string => `${isSigned ? "int" : "uint"}${bits}`;

const naming: Readonly<Record<Vocabulary, Readonly<Record<number, Naming>>>> = {
  lance: {
    ...alike,
    [kinds.float]: ({ type }) => [({ 16: "halffloat", 32: "float" } as Record<number, string>)[type.bits] ?? "double"],
    [kinds.utf8]: () => ["string"],
    [kinds.largeUtf8]: () => ["large_string"],
    [kinds.decimal]: ({ type }) => [`decimal:${type.bits}:${type.precision}:${type.scale}`],
    [kinds.date]: ({ type }) => [type.unit === 0 ? "date32:day" : "date64:ms"],
    [kinds.time]: ({ type }) => [`time${type.bits}:${units[type.unit]}`],
    [kinds.timestamp]: ({ type }) => [`timestamp:${units[type.unit]}:${type.timezone ?? "-"}`],
    // They read no map, but a list of its entries, which has the same layout.
    [kinds.map]: () => ["list"],
    [kinds.duration]: ({ type }) => [`duration:${units[type.unit]}`],
  },
  arrow: {
    ...alike,
    [kinds.float]: ({ type }) => [`float${type.bits}`],
    [kinds.utf8]: () => ["utf8"],
    [kinds.largeUtf8]: () => ["large_utf8"],
    // Its readers decode precision and scale from one number.
    [kinds.decimal]: ({ type }) => [`decimal${type.bits}`, type.precision * 1000 + type.scale],
    [kinds.date]: ({ type }) => [type.unit === 0 ? "date32" : "date64"],
    [kinds.time]: ({ type }) => [`time${type.bits}`],
    [kinds.timestamp]: () => ["timestamp"],
    [kinds.duration]: () => ["duration"],
  },
};

const nameOf = (field: ArrowField, vocabulary: Vocabulary): Named => {
  const name = naming[vocabulary][field.type.kind];
  if (name === undefined)
    throw new ServiceError(0, { message: "the table has a column of a type that this server does not support" });
  const named = name(field);
  // In Arrow's names like the catalog's reference implementation: a column's encoding is not its type.
  return field.keys === undefined || vocabulary === "arrow" ? named : [`dict:${named[0]}:${integer(field.keys)}:false`];
};

const metadataOf = ({ metadata }: Pick<ArrowSchema, "metadata">) =>
  metadata.length > 0 ? { metadata: Object.fromEntries(metadata) } : {};

const toJsonField = (field: ArrowField, vocabulary: Vocabulary): JsonField => {
  const [name, length] = nameOf(field, vocabulary);
  return {
    name: field.name,
    nullable: field.nullable,
    type: {
      type: name,
      ...(length === undefined ? {} : { length }),
      ...(field.children.length > 0 ? { fields: field.children.map((child) => toJsonField(child, vocabulary)) } : {}),
    },
    ...metadataOf(field),
  };
};

/** @throws ServiceError code 0 for a type without a name in the vocabulary. */
export const toJsonSchema = (schema: ArrowSchema, vocabulary: Vocabulary): JsonSchema => ({
  fields: schema.fields.map((field) => toJsonField(field, vocabulary)),
  ...metadataOf(schema),
});

export const readTableSchema = async (table: Table): Promise<ArrowSchema> => readArrowSchema(await schemaFile(table));

/** @throws ServiceError code 0 for a table with a type that has no name in the vocabulary. */
export const readSchema = async (table: Table, vocabulary: Vocabulary): Promise<JsonSchema> =>
  toJsonSchema(await readTableSchema(table), vocabulary);

/** Words of the catalog's clients for types that the format names otherwise. */
const lanceWords: Readonly<Record<string, string>> = {
  utf8: "string",
  large_utf8: "large_string",
  float16: "halffloat",
  float32: "float",
  float64: "double",
  date32: "date32:day",
  date64: "date64:ms",
};

/** A type in JSON, of either vocabulary, in the words of the format. */
export const inLanceWords = (type: object): object => {
  const word = "type" in type && typeof type.type === "string" ? lanceWords[type.type] : undefined;
  return word === undefined ? type : { ...type, type: word };
};
