import { viewOf } from "./flatbuffer.ts";

/** The position of a message in an Arrow IPC file: its metadata starts at `offset`, its body follows. */
export interface Block {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/** A schema within a flatbuffer: that of a file's footer, or of a stream's first message. */
export interface SchemaSource {
  readonly bytes: Uint8Array;
  readonly formatVersion: number;
  /** Position of the schema's table within `bytes`. */
  readonly schemaAt: number;
}

export const blockBytes = 24;
/** The magic string at both ends of a file. */
export const magic = Buffer.from("ARROW1");
/** The magic string at a file's beginning, padded to the alignment of messages. */
export const head = Buffer.concat([magic, Buffer.alloc(2)]);
/** The end-of-stream marker after the messages. */
export const endOfMessages = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

const lengthBytes = 4;

/** The flatbuffer at the end of an Arrow IPC file. */
export const footerOf = (file: Uint8Array): Uint8Array => {
  const end = file.byteLength - magic.byteLength - lengthBytes;
  return file.subarray(end - viewOf(file).getInt32(end, true), end);
};

/**
 * The end of an Arrow IPC file: end-of-stream marker, footer, its length, magic string. Offsets in a flatbuffer only point
 * forward, so the buffer with the schema is appended to the footer, which points to the schema in it.
 */
export const writeFooter = (
  source: SchemaSource,
  dictionaries: readonly Block[],
  batches: readonly Block[],
): Uint8Array => {
  const tableAt = 16;
  const dictionariesAt = 36;
  // Four bytes for the count, then blocks, which must be aligned to eight bytes.
  const batchesAt = dictionariesAt + 4 + dictionaries.length * blockBytes + 4;
  const sourceAt = batchesAt + 4 + batches.length * blockBytes;
  const footer = Buffer.alloc(sourceAt + source.bytes.byteLength);
  footer.writeUInt32LE(tableAt, 0);
  for (const [index, value] of [12, 20, 4, 8, 12, 16].entries()) footer.writeUInt16LE(value, 4 + 2 * index);
  footer.writeInt32LE(tableAt - 4, tableAt);
  footer.writeInt16LE(source.formatVersion, tableAt + 4);
  const pointTo = (target: number, at: number): number => footer.writeUInt32LE(target - at, at);
  pointTo(sourceAt + source.schemaAt, tableAt + 8);
  pointTo(dictionariesAt, tableAt + 12);
  pointTo(batchesAt, tableAt + 16);
  for (const [at, blocks] of [
    [dictionariesAt, dictionaries],
    [batchesAt, batches],
  ] as const) {
    footer.writeUInt32LE(blocks.length, at);
    for (const [index, block] of blocks.entries()) {
      const start = at + 4 + index * blockBytes;
      footer.writeBigInt64LE(BigInt(block.offset), start);
      footer.writeInt32LE(block.metadataBytes, start + 8);
      footer.writeBigInt64LE(BigInt(block.bodyBytes), start + 16);
    }
  }
  footer.set(source.bytes, sourceAt);
  const length = Buffer.alloc(lengthBytes);
  length.writeInt32LE(footer.byteLength);
  return Buffer.concat([endOfMessages, footer, length, magic]);
};
