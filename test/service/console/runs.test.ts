import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findRun, forgetRuns, type Run, storedRuns, storeRun } from "../../../service/console/page/query/runs.ts";
import { parsePlan } from "../../../service/plan-doctor/parse.ts";

/** A browser's storage with room for some characters of values. */
const createStorage = (room: number) => {
  const values = new Map<string, string>();
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    removeItem: (key: string) => void values.delete(key),
    setItem: (key: string, value: string) => {
      const others = [...values].reduce((sum, [name, text]) => (name === key ? sum : sum + text.length), 0);
      if (others + value.length > room) throw new DOMException("no room", "QuotaExceededError");
      values.set(key, value);
    },
  };
};

let storage: ReturnType<typeof createStorage>;
const useStorage = (room: number): void => {
  storage = createStorage(room);
  vi.stubGlobal("localStorage", storage);
};
beforeEach(() => useStorage(1_000_000));
afterEach(() => {
  vi.unstubAllGlobals();
});

const text = "AnalyzeExec verbose=true, elapsed=5ms, metrics=[]\n  LanceRead: uri=t, metrics=[output_rows=1]";
const facts = { version: 1, statistics: null, columns: null, indices: null, missing: [] };
const plan = { plan: text, tree: parsePlan(text), findings: [], facts };
const run = (id: string): Run => ({ id, table: "t", kind: "analyze", query: { k: 1 }, at: 0, tookMs: 5, plan });
const ids = (): readonly string[] => storedRuns().map(({ id }) => id);

test("a run is listed without its plan, and found with it", () => {
  storeRun(run("a"));
  storeRun({ id: "b", table: "t", kind: "rows", query: { k: 1 }, at: 0, tookMs: 5, rows: 3 });
  expect(storedRuns()).toMatchObject([
    { id: "b", rows: 3 },
    { id: "a", plan: { measured: true, elapsed_ns: 5_000_000, findings: 0 } },
  ]);
  expect(findRun("a")).toEqual(run("a"));
  expect(findRun("b")).not.toHaveProperty("plan");
  expect([findRun("c"), findRun(undefined)]).toEqual([undefined, undefined]);
});

test("a plan that is text alone is kept, and not listed as data", () => {
  storeRun({ ...run("a"), plan: { plan: text } });
  expect(storedRuns()[0]).not.toHaveProperty("plan");
  expect(findRun("a")?.plan).toEqual({ plan: text });
});

test("the newest 50 are kept, and no plan of another", () => {
  for (let index = 0; index < 53; index++) storeRun(run(String(index)));
  expect([ids().length, ids()[0], ids().at(-1)]).toEqual([50, "52", "3"]);
  expect(storage.values.size).toBe(51);
});

test("the oldest are removed where the browser lacks room", () => {
  useStorage(JSON.stringify(plan).length * 3.5);
  for (const id of ["a", "b", "c", "d"]) storeRun(run(id));
  expect(ids()[0]).toBe("d");
  expect(ids().length).toBeLessThan(4);
  expect(ids().map((id) => findRun(id)?.plan)).toEqual(ids().map(() => plan));
  expect(storage.values.size).toBe(ids().length + 1);
});

test("a run whose plan alone is too large is listed", () => {
  useStorage(JSON.stringify(plan).length);
  storeRun({ ...run("a"), query: {} });
  expect(ids()).toEqual(["a"]);
  expect(findRun("a")).not.toHaveProperty("plan");
});

test("forgotten runs leave nothing behind", () => {
  storeRun(run("a"));
  storeRun(run("b"));
  forgetRuns();
  expect([ids(), storage.values.size]).toEqual([[], 0]);
});

test("a list that is no JSON is empty", () => {
  storage.setItem("lakehead.history", "{");
  expect(storedRuns()).toEqual([]);
});
