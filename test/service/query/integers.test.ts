import { describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";
import { beyondSafe, type Fields, refused, search } from "./support.ts";

const service = useSharedService();

const fts = (clause: unknown): Fields => ({ k: 5, full_text_query: { query: clause } });

/** Integers, with the bound that the service has for each by default. */
const integers: readonly (readonly [field: string, base: Fields, bound?: number])[] = [
  ["k", {}, 2 ** 32 - 1],
  ["offset", { k: 5 }, 1_000_000],
  ["version", { k: 5 }],
  ["ef", search, 20_000],
  ["nprobes", search, 4096],
  ["minimum_nprobes", search, 4096],
  ["maximum_nprobes", search, 4096],
  ["refine_factor", search, 1000],
];
/** 2^53, from which JSON loses digits. */
const unsafe = 2 ** 53;
/** The SDK reads it as 1. */
const wrapping = 2 ** 32 + 1;

describe("integers", () => {
  const cases = integers.flatMap(([field, base, bound]) =>
    [unsafe, -1, 1.7, "5", ...(bound === undefined ? [] : [wrapping, bound + 1])].map(
      (value) => [field, value, base] as const,
    ),
  );
  test.each(cases)("%s refuses %j", async (field, value, base) => {
    for (const error of await refused(service, { ...base, [field]: value })) {
      expect(error).toMatch(new RegExp(`^(?:query\\.)?${field} (?:is|must)`));
      if (value === wrapping) expect(error).toContain("4294967297, at most");
    }
  });

  const clauseIntegers = [
    ["match", "fuzziness"],
    ["match", "max_expansions"],
    ["match", "prefix_length"],
    ["phrase", "slop"],
  ] as const;
  test.each(
    clauseIntegers.flatMap(([kind, field]) =>
      [unsafe, wrapping, -1, 1.7, "5"].map((value) => [kind, field, value] as const),
    ),
  )("%s.%s refuses %j", async (kind, field, value) => {
    for (const error of await refused(service, fts({ [kind]: { terms: "a", column: "text", [field]: value } })))
      expect(error).toContain(`${field} `);
  });

  test.each(integers.map(([field, base]) => [field, base] as const))(
    "%s: integers are checked by their digits on the wire",
    async (field, base) => {
      const fields = JSON.stringify({ ...base, [field]: "digits" });
      const rawBody = fields.replace('"digits"', "9007199254740993");
      const { status, body } = await service.call("analyze_plan", "docs", undefined, { rawBody });
      expect([status, body.code, body.error]).toEqual([400, 13, `${field} ${beyondSafe}`]);
    },
  );

  test("a version that does not exist is not found, however large", async () => {
    for (const version of [0, 8, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await service.call("explain_plan", "docs", { query: { k: 5, version } });
      expect([status, body.code, body.error]).toEqual([404, 11, "version not found: the table has no such version"]);
    }
  });

  test.each<[string, Fields]>([
    ["tags/create", { tag: "t" }],
    ["describe", {}],
  ])("version of %s", async (operation, base) => {
    for (const version of [unsafe, -1, 1.7, "5"]) {
      const { status, body } = await service.call(operation, "docs", { ...base, version });
      expect([status, body.code]).toEqual([400, 13]);
      expect(body.error).toMatch(/^version must be/);
    }
    const { status, body } = await service.call(operation, "docs", { ...base, version: Number.MAX_SAFE_INTEGER });
    expect([status, body.code]).toEqual([404, 11]);
  });
});
