import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Bucket, StoredObject } from "./object-store-content.ts";

export interface Ask {
  readonly method: string;
  /** Path and query string as they were sent. */
  readonly address: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Buffer;
}

/** Responds to a store's requests: objects in memory, or another server. */
export type Responder = (ask: Ask) => Reply | Promise<Reply>;

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const encoded = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
const element = (name: string, ...content: readonly string[]): string => `<${name}>${content.join("")}</${name}>`;
const field = (name: string, value: string | number | boolean): string => element(name, encoded(String(value)));

const xml = (status: number, document: string): Reply => ({
  status,
  headers: { "content-type": "application/xml" },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${document}`),
});

const fault = (status: number, code: string, key: string): Reply =>
  xml(status, element("Error", field("Code", code), field("Message", code), field("Key", key)));

const facts = ({ etag, modified }: StoredObject) => ({
  etag,
  "last-modified": modified.toUTCString(),
  "accept-ranges": "bytes",
  "content-type": "application/octet-stream",
});

/** The first and the last byte that a Range header asks for; undefined where it asks for none of the object's. */
const rangeOf = (header: string, size: number): readonly [number, number] | undefined => {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first <= last ? [first, last] : undefined;
};

const get = (bucket: Bucket, { method, key, headers }: Ask): Reply => {
  const stored = bucket.get(key);
  if (stored === undefined) return method === "HEAD" ? { status: 404 } : fault(404, "NoSuchKey", key);
  const size = stored.body.byteLength;
  if (method === "HEAD") return { status: 200, headers: { ...facts(stored), "content-length": size } };
  if (headers.range === undefined) return { status: 200, headers: facts(stored), body: stored.body };
  const range = rangeOf(headers.range, size);
  if (range === undefined) return fault(416, "InvalidRange", key);
  const [first, last] = range;
  return {
    status: 206,
    headers: { ...facts(stored), "content-range": `bytes ${first}-${last}/${size}` },
    body: stored.body.subarray(first, last + 1),
  };
};

/** S3 answers a failed condition 412, and a put that raced another one 409; here nothing races. */
const conditionFails = (stored: StoredObject | undefined, headers: IncomingHttpHeaders): boolean =>
  ((headers["if-none-match"] === "*" || headers["x-goog-if-generation-match"] === "0") && stored !== undefined) ||
  (headers["if-match"] !== undefined && headers["if-match"] !== stored?.etag);

const put = (bucket: Bucket, { key, headers, body }: Ask): Reply => {
  if (conditionFails(bucket.get(key), headers)) return fault(412, "PreconditionFailed", key);
  const source = headers["x-amz-copy-source"] ?? headers["x-goog-copy-source"];
  if (typeof source !== "string") return { status: 200, headers: { etag: bucket.put(key, body).etag } };
  const from = decodeURIComponent(source).replace(/^\/?[^/]+\//, "");
  const original = bucket.get(from);
  if (original === undefined) return fault(404, "NoSuchKey", from);
  const copy = bucket.put(key, original.body);
  return xml(
    200,
    element("CopyObjectResult", field("ETag", copy.etag), field("LastModified", copy.modified.toISOString())),
  );
};

export interface ListedObject {
  readonly key: string;
  readonly modified: string;
  readonly etag: string;
  readonly size: number;
}

/** One page of a listing, as S3 and Google's XML interface have it. */
export const listingReply = (
  prefix: string,
  objects: readonly ListedObject[],
  prefixes: readonly string[],
  next: string | undefined,
): Reply =>
  xml(
    200,
    element(
      "ListBucketResult",
      field("Prefix", prefix),
      field("KeyCount", objects.length + prefixes.length),
      field("IsTruncated", next !== undefined),
      ...(next === undefined ? [] : [field("NextContinuationToken", next)]),
      ...objects.map(({ key, modified, etag, size }) =>
        element(
          "Contents",
          field("Key", key),
          field("LastModified", modified),
          field("ETag", etag),
          field("Size", size),
          field("StorageClass", "STANDARD"),
        ),
      ),
      ...prefixes.map((common) => element("CommonPrefixes", field("Prefix", common))),
    ),
  );

const list = (bucket: Bucket, { query }: Ask): Reply => {
  const value = (name: string): string => query.get(name) ?? "";
  const { keys, prefixes, next } = bucket.list({
    prefix: value("prefix"),
    delimiter: value("delimiter"),
    after: query.get("continuation-token") ?? value("start-after"),
    max: Math.min(1000, Number(query.get("max-keys") ?? 1000)),
  });
  const objects = keys.map((key) => {
    const stored = bucket.get(key);
    return {
      key,
      modified: stored?.modified.toISOString() ?? "",
      etag: stored?.etag ?? "",
      size: stored?.body.byteLength ?? 0,
    };
  });
  return listingReply(value("prefix"), objects, prefixes, next);
};

const decoded = (text: string): string =>
  Object.entries(escapes).reduce((result, [character, entity]) => result.replaceAll(entity, character), text);

const deleteMany = (bucket: Bucket, { body }: Ask): Reply => {
  const keys = [...body.toString("utf8").matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key = ""]) => decoded(key));
  for (const key of keys) bucket.delete(key);
  return xml(200, element("DeleteResult", ...keys.map((key) => element("Deleted", field("Key", key)))));
};

/** Uploads in parts, which wait here for their end. @param store puts a whole object. */
export const partsOfUploads = (store: Responder): Responder => {
  const uploads = new Map<string, Map<number, Buffer>>();
  let count = 0;
  return async (ask) => {
    const { method, query, key, body } = ask;
    if (query.has("uploads")) {
      const id = `upload-${++count}`;
      uploads.set(id, new Map());
      return xml(
        200,
        element("InitiateMultipartUploadResult", field("Bucket", "lake"), field("Key", key), field("UploadId", id)),
      );
    }
    const id = query.get("uploadId") ?? "";
    const parts = uploads.get(id);
    if (method === "DELETE") {
      uploads.delete(id);
      return { status: 204 };
    }
    if (parts === undefined) return fault(404, "NoSuchUpload", key);
    if (method === "PUT") {
      parts.set(Number(query.get("partNumber")), body);
      return { status: 200, headers: { etag: `"${createHash("md5").update(body).digest("hex")}"` } };
    }
    const sorted = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
    const { status, headers } = await store({ ...ask, body: Buffer.concat(sorted) });
    if (status !== 200) return fault(status, "PreconditionFailed", key);
    uploads.delete(id);
    const etag = String(headers?.etag);
    return xml(200, element("CompleteMultipartUploadResult", field("Key", key), field("ETag", etag)));
  };
};

/** Answers from objects in memory. */
export const respond = (bucket: Bucket): Responder => {
  const uploads = partsOfUploads((ask) => put(bucket, ask));
  return (ask) => {
    const { method, query, key } = ask;
    if (query.has("uploadId") || query.has("uploads")) return uploads(ask);
    if (method === "HEAD") return get(bucket, ask);
    if (method === "GET") return query.has("list-type") ? list(bucket, ask) : get(bucket, ask);
    if (method === "PUT") return put(bucket, ask);
    if (method === "DELETE") {
      bucket.delete(key);
      return { status: 204 };
    }
    if (method === "POST" && query.has("delete")) return deleteMany(bucket, ask);
    return fault(501, "NotImplemented", key);
  };
};
