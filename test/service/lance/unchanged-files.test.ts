import { mkdtemp, readFile, rename, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UnchangedFiles } from "../../../service/lance/unchanged-files.ts";

const settleMs = 200;
const settled = () => new Promise((resolve) => setTimeout(resolve, settleMs + 50));

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-test-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** A file whose reads are counted. */
const counted = async (name: string) => {
  const path = join(home, name);
  await writeFile(path, "one");
  const files = new UnchangedFiles<string>(10, settleMs);
  let reads = 0;
  const read = () =>
    files.get(path, () => {
      reads++;
      return readFile(path, "utf8");
    });
  return { path, read, reads: () => reads };
};

test("a file is read each time until its times have settled, and then no more", async () => {
  const { read, reads } = await counted("settles");
  expect([await read(), await read()]).toEqual(["one", "one"]);
  expect(reads()).toBe(2);
  await settled();
  expect(await Promise.all([read(), read(), read()])).toEqual(["one", "one", "one"]);
  expect(await read()).toBe("one");
  expect(reads()).toBe(3);
});

test("each kind of change is seen by the next call", async () => {
  const { path, read } = await counted("changes");
  const settle = async () => {
    await read();
    await settled();
    await read();
  };
  await settle();
  await writeFile(path, "two");
  expect(await read()).toBe("two");
  await settle();
  await writeFile(`${path}.new`, "six");
  await rename(`${path}.new`, path);
  expect(await read()).toBe("six");
  await settle();
  const before = new Date(2000, 1, 1);
  await writeFile(path, "ten");
  await utimes(path, before, before);
  expect(await read()).toBe("ten");
  await settle();
  await unlink(path);
  await expect(read()).rejects.toThrow("ENOENT");
  await writeFile(path, "one");
  expect(await read()).toBe("one");
});

test("two changes within one step of the file system's times are both seen", async () => {
  const { path, read } = await counted("steps");
  for (let round = 0; round < 200; round++) {
    await writeFile(path, `${round} a`);
    expect(await read()).toBe(`${round} a`);
    await writeFile(path, `${round} b`);
    expect(await read()).toBe(`${round} b`);
  }
});

test("a failed read is not kept", async () => {
  const path = join(home, "fails");
  await writeFile(path, "one");
  const files = new UnchangedFiles<string>(10, 0);
  const fail = () => Promise.reject(new Error("no memory"));
  await files.get(path, async () => "first");
  await expect(files.get(path, fail)).rejects.toThrow("no memory");
  expect(await files.get(path, async () => "read")).toBe("read");
  expect(await files.get(path, fail)).toBe("read");
});
