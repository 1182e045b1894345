/** Types whose names a signature may have, as LanceDB's client reads them: it does not know `utf8`. */
const described: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
      ...["float16", "float32", "float64", "string", "binary", "date32", "date64", "blob_v2"],
    ].map((name) => [name, name]),
  ),
  utf8: "string",
  large_utf8: "large_utf8",
};

/** Characters of a type, as a name and as JSON. It bounds the nesting, too. */
const maxLength = 128;
const maxJsonLength = 4096;
const maxListSize = 65_536;
const maxDepth = 8;

const list = /^(list|large_list)<(.+)>$/s;
const fixedList = /^fixed_size_list<(.+), ?(\d{1,6})>$/s;

const isListSize = (size: unknown): size is number =>
  Number.isInteger(size) && (size as number) >= 1 && (size as number) <= maxListSize;

/** A type in Arrow's JSON, with its keys in order. */
export type ExactType =
  | { readonly type: string }
  | { readonly fields: readonly ExactField[]; readonly type: string }
  | { readonly fields: readonly ExactField[]; readonly length: number; readonly type: string };

export interface ExactField {
  readonly name: string;
  readonly nullable: boolean;
  readonly type: ExactType;
}

const hasOnly = (value: object, keys: readonly string[]): boolean =>
  Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Without metadata: blobs inside of other types have it, and cannot be the column of a Function. */
const exactField = (value: unknown, depth: number): ExactField | undefined => {
  if (!isObject(value) || !hasOnly(value, ["name", "nullable", "type"])) return undefined;
  const { name, nullable } = value;
  if (typeof name !== "string" || name === "" || typeof nullable !== "boolean") return undefined;
  const type = exactType(value.type, depth);
  return type === undefined ? undefined : { name, nullable, type };
};

const exactType = (value: unknown, depth = 0): ExactType | undefined => {
  if (!isObject(value) || typeof value.type !== "string" || depth === maxDepth) return undefined;
  const { type } = value;
  // As the client writes it here, where it does know `utf8`, and no `string`.
  if (hasOnly(value, ["type"]))
    return Object.hasOwn(described, type) && type !== "string" && type !== "blob_v2" ? { type } : undefined;
  if (!Array.isArray(value.fields) || value.fields.length === 0) return undefined;
  const fields = value.fields.map((each) => exactField(each, depth + 1));
  if (!fields.every((each) => each !== undefined)) return undefined;
  const names = new Set(fields.map(({ name }) => name));
  if (names.size !== fields.length) return undefined;
  if (type === "struct" && hasOnly(value, ["type", "fields"])) return { fields, type };
  if (fields.length > 1) return undefined;
  if ((type === "list" || type === "large_list") && hasOnly(value, ["type", "fields"])) return { fields, type };
  const isFixed = type === "fixed_size_list" && hasOnly(value, ["type", "fields", "length"]);
  return isFixed && isListSize(value.length) ? { fields, length: value.length, type } : undefined;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Of a list by its name: the client writes one of blobs or of structs neither so nor at all. */
const describedItem = (text: string): string | undefined =>
  text === "blob_v2" || text.startsWith("{") ? undefined : describedType(text);

/** @returns the type as a description has it; undefined if Functions cannot have it. */
export const describedType = (text: string): string | undefined => {
  if (text.startsWith("{")) {
    const exact = text.length > maxJsonLength ? undefined : exactType(parseJson(text));
    return exact === undefined ? undefined : JSON.stringify(exact);
  }
  if (text.length > maxLength) return undefined;
  if (Object.hasOwn(described, text)) return described[text];
  const [, kind, item] = list.exec(text) ?? [];
  if (item !== undefined) {
    const inner = describedItem(item);
    return inner === undefined ? undefined : `${kind}<${inner}>`;
  }
  const [, element, size] = fixedList.exec(text) ?? [];
  if (element === undefined || !isListSize(Number(size))) return undefined;
  const inner = describedItem(element);
  return inner === undefined ? undefined : `fixed_size_list<${inner}, ${Number(size)}>`;
};

/** The same in full; undefined if Functions cannot have it, or as a column not yet: blobs. */
export const exactTypeOf = (text: string): ExactType | undefined => {
  const type = describedType(text);
  if (type === undefined || type === "blob_v2") return undefined;
  if (type.startsWith("{")) return exactType(parseJson(type));
  // By its name, a list has no null among its items.
  const fieldsOf = (item: string): readonly ExactField[] | undefined => {
    const inner = exactTypeOf(item);
    return inner === undefined ? undefined : [{ name: "item", nullable: false, type: inner }];
  };
  const [, kind, item] = list.exec(type) ?? [];
  if (kind !== undefined && item !== undefined) {
    const fields = fieldsOf(item);
    return fields === undefined ? undefined : { fields, type: kind };
  }
  const [, element, size] = fixedList.exec(type) ?? [];
  if (element !== undefined) {
    const fields = fieldsOf(element);
    return fields === undefined ? undefined : { fields, length: Number(size), type: "fixed_size_list" };
  }
  return { type: type === "string" ? "utf8" : type };
};
