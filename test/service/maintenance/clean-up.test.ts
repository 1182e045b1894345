import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanUpOf, type History } from "../../../service/lance/maintenance/clean-up.ts";
import { MaintainedTables } from "../../../service/lance/maintenance/maintained-tables.ts";
import { rowsFrom } from "./support.ts";

const hour = 3_600_000;
const now = 1_000 * hour;

/** Versions from 1, created so many hours ago. */
const history = (hoursAgo: readonly number[], more: Partial<History> = {}): History => ({
  versions: hoursAgo.map((hours, index) => ({ version: index + 1, createdAt: now - hours * hour })),
  tags: {},
  bases: [],
  ...more,
});

describe("versions that can be deleted", () => {
  test("are those that were replaced before the time to keep began", () => {
    expect(cleanUpOf(history([50, 40, 30, 20, 1]), 24 * hour, now)).toEqual({
      deleteBefore: now - 30 * hour,
      versions: 2,
    });
  });

  test("are none while no version is old enough", () => {
    expect(cleanUpOf(history([20, 1]), 24 * hour, now)).toBeUndefined();
  });

  test("do not include the latest one, however old it is", () => {
    expect(cleanUpOf(history([500]), 24 * hour, now)).toEqual({ deleteBefore: now - 500 * hour, versions: 0 });
  });

  test("do not include those that branches begin with", () => {
    expect(cleanUpOf(history([50, 40, 30], { bases: [1] }), 24 * hour, now)).toMatchObject({ versions: 1 });
  });

  test("end before the oldest tag, which is named with what it holds back", () => {
    expect(cleanUpOf(history([60, 50, 40, 30, 20], { tags: { later: 4, live: 2 } }), 24 * hour, now)).toEqual({
      deleteBefore: now - 50 * hour,
      versions: 1,
      heldBy: { tag: "live", version: 2, versions: 1 },
    });
  });

  test("are not held by a tag of the version that stays anyway", () => {
    expect(cleanUpOf(history([60, 50, 20], { tags: { live: 2 } }), 24 * hour, now)).toEqual({
      deleteBefore: now - 50 * hour,
      versions: 1,
    });
  });

  test("never include one that a reader may have opened within the time to keep, or one with a tag", () => {
    const ages = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        ages,
        fc.array(fc.nat(29), { maxLength: 3 }),
        fc.integer({ min: 1, max: 90 }),
        (hours, tagged, kept) => {
          const sorted = hours.toSorted((left, right) => right - left);
          const tags = Object.fromEntries(
            tagged.filter((index) => index < sorted.length).map((index) => [`tag${index}`, index + 1]),
          );
          const own = history(sorted, { tags });
          const { deleteBefore } = cleanUpOf(own, kept * hour, now) ?? { deleteBefore: 0 };
          const deleted = own.versions.filter(({ createdAt }) => createdAt < deleteBefore);
          // The latest version at the beginning of the time to keep, and all after it.
          const opened = own.versions.findLast(({ createdAt }) => createdAt <= now - kept * hour)?.version ?? 1;
          expect(deleted.filter(({ version }) => version >= opened)).toEqual([]);
          expect(deleted.filter(({ version }) => Object.values(tags).includes(version))).toEqual([]);
        },
      ),
    );
  });
});

test("a clean-up of a directory deletes the unfinished files of killed writes that are old enough, and no others", async () => {
  const uri = await mkdtemp(join(tmpdir(), "lakehead-clean-up-"));
  const connection = await connect(uri);
  const tables = new MaintainedTables({
    uri,
    storageOptions: {},
    caches: { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 },
  });
  try {
    const table = await connection.createTable("events", rowsFrom(0, 5));
    await table.add(rowsFrom(5, 1));
    const directory = join(uri, "events.lance");
    const files = {
      old: ["data/.tmpAbc123", "_versions/7.manifest#1"],
      young: ["data/.tmpDef456"],
      other: ["data/notes"],
    };
    for (const file of Object.values(files).flat()) await writeFile(join(directory, file), "");
    for (const file of [...files.old, ...files.other]) await utimes(join(directory, file), 1e9, 1e9);
    const isPlanted = (file: string): boolean => Object.values(files).flat().includes(file);
    const planted = async () => (await readdir(directory, { recursive: true })).filter(isPlanted).sort();
    await tables.optimize(["events"], undefined);
    expect(await planted()).toEqual(Object.values(files).flat().sort());
    await tables.optimize(["events"], Date.now() - 60_000);
    expect(await planted()).toEqual([...files.young, ...files.other].sort());
    expect(await (await connection.openTable("events")).countRows()).toBe(6);
  } finally {
    await tables.close();
    connection.close();
    await rm(uri, { recursive: true, force: true });
  }
});
