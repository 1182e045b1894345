import { type Data, type DataType, type Field, makeData, type Struct, Type, util } from "apache-arrow";

/** Bits of values that are not null, and the number of the others. */
const validityOf = (values: readonly unknown[]): { readonly nullCount: number; readonly nullBitmap: Uint8Array } => {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8);
  let nullCount = 0;
  for (const [at, value] of values.entries())
    if (value === null) nullCount++;
    else nullBitmap[at >> 3] = (nullBitmap[at >> 3] ?? 0) | (1 << (at & 7));
  return { nullCount, nullBitmap };
};

const bitsOf = (values: readonly unknown[]): Uint8Array =>
  validityOf(values.map((value) => (value === true ? true : null))).nullBitmap;

/** Bytes of any length, one after the other, and where each begins. */
const joined = (
  values: readonly (Uint8Array | null)[],
): { readonly data: Uint8Array; readonly ends: readonly number[] } => {
  const ends = [0];
  for (const value of values) ends.push((ends.at(-1) ?? 0) + (value?.length ?? 0));
  const data = new Uint8Array(ends.at(-1) ?? 0);
  for (const [at, value] of values.entries()) if (value !== null) data.set(value, ends[at]);
  return { data, ends };
};

const numbersOf = (type: DataType, values: readonly unknown[]) => {
  const numbers = new type.ArrayType(values.length);
  const isHalf = type.typeId === Type.Float && type.ArrayType === Uint16Array;
  for (const [at, value] of values.entries())
    if (value !== null) numbers[at] = isHalf ? util.float64ToUint16(value as number) : value;
  return numbers;
};

/**
 * A column of values that fit its type. The library's own builders make functions from text, which the policy of the page
 * refuses.
 */
export const dataOf = (type: DataType, values: readonly unknown[]): Data => {
  const { length } = values;
  const common = { type, length, ...validityOf(values) };
  const make = (parts: object): Data => makeData({ ...common, ...parts } as Parameters<typeof makeData>[0]);
  const child = ({ type: of }: Field, items: readonly unknown[]): Data => dataOf(of, items);
  switch (type.typeId) {
    case Type.Bool:
      return make({ data: bitsOf(values) });
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary: {
      const encoder = new TextEncoder();
      const { data, ends } = joined(
        values.map((value) => (typeof value === "string" ? encoder.encode(value) : (value as Uint8Array | null))),
      );
      const isLarge = type.typeId === Type.LargeUtf8 || type.typeId === Type.LargeBinary;
      return make({ data, valueOffsets: isLarge ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends) });
    }
    case Type.FixedSizeBinary: {
      const empty = new Uint8Array((type as unknown as { byteWidth: number }).byteWidth);
      return make({ data: joined(values.map((value) => (value ?? empty) as Uint8Array)).data });
    }
    case Type.List: {
      const lists = values as readonly (readonly unknown[] | null)[];
      const valueOffsets = new Int32Array(length + 1);
      for (const [at, list] of lists.entries()) valueOffsets[at + 1] = (valueOffsets[at] ?? 0) + (list?.length ?? 0);
      return make({
        valueOffsets,
        child: child(
          type.children[0] as Field,
          lists.flatMap((list) => list ?? []),
        ),
      });
    }
    case Type.FixedSizeList: {
      // A null has room, too.
      const empty = new Array((type as unknown as { listSize: number }).listSize).fill(null);
      return make({
        child: child(
          type.children[0] as Field,
          values.flatMap((list) => (list ?? empty) as unknown[]),
        ),
      });
    }
    case Type.Struct: {
      const rows = values as readonly (Readonly<Record<string, unknown>> | null)[];
      const fields = (type as Struct).children as Field[];
      return make({
        children: fields.map((field) =>
          child(
            field,
            rows.map((row) => row?.[field.name] ?? null),
          ),
        ),
      });
    }
    default:
      return make({ data: numbersOf(type, values) });
  }
};
