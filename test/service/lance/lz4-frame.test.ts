import { describe, expect, test } from "vitest";
import { mostBytesOf, outlineOf } from "../../../service/lance/arrow/stream.ts";
import { lz4, uncompressed, zstd } from "../writes/streams.ts";

const kibibyte = 1024;

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

/** A frame with blocks of 64 KiB; the content of the blocks does not matter. */
const frame = (
  blocks: readonly { readonly stored: number; readonly raw?: true }[],
  flag = 0x60,
  rest = 0,
): DataView => {
  const optional = (flag & 0x08 ? 8 : 0) + (flag & 0x01 ? 4 : 0);
  const bytes = Buffer.concat([
    word(0x184d2204),
    Buffer.from([flag, 0x40]),
    Buffer.alloc(optional + 1),
    ...blocks.flatMap(({ stored, raw }) => [
      word(raw === true ? stored + 2 ** 31 : stored),
      Buffer.alloc(stored + (flag & 0x10 ? 4 : 0)),
    ]),
    word(0),
    Buffer.alloc((flag & 0x04 ? 4 : 0) + rest),
  ]);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

describe("the most bytes of an LZ4 frame", () => {
  test.each([
    ["a full block", frame([{ stored: 4000 }]), 64 * kibibyte],
    ["a small block, at the highest ratio", frame([{ stored: 10 }]), 2550],
    ["a block that is not compressed", frame([{ stored: 5000, raw: true }]), 5000],
    ["several blocks", frame([{ stored: 4000 }, { stored: 4000 }, { stored: 1 }]), 128 * kibibyte + 255],
    ["every optional field", frame([{ stored: 4000 }], 0x7d), 64 * kibibyte],
  ])("of %s", (_, bytes, expected) => {
    expect(mostBytesOf(bytes)).toEqual({ bytes: expected, blockBytes: 64 * kibibyte });
  });

  test.each([
    ["two frames", frame([{ stored: 4000 }], 0x60, 20)],
    ["another version", frame([{ stored: 4000 }], 0xa0)],
    ["a frame without its end", new DataView(frame([{ stored: 4000 }]).buffer, 0, 100)],
    ["nothing", new DataView(new ArrayBuffer(0))],
  ])("is unknown of %s", (_, bytes) => {
    expect(mostBytesOf(bytes)).toBeUndefined();
  });
});

describe("a stream may decompress to more than it says", () => {
  test.each([
    ["uncompressed", uncompressed, false],
    ["compressed with LZ4", lz4, false],
    ["compressed with ZSTD", zstd, true],
  ])("%s: %s", (_, bytes, expected) => {
    expect(outlineOf(bytes).mayExceed).toBe(expected);
  });
});
