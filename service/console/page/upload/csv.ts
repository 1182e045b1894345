import {
  Bool,
  type DataType,
  DateDay,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int64,
  TimestampMicrosecond,
  Utf8,
} from "apache-arrow";
import Papa from "papaparse";
import type { Source } from "./source.ts";

const isInteger = (text: string): boolean => /^[+-]?\d{1,19}$/.test(text);
const isNumber = (text: string): boolean => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^(nan|[+-]?inf(inity)?)$/i.test(text);
const isTruth = (text: string): boolean => /^(true|false)$/i.test(text);
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);
const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/.test(text);
const isList = (text: string): boolean => /^\[[-+\d.eE,\s]+\]$/.test(text);

/** The length of all lists; undefined if they differ. */
const lengthOf = (texts: readonly string[]): number | undefined => {
  const lengths = new Set(texts.map((text) => text.split(",").length));
  const [length] = lengths;
  return lengths.size === 1 ? length : undefined;
};

/** Beginning with zero, a number is a name: a postcode, a telephone number. */
const isName = (text: string): boolean => /^[+-]?0\d/.test(text);

/** The types that all texts have, the most specific first; text always. */
export const typesOf = (texts: readonly string[]): readonly DataType[] => {
  const all = (is: (text: string) => boolean): boolean => texts.length > 0 && texts.every(is);
  const names = texts.some(isName);
  const types: DataType[] = [];
  if (all(isInteger) && !names) types.push(new Int64());
  if (all(isNumber) && !names) types.push(new Float64(), new Float32());
  if (all(isTruth)) types.push(new Bool());
  if (all(isDay)) types.push(new DateDay());
  if (all(isMoment))
    types.push(
      all((text) => /Z$|[+-]\d\d:?\d\d$/.test(text)) ? new TimestampMicrosecond("UTC") : new TimestampMicrosecond(),
    );
  const length = all(isList) ? lengthOf(texts) : undefined;
  if (length !== undefined) types.push(new FixedSizeList(length, new Field("item", new Float32(), true)));
  return [...types, new Utf8()];
};

const parseText = (file: File): Promise<string[][]> =>
  new Promise((resolve, reject) => {
    const rows: string[][] = [];
    Papa.parse<string[]>(file, {
      skipEmptyLines: "greedy",
      chunk({ data, errors: [error] }, parser) {
        for (const row of data) rows.push(row);
        // A file of one column has no delimiter to be found.
        if (error === undefined || error.code === "UndetectableDelimiter") return;
        parser.abort();
        reject(new Error(`row ${rows.length}: ${error.message}`));
      },
      complete: () => resolve(rows),
      error: reject,
    });
  });

/** A file with a header. An empty field is null. @throws Error that names the row that does not fit the header. */
export const readCsv = async (file: File): Promise<Source> => {
  const [header, ...rows] = await parseText(file);
  if (header === undefined) throw new Error("it is empty: its first line must have the names of the columns");
  const names = header.map((name) => name.trim().replace(/^\ufeff/, ""));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two columns have the name ${JSON.stringify(twice)}`);
  if (names.includes("")) throw new Error(`column ${names.indexOf("") + 1} has no name in the first line`);
  const bad = rows.findIndex((row) => row.length !== names.length);
  if (bad !== -1)
    throw new Error(`row ${bad + 1} has ${rows[bad]?.length} fields, and the first line has ${names.length} names`);
  return {
    kind: "values",
    length: rows.length,
    columns: names.map((name, column) => {
      const texts = rows.map((row) => row[column] ?? "");
      return { name, values: texts.map((text) => (text === "" ? null : text)), types: typesOf(texts.filter(Boolean)) };
    }),
  };
};
