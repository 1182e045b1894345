import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import type { ApiRequest } from "../../../service/server/api-request.ts";
import { type UploadLimits, Uploads } from "../../../service/server/uploads.ts";

const kibibyte = 1024;
const opened: Uploads[] = [];
afterEach(() => {
  for (const uploads of opened.splice(0)) uploads.close();
});

const open = (limits: Partial<UploadLimits> = {}): Uploads => {
  const uploads = new Uploads({ maxWriteBytes: 1024 * kibibyte, maxUploadBytes: 4096 * kibibyte, ...limits });
  opened.push(uploads);
  return uploads;
};

const request = (body: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>> = {}): ApiRequest => ({
  method: "POST",
  url: "/v1/table/t/insert",
  headers: new Map(Object.entries(headers)),
  parameters: {},
  listOf: () => undefined,
  body,
  signal: new AbortController().signal,
});

const chunks = (count: number, bytes = 64 * kibibyte): Readable =>
  Readable.from(Array.from({ length: count }, (_, index) => Buffer.alloc(bytes, index + 1)));

const files = (): string[] => readdirSync(join(tmpdir(), `lakehead-uploads-${process.pid}`));

describe("a body", () => {
  test("of at most 256 KiB stays in memory", async () => {
    const upload = await open().receive(request(chunks(4)));
    expect(upload).toMatchObject({ bytes: 256 * kibibyte, data: { kind: "bytes" } });
    expect(files()).toEqual([]);
  });

  test("that is larger is a file of this service alone, until it is released", async () => {
    const upload = await open().receive(request(chunks(6)));
    expect(upload).toMatchObject({ bytes: 384 * kibibyte, data: { kind: "file" } });
    const path = upload.data.kind === "file" ? upload.data.path : "";
    const content = readFileSync(path);
    expect(content.byteLength).toBe(384 * kibibyte);
    expect([content[0], content[content.byteLength - 1]]).toEqual([1, 6]);
    await upload.release();
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["of many pieces", Array.from({ length: 53 }, (_, index) => 60_000 + index)],
    ["of single bytes", Array.from({ length: 300_000 }, () => 1)],
  ])("%s is in its file in order", async (_, sizes) => {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const content = Buffer.from(
      Uint32Array.from({ length: total / 4 + 1 }, (_, index) => index * 2_654_435_761).buffer,
    );
    const cut = function* (at = 0) {
      for (const size of sizes) {
        yield content.subarray(at, at + size);
        at += size;
      }
    };
    const { data } = await open({ maxWriteBytes: 4096 * kibibyte }).receive(request(Readable.from(cut())));
    expect(readFileSync(data.kind === "file" ? data.path : "").equals(content.subarray(0, total))).toBe(true);
  });

  test("that is larger than the limit is refused with 413, whether its size is declared or not", async () => {
    const uploads = open();
    const declared = request(chunks(1), { "content-length": String(2048 * kibibyte) });
    await expect(uploads.receive(declared)).rejects.toMatchObject({ status: 413, message: /LAKEHEAD_MAX_WRITE_BYTES/ });
    await expect(uploads.receive(request(chunks(17)))).rejects.toMatchObject({ status: 413 });
    expect(files()).toEqual([]);
  });

  test("that ends early is refused with 408, and its file is removed", async () => {
    const failing = async function* () {
      yield* chunks(6);
      throw new Error("the connection was closed");
    };
    await expect(open().receive(request(failing()))).rejects.toMatchObject({ status: 408, code: 13 });
    expect(files()).toEqual([]);
  });

  test.each([
    ["content-type", "application/json"],
    ["content-encoding", "gzip"],
  ])("with another %s is refused with 415", async (name, value) => {
    await expect(open().receive(request(chunks(1), { [name]: value }))).rejects.toMatchObject({ status: 415 });
  });

  test.each([
    "application/vnd.apache.arrow.stream",
    "application/octet-stream",
    "Application/Vnd.Apache.Arrow.Stream;v=1",
  ])("may have the content-type %s", async (type) => {
    await expect(open().receive(request(chunks(1), { "content-type": type }))).resolves.toMatchObject({
      bytes: 64 * kibibyte,
    });
  });
});

test("bodies of all callers together are limited, and a released one makes room", async () => {
  const uploads = open({ maxWriteBytes: 512 * kibibyte, maxUploadBytes: 768 * kibibyte });
  const first = await uploads.receive(request(chunks(8)));
  await expect(uploads.receive(request(chunks(8)))).rejects.toMatchObject({ status: 503, code: 17 });
  await first.release();
  await expect(uploads.receive(request(chunks(8)))).resolves.toMatchObject({ bytes: 512 * kibibyte });
});

test("files of services that have ended are removed at the start, those of running services are not", () => {
  // A process id beyond the system's maximum; process 1 always runs.
  const [ended, running] = [join(tmpdir(), "lakehead-uploads-99999999"), join(tmpdir(), "lakehead-uploads-1")];
  for (const directory of [ended, running]) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "1"), "rows");
  }
  open();
  expect([existsSync(ended), existsSync(running)]).toEqual([false, true]);
  rmSync(running, { recursive: true });
});
