import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { branchName } from "../../query/fields.ts";
import { ByteStream, defineOperation, OperationResponse } from "../operation.ts";
import { versionHeader } from "../shared/headers.ts";
import { snapshotOf } from "../shared/snapshot.ts";
import { ownWindows, readAhead, windowsOf } from "./windows.ts";

/** The part of a blob that a request asks for. `all`: no `Range`, or one that HTTP lets a server ignore. */
type WantedRange =
  | { readonly kind: "all" }
  | { readonly kind: "from"; readonly first: number; readonly last: number }
  | { readonly kind: "last"; readonly bytes: number };

/** A part of a blob: bytes from `start` up to but without `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const all: WantedRange = { kind: "all" };

const numberOf = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

/** Reads a `Range` of one range of bytes. Several, other units and malformed ones are ignored (RFC 9110, 14.2). */
const readRange = (header: string | undefined): WantedRange => {
  const [, first = "", last = ""] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? all : { kind: "last", bytes: numberOf(last) };
  if (last === "") return { kind: "from", first: numberOf(first), last: Number.MAX_SAFE_INTEGER };
  return numberOf(last) < numberOf(first) ? all : { kind: "from", first: numberOf(first), last: numberOf(last) };
};

/** The range within so many bytes; undefined if it has none of them. */
const resolveRange = (wanted: WantedRange, size: number): ByteRange | undefined => {
  if (wanted.kind === "all") return { start: 0, end: size };
  const start = wanted.kind === "from" ? wanted.first : Math.max(0, size - wanted.bytes);
  const end = wanted.kind === "from" ? Math.min(size, wanted.last + 1) : size;
  return start < end ? { start, end } : undefined;
};

const maxRowId = 2n ** 64n - 1n;

/** Seconds for which a browser may keep what it has read of a version: a table of the same name may take its place. */
const keptSeconds = 300;

/** A blob may be anything that a writer chose. A browser must neither guess its type nor run it. */
const inert = {
  "content-disposition": "attachment",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "accept-ranges": "bytes",
  vary: "authorization, x-api-key",
} as const;

export const blobBytes = defineOperation({
  name: "blob_bytes",
  target: "table",
  path: "blob/:column/:row_id/bytes",
  methods: ["GET"],
  extension: "lancedb",
  scope: "read",
  admission: "metadata",
  errors: [11, 12, 22],
  summary: "Returns the bytes of one blob, or a range of them",
  body: z.object({}),
  parameters: z.object({
    column: z.string().min(1, { error: "must not be empty" }).describe("Path of a blob column (lance.blob.v2)"),
    row_id: z
      .string()
      .refine((digits) => /^\d{1,20}$/.test(digits) && BigInt(digits) <= maxRowId, {
        error: "must be the id of a row, a whole number of at most 2^64-1",
      })
      .meta({ pattern: "^(?:[0-9]{1,19}|1[0-7][0-9]{18})$" })
      .describe("Id of a row of the version, from a query with with_row_id"),
    version: z.coerce
      .number({ error: "must be a whole number" })
      .int({ error: "must be a whole number between 0 and 9007199254740991" })
      .min(0, { error: "must be 0 or greater" })
      .optional()
      .describe("A version; absent for the latest"),
    branch: branchName.optional().describe("A branch; absent for main"),
  }),
  media: "bytes",
  successes: [200, 204, 206],
  headers: inert,
  answer: z.unknown(),
  handle: async (tools, table, _, call) => {
    const { column, row_id: digits, version: wanted, branch } = call.parameters;
    const { database, blobWindowBytes } = tools;
    const snapshot = snapshotOf(tools, { version: wanted, branch }, call);
    const rowId = BigInt(digits);
    const { version, sizes } = await database.blobSizes(table, snapshot, column, [rowId]);
    const [size = null] = sizes;
    const headers = {
      ...versionHeader(version),
      ...(wanted === undefined ? {} : { "cache-control": `private, max-age=${keptSeconds}` }),
    };
    if (size === null) return new OperationResponse(null, headers, { status: 204 });
    const range = resolveRange(readRange(call.range), size);
    if (range === undefined)
      throw new ServiceError(13, {
        transport: "rangeNotSatisfiable",
        message: `the range has no byte of the blob, which has ${size}`,
        headers: { ...versionHeader(version), "content-range": `bytes */${size}` },
      });
    const { start, end } = range;
    const content = new ByteStream(
      end - start,
      Math.min(end - start, ownWindows * blobWindowBytes),
      (spare) =>
        readAhead(
          windowsOf([{ rowId, start, end }], blobWindowBytes),
          (window) => database.readBlobs(table, { ...snapshot, version }, column, window),
          spare,
        ),
      (bytes) => database.recycle(bytes),
    );
    if (call.range === undefined || readRange(call.range).kind === "all")
      return new OperationResponse(content, headers);
    return new OperationResponse(
      content,
      { ...headers, "content-range": `bytes ${start}-${end - 1}/${size}` },
      { status: 206 },
    );
  },
});
