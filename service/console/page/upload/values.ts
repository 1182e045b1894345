import { type DataType, type Field, Type } from "apache-arrow";

/** A moment in nanoseconds since 1970. */
export class Moment {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** Turns a value of a file, not null, into one of a column. @throws Error with the reason why it does not fit. */
type Convert = (value: unknown) => unknown;

const shown = (value: unknown): string => {
  const text =
    typeof value === "string" ? JSON.stringify(value) : value instanceof Uint8Array ? "bytes" : String(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
};

const misfit = (value: unknown, wanted: string): Error => new Error(`${shown(value)} is not ${wanted}`);

const integer = (bits: number, isSigned: boolean): Convert => {
  const [least, most] = isSigned
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  const wanted = `a whole number from ${least} to ${most}`;
  return (value) => {
    const isWhole =
      typeof value === "bigint" ||
      Number.isSafeInteger(value) ||
      (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value));
    if (!isWhole) throw misfit(value, wanted);
    const number = BigInt(typeof value === "string" ? value.trim().replace("+", "") : (value as bigint | number));
    if (number < least || number > most) throw misfit(value, wanted);
    return bits === 64 ? number : Number(number);
  };
};

const special: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
  "-infinity": Number.NEGATIVE_INFINITY,
};

const float: Convert = (value) => {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || value.trim() === "") throw misfit(value, "a number");
  const number = special[value.trim().toLowerCase()] ?? Number(value);
  if (Number.isNaN(number) && value.trim().toLowerCase() !== "nan") throw misfit(value, "a number");
  return number;
};

const text: Convert = (value) => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw misfit(value, "a text");
};

const truth: Convert = (value) => {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  if (word === "true" || word === "1") return true;
  if (word === "false" || word === "0") return false;
  throw misfit(value, "true or false");
};

const bytes: Convert = (value) => {
  if (value instanceof Uint8Array) return value;
  try {
    return Uint8Array.from(atob(String(value)), (letter) => letter.charCodeAt(0));
  } catch {
    throw misfit(value, "bytes in base64");
  }
};

const msPerDay = 86_400_000;

/** Days since 1970. */
const day: Convert = (value) => {
  if (value instanceof Date) return Math.floor(value.getTime() / msPerDay);
  const time =
    typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value.trim()) ? Date.parse(value.trim()) : Number.NaN;
  if (Number.isNaN(time)) throw misfit(value, "a date like 2026-01-31");
  return time / msPerDay;
};

const instant = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Nanoseconds since 1970; without a zone, of UTC. */
const nanosecondsOf = (value: unknown): bigint => {
  if (value instanceof Moment) return value.nanoseconds;
  if (value instanceof Date) return BigInt(value.getTime()) * 1_000_000n;
  const [all, date, minutes = "00:00", seconds = "00", fraction = "", zone = "Z"] =
    instant.exec(String(value).trim()) ?? [];
  const time =
    all === undefined
      ? Number.NaN
      : Date.parse(`${date}T${minutes}:${seconds}${zone.replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  if (Number.isNaN(time)) throw misfit(value, "a time like 2026-01-31T12:30:00Z");
  return BigInt(time) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
};

/** By Arrow's unit: seconds, milliseconds, microseconds, nanoseconds. */
const perUnit = [1_000_000_000n, 1_000_000n, 1000n, 1n] as const;

const timestamp =
  (unit: number): Convert =>
  (value) => {
    const per = perUnit[unit] ?? 1n;
    const nanoseconds = nanosecondsOf(value);
    if (nanoseconds % per !== 0n)
      throw misfit(
        value instanceof Moment ? value.nanoseconds : value,
        "a time without a fraction of the column's unit",
      );
    return nanoseconds / per;
  };

const parsed = (value: unknown): unknown => {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw misfit(value, "JSON");
  }
};

const list = ({ type }: Field, length: number | undefined): Convert => {
  const convert = converterOf(type);
  const wanted = length === undefined ? "a list" : `a list of ${length} values`;
  return (value) => {
    const items = parsed(value);
    const values = ArrayBuffer.isView(items) ? Array.from(items as Uint8Array) : items;
    if (!Array.isArray(values)) throw misfit(value, wanted);
    if (length !== undefined && values.length !== length)
      throw new Error(`a list of ${values.length} values is not ${wanted}`);
    return values.map((each: unknown) => (each === null || each === undefined ? null : convert(each)));
  };
};

const struct = (fields: readonly Field[]): Convert => {
  const converts = fields.map(({ name, type }) => [name, converterOf(type)] as const);
  return (value) => {
    const object = parsed(value);
    if (typeof object !== "object" || object === null) throw misfit(value, "an object");
    const given = object as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      converts.map(([name, convert]) => [
        name,
        given[name] === null || given[name] === undefined ? null : convert(given[name]),
      ]),
    );
  };
};

/** The bits that stand for values of a type; those of dates and times are whole numbers. @throws Error for a type that the console cannot fill. */
export const converterOf = (type: DataType): Convert => {
  const { bitWidth, isSigned, unit, listSize, byteWidth } = type as unknown as Readonly<Record<string, number>>;
  switch (type.typeId) {
    case Type.Int:
      return integer(bitWidth ?? 64, Boolean(isSigned));
    case Type.Float:
      return float;
    case Type.Utf8:
    case Type.LargeUtf8:
      return text;
    case Type.Bool:
      return truth;
    case Type.Binary:
    case Type.LargeBinary:
      return bytes;
    case Type.FixedSizeBinary:
      return (value) => {
        const found = bytes(value) as Uint8Array;
        if (found.length !== byteWidth) throw new Error(`${found.length} bytes are not ${byteWidth}`);
        return found;
      };
    case Type.Date:
      return unit === 0 ? day : (value) => BigInt((day(value) as number) * msPerDay);
    case Type.Timestamp:
      return timestamp(unit ?? 0);
    case Type.List:
      return list(type.children[0] as Field, undefined);
    case Type.FixedSizeList:
      return list(type.children[0] as Field, listSize);
    case Type.Struct:
      return struct(type.children as Field[]);
    default:
      throw new Error(`the console cannot fill a column of the type ${type}: send the file with a client`);
  }
};
