import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blob, connect } from "@lancedb/lancedb";
import { Field, Int64, Schema, Struct, Utf8 } from "apache-arrow";
import { testToken } from "../../support/request.ts";

/** Bytes of which none is like the one before it. */
export const bytesOf = (length: number): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  return bytes;
};

/** The blobs of the table `blobs`, of every place in which the format stores them. */
export const stored: readonly (Buffer<ArrayBuffer> | null)[] = [
  Buffer.from("inline"),
  null,
  Buffer.alloc(0),
  bytesOf(70_000),
  bytesOf(5 * 2 ** 20),
];

export interface Database {
  readonly directory: string;
  remove(): Promise<void>;
}

/**
 * A database with the tables `blobs`, `nested` and `external`. The last one was written by pylance 14.0.2 with
 * `allow_external_blob_outside_bases`, which no client of the service can set: an inline blob `good`, then blobs at
 * file:///etc/passwd, s3://another-bucket/secret, file:///tmp/lakehead-external-blobs/photo.bin, and others.
 */
export const makeDatabase = async (): Promise<Database> => {
  const directory = await mkdtemp(join(tmpdir(), "lakehead-blobs-"));
  await cp("test/support/external-blobs.lance", join(directory, "external.lance"), { recursive: true });
  const connection = await connect(directory);
  const rows = stored.map((image, id) => ({ id: BigInt(id), image }));
  await connection.createTable("blobs", rows, { schema: new Schema([new Field("id", new Int64()), blob("image")]) });
  const info = new Field("info", new Struct([new Field("name", new Utf8()), blob("image")]), true);
  await connection.createTable("nested", [{ id: 1n, info: { name: "a", image: Buffer.from("deep") } }], {
    schema: new Schema([new Field("id", new Int64()), info]),
  });
  connection.close();
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
};

/** Reads the bytes of a blob. @param query with its question mark. */
export const readBytes = (
  base: string,
  table: string,
  row: number | bigint | string,
  { range, query = "", column = "image", method = "GET", token = testToken, headers = {} }: ReadOptions = {},
): Promise<Response> =>
  fetch(`${base}/v1/table/${table}/blob/${column}/${row}/bytes${query}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(range === undefined ? {} : { range }), ...headers },
  });

interface ReadOptions {
  readonly range?: string;
  readonly query?: string;
  readonly column?: string;
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
