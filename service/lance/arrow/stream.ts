import { closeSync, openSync, readSync } from "node:fs";
import { invalid } from "../../errors.ts";
import { fieldAt, follow, longAt, structsAt, viewOf } from "./flatbuffer.ts";
import { type Block, head, type SchemaSource, writeFooter } from "./footer.ts";
import { fieldFields, pairFields, readSchemaAt, schemaFields, timestampFields, kinds as types } from "./schema.ts";
import { type ColumnSize, columnSizes } from "./schema-sizes.ts";

const magic = 0x184d2204;
const flags = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 } as const;
/** Bits of the header's first byte that are the format's version, and that version. */
const versionBits = 0xc0;
const version = 0x40;
const checksumBytes = 4;
const uncompressedBit = 0x80000000;
/** No block of LZ4 decompresses to more. */
const maxRatio = 255;

/**
 * The most bytes that an LZ4 frame decompresses to, by the headers of its blocks, which say their sizes only roughly: the
 * last block counts as a full one. See the LZ4 frame format.
 * @returns undefined if the bytes are not exactly one frame.
 */
export const mostBytesOf = (frame: DataView): { readonly bytes: number; readonly blockBytes: number } | undefined => {
  const end = frame.byteLength;
  if (end < 11 || frame.getUint32(0, true) !== magic) return undefined;
  const header = frame.getUint8(4);
  const sizeCode = (frame.getUint8(5) >> 4) & 7;
  if ((header & versionBits) !== version || sizeCode < 4) return undefined;
  const blockBytes = 2 ** (8 + 2 * sizeCode);
  // After the two bytes of flags: size, dictionary id, and a byte of checksum.
  let at = 6 + (header & flags.contentSize ? 8 : 0) + (header & flags.dictionary ? 4 : 0) + 1;
  let bytes = 0;
  while (at + 4 <= end) {
    const size = frame.getUint32(at, true);
    at += 4;
    if (size === 0) {
      at += header & flags.contentChecksum ? checksumBytes : 0;
      return at === end ? { bytes, blockBytes } : undefined;
    }
    const isCompressed = size < uncompressedBit;
    const stored = isCompressed ? size : size - uncompressedBit;
    bytes += isCompressed ? Math.min(blockBytes, stored * maxRatio) : stored;
    at += stored + (header & flags.blockChecksum ? checksumBytes : 0);
  }
  return undefined;
};

/** The messages of an Arrow IPC stream, without their values. */
export interface StreamOutline {
  readonly schema: SchemaSource;
  /** Positions in the stream. */
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
  /** Bytes up to the end of the last message. */
  readonly length: number;
  readonly rows: number;
  /** Bytes of all values when decompressed. */
  readonly decodedBytes: number;
  /** Whether a buffer may decompress to more than it says. */
  readonly mayExceed: boolean;
}

/** Kinds of message headers. */
const kinds = { schema: 1, dictionary: 2, batch: 3 } as const;
const messageFields = { version: 0, kind: 1, header: 2, bodyLength: 3 } as const;
const batchFields = { length: 0, nodes: 1, buffers: 2, compression: 3 } as const;
const dictionaryFields = { data: 1 } as const;
const compressionFields = { codec: 0 } as const;
/** The default of a compression's codec. */
const lz4 = 0;

const continuation = 0xffffffff;
const prefixBytes = 8;
const bufferBytes = 16;
const nodeBytes = 16;
const offsetBytes = 4;
/** Fields may share children and texts in a flatbuffer, so that a small one may have any number of them. */
const maxFields = 10_000;
const maxSharedBytes = 16 * 2 ** 20;
/** The database's own limit is similar; deeper schemas overflow the stack of some readers. */
const maxDepth = 50;
/** A compressed buffer starts with its decompressed length; -1: it is not compressed. */
const lengthBytes = 8;

const malformed = (why: string) =>
  invalid(`the body is not a valid Arrow IPC stream: ${why}; write it with an Arrow library`);

/** @throws ServiceError if the fields of a schema are nested too deep, too many, or have too long texts together. */
const verifySchema = (flat: DataView, schema: number): void => {
  let count = 0;
  let textBytes = 0;
  const add = (bytes: number): void => {
    textBytes += bytes;
    if (textBytes > flat.byteLength + maxSharedBytes)
      throw malformed("the names and metadata of its schema are longer than its bytes");
  };
  const addText = (table: number, index: number): void => {
    const at = fieldAt(flat, table, index);
    if (at !== undefined) add(flat.getUint32(follow(flat, at), true));
  };
  const addMetadata = (vectorAt: number | undefined): void => {
    for (const at of structsAt(flat, vectorAt, offsetBytes)) {
      const pair = follow(flat, at);
      add(offsetBytes);
      for (const index of Object.values(pairFields)) addText(pair, index);
    }
  };
  const addTimezone = (field: number): void => {
    const kindAt = fieldAt(flat, field, fieldFields.kind);
    const typeAt = fieldAt(flat, field, fieldFields.type);
    if (kindAt !== undefined && typeAt !== undefined && flat.getUint8(kindAt) === types.timestamp)
      addText(follow(flat, typeAt), timestampFields.timezone);
  };
  const visit = (vectorAt: number | undefined, depth: number): void => {
    for (const at of structsAt(flat, vectorAt, offsetBytes)) {
      count++;
      if (count > maxFields) throw malformed(`its schema has more than ${maxFields} fields`);
      if (depth > maxDepth) throw malformed(`its schema is nested deeper than ${maxDepth} fields`);
      const field = follow(flat, at);
      addText(field, fieldFields.name);
      addMetadata(fieldAt(flat, field, fieldFields.metadata));
      addTimezone(field);
      visit(fieldAt(flat, field, fieldFields.children), depth + 1);
    }
  };
  addMetadata(fieldAt(flat, schema, schemaFields.metadata));
  visit(fieldAt(flat, schema, schemaFields.fields), 1);
};

/** Values of a batch that take no bytes, as those of the type null: more than a client sends by intent costs memory. */
const maxFreeValues = 2 ** 20;

/** The lengths of a batch and of its arrays. A value takes one bit or more, except null. */
const verifyLengths = (metadata: DataView, batch: number, decodedBytes: number): void => {
  const lengths = structsAt(metadata, fieldAt(metadata, batch, batchFields.nodes), nodeBytes).map((at) =>
    longAt(metadata, at),
  );
  for (const length of [longAt(metadata, fieldAt(metadata, batch, batchFields.length)), ...lengths])
    if (length < 0 || length > decodedBytes * 8 + maxFreeValues)
      throw malformed("an array has more values than its buffers");
};

interface Size {
  readonly decodedBytes: number;
  readonly mayExceed: boolean;
}

/** Whether a frame may decompress to more than a block above what its buffer says. */
const exceeds = (frame: DataView, decodedBytes: number): boolean => {
  const most = mostBytesOf(frame);
  return most === undefined || most.bytes > decodedBytes + most.blockBytes;
};

/** The decompressed size of a batch. @throws ServiceError if a buffer is outside the message's body. */
const sizeOf = (metadata: DataView, batch: number, body: DataView): Size => {
  const compression = fieldAt(metadata, batch, batchFields.compression);
  const codecAt =
    compression === undefined ? undefined : fieldAt(metadata, follow(metadata, compression), compressionFields.codec);
  const isLz4 = codecAt === undefined || metadata.getInt8(codecAt) === lz4;
  let decodedBytes = 0;
  let mayExceed = false;
  for (const at of structsAt(metadata, fieldAt(metadata, batch, batchFields.buffers), bufferBytes)) {
    const offset = longAt(metadata, at);
    const length = longAt(metadata, at + 8);
    if (offset < 0 || length < 0 || offset + length > body.byteLength)
      throw malformed("a buffer is outside of its message");
    if (compression === undefined || length === 0) decodedBytes += length;
    else {
      if (length < lengthBytes) throw malformed("a compressed buffer has no length");
      const said = longAt(body, offset);
      const stored = length - lengthBytes;
      decodedBytes += said === -1 ? stored : said;
      if (said < -1) throw malformed("a compressed buffer has a negative length");
      const frameAt = body.byteOffset + offset + lengthBytes;
      mayExceed ||= said !== -1 && !(isLz4 && !exceeds(new DataView(body.buffer, frameAt, stored), said));
    }
  }
  verifyLengths(metadata, batch, decodedBytes);
  return { decodedBytes, mayExceed };
};

const readMessages = (bytes: Uint8Array): StreamOutline => {
  const view = viewOf(bytes);
  let schema: SchemaSource | undefined;
  const dictionaries: Block[] = [];
  const batches: Block[] = [];
  let rows = 0;
  let decodedBytes = 0;
  let mayExceed = false;
  const add = (size: Size): void => {
    decodedBytes += size.decodedBytes;
    mayExceed ||= size.mayExceed;
  };
  let at = 0;
  while (at < bytes.byteLength) {
    if (view.getUint32(at, true) !== continuation) throw malformed("a message does not start with its marker");
    const size = view.getInt32(at + 4, true);
    if (size === 0) {
      if (at + prefixBytes < bytes.byteLength)
        throw malformed("bytes follow the end of the stream: send each stream in a request of its own");
      break;
    }
    const metadataBytes = prefixBytes + size;
    if (size < 0 || metadataBytes % 8 !== 0 || at + metadataBytes > bytes.byteLength)
      throw malformed("a message is longer than the body");
    const metadata = bytes.subarray(at + prefixBytes, at + metadataBytes);
    const flat = viewOf(metadata);
    const message = follow(flat, 0);
    const bodyBytes = longAt(flat, fieldAt(flat, message, messageFields.bodyLength));
    if (bodyBytes < 0 || bodyBytes % 8 !== 0 || at + metadataBytes + bodyBytes > bytes.byteLength)
      throw malformed("a message is longer than the body");
    const kindAt = fieldAt(flat, message, messageFields.kind);
    const headerAt = fieldAt(flat, message, messageFields.header);
    const kind = kindAt === undefined ? 0 : flat.getUint8(kindAt);
    if (headerAt === undefined || (kind === kinds.schema) !== (schema === undefined))
      throw malformed("its first message, and no other, must be a schema");
    const header = follow(flat, headerAt);
    const body = viewOf(bytes.subarray(at + metadataBytes, at + metadataBytes + bodyBytes));
    const block = { offset: at, metadataBytes, bodyBytes };
    if (kind === kinds.schema) {
      verifySchema(flat, header);
      const versionAt = fieldAt(flat, message, messageFields.version);
      schema = {
        bytes: metadata,
        formatVersion: versionAt === undefined ? 0 : flat.getInt16(versionAt, true),
        schemaAt: header,
      };
    } else if (kind === kinds.batch) {
      batches.push(block);
      rows += longAt(flat, fieldAt(flat, header, batchFields.length));
      add(sizeOf(flat, header, body));
    } else if (kind === kinds.dictionary) {
      const dataAt = fieldAt(flat, header, dictionaryFields.data);
      if (dataAt === undefined) throw malformed("a dictionary has no values");
      dictionaries.push(block);
      add(sizeOf(flat, follow(flat, dataAt), body));
    } else throw malformed("it has a message that is neither schema, dictionary nor batch");
    at += metadataBytes + bodyBytes;
  }
  if (schema === undefined) throw malformed("it is empty");
  return { schema, dictionaries, batches, length: at, rows, decodedBytes, mayExceed };
};

/** @throws ServiceError code 13 for a flatbuffer that points out of its bytes. */
const readDamaged = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    // Bounds of a DataView, and of an integer.
    if (error instanceof RangeError) throw malformed("a message is damaged");
    throw error;
  }
};

/**
 * Reads the outline of an Arrow IPC stream, whose bytes a caller sent.
 * @throws ServiceError code 13 if a message or a buffer is outside of the stream.
 */
export const outlineOf = (stream: Uint8Array): StreamOutline => readDamaged(() => readMessages(stream));

/** @throws ServiceError code 13 for a damaged schema. */
export const columnsOf = ({ schema: { bytes, schemaAt } }: StreamOutline): readonly ColumnSize[] =>
  readDamaged(() => columnSizes(readSchemaAt(viewOf(bytes), schemaAt)));

export interface Stream {
  readonly bytes: Uint8Array;
  readonly outline: StreamOutline;
  /** Whether its memory is from {@link readStreamFile}, which nothing else uses. */
  readonly hasRoom?: boolean;
}

/** Room for the footer of a file behind its messages. */
const footerRoom = 64 * 1024;

/**
 * Reads a stream into memory that has room for the beginning and the end of a file, which {@link toArrowFile} uses. It
 * occupies the process, a worker with one call: a turn of another thread takes longer than to read a megabyte.
 * @param size of the stream; more of the file is not read.
 */
export const readStreamFile = ({ path, size }: { readonly path: string; readonly size: number }): Uint8Array => {
  const file = openSync(path, "r");
  try {
    const memory = Buffer.allocUnsafeSlow(head.byteLength + size + footerRoom);
    let at = head.byteLength;
    while (at < head.byteLength + size) {
      const bytesRead = readSync(file, memory, at, head.byteLength + size - at, null);
      if (bytesRead === 0) throw new Error("the file of the rows is shorter than it was");
      at += bytesRead;
    }
    return memory.subarray(head.byteLength, at);
  } finally {
    closeSync(file);
  }
};

/** Frees the memory of a stream from {@link readStreamFile} now: the collector may leave it until there are several. */
export const freeStream = ({ bytes, hasRoom }: Stream): void => {
  if (hasRoom === true && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
};

/** The file around a stream that has room for it; undefined if it has not. */
const inPlace = ({ bytes, outline, hasRoom }: Stream, footer: Uint8Array): Buffer | undefined => {
  const end = head.byteLength + outline.length;
  if (hasRoom !== true || end + footer.byteLength > bytes.buffer.byteLength) return undefined;
  const file = Buffer.from(bytes.buffer, 0, end + footer.byteLength);
  file.set(head, 0);
  file.set(footer, end);
  return file;
};

/** @throws ServiceError code 13 for streams that cannot be one file: a file has one schema, and a dictionary only once. */
const verifyJoinable = (streams: readonly [Stream, ...Stream[]]): void => {
  const [first] = streams;
  for (const { outline } of streams)
    if (outline.dictionaries.length > 0 || Buffer.compare(outline.schema.bytes, first.outline.schema.bytes) !== 0)
      throw invalid("rows with different schemas, or with dictionaries, cannot share a commit");
};

/**
 * Converts Arrow IPC streams into a file with all their batches: the SDK reads files only. No value is decoded.
 * @throws ServiceError code 13 for several with different schemas or with dictionaries.
 */
export const toArrowFile = (streams: readonly [Stream, ...Stream[]]): Buffer => {
  if (streams.length > 1) verifyJoinable(streams);
  const { schema } = streams[0].outline;
  const parts: Uint8Array[] = [head];
  const dictionaries: Block[] = [];
  const batches: Block[] = [];
  let at = head.byteLength;
  for (const [index, { bytes, outline }] of streams.entries()) {
    // The schema's message stays in the first stream only.
    const from = index === 0 ? 0 : Math.min(outline.length, ...outline.batches.map(({ offset }) => offset));
    const moved = (block: Block): Block => ({ ...block, offset: block.offset - from + at });
    dictionaries.push(...outline.dictionaries.map(moved));
    batches.push(...outline.batches.map(moved));
    parts.push(bytes.subarray(from, outline.length));
    at += outline.length - from;
  }
  const footer = writeFooter(schema, dictionaries, batches);
  const [only, ...others] = streams;
  return (others.length === 0 ? inPlace(only, footer) : undefined) ?? Buffer.concat([...parts, footer]);
};
