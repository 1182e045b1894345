import { ServiceError } from "../../errors.ts";
import { fieldAt, follow, structsAt, viewOf } from "./flatbuffer.ts";
import { type Block, blockBytes, footerOf, magic, type SchemaSource, writeFooter } from "./footer.ts";

/** The parts of a file's footer that joining needs; see the Arrow columnar format. */
interface Footer extends SchemaSource {
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
}

const footerFields = { version: 0, schema: 1, dictionaries: 2, batches: 3 } as const;

const readFooter = (file: Uint8Array): Footer => {
  const bytes = footerOf(file);
  const view = viewOf(bytes);
  const table = follow(view, 0);
  const fieldOf = (name: keyof typeof footerFields) => fieldAt(view, table, footerFields[name]);
  const blocks = (field: "dictionaries" | "batches"): readonly Block[] =>
    structsAt(view, fieldOf(field), blockBytes).map((start) => ({
      offset: Number(view.getBigInt64(start, true)),
      metadataBytes: view.getInt32(start + 8, true),
      bodyBytes: Number(view.getBigInt64(start + 16, true)),
    }));
  const versionAt = fieldOf("version");
  const schemaAt = fieldOf("schema");
  if (schemaAt === undefined) throw new Error("the footer of an Arrow file from the SDK has no schema");
  return {
    bytes,
    formatVersion: versionAt === undefined ? 0 : view.getInt16(versionAt, true),
    schemaAt: follow(view, schemaAt),
    dictionaries: blocks("dictionaries"),
    batches: blocks("batches"),
  };
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
  const start = file.subarray(0, Math.min(...[...footer.dictionaries, ...footer.batches].map(({ offset }) => offset)));
  let at = start.byteLength;
  const place = <T extends { readonly byteLength: number }>({ byteLength }: T): number => {
    const offset = at;
    at += byteLength;
    return offset;
  };
  const dictionaryBlocks = footer.dictionaries.map((block, index) => ({
    ...block,
    offset: place(dictionaries[index] ?? start),
  }));
  const batchBlocks = batches.map(({ bytes, ...block }) => ({ ...block, offset: place(bytes) }));
  return Buffer.concat([
    start,
    ...dictionaries,
    ...batches.map(({ bytes }) => bytes),
    writeFooter(footer, dictionaryBlocks, batchBlocks),
  ]);
};
