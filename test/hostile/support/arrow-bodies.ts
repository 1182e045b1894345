import { zstdCompressSync } from "node:zlib";
import { type DataType, Field, Int32, List, Schema, Struct } from "apache-arrow";
import { fieldAt, follow, structsAt, viewOf } from "../../../service/lance/arrow/flatbuffer.ts";
import { dictionary, lz4, uncompressed, zstd } from "../../service/writes/streams.ts";
import { streamOf } from "../../service/writes/support.ts";

/** Arrow IPC streams that no library writes: valid ones with one place changed, and compressed gigabytes. */
export interface HostileBody {
  readonly title: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The status that it must get; absent where the change may leave valid rows. */
  readonly status?: 400 | 413;
}

const prefixBytes = 8;
const schemaKind = 1;

/** Positions in the stream of the parts of a message with a batch. */
interface BatchLayout {
  readonly at: number;
  readonly end: number;
  readonly bodyAt: number;
  readonly bodyLength: number;
  readonly rows: number;
  readonly nodes: readonly number[];
  readonly buffers: readonly number[];
}

/** The batches of a stream, those of dictionaries included. */
const batchesOf = (bytes: Uint8Array): BatchLayout[] => {
  const view = viewOf(bytes);
  const layouts: BatchLayout[] = [];
  for (let at = 0; at < bytes.byteLength && view.getInt32(at + 4, true) !== 0; ) {
    const start = at + prefixBytes;
    const bodyAt = start + view.getInt32(at + 4, true);
    const flat = viewOf(bytes.subarray(start, bodyAt));
    const message = follow(flat, 0);
    const need = (table: number, index: number): number => {
      const position = fieldAt(flat, table, index);
      if (position === undefined) throw new Error("a field of a message is absent");
      return position;
    };
    const kind = flat.getUint8(need(message, 1));
    const header = follow(flat, need(message, 2));
    const lengthAt = fieldAt(flat, message, 3);
    const bodyBytes = lengthAt === undefined ? 0 : Number(flat.getBigInt64(lengthAt, true));
    if (kind !== schemaKind) {
      const batch = kind === 2 ? follow(flat, need(header, 1)) : header;
      layouts.push({
        at,
        end: bodyAt + bodyBytes,
        bodyAt,
        bodyLength: start + need(message, 3),
        rows: start + need(batch, 0),
        nodes: structsAt(flat, fieldAt(flat, batch, 1), 16).map((position) => start + position),
        buffers: structsAt(flat, fieldAt(flat, batch, 2), 16).map((position) => start + position),
      });
    }
    at = bodyAt + bodyBytes;
  }
  return layouts;
};

const layoutOf = (bytes: Uint8Array, index = 0): BatchLayout => {
  const layout = batchesOf(bytes).at(index);
  if (layout === undefined) throw new Error("the stream has no batch");
  return layout;
};

/** A copy with one 64-bit integer changed. */
const withLong = (bytes: Uint8Array, at: number, value: bigint): Uint8Array<ArrayBuffer> => {
  const changed = new Uint8Array(bytes);
  viewOf(changed).setBigInt64(at, value, true);
  return changed;
};

const withInt = (bytes: Uint8Array, at: number, value: number): Uint8Array<ArrayBuffer> => {
  const changed = new Uint8Array(bytes);
  viewOf(changed).setInt32(at, value, true);
  return changed;
};

const extremes = [-1n, 2n ** 31n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)];

const named = (title: string, value: bigint): string => `${title} ${value}`;

/** Sizes that overflow, and offsets out of bounds. */
const sizes = (sources: Readonly<Record<string, Uint8Array<ArrayBuffer>>>, values: readonly bigint[]): HostileBody[] =>
  Object.entries(sources).flatMap(([codec, bytes]) => {
    const { bodyLength, rows, nodes, buffers } = layoutOf(bytes);
    return values.flatMap((value): HostileBody[] => [
      { title: named(`${codec}: a body of the length`, value), bytes: withLong(bytes, bodyLength, value), status: 400 },
      { title: named(`${codec}: a number of rows of`, value), bytes: withLong(bytes, rows, value), status: 400 },
      ...nodes.flatMap((at, index): HostileBody[] => [
        {
          title: named(`${codec}: array ${index} of the length`, value),
          bytes: withLong(bytes, at, value),
          status: 400,
        },
        { title: named(`${codec}: array ${index} with a null count of`, value), bytes: withLong(bytes, at + 8, value) },
      ]),
      ...buffers.flatMap((at, index): HostileBody[] => [
        { title: named(`${codec}: buffer ${index} at`, value), bytes: withLong(bytes, at, value), status: 400 },
        {
          title: named(`${codec}: buffer ${index} of the length`, value),
          bytes: withLong(bytes, at + 8, value),
          status: 400,
        },
      ]),
    ]);
  });

/** Values of the column `text` that point out of their buffer, or are no text. Its buffers are validity, offsets and letters. */
const texts = (): HostileBody[] => {
  const { bodyAt, buffers } = layoutOf(uncompressed);
  const start = (index: number): number => bodyAt + Number(viewOf(uncompressed).getBigInt64(buffers[index] ?? 0, true));
  const [offsets, letters] = [start(3), start(4)];
  const notText = uncompressed.slice();
  notText[letters] = 0xff;
  return [
    {
      title: "a text that ends after its buffer",
      bytes: withInt(uncompressed, offsets + 16 * 4, 2 ** 31 - 1),
      status: 400,
    },
    { title: "a text that starts before its buffer", bytes: withInt(uncompressed, offsets, -1), status: 400 },
    { title: "a text that ends before it starts", bytes: withInt(uncompressed, offsets + 5 * 4, 0), status: 400 },
    { title: "a text that is not UTF-8", bytes: notText, status: 400 },
  ];
};

/** Dictionaries that lie: two entries, and indices of 32 bits. */
const dictionaries = (): HostileBody[] => {
  const [entries, batch] = batchesOf(dictionary);
  if (entries === undefined || batch === undefined) throw new Error("the stream has no dictionary");
  const indices = batch.bodyAt + Number(viewOf(dictionary).getBigInt64(batch.buffers[1] ?? 0, true));
  const joined = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(parts));
  return [
    { title: "an index after the end of its dictionary", bytes: withInt(dictionary, indices, 7), status: 400 },
    { title: "a negative index", bytes: withInt(dictionary, indices, -1), status: 400 },
    { title: "a dictionary with more entries than values", bytes: withLong(dictionary, entries.rows, 9n), status: 400 },
    {
      title: "no dictionary",
      bytes: joined(dictionary.subarray(0, entries.at), dictionary.subarray(entries.end)),
      status: 400,
    },
    {
      title: "a dictionary after its batch",
      bytes: joined(
        dictionary.subarray(0, entries.at),
        dictionary.subarray(batch.at, batch.end),
        dictionary.subarray(entries.at, entries.end),
      ),
    },
    {
      title: "a dictionary twice",
      bytes: joined(dictionary.subarray(0, entries.end), dictionary.subarray(entries.at)),
    },
  ];
};

const nestedIn = (depth: number, wrap: (inner: DataType) => DataType): Uint8Array<ArrayBuffer> => {
  let type: DataType = new Int32();
  for (let level = 0; level < depth; level++) type = wrap(type);
  return streamOf([], new Schema([new Field("deep", type, true)]));
};

/** The flatbuffer of a stream's schema, and the position of its fields there. */
const schemaOf = (bytes: Uint8Array) => {
  const flat = viewOf(bytes.subarray(prefixBytes, prefixBytes + viewOf(bytes).getInt32(4, true)));
  const schema = follow(flat, fieldAt(flat, follow(flat, 0), 2) ?? 0);
  return { flat, fields: fieldAt(flat, schema, 1) };
};

/** A structure of two fields at each level, both of which are then the same one: 2^levels fields when followed. */
const sharedChildren = (levels: number): Uint8Array<ArrayBuffer> => {
  const bytes = nestedIn(
    levels,
    (inner) => new Struct([new Field("a", inner, true), new Field("b", new Int32(), true)]),
  );
  const { flat, fields: top } = schemaOf(bytes);
  let fields = top;
  for (let level = 0; level <= levels; level++) {
    const [first, second] = structsAt(flat, fields, 4);
    if (first === undefined) break;
    const child = follow(flat, first);
    if (second !== undefined) flat.setUint32(second, child - second, true);
    fields = fieldAt(flat, child, 5);
  }
  return bytes;
};

/** Columns that all have the name of the first: gigabytes when read one by one. */
export const sharedName = (columns: number, letters: number): Uint8Array<ArrayBuffer> => {
  const others = wide(columns - 1).fields;
  const bytes = streamOf([], new Schema([new Field("a".repeat(letters), new Int32(), true), ...others]));
  const { flat, fields } = schemaOf(bytes);
  const names = structsAt(flat, fields, 4).map((at) => fieldAt(flat, follow(flat, at), 0) ?? 0);
  const [first = 0, ...rest] = names;
  const longest = follow(flat, first);
  for (const at of rest) flat.setUint32(at, longest - at, true);
  return bytes;
};

const schemas = (): HostileBody[] => [
  {
    title: "structures nested 1,000 deep",
    bytes: nestedIn(1000, (inner) => new Struct([new Field("a", inner, true)])),
    status: 400,
  },
  {
    title: "lists nested 1,000 deep",
    bytes: nestedIn(1000, (inner) => new List(new Field("item", inner, true))),
    status: 400,
  },
  { title: "2^40 fields that are one", bytes: sharedChildren(40), status: 400 },
  { title: "5,000 columns whose name of a megabyte is one", bytes: sharedName(5000, 2 ** 20), status: 400 },
  { title: "10,001 columns", bytes: streamOf([], wide(10_001)), status: 400 },
];

const wide = (columns: number): Schema =>
  new Schema(Array.from({ length: columns }, (_, index) => new Field(`c${index}`, new Int32(), true)));

/** A ZSTD frame of zeros: small ones one after another, which a decoder reads as one. */
const zstdZeros = (bytes: number): Buffer => {
  const part = 2 ** 24;
  return Buffer.concat(Array(bytes / part).fill(zstdCompressSync(Buffer.alloc(part))));
};

/** An LZ4 frame of zeros in blocks of 4 MiB: a literal, then a match of the byte before it. See the LZ4 block format. */
const lz4Zeros = (bytes: number): Buffer => {
  const blockBytes = 2 ** 22;
  const lastLiterals = 5;
  const matched = blockBytes - 1 - lastLiterals;
  const extended = matched - 4 - 15;
  const block = Buffer.concat([
    Buffer.from([0x1f, 0, 1, 0]),
    Buffer.alloc(Math.floor(extended / 255), 255),
    Buffer.from([extended % 255, lastLiterals << 4]),
    Buffer.alloc(lastLiterals),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.byteLength);
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73]);
  return Buffer.concat([
    header,
    ...Array(bytes / blockBytes)
      .fill([size, block])
      .flat(),
    Buffer.alloc(4),
  ]);
};

/** A stream whose buffer `index` is another one, appended to the body. */
const withBuffer = (bytes: Uint8Array, index: number, declared: number, content: Buffer): Uint8Array<ArrayBuffer> => {
  const { bodyAt, bodyLength, buffers, end } = layoutOf(bytes);
  const at = buffers[index] ?? 0;
  const length = Buffer.alloc(8);
  length.writeBigInt64LE(BigInt(declared));
  const added = Buffer.concat([length, content]);
  const padded = Buffer.concat([added, Buffer.alloc((8 - (added.byteLength % 8)) % 8)]);
  const changed = new Uint8Array(Buffer.concat([bytes.subarray(0, end), padded]));
  const view = viewOf(changed);
  view.setBigInt64(bodyLength, BigInt(end - bodyAt + padded.byteLength), true);
  view.setBigInt64(at, BigInt(end - bodyAt), true);
  view.setBigInt64(at + 8, BigInt(added.byteLength), true);
  return changed;
};

/** Buffer 1 holds the values of `id`, buffer 4 the letters of `text`. */
const bombs = (bytesOfZeros: number): HostileBody[] =>
  (
    [
      ["LZ4", lz4, lz4Zeros],
      ["ZSTD", zstd, zstdZeros],
    ] as const
  ).flatMap(([codec, bytes, zeros]): HostileBody[] => {
    const many = zeros(bytesOfZeros);
    return [
      { title: `${bytesOfZeros} bytes as ${codec}`, bytes: withBuffer(bytes, 4, bytesOfZeros, many), status: 413 },
      { title: `${bytesOfZeros} bytes as ${codec} that says 128`, bytes: withBuffer(bytes, 1, 128, many), status: 400 },
      {
        title: `${codec} that says more bytes than it has`,
        bytes: withBuffer(bytes, 1, 2 ** 22, zeros(2 ** 24)),
        status: 400,
      },
    ];
  });

/** One of each kind, for a service that takes 16 MiB of rows. */
export const fewHostileBodies = (): readonly HostileBody[] => [
  ...sizes({ uncompressed, zstd }, [2n ** 62n]),
  ...texts(),
  ...dictionaries(),
  ...schemas(),
  ...bombs(2 ** 26),
];

export const hostileBodies = (): readonly HostileBody[] => [
  ...sizes({ uncompressed }, extremes),
  ...sizes({ lz4, zstd }, extremes.slice(2, 4)),
  ...texts(),
  ...dictionaries(),
  ...schemas(),
  ...bombs(2 ** 30),
];

/** Repeatable pseudo-random numbers from 0 to 2^32-1 (mulberry32). */
export const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
};

/** Valid streams with one to four bytes changed, most of them in the metadata. */
export const mutations = (count: number, seed: number): readonly HostileBody[] => {
  const random = randomFrom(seed);
  const sources = Object.entries({ uncompressed, lz4, zstd, dictionary });
  return Array.from({ length: count }, (_, index) => {
    const [codec, source] = sources[index % sources.length] ?? ["uncompressed", uncompressed];
    const bytes = source.slice();
    const { bodyAt } = layoutOf(source, -1);
    for (let change = 0; change <= random() % 4; change++) {
      const end = random() % 4 === 0 ? bytes.byteLength : bodyAt;
      bytes[random() % end] = random() % 256;
    }
    return { title: `${codec}, change ${index} of seed ${seed}`, bytes };
  });
};
