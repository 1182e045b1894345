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

/** Characters of a type. It bounds the nesting, too. */
const maxLength = 128;
const maxListSize = 65_536;

const list = /^(list|large_list)<(.+)>$/s;
const fixedList = /^fixed_size_list<(.+), ?(\d{1,6})>$/s;

/** @returns the type as a description has it; undefined if Functions cannot have it. */
export const describedType = (text: string): string | undefined => {
  if (text.length > maxLength) return undefined;
  if (Object.hasOwn(described, text)) return described[text];
  const [, kind, item] = list.exec(text) ?? [];
  if (item !== undefined) {
    const inner = describedType(item);
    return inner === undefined ? undefined : `${kind}<${inner}>`;
  }
  const [, element, size] = fixedList.exec(text) ?? [];
  if (element === undefined || Number(size) < 1 || Number(size) > maxListSize) return undefined;
  const inner = describedType(element);
  return inner === undefined ? undefined : `fixed_size_list<${inner}, ${Number(size)}>`;
};
