import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asRows, plainStream } from "../service/writes/support.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { serve } from "./place.ts";
import { contentOf, prepareTable, send, writes } from "./write-cases.ts";

/** A small file system in memory; undefined where that needs more rights. */
const mount = (megabytes: number): { readonly path: string; unmount(): void } | undefined => {
  const path = mkdtempSync(join(tmpdir(), "lakehead-full-"));
  const unmount = (): void => {
    execFileSync("umount", [path]);
    rmSync(path, { recursive: true });
  };
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path], { stdio: "ignore" });
    return { path, unmount };
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
};

const fillerOf = (directory: string): string => join(directory, "filler");

/** Leaves so many bytes of a file system free, by a file of zeros. */
const leave = (directory: string, bytes: number): void => {
  const filler = fillerOf(directory);
  writeFileSync(filler, "");
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
};

const clear = (directory: string): void => truncateSync(fillerOf(directory));

/** Free bytes during a write: none for its first file, or for one of the later ones. */
const spaces = [0, 1, 2, 3, 4, 6, 8].map((pages) => pages * 4096);

/** More than the service puts into files in memory. */
const largeRows = plainStream(
  Array.from({ length: 8000 }, (_, id) => id),
  "x".repeat(600),
);

/** A full disk refuses a write, which leaves the table as it was. */
export const fullDisk = (): void => {
  const database = mount(24);
  const temporary = mount(8);
  if (database === undefined || temporary === undefined)
    process.stdout.write("skipped: writes to a full disk need the right to mount one\n");

  describe.skipIf(database === undefined || temporary === undefined)("a full disk", () => {
    const directory = database?.path ?? "";
    const uploads = temporary?.path ?? "";
    let service: ServiceProcess;
    let reader: Connection;
    const outcomes: Record<string, number> = {};

    beforeAll(async () => {
      const environment = { LAKEHEAD_WRITES: "on", LAKEHEAD_CONSISTENCY_SECONDS: "0", TMPDIR: uploads };
      service = await serve({ uri: directory, storageOptions: {} }, environment);
      await service.ready();
      reader = await connect(directory);
    });
    afterAll(async () => {
      process.stdout.write(`writes to a full disk: ${JSON.stringify(outcomes)}\n`);
      reader.close();
      await service.stop();
      database?.unmount();
      temporary?.unmount();
    });

    test.each(writes)("$operation: the response says whether it was committed", async (write) => {
      const whole = `${write.operation}-whole`;
      await prepareTable(service, whole, write);
      expect((await send(service, whole, write)).status).toBe(200);
      const after = await contentOf(reader, whole);
      const wrong: string[] = [];
      let refusals = 0;
      for (const space of spaces) {
        const name = `${write.operation}-${space}`;
        await prepareTable(service, name, write);
        const before = await contentOf(reader, name);
        leave(directory, space);
        const { status, body } = await send(service, name, write);
        const content = await contentOf(reader, name).catch((error: unknown) => `unreadable: ${error}`);
        clear(directory);
        if (status === 503) refusals++;
        outcomes[String(status)] = (outcomes[String(status)] ?? 0) + 1;
        const isRight = status === 200 ? content === after : status === 503 && body.code === 17 && content === before;
        if (!isRight) wrong.push(`${space} bytes free: ${status} ${JSON.stringify(body)}, ${content.slice(0, 300)}`);
        if (status === 200) continue;
        const again = await send(service, name, write);
        if (again.status !== 200 || (await contentOf(reader, name)) !== after)
          wrong.push(`${space} bytes free: the next attempt has status ${again.status}: ${JSON.stringify(again.body)}`);
      }
      expect(wrong).toEqual([]);
      expect(refusals).toBeGreaterThan(0);
    });

    test("rows that do not fit into the directory for temporary files are refused, and leave the table as it was", async () => {
      await prepareTable(service, "uploads", { operation: "insert" });
      const before = await contentOf(reader, "uploads");
      const insert = () => service.call("insert", "uploads", undefined, asRows(largeRows));
      expect(largeRows.byteLength).toBeGreaterThan(4 * 2 ** 20);
      leave(uploads, 256 * 1024);
      const refused = await insert();
      expect(refused).toMatchObject({ status: 503, body: { code: 17 } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await contentOf(reader, "uploads")).toBe(before);
      clear(uploads);
      expect(await insert()).toMatchObject({ status: 200, body: { num_inserted_rows: 8000 } });
    });

    test.each(writes)("$operation with a full directory for temporary files", async (write) => {
      const name = `${write.operation}-temporary`;
      await prepareTable(service, name, write);
      const before = await contentOf(reader, name);
      leave(uploads, 0);
      const { status } = await send(service, name, write);
      clear(uploads);
      const content = await contentOf(reader, name);
      expect(status === 200 || status === 503).toBe(true);
      expect(content === before).toBe(status === 503);
    });
  });
};
