import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import { outlineOf, readStreamFile, type Stream, toArrowFile } from "../../../service/lance/arrow/stream.ts";
import { sharedName } from "../../hostile/support/arrow-bodies.ts";
import { makeDirectory } from "../../support/directory.ts";
import { dictionary, lz4, uncompressed, zstd } from "../writes/streams.ts";
import { plainSchema, plainStream, streamOf } from "../writes/support.ts";

const read = (bytes: Uint8Array): Stream => ({ bytes, outline: outlineOf(bytes) });

const refusal = (bytes: Uint8Array): ServiceError | undefined => {
  try {
    outlineOf(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
};

describe("the outline of a stream", () => {
  test.each([
    ["uncompressed", uncompressed],
    ["compressed with LZ4", lz4],
    ["compressed with ZSTD", zstd],
  ])("%s has its rows and the size of its values", (_, bytes) => {
    const { rows, decodedBytes, batches, dictionaries, length } = outlineOf(bytes);
    expect({ rows, batches: batches.length, dictionaries: dictionaries.length }).toEqual({
      rows: 16,
      batches: 1,
      dictionaries: 0,
    });
    // Sixteen integers, texts of 44 letters with 17 offsets, and vectors of four floats.
    expect(decodedBytes).toBe(16 * 8 + (17 * 4 + 16 * 44) + 16 * 16);
    // The end-of-stream marker follows.
    expect(length).toBe(bytes.byteLength - 8);
  });

  test("without an end-of-stream marker is complete", () => {
    expect(outlineOf(uncompressed.subarray(0, -8)).rows).toBe(16);
  });

  test("with a schema alone has no rows", () => {
    expect(outlineOf(streamOf([], plainSchema)).rows).toBe(0);
  });
});

describe("a stream as a file", () => {
  test("has the same rows", () => {
    const table = tableFromIPC(toArrowFile([read(uncompressed)]));
    expect(table.toArray().map((row) => Number(row.id))).toEqual(Array.from({ length: 16 }, (_, id) => id));
    expect([...(table.get(3)?.vector ?? [])].map(Number)).toEqual([3, 0, 0, 1]);
  });

  test("is the same when the stream was read from a file", async () => {
    const path = join(await makeDirectory(), "rows");
    // A file that is used again has bytes of an earlier stream behind it.
    await writeFile(path, Buffer.concat([lz4, uncompressed]));
    const bytes = readStreamFile({ path, size: lz4.byteLength });
    const read = toArrowFile([{ bytes, outline: outlineOf(bytes), hasRoom: true }]);
    expect(read.equals(toArrowFile([{ bytes: lz4, outline: outlineOf(lz4) }]))).toBe(true);
  });

  test("is not made of a file that is too short", async () => {
    const path = join(await makeDirectory(), "rows");
    await writeFile(path, lz4.subarray(1));
    expect(() => readStreamFile({ path, size: lz4.byteLength })).toThrow("shorter");
  });

  test("keeps dictionaries", () => {
    const table = tableFromIPC(toArrowFile([read(dictionary)]));
    expect(table.toArray().map((row) => row.word)).toEqual(["a", "b", "a"]);
  });

  test("has the rows of several streams in their order", () => {
    const table = tableFromIPC(
      toArrowFile([read(plainStream([1])), read(plainStream([2, 3])), read(plainStream([4]))]),
    );
    expect(table.toArray().map((row) => Number(row.id))).toEqual([1, 2, 3, 4]);
  });
});

describe("a malformed stream", () => {
  test.each([
    ["is empty", new Uint8Array(0)],
    ["is not Arrow", new TextEncoder().encode('{"id": 1, "text": "a"}  ')],
    ["is an Arrow file", new Uint8Array(toArrowFile([read(uncompressed)]))],
    ["has only an end", new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ["has two schemas", new Uint8Array(Buffer.concat([uncompressed.subarray(0, 288), uncompressed]))],
    ["starts with a batch", uncompressed.subarray(288)],
  ])("that %s is refused", (_, bytes) => {
    expect(refusal(bytes)).toMatchObject({ code: 13, status: 400, message: /not a valid Arrow IPC stream/ });
  });

  test("that ends early is refused or ends between messages, wherever it ends", () => {
    const accepted: number[] = [];
    for (let end = 0; end < lz4.byteLength; end++) if (refusal(lz4.subarray(0, end)) === undefined) accepted.push(end);
    // After the schema, after the batch.
    expect(accepted).toEqual([288, lz4.byteLength - 8]);
  });

  test("whose columns share one long name is refused before each gets a copy of it", () => {
    expect(refusal(sharedName(5000, 2 ** 20))).toMatchObject({ message: /its schema are longer/ });
  });

  test("with any one byte changed is read or refused, and nothing else happens", () => {
    let refused = 0;
    for (let at = 0; at < zstd.byteLength; at++)
      for (const value of [0x00, 0x7f, 0x80, 0xff]) {
        const changed = zstd.slice();
        changed[at] = value;
        if (refusal(changed) !== undefined) refused++;
      }
    expect(refused).toBeGreaterThan(100);
  });
});
