import { z } from "zod";
import { invalid } from "../../errors.ts";
import { frameBinaryColumn } from "../../lance/arrow/binary-column.ts";
import { columnName, natural } from "../../query/fields.ts";
import { listOf } from "../../query/lists.ts";
import { ByteStream, defineOperation, OperationResponse } from "../operation.ts";
import { versionHeader } from "../shared/headers.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";
import { ownWindows, readAhead, windowsOf } from "./windows.ts";

/** The newest client sends 1,024 at most, older ones all at once. */
const maxRowIds = 10_000;

/** The client's own limit; it divides a request that is refused with these words, and reads a single blob by ranges. */
const maxTotalBytes = 64 * 2 ** 20;

export const fetchBlobs = defineOperation({
  name: "fetch_blobs",
  target: "table",
  path: "fetch_blobs",
  extension: "lancedb",
  scope: "read",
  admission: "metadata",
  errors: [11, 12, 22],
  summary: "Returns the blobs of rows as an Arrow IPC stream of one column, in the order of row_ids",
  body: z.object({
    ...snapshotShape,
    column: columnName.describe("Path of a blob column (lance.blob.v2)"),
    row_ids: listOf(natural, maxRowIds)
      .meta({ items: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } })
      .describe(
        "Ids of rows of this version, from a query with with_row_id; larger ones than 2^53-1 by their address alone",
      ),
  }),
  example: { column: "image", row_ids: [0] },
  media: "arrowStream",
  answer: z.unknown(),
  handle: async (tools, table, { column, row_ids: ids, ...fields }, call) => {
    const { database, blobWindowBytes } = tools;
    const snapshot = snapshotOf(tools, fields, call);
    const rowIds = ids.map(BigInt);
    const { version, sizes } = await database.blobSizes(table, snapshot, column, rowIds);
    const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    if (total > maxTotalBytes)
      throw invalid(
        `fetch_blobs accepts at most ${maxTotalBytes} total blob bytes, and these rows have ${total}: request fewer rows, or read a blob by ranges of its address`,
      );
    const { head, tail } = frameBinaryColumn(column, sizes);
    const slices = rowIds.map((rowId, index) => ({ rowId, start: 0, end: sizes[index] ?? 0 }));
    const pinned = { ...snapshot, version };
    const content = new ByteStream(
      head.byteLength + total + tail.byteLength,
      head.byteLength + Math.min(total, ownWindows * blobWindowBytes),
      async function* (spare) {
        yield head;
        yield* readAhead(
          windowsOf(slices, blobWindowBytes),
          (window) => database.readBlobs(table, pinned, column, window),
          spare,
        );
        yield tail;
      },
      (bytes) => database.recycle(bytes),
    );
    return new OperationResponse(content, versionHeader(version));
  },
});
