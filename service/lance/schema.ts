import { type DataType, type Field, type Schema, Type } from "apache-arrow";
import { ServiceError } from "../errors.ts";

/** A type in the JSON form of an Arrow schema that the Lance catalog uses. */
export interface JsonType {
  readonly type: string;
  readonly length?: number;
  readonly fields?: readonly JsonField[];
}

export interface JsonField {
  readonly name: string;
  readonly nullable: boolean;
  readonly type: JsonType;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface JsonSchema {
  readonly fields: readonly JsonField[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * How types are named. `lance` is Lance's own form (`string`, `float`, `timestamp:us:-`), the only one that LanceDB's
 * client reads; `arrow` is what the catalog's other clients read (`utf8`, `float32`, `timestamp`).
 */
export type Vocabulary = "lance" | "arrow";

/** The parameters of all Arrow types; each type has some of them. */
type Detailed = DataType & {
  readonly bitWidth: number;
  readonly isSigned: boolean;
  readonly unit: number;
  readonly precision: number;
  readonly scale: number;
  readonly timezone?: string | null;
  readonly byteWidth: number;
  readonly listSize: number;
  readonly dictionary: DataType;
  readonly indices: DataType;
};

/** A type's name and, where it has one, its length. */
type Named = readonly [name: string, length?: number];

type Naming = (type: Detailed) => Named;

const units = ["s", "ms", "us", "ns"] as const;

/** Types with the same name in both vocabularies. */
const alike: Readonly<Partial<Record<Type, Naming>>> = {
  [Type.Null]: () => ["null"],
  [Type.Bool]: () => ["bool"],
  [Type.Int]: ({ isSigned, bitWidth }) => [`${isSigned ? "int" : "uint"}${bitWidth}`],
  [Type.Binary]: () => ["binary"],
  [Type.LargeBinary]: () => ["large_binary"],
  [Type.List]: () => ["list"],
  [Type.FixedSizeList]: ({ listSize }) => ["fixed_size_list", listSize],
  [Type.Struct]: () => ["struct"],
  [Type.Map]: () => ["map"],
};

const naming: Readonly<Record<Vocabulary, Readonly<Partial<Record<Type, Naming>>>>> = {
  lance: {
    ...alike,
    [Type.Float]: ({ precision }) => [["halffloat", "float", "double"][precision] ?? "double"],
    [Type.Utf8]: () => ["string"],
    [Type.LargeUtf8]: () => ["large_string"],
    [Type.FixedSizeBinary]: ({ byteWidth }) => [`fixed_size_binary:${byteWidth}`],
    [Type.Decimal]: ({ bitWidth, precision, scale }) => [`decimal:${bitWidth}:${precision}:${scale}`],
    [Type.Date]: ({ unit }) => [unit === 0 ? "date32:day" : "date64:ms"],
    [Type.Time]: ({ bitWidth, unit }) => [`time${bitWidth}:${units[unit]}`],
    [Type.Timestamp]: ({ unit, timezone }) => [`timestamp:${units[unit]}:${timezone ?? "-"}`],
    [Type.Duration]: ({ unit }) => [`duration:${units[unit]}`],
    [Type.Dictionary]: ({ dictionary, indices }) => {
      const [[values], [keys]] = [nameOf(dictionary, "lance"), nameOf(indices, "lance")];
      return [`dict:${values}:${keys}:false`];
    },
  },
  arrow: {
    ...alike,
    [Type.Float]: ({ precision }) => [["float16", "float32", "float64"][precision] ?? "float64"],
    [Type.Utf8]: () => ["utf8"],
    [Type.LargeUtf8]: () => ["large_utf8"],
    [Type.FixedSizeBinary]: ({ byteWidth }) => ["fixed_size_binary", byteWidth],
    // Its readers decode precision and scale from one number.
    [Type.Decimal]: ({ bitWidth, precision, scale }) => [`decimal${bitWidth}`, precision * 1000 + scale],
    [Type.Date]: ({ unit }) => [unit === 0 ? "date32" : "date64"],
    [Type.Time]: ({ bitWidth }) => [`time${bitWidth}`],
    [Type.Timestamp]: () => ["timestamp"],
    [Type.Duration]: () => ["duration"],
    [Type.Interval]: () => ["interval"],
    // Like the catalog's reference implementation: a column's encoding is not its type.
    [Type.Dictionary]: ({ dictionary }) => nameOf(dictionary, "arrow"),
  },
};

const nameOf = (type: DataType, vocabulary: Vocabulary): Named => {
  const name = naming[vocabulary][type.typeId as Type];
  if (name === undefined)
    throw new ServiceError(0, { message: "the table has a column of a type that this server does not support" });
  return name(type as Detailed);
};

const metadataOf = ({ metadata }: Field | Schema) =>
  metadata.size > 0 ? { metadata: Object.fromEntries(metadata) } : {};

const toJsonType = (type: DataType, vocabulary: Vocabulary): JsonType => {
  const [name, length] = nameOf(type, vocabulary);
  return {
    type: name,
    ...(length === undefined ? {} : { length }),
    ...(type.children?.length ? { fields: type.children.map((field) => toJsonField(field, vocabulary)) } : {}),
  };
};

const toJsonField = (field: Field, vocabulary: Vocabulary): JsonField => ({
  name: field.name,
  nullable: field.nullable,
  type: toJsonType(field.type, vocabulary),
  ...metadataOf(field),
});

/** @throws ServiceError code 0 for a type without a name in the vocabulary. */
export const toJsonSchema = (schema: Schema, vocabulary: Vocabulary): JsonSchema => ({
  fields: schema.fields.map((field) => toJsonField(field, vocabulary)),
  ...metadataOf(schema),
});

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
