import { ServiceError } from "../errors.ts";

/** The position of a message in an Arrow IPC file: its metadata starts at `offset`, its body follows. */
interface Block {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/** The parts of a file's footer that joining needs. The footer is a flatbuffer; see the Arrow columnar format. */
interface Footer {
  readonly bytes: Uint8Array;
  readonly formatVersion: number;
  /** Position of the schema's table within `bytes`. */
  readonly schemaAt: number;
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
}

const blockBytes = 24;
/** The end of a file: the length of the footer and the magic string. */
const tailBytes = 10;
const magic = Buffer.from("ARROW1");
/** The end-of-stream marker after the messages. */
const endOfMessages = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
const footerFields = { version: 0, schema: 1, dictionaries: 2, batches: 3 } as const;

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const readFooter = (file: Uint8Array): Footer => {
  const size = viewOf(file).getInt32(file.byteLength - tailBytes, true);
  const bytes = file.subarray(file.byteLength - tailBytes - size, file.byteLength - tailBytes);
  const view = viewOf(bytes);
  const table = view.getUint32(0, true);
  const vtable = table - view.getInt32(table, true);
  /** Position of a field's value; undefined if the field has its default. */
  const fieldAt = (field: keyof typeof footerFields): number | undefined => {
    const entry = 4 + 2 * footerFields[field];
    if (entry >= view.getUint16(vtable, true)) return undefined;
    const offset = view.getUint16(vtable + entry, true);
    return offset === 0 ? undefined : table + offset;
  };
  const follow = (at: number): number => at + view.getUint32(at, true);
  const blocks = (field: "dictionaries" | "batches"): readonly Block[] => {
    const at = fieldAt(field);
    if (at === undefined) return [];
    const vector = follow(at);
    return Array.from({ length: view.getUint32(vector, true) }, (_, index) => {
      const start = vector + 4 + index * blockBytes;
      return {
        offset: Number(view.getBigInt64(start, true)),
        metadataBytes: view.getInt32(start + 8, true),
        bodyBytes: Number(view.getBigInt64(start + 16, true)),
      };
    });
  };
  const versionAt = fieldAt("version");
  const schemaAt = fieldAt("schema");
  if (schemaAt === undefined) throw new Error("the footer of an Arrow file from the SDK has no schema");
  return {
    bytes,
    formatVersion: versionAt === undefined ? 0 : view.getInt16(versionAt, true),
    schemaAt: follow(schemaAt),
    dictionaries: blocks("dictionaries"),
    batches: blocks("batches"),
  };
};

/**
 * Writes a footer with the schema of another one and new blocks. Offsets in a flatbuffer only point forward, so the old
 * footer is appended and the new one points to the schema in it.
 */
const writeFooter = (old: Footer, dictionaries: readonly Block[], batches: readonly Block[]): Buffer => {
  const tableAt = 16;
  const dictionariesAt = 36;
  // Four bytes for the count, then blocks, which must be aligned to eight bytes.
  const batchesAt = dictionariesAt + 4 + dictionaries.length * blockBytes + 4;
  const oldAt = batchesAt + 4 + batches.length * blockBytes;
  const footer = Buffer.alloc(oldAt + old.bytes.byteLength);
  footer.writeUInt32LE(tableAt, 0);
  for (const [index, value] of [12, 20, 4, 8, 12, 16].entries()) footer.writeUInt16LE(value, 4 + 2 * index);
  footer.writeInt32LE(tableAt - 4, tableAt);
  footer.writeInt16LE(old.formatVersion, tableAt + 4);
  const pointTo = (target: number, at: number): number => footer.writeUInt32LE(target - at, at);
  pointTo(oldAt + old.schemaAt, tableAt + 8);
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
  footer.set(old.bytes, oldAt);
  return footer;
};

const messageOf = (file: Uint8Array, { offset, metadataBytes, bodyBytes }: Block): Uint8Array =>
  file.subarray(offset, offset + metadataBytes + bodyBytes);

interface Part {
  readonly file: Uint8Array;
  readonly footer: Footer;
}

/** The dictionaries, which must be equal in all files: an IPC file has one for each column, without replacements. */
const commonDictionaries = ([first, ...others]: readonly [Part, ...Part[]]): readonly Uint8Array[] => {
  const of = ({ file, footer }: Part): readonly Uint8Array[] =>
    footer.dictionaries.map((block) => messageOf(file, block));
  const common = of(first);
  for (const other of others)
    if (of(other).some((dictionary, index) => Buffer.compare(dictionary, common[index] ?? magic) !== 0))
      throw new ServiceError(0, {
        message:
          'a dictionary-encoded column has several dictionaries in these rows, but an Arrow IPC file can have only one: request its values, for instance columns {"name": "cast(name as string)"}',
      });
  return common;
};

/**
 * Joins Arrow IPC files with the same schema into one with all batches. No value is decoded, so every type is supported,
 * and each batch is copied once.
 * @param files at least one; a single one is returned unchanged.
 * @throws ServiceError code 0 if the files have different dictionaries.
 */
export const joinArrowFiles = (files: readonly [Uint8Array, ...Uint8Array[]]): Uint8Array => {
  if (files.length === 1) return files[0];
  const parts = files.map((file): Part => ({ file, footer: readFooter(file) })) as [Part, ...Part[]];
  const { file, footer } = parts[0];
  const dictionaries = commonDictionaries(parts);
  const batches = parts.flatMap((part) =>
    part.footer.batches.map((block) => ({ ...block, bytes: messageOf(part.file, block) })),
  );
  const head = file.subarray(0, Math.min(...[...footer.dictionaries, ...footer.batches].map(({ offset }) => offset)));
  let at = head.byteLength;
  const place = <T extends { readonly byteLength: number }>({ byteLength }: T): number => {
    const start = at;
    at += byteLength;
    return start;
  };
  const dictionaryBlocks = footer.dictionaries.map((block, index) => ({
    ...block,
    offset: place(dictionaries[index] ?? head),
  }));
  const batchBlocks = batches.map(({ bytes, ...block }) => ({ ...block, offset: place(bytes) }));
  const newFooter = writeFooter(footer, dictionaryBlocks, batchBlocks);
  const length = Buffer.alloc(4);
  length.writeInt32LE(newFooter.byteLength);
  return Buffer.concat([
    head,
    ...dictionaries,
    ...batches.map(({ bytes }) => bytes),
    endOfMessages,
    newFooter,
    length,
    magic,
  ]);
};
