/**
 * Reads a flatbuffer's tables. Every access is checked: a DataView throws a RangeError outside its bytes, so a malformed
 * buffer cannot read other memory. See the FlatBuffers internals for the layout.
 */

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The position that the offset at `at` points to. */
export const follow = (view: DataView, at: number): number => at + view.getUint32(at, true);

/** Position of a table's field; undefined if the field has its default. @param index of the field in its schema. */
export const fieldAt = (view: DataView, table: number, index: number): number | undefined => {
  const vtable = table - view.getInt32(table, true);
  const entry = 4 + 2 * index;
  if (entry >= view.getUint16(vtable, true)) return undefined;
  const offset = view.getUint16(vtable + entry, true);
  return offset === 0 ? undefined : table + offset;
};

/** A vector of structures of equal size. @returns the position of each. @throws RangeError if it exceeds the buffer. */
export const structsAt = (view: DataView, at: number | undefined, bytes: number): readonly number[] => {
  if (at === undefined) return [];
  const vector = follow(view, at);
  const count = view.getUint32(vector, true);
  if (vector + 4 + count * bytes > view.byteLength) throw new RangeError("a vector exceeds its flatbuffer");
  return Array.from({ length: count }, (_, index) => vector + 4 + index * bytes);
};

/** A 64-bit integer. @throws RangeError beyond 2^53. */
export const longAt = (view: DataView, at: number | undefined): number => {
  const value = at === undefined ? 0 : Number(view.getBigInt64(at, true));
  if (!Number.isSafeInteger(value)) throw new RangeError("an integer of a flatbuffer is too large");
  return value;
};
