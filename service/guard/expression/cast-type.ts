import { type Cursor, shown } from "./cursor.ts";

/** Types of a cast, and the parameters that each accepts. The engine panics on a decimal of more than 38 digits. */
const castTypes: ReadonlyMap<string, "plain" | "unsigned" | "precision" | "decimal"> = new Map([
  ...["boolean", "float", "double", "string", "binary", "date"].map((name) => [name, "plain"] as const),
  ...["tinyint", "smallint", "int", "integer", "bigint"].map((name) => [name, "unsigned"] as const),
  ["timestamp", "precision"],
  ["datetime", "precision"],
  ["decimal", "decimal"],
]);

export const castTypesDescribed =
  "use boolean, tinyint, smallint, int, bigint (each also unsigned), float, double, string, binary, date, " +
  "timestamp(0|3|6|9) or decimal(precision up to 38, scale)";

/** Reads a type of a cast. */
export const readType = (cursor: Cursor): void => {
  const token = cursor.token();
  const parameters = token.kind === "word" ? castTypes.get(token.value) : undefined;
  if (parameters === undefined) cursor.refuse(`a cast to ${shown(token)}`, token.at, castTypesDescribed);
  cursor.next++;
  if (parameters === "unsigned") cursor.take("word", "unsigned");
  else if (parameters === "precision" && cursor.take("symbol", "(")) {
    readNumber(cursor, 0, 9, 3);
    cursor.expect("symbol", ")");
  } else if (parameters === "decimal") {
    cursor.expect("symbol", "(");
    const precision = readNumber(cursor, 1, 38);
    cursor.expect("symbol", ",");
    readNumber(cursor, 0, precision);
    cursor.expect("symbol", ")");
  }
};

const readNumber = (cursor: Cursor, minimum: number, maximum: number, step = 1): number => {
  const { kind, value, at } = cursor.token();
  const number = kind === "number" && /^\d{1,2}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= minimum && number <= maximum && number % step === 0))
    cursor.refuse(`a type's parameter outside ${minimum} to ${maximum}`, at, castTypesDescribed);
  cursor.next++;
  return number;
};
