import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { type Upload, type UploadLimits, Uploads } from "../../../service/server/uploads.ts";

const kibibyte = 1024;
const opened: Uploads[] = [];
afterEach(() => {
  for (const uploads of opened.splice(0)) uploads.close();
});

const open = (limits: Partial<UploadLimits> = {}, sharedMemory?: string): Uploads => {
  const most = { maxWriteBytes: 1024 * kibibyte, maxPartsBytes: 1024 * kibibyte, maxUploadBytes: 8192 * kibibyte };
  const all = { ...most, stallMs: 60_000, ...limits };
  const uploads = new Uploads(all, sharedMemory);
  opened.push(uploads);
  return uploads;
};

const request = (body: Readable | AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>> = {}) => ({
  headers: new Map(Object.entries(headers)),
  body: body instanceof Readable ? body : Readable.from(body),
});

const chunks = (count: number, bytes = 64 * kibibyte): Readable =>
  Readable.from(Array.from({ length: count }, (_, index) => Buffer.alloc(bytes, index + 1)));

const shared = "/dev/shm";
const nowhere = "/no/such/directory";
/** Where the system has no files in memory, all are on the disk. */
const places = existsSync(shared) ? [shared, nowhere] : [nowhere];

const filesIn = (parent: string): string[] =>
  readdirSync(parent)
    .filter((name) => name.startsWith(`lakehead-uploads-${process.pid}-`))
    .flatMap((name) => readdirSync(join(parent, name)).map((file) => join(parent, name, file)));
const onDisk = (): string[] => filesIn(tmpdir());
const inMemory = (): string[] => (existsSync(shared) ? filesIn(shared) : []);

const pathOf = ({ data }: Upload): string => (data.kind === "file" ? data.path : "");
/** The rows, as a worker reads them. */
const contentOf = ({ data }: Upload): Buffer =>
  data.kind === "file" ? readFileSync(data.path).subarray(0, data.size) : Buffer.from(data.bytes);
const whole = (count: number, bytes = 64 * kibibyte): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => Buffer.alloc(bytes, index + 1)));

describe.each(places)("a body, with files in memory in %s,", (place) => {
  test.each([
    [1, 16],
    [4, place === shared ? 4 : 64],
  ])("of %i pieces of %i KiB has no file", async (count, size) => {
    const upload = await open({}, place).receive(request(chunks(count, size * kibibyte)), "caller");
    expect(upload).toMatchObject({ bytes: count * size * kibibyte, data: { kind: "bytes" } });
    expect(contentOf(upload)).toEqual(whole(count, size * kibibyte));
    expect([...onDisk(), ...inMemory()]).toEqual([]);
  });

  test("that is larger is a file of this service alone", async () => {
    const upload = await open({}, place).receive(request(chunks(6)), "caller");
    expect(upload).toMatchObject({ bytes: 384 * kibibyte, data: { kind: "file", size: 384 * kibibyte } });
    expect(contentOf(upload).equals(whole(6))).toBe(true);
    expect([...onDisk(), ...inMemory()]).toEqual([pathOf(upload)]);
    expect([statSync(pathOf(upload)).mode & 0o77, statSync(dirname(pathOf(upload))).mode & 0o77]).toEqual([0, 0]);
  });

  test.each([
    ["of many pieces", Array.from({ length: 53 }, (_, index) => 60_000 + index)],
    ["of single bytes and pieces", Array.from({ length: 40_000 }, (_, index) => (index % 4000 === 3999 ? 60_000 : 1))],
    ["that outgrows files in memory", Array.from({ length: 99 }, (_, index) => 60_000 + index)],
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
    const uploads = open({ maxWriteBytes: 8192 * kibibyte, maxUploadBytes: 16_384 * kibibyte }, place);
    const upload = await uploads.receive(request(Readable.from(cut())), "caller");
    expect(contentOf(upload).equals(content.subarray(0, total))).toBe(true);
  });

  test("that is larger than the limit is refused with 413, whether its size is declared or not", async () => {
    const uploads = open({}, place);
    const declared = request(chunks(1), { "content-length": String(2048 * kibibyte) });
    await expect(uploads.receive(declared, "caller")).rejects.toMatchObject({
      status: 413,
      message: /LAKEHEAD_MAX_WRITE_BYTES/,
    });
    await expect(uploads.receive(request(chunks(17)), "caller")).rejects.toMatchObject({ status: 413 });
    expect(onDisk()).toEqual([]);
  });

  test("that ends early is refused with 408, and the next is not mixed with it", async () => {
    const failing = async function* () {
      yield* chunks(6, 100 * kibibyte);
      throw new Error("the connection was closed");
    };
    const uploads = open({}, place);
    await expect(uploads.receive(request(failing()), "caller")).rejects.toMatchObject({ status: 408, code: 13 });
    expect(onDisk()).toEqual([]);
    expect(contentOf(await uploads.receive(request(chunks(5)), "caller")).equals(whole(5))).toBe(true);
  });

  test("is not found by its name after it was released and another came", async () => {
    const uploads = open({}, place);
    const first = await uploads.receive(request(chunks(8, 50 * kibibyte)), "caller");
    await first.release();
    await first.release();
    const others = await Promise.all([6, 7].map((count) => uploads.receive(request(chunks(count)), "caller")));
    expect(existsSync(pathOf(first))).toBe(false);
    expect(others.map(contentOf)).toEqual([whole(6), whole(7)]);
  });

  test("leaves nothing when the service stops", async () => {
    const uploads = open({}, place);
    const released = await uploads.receive(request(chunks(6)), "caller");
    await uploads.receive(request(chunks(6)), "caller");
    await released.release();
    uploads.close();
    expect([...onDisk(), ...inMemory()]).toEqual([]);
  });
});

describe.runIf(existsSync(shared))("files in memory", () => {
  test("are for all bodies but the smallest, which have no file if all are in use", async () => {
    const uploads = open();
    const uploaded: Upload[] = [];
    for (const count of [1, 2, 3, 4, 4])
      uploaded.push(await uploads.receive(request(chunks(count, 17 * kibibyte)), "caller"));
    expect(uploaded.map(({ data }) => data.kind)).toEqual(["file", "file", "file", "file", "bytes"]);
    expect(uploaded.map(contentOf)).toEqual([1, 2, 3, 4, 4].map((count) => whole(count, 17 * kibibyte)));
    expect([inMemory().length, onDisk().length]).toEqual([4, 0]);
  });

  test("take a body over when one becomes free", async () => {
    const uploads = open();
    const uploaded: Upload[] = [];
    for (const count of [5, 5, 5, 5]) uploaded.push(await uploads.receive(request(chunks(count)), "caller"));
    const late = async function* () {
      yield* chunks(2);
      await uploaded[0]?.release();
      yield* chunks(2);
    };
    const upload = await uploads.receive(request(late()), "caller");
    expect(contentOf(upload).equals(Buffer.concat([whole(2), whole(2)]))).toBe(true);
    expect(inMemory()).toContain(pathOf(upload));
  });

  test("hold four bodies, and others are on the disk", async () => {
    const uploads = open();
    const uploaded = await Promise.all(
      [5, 6, 7, 8, 9, 10].map((count) => uploads.receive(request(chunks(count)), "caller")),
    );
    expect([inMemory().length, onDisk().length]).toEqual([4, 2]);
    expect(uploaded.map(contentOf)).toEqual([5, 6, 7, 8, 9, 10].map((count) => whole(count)));
    for (const upload of uploaded) await upload.release();
    expect([inMemory().length, onDisk().length]).toEqual([4, 0]);
  });

  test("are used again", async () => {
    const uploads = open();
    for (let count = 5; count <= 16; count++) {
      const upload = await uploads.receive(request(chunks(count)), "caller");
      expect(contentOf(upload).equals(whole(count))).toBe(true);
      expect([inMemory(), onDisk()]).toEqual([[pathOf(upload)], []]);
      await upload.release();
    }
  });

  test("are not used for a body that is known to be larger, and given back by one that becomes so", async () => {
    const limits = { maxWriteBytes: 8192 * kibibyte, maxUploadBytes: 32_768 * kibibyte };
    const uploads = open(limits);
    const declared = request(chunks(65), { "content-length": String(65 * 64 * kibibyte) });
    expect((await uploads.receive(declared, "caller")).bytes).toBe(65 * 64 * kibibyte);
    expect([inMemory().length, onDisk().length]).toEqual([0, 1]);
    await uploads.receive(request(chunks(65)), "caller");
    const small = await uploads.receive(request(chunks(64)), "caller");
    expect(contentOf(small).equals(whole(64))).toBe(true);
    expect([inMemory(), onDisk().length]).toEqual([[pathOf(small)], 2]);
  });

  test("that someone has removed are replaced", async () => {
    const uploads = open();
    const first = await uploads.receive(request(chunks(6)), "caller");
    await first.release();
    rmSync(pathOf(first));
    const next = await uploads.receive(request(chunks(7)), "caller");
    expect(contentOf(next).equals(whole(7))).toBe(true);
    rmSync(dirname(pathOf(next)), { recursive: true });
    expect(onDisk()).toEqual([]);
    expect(contentOf(await uploads.receive(request(chunks(8)), "caller")).equals(whole(8))).toBe(true);
    expect(onDisk()).toHaveLength(1);
  });
});

describe("a body", () => {
  test.each([
    ["content-type", "application/json"],
    ["content-encoding", "gzip"],
  ])("with another %s is refused with 415", async (name, value) => {
    await expect(open().receive(request(chunks(1), { [name]: value }), "caller")).rejects.toMatchObject({
      status: 415,
    });
  });

  test.each([
    "application/vnd.apache.arrow.stream",
    "application/octet-stream",
    "Application/Vnd.Apache.Arrow.Stream;v=1",
  ])("may have the content-type %s", async (type) => {
    await expect(open().receive(request(chunks(1), { "content-type": type }), "caller")).resolves.toMatchObject({
      bytes: 64 * kibibyte,
    });
  });
});

test("a caller may hold as many bytes as it leaves free, until it releases them", async () => {
  const uploads = open({ maxWriteBytes: 512 * kibibyte, maxUploadBytes: 1024 * kibibyte });
  const first = await uploads.receive(request(chunks(8)), "one");
  await expect(uploads.receive(request(chunks(1)), "one")).rejects.toMatchObject({ status: 503, code: 17 });
  await expect(uploads.receive(request(chunks(4)), "two")).resolves.toMatchObject({ bytes: 256 * kibibyte });
  await expect(uploads.receive(request(chunks(3)), "three")).rejects.toMatchObject({ status: 503 });
  await expect(uploads.receive(request(chunks(2)), "three")).resolves.toMatchObject({ bytes: 128 * kibibyte });
  await first.release();
  await expect(uploads.receive(request(chunks(4)), "one")).resolves.toMatchObject({ bytes: 256 * kibibyte });
});

describe("a body of which too little arrives", () => {
  const stallMs = 100;
  /** Chunks with pauses between them, without an end. */
  const trickle = async function* (bytes: number) {
    for (;;) {
      yield Buffer.alloc(bytes);
      await sleep(5);
    }
  };

  test.each([
    ["stops", () => new Readable({ read() {} })],
    ["trickles", () => Readable.from(trickle(1))],
  ])("because it %s is refused with 408, and its connection is closed", async (_, body) => {
    const uploads = open({ stallMs });
    const sent = body();
    await expect(uploads.receive(request(sent), "caller")).rejects.toMatchObject({
      status: 408,
      message: /^less than 1639 bytes of the body arrived in 0.1 s: .*LAKEHEAD_BODY_STALL_SECONDS$/,
      headers: { connection: "close" },
    });
    expect([uploads.bytes, onDisk()]).toEqual([0, []]);
    await once(sent, "close");
  });

  test("is not one that is fast enough, however long it takes", async () => {
    const uploads = open({ stallMs: 4000, maxWriteBytes: 128 * kibibyte });
    // Refused for its size alone.
    await expect(uploads.receive(request(trickle(2 * kibibyte)), "caller")).rejects.toMatchObject({ status: 413 });
  });
});

test.each([tmpdir(), ...(existsSync(shared) ? [shared] : [])])(
  "files in %s of services that have ended are removed at the start, those of running services are not",
  (parent) => {
    const of = (pid: number): string => join(parent, `lakehead-uploads-${pid}-test`);
    // A process id beyond the system's maximum, and that of a process before this one; process 1 always runs.
    const [ended, same, running] = [of(99_999_999), of(process.pid), of(1)];
    for (const directory of [ended, same, running]) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "1"), "rows");
    }
    open();
    open();
    expect([ended, same, running].map(existsSync)).toEqual([false, false, true]);
    rmSync(running, { recursive: true });
  },
);

test("two services in one process have files of their own", async () => {
  const [first, second] = [open(), open()];
  const uploaded = [
    await first.receive(request(chunks(6)), "caller"),
    await second.receive(request(chunks(7)), "caller"),
  ];
  second.close();
  expect(contentOf(uploaded[0] as Upload).equals(whole(6))).toBe(true);
});
