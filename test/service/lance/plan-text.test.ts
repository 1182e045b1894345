import { expect, test } from "vitest";
import { presentPlan } from "../../../service/lance/reads/plan-text.ts";

test("addresses in a plan are relative to the database's root", () => {
  const present = presentPlan("/srv/lake");
  expect(present("LanceRead: uri=srv/lake/docs.lance/data, x")).toBe("LanceRead: uri=docs.lance/data, x");
});

test("a plan above the maximum length is rejected", () => {
  const present = presentPlan("s3://bucket/prefix");
  const longest = "a".repeat(8 * 2 ** 20);
  expect(present(longest)).toBe(longest);
  expect(() => present(`${longest}a`)).toThrow(
    expect.objectContaining({
      code: 13,
      message: expect.stringMatching(/^the plan has more than 8388608 .*: shorten/),
    }),
  );
});
