import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import { outlineOf } from "../../../service/lance/arrow/stream.ts";
import { outcomeUnknown } from "../../../service/lance/errors/classify-write.ts";
import type { CommitOfInserts, InsertMode, RowData, WriteTarget } from "../../../service/lance/writes/write-calls.ts";
import { groupAppends } from "../../../service/workers/group-commit.ts";
import { plainSchema, plainStream, streamOf } from "../writes/support.ts";

const target: WriteTarget = { table: { key: "t", name: "t", namespace: [], parts: ["t"] } };
const rows = (...ids: number[]): readonly [RowData] => [{ kind: "bytes", bytes: plainStream(ids) }];

/** Rows that a file would have. */
const rowsOfFile = 7;
const file = (size: number): readonly [RowData] => [{ kind: "file", size, path: "/nowhere" }];
const mebibyte = 2 ** 20;

/** An insert that records its calls; each is one version and takes a turn of the event loop. */
const recorded = (fail?: (data: readonly RowData[]) => ServiceError | undefined) => {
  const commits: { readonly target: WriteTarget; readonly size: number; readonly mode: InsertMode }[] = [];
  const insert = async (to: WriteTarget, data: readonly RowData[], mode: InsertMode): Promise<CommitOfInserts> => {
    await new Promise((resolve) => setImmediate(resolve));
    commits.push({ target: to, size: data.length, mode });
    const failure = fail?.(data);
    if (failure !== undefined) throw failure;
    const insertedBy = data.map((each) => (each.kind === "bytes" ? outlineOf(each.bytes).rows : rowsOfFile));
    const rows = { inserted: insertedBy.reduce((sum, count) => sum + count, 0), updated: 0, deleted: 0 };
    return { before: commits.length, version: commits.length + 1, rows, insertedBy };
  };
  return { commits, append: groupAppends(insert) };
};

const sizes = ({ commits }: ReturnType<typeof recorded>): number[] => commits.map(({ size }) => size);

describe("appends to one table", () => {
  test("that arrive during a commit share the next one, and each is answered with its own rows", async () => {
    const recording = recorded();
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => recording.append(target, rows(...Array(index + 1).keys()), "append")),
    );
    expect(sizes(recording)).toEqual([1, 63]);
    expect(answers.map(({ version }) => version)).toEqual([2, ...Array(63).fill(3)]);
    expect(answers.map((answer) => answer.rows.inserted)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
  });

  test("that arrive one after another are a commit each", async () => {
    const recording = recorded();
    for (let id = 0; id < 3; id++) await recording.append(target, rows(id), "append");
    expect(sizes(recording)).toEqual([1, 1, 1]);
  });

  test("of up to 4 MiB in files share commits of up to 16 MiB", async () => {
    const recording = recorded();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => recording.append(target, file(4 * mebibyte), "append")),
    );
    expect(sizes(recording)).toEqual([1, 4, 4, 1]);
    for (const answer of answers) expect(answer.rows.inserted).toBe(rowsOfFile);
  });

  test("of more than 4 MiB are a commit each, at once", async () => {
    const recording = recorded();
    await Promise.all(Array.from({ length: 3 }, () => recording.append(target, file(4 * mebibyte + 1), "append")));
    expect(sizes(recording)).toEqual([1, 1, 1]);
  });

  test("share no commit with other branches and overwrites", async () => {
    const recording = recorded();
    await Promise.all([
      recording.append(target, rows(1), "append"),
      recording.append({ ...target, branch: "b" }, rows(1), "append"),
      recording.append(target, rows(1), "overwrite"),
    ]);
    expect(sizes(recording)).toEqual([1, 1, 1]);
    expect(recording.commits.filter(({ mode }) => mode === "overwrite")).toHaveLength(1);
    expect(recording.commits.filter((commit) => commit.target.branch === "b")).toHaveLength(1);
  });
});

describe("when a shared commit fails", () => {
  const nullIds = streamOf([{ id: null, text: "invalid", vector: [0, 0, 0, 0] }], plainSchema);
  const isInvalid = (each: RowData): boolean => each.kind === "bytes" && each.bytes === nullIds;

  test("because of the rows of one append, the others are committed", async () => {
    const recording = recorded((data) => (data.some(isInvalid) ? new ServiceError(20) : undefined));
    const outcomes = await Promise.allSettled([
      recording.append(target, rows(1), "append"),
      recording.append(target, rows(2), "append"),
      recording.append(target, [{ kind: "bytes", bytes: nullIds }], "append"),
      recording.append(target, rows(3), "append"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[2]).toMatchObject({ reason: { code: 20, status: 400 } });
    expect(sizes(recording)).toEqual([1, 3, 1, 1, 1]);
  });

  test.each([
    ["an unknown outcome", outcomeUnknown()],
    ["a conflict", new ServiceError(14)],
    ["an unavailable store", new ServiceError(17)],
  ])("with %s, every append gets it, and none is sent again", async (_, failure) => {
    const recording = recorded((data) => (data.length > 1 ? failure : undefined));
    const outcomes = await Promise.allSettled([1, 2, 3].map((id) => recording.append(target, rows(id), "append")));
    expect(outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : "ok"))).toEqual([
      "ok",
      failure,
      failure,
    ]);
    expect(sizes(recording)).toEqual([1, 2]);
  });

  test("with an error that is no ServiceError, every append gets code 18, and the table takes appends again", async () => {
    let broken = true;
    const append = groupAppends(async (): Promise<CommitOfInserts> => {
      if (broken) throw new TypeError("a fault of the service");
      return { version: 2, rows: { inserted: 1, updated: 0, deleted: 0 }, insertedBy: [1] };
    });
    await expect(append(target, rows(1), "append")).rejects.toMatchObject({ code: 18 });
    broken = false;
    await expect(append(target, rows(1), "append")).resolves.toMatchObject({ version: 2 });
  });
});
