import { expect, test } from "vitest";
import { rules } from "../../service/plan-doctor/diagnose.ts";
import { anchorsOf, textOf } from "./pages.ts";

const page = "docs/plan-doctor.md";

/** The headings of the third level are the findings. */
const sections = [...textOf(page).matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);

test("the page has a section for every finding and no other", () => {
  expect(sections).toEqual(rules.map(({ code }) => code));
});

test("the code of a finding is the anchor of its section", () => {
  expect(rules.filter(({ code }) => !anchorsOf(page).includes(code))).toEqual([]);
});
