import { describe, expect, test } from "vitest";
import { readProject, readStackConfig } from "../../infra/offline-plan/project.ts";
import { configRows } from "../../tools/docs/stack-keys.ts";
import { exampleStacks, root } from "../support/infra/stacks.ts";

/** The keys that a stack's file sets, down to what the table has a row for. */
function keysOf(value: unknown, path: string, known: ReadonlySet<string>): string[] {
  if (known.has(path) || typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => keysOf(inner, path === "" ? key : `${path}.${key}`, known));
}

describe("the table of configuration keys", () => {
  test.each(["aws", "gcp", "kubeconfig"] as const)(
    "says of every key of %s what it takes and what it means",
    (cloud) => {
      const rows = configRows(cloud);
      expect(rows.length).toBeGreaterThan(50);
      expect(rows.filter(({ value, meaning }) => value === "" || value === "any" || !/\w{3}/.test(meaning))).toEqual(
        [],
      );
    },
  );

  test.each(exampleStacks)("has every key that %s sets", (stack) => {
    const { values } = readStackConfig(readProject(root), stack);
    const decode = (text: string): unknown => (/^[[{]/.test(text) ? JSON.parse(text) : text);
    const set = Object.fromEntries(
      Object.entries(values).map(([key, text]) => [key.split(":")[1] ?? "", decode(text)]),
    );
    const known = new Set(configRows(set.cloud as "aws" | "gcp" | "kubeconfig").map(({ key }) => key));
    expect(keysOf(set, "", known).filter((key) => !known.has(key))).toEqual([]);
  });

  test("tells what is required from what has a default", () => {
    const rows = new Map(configRows("aws").map(({ key, preset }) => [key, preset]));
    expect(rows.get("account")).toBe("required");
    expect(rows.get("bucket.name")).toBe("required");
    expect(rows.get("network.mode")).toBe("`create`");
    expect(rows.get("protect")).toBe("`true`");
    expect(rows.get("nodes.head.spot")).toBe("`false`");
  });
});
