import { Field, LargeBinary, Schema } from "apache-arrow";
import { BufferRegion, FieldNode, Message, RecordBatch } from "apache-arrow/ipc/metadata/message";
import { endOfMessages } from "./footer.ts";

const alignment = 8;
const offsetBytes = 8;
const prefixBytes = 8;

const paddingOf = (bytes: number): number => (alignment - (bytes % alignment)) % alignment;

const framed = (message: Message): Buffer => {
  const metadata = Message.encode(message);
  const padding = paddingOf(metadata.byteLength);
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(0xffffffff, 0);
  prefix.writeInt32LE(metadata.byteLength + padding, 4);
  return Buffer.concat([prefix, metadata, Buffer.alloc(padding)]);
};

/** What stands before and behind the values of an Arrow IPC stream with one column of bytes. */
export interface BinaryFrame {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
}

/**
 * An Arrow IPC stream of one batch around values that follow each other without a gap: only their sizes must be known before.
 * @param sizes null for a null.
 */
export const frameBinaryColumn = (name: string, sizes: readonly (number | null)[]): BinaryFrame => {
  const rows = sizes.length;
  const validity = Buffer.alloc(Math.ceil(rows / 8) + paddingOf(Math.ceil(rows / 8)));
  const offsets = Buffer.alloc((rows + 1) * offsetBytes);
  let nulls = 0;
  let at = 0;
  for (const [row, size] of sizes.entries()) {
    if (size === null) nulls++;
    else validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7));
    at += size ?? 0;
    offsets.writeBigInt64LE(BigInt(at), (row + 1) * offsetBytes);
  }
  const lengths = [validity.byteLength, offsets.byteLength, at];
  const starts = [0, validity.byteLength, validity.byteLength + offsets.byteLength];
  const regions = lengths.map((length, index) => new BufferRegion(starts[index] ?? 0, length));
  const bodyBytes = validity.byteLength + offsets.byteLength + at + paddingOf(at);
  const batch = new RecordBatch(rows, [new FieldNode(rows, nulls)], regions);
  return {
    head: Buffer.concat([
      framed(Message.from(new Schema([new Field(name, new LargeBinary(), true)]))),
      framed(Message.from(batch, bodyBytes)),
      validity,
      offsets,
    ]),
    tail: Buffer.concat([Buffer.alloc(paddingOf(at)), endOfMessages]),
  };
};
