import type { Data, DataType } from "apache-arrow";
import { formatBytes } from "./format.ts";
import { type Media, mediaOf } from "./media.ts";

/** A value as the console shows it. Texts are whole, and those that pyarrow prints. */
export type Cell =
  | { readonly kind: "null" | "number" | "text"; readonly text: string }
  | { readonly kind: "vector"; readonly numbers: readonly number[] }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly media: Media | undefined }
  /** Bytes that are read when they are shown. */
  | { readonly kind: "blob"; readonly size: number; readonly media: Media | undefined; readonly read: ReadParts };

/** A part of a value, and the size of the whole. */
export interface BlobPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly size: number;
}

/** Reads a value in parts. @param onProgress gets the number of bytes so far. */
export type ReadParts = (
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
) => Promise<readonly Uint8Array<ArrayBuffer>[]>;

/** Of Arrow's enumeration `Type`: its numbers are the format's, and its module is loaded when rows are. */
const typeIds = {
  dictionary: -1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
} as const;

/** Decimals of a second by Arrow's unit: seconds, milliseconds, microseconds, nanoseconds. */
const unitDigits = [0, 3, 6, 9] as const;
const unitNames = ["s", "ms", "us", "ns"] as const;

interface Parameters {
  readonly unit: 0 | 1 | 2 | 3;
  readonly timezone: string | null;
  readonly scale: number;
  readonly precision: 0 | 1 | 2;
  readonly listSize: number;
  readonly byteWidth: number;
}

/** Types have their parameters as properties; which ones, their id tells. */
const parametersOf = (type: DataType): Parameters => type as unknown as Parameters;

const fromFloat16 = (bits: number): number => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
};

/** The shortest number that is the same as float32: 0.1, not 0.10000000149011612. */
const shortestFloat32 = (value: number): number => {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
};

const floatText = (value: number): string => {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Object.is(value, -0) ? "-0" : String(value);
};

/** @param words of 32 bits in two's complement, the lowest first. */
const decimalText = (words: Uint32Array, scale: number): string => {
  const bits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const unscaled = BigInt.asIntN(words.length * 32, bits);
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

/** Seconds and what is left of them, both from a count of units; the remainder is never negative. */
const secondsOf = (count: bigint, digits: number): readonly [bigint, string] => {
  const unit = 10n ** BigInt(digits);
  const rest = ((count % unit) + unit) % unit;
  return [(count - rest) / unit, digits === 0 ? "" : `.${String(rest).padStart(digits, "0")}`];
};

/** Beyond what a Date can hold (years of 271821 and more), the count itself with its unit. */
const instant = (seconds: bigint): Date | undefined => {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

const dateText = (milliseconds: number): string => {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? `${milliseconds} ms` : date.toISOString().split("T")[0] || "";
};

const fixedOffset = /^([+-])(\d\d):?(\d\d)$/;

/** Offset of a zone from UTC at a moment, in minutes; undefined for a zone that the browser does not know. */
const offsetMinutes = (zone: string, at: Date): number | undefined => {
  const [, sign, hours, minutes] = fixedOffset.exec(zone) ?? [];
  if (sign !== undefined) return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  try {
    const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(at);
    const name = parts.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "") ?? "";
    return name === "" ? 0 : offsetMinutes(name, at);
  } catch {
    return undefined;
  }
};

const two = (value: number): string => String(value).padStart(2, "0");

const offsetText = (minutes: number): string =>
  `${minutes < 0 ? "-" : "+"}${two(Math.trunc(Math.abs(minutes) / 60))}${two(Math.abs(minutes) % 60)}`;

const timestampText = (count: bigint, unit: Parameters["unit"], zone: string | null): string => {
  const [seconds, fraction] = secondsOf(count, unitDigits[unit]);
  const at = instant(seconds);
  if (at === undefined) return `${count} ${unitNames[unit]}`;
  const offset = zone === null ? 0 : offsetMinutes(zone, at);
  const local = new Date(at.getTime() + (offset ?? 0) * 60_000).toISOString().slice(0, -5).replace("T", " ");
  if (zone === null) return `${local}${fraction}`;
  if (offset === undefined) return `${local}${fraction}Z (${zone})`;
  return `${local}${fraction}${zone === "UTC" ? "Z" : offsetText(offset)}`;
};

const timeText = (count: bigint, unit: Parameters["unit"]): string => {
  const [seconds, fraction] = secondsOf(count, unitDigits[unit]);
  const whole = Number(seconds);
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`;
};

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

const bytesAt = ({ values, valueOffsets }: Data, index: number): Uint8Array =>
  values.subarray(Number(valueOffsets[index]), Number(valueOffsets[index + 1]));

const utf8 = new TextDecoder();
const text = (value: string): Cell => ({ kind: "text", text: value });
const number = (value: string): Cell => ({ kind: "number", text: value });
export const bytesCell = (value: Uint8Array): Cell => ({ kind: "bytes", bytes: value, media: mediaOf(value) });

const floatOf = ({ type, values }: Data, index: number): number => {
  const value: number = values[index];
  const precision = parametersOf(type).precision;
  return precision === 0 ? fromFloat16(value) : precision === 1 ? shortestFloat32(value) : value;
};

/** Text of a value inside of another: strings are quoted, bytes are their length. */
export const innerText = (cell: Cell, isString: boolean): string =>
  isString && cell.kind === "text" ? JSON.stringify(cell.text) : textOf(cell);

const isText = ({ typeId }: DataType): boolean => typeId === typeIds.utf8 || typeId === typeIds.largeUtf8;

const innerAt = (data: Data | undefined, index: number): string =>
  data === undefined ? "null" : innerText(cellAt(data, index), isText(data.type));

const listText = (child: Data | undefined, from: number, to: number): Cell =>
  text(
    `[${range(from, to)
      .map((at) => innerAt(child, at))
      .join(", ")}]`,
  );

/** Fixed-size lists of floats are vectors, unless a number is missing. */
const fixedSizeList = (data: Data, index: number): Cell => {
  const { listSize } = parametersOf(data.type);
  const [child] = data.children;
  const from = index * listSize;
  if (child?.type.typeId !== typeIds.float || range(from, from + listSize).some((at) => !child.getValid(at)))
    return listText(child, from, from + listSize);
  return { kind: "vector", numbers: range(from, from + listSize).map((at) => floatOf(child, at)) };
};

const entriesText = (data: Data, index: number): Cell => {
  const [entries] = data.children;
  const [keys, values] = entries?.children ?? [];
  const { valueOffsets } = data;
  const inner = range(valueOffsets[index] ?? 0, valueOffsets[index + 1] ?? 0);
  return text(`{${inner.map((at) => `${innerAt(keys, at)}: ${innerAt(values, at)}`).join(", ")}}`);
};

const readers: Readonly<Record<number, (data: Data, index: number) => Cell>> = {
  [typeIds.int]: ({ values }, index) => number(String(values[index])),
  [typeIds.float]: (data, index) => number(floatText(floatOf(data, index))),
  [typeIds.bool]: ({ values, offset }, index) =>
    text(String(((values[(offset + index) >> 3] >> ((offset + index) & 7)) & 1) === 1)),
  [typeIds.utf8]: (data, index) => text(utf8.decode(bytesAt(data, index))),
  [typeIds.largeUtf8]: (data, index) => text(utf8.decode(bytesAt(data, index))),
  [typeIds.binary]: (data, index) => bytesCell(bytesAt(data, index)),
  [typeIds.largeBinary]: (data, index) => bytesCell(bytesAt(data, index)),
  [typeIds.fixedSizeBinary]: ({ values, type }, index) => {
    const { byteWidth } = parametersOf(type);
    return bytesCell(values.subarray(index * byteWidth, (index + 1) * byteWidth));
  },
  [typeIds.decimal]: ({ values, stride, type }, index) =>
    number(decimalText(values.subarray(index * stride, (index + 1) * stride), parametersOf(type).scale)),
  // Days, or milliseconds.
  [typeIds.date]: ({ values, type }, index) =>
    text(dateText(Number(values[index]) * (parametersOf(type).unit === 0 ? 86_400_000 : 1))),
  [typeIds.time]: ({ values, type }, index) => text(timeText(BigInt(values[index]), parametersOf(type).unit)),
  [typeIds.timestamp]: ({ values, type }, index) => {
    const { unit, timezone } = parametersOf(type);
    return text(timestampText(values[index], unit, timezone));
  },
  [typeIds.duration]: ({ values, type }, index) => text(`${values[index]} ${unitNames[parametersOf(type).unit]}`),
  [typeIds.list]: ({ valueOffsets, children }, index) =>
    listText(children[0], valueOffsets[index] ?? 0, valueOffsets[index + 1] ?? 0),
  [typeIds.fixedSizeList]: fixedSizeList,
  [typeIds.struct]: ({ children, type }, index) => {
    const fields = type.children.map(
      ({ name }: { name: string }, at: number) => `${name}: ${innerAt(children[at], index)}`,
    );
    return text(`{${fields.join(", ")}}`);
  },
  [typeIds.map]: entriesText,
  [typeIds.dictionary]: ({ values, dictionary }, index) => {
    // One chunk: the reader joins those of a file.
    const [data] = dictionary?.data ?? [];
    return data === undefined ? { kind: "null", text: "null" } : cellAt(data, Number(values[index]));
  },
};

/** The value at an index of a column's chunk. A type that has no reader shows its name. */
export const cellAt = (data: Data, index: number): Cell => {
  if (data.type.typeId === 1 || !data.getValid(index)) return { kind: "null", text: "null" };
  return readers[data.type.typeId]?.(data, index) ?? text(`(${data.type})`);
};

const maxHexBytes = 32;

/** `PNG 640×480, 2.1 MB`. */
const mediaText = (size: number, media: Media | undefined): string => {
  const { name, width, height } = media ?? { name: "bytes" };
  return `${name}${width === undefined ? "" : ` ${width}×${height}`}, ${formatBytes(size)}`;
};

/** A few bytes of no known format as they are. */
const bytesText = (value: Uint8Array, media: Media | undefined): string =>
  media === undefined && value.length <= maxHexBytes
    ? `0x${value.reduce((digits, byte) => digits + byte.toString(16).padStart(2, "0"), "")}`
    : mediaText(value.length, media);

/** The whole value as text; of bytes, what they are. */
export const textOf = (cell: Cell): string => {
  if (cell.kind === "vector") return `[${cell.numbers.map(floatText).join(", ")}]`;
  if (cell.kind === "bytes") return bytesText(cell.bytes, cell.media);
  if (cell.kind === "blob") return mediaText(cell.size, cell.media);
  return cell.text;
};

/** The numbers of a vector that can be searched for: all of them are finite. */
export const numbersOf = (cell: Cell): readonly number[] | undefined =>
  cell.kind === "vector" && cell.numbers.every(Number.isFinite) ? cell.numbers : undefined;
