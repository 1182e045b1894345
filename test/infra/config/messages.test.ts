import { describe, expect, test } from "vitest";
import { z } from "zod";
import { configSchema } from "../../../infra/clouds/schema.ts";
import { describeFinding } from "../../../infra/config/report.ts";
import { judge, minimal } from "./minimal.ts";

interface JsonSchema {
  readonly properties?: Record<string, JsonSchema>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly oneOf?: JsonSchema[];
  readonly anyOf?: JsonSchema[];
}

/** The paths of every key, with one made-up key in each map and the first element of each list. */
function paths(schema: JsonSchema, path: readonly string[] = []): string[][] {
  const { properties = {}, additionalProperties, items, oneOf = [], anyOf = [] } = schema;
  return [
    [...path],
    ...Object.entries(properties).flatMap(([key, field]) => paths(field, [...path, key])),
    ...(typeof additionalProperties === "object" ? paths(additionalProperties, [...path, "key"]) : []),
    ...(items === undefined ? [] : paths(items, [...path, "0"])),
    ...[...oneOf, ...anyOf].flatMap((option) => paths(option, path)),
  ];
}

/** The same configuration with another value at a path; maps and lists on the way are made. */
function withValue(target: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (key === "0") return [withValue(undefined, rest, value)];
  const map = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  return { ...map, [key]: withValue((map as Record<string, unknown>)[key], rest, value) };
}

const wrong = [null, true, -1, 1.5, 1e9, "", "§", "x".repeat(300), [], [1], Array(50).fill("a"), {}, { "§": [] }];

/** Foreign part: the phrases of zod's own English messages. */
const phrases =
  /Invalid (input|key|option|value|string|element|[a-zA-Z]+:)|Too (small|big)|Unrecognized|received|expected (string|array|object|record|boolean|int)\b|must (match|start)/;

describe("a wrong value", () => {
  const options = z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema;
  const clouds = Object.keys(minimal) as (keyof typeof minimal)[];

  test("has no message of zod under any key of any cloud", { timeout: 120_000 }, () => {
    const found = new Set<string>();
    const seen = { keys: 0, findings: 0 };
    for (const [index, cloud] of clouds.entries()) {
      const keys = new Map(paths(options.oneOf?.[index] ?? {}).map((path) => [path.join("."), path]));
      keys.delete("");
      keys.delete("cloud");
      seen.keys += keys.size;
      for (const path of keys.values())
        for (const value of wrong)
          for (const { problem, remedy } of judge(withValue(minimal[cloud], path, value))) {
            seen.findings += 1;
            if (
              phrases.test(problem) ||
              phrases.test(remedy) ||
              problem === "" ||
              /undefined|NaN|\[object/.test(remedy)
            )
              found.add(`${cloud} ${path.join(".")} = ${JSON.stringify(value)?.slice(0, 40)}: ${problem}; ${remedy}`);
          }
    }
    expect([...found]).toEqual([]);
    expect(seen.keys).toBeGreaterThan(300);
    expect(seen.findings).toBeGreaterThan(3000);
  });

  test.each([
    [
      "tags",
      { "Cost#Centre": "x" },
      "expected a key that is 1 to 128 letters, digits, spaces and _.:/=+-@, and not aws: at the start",
    ],
    ["tags", { a: 1 }, "expected text"],
    ["tags", "x", "expected a map of keys"],
    ["protect", "yes", "expected true or false"],
    ["client", { access: "admin" }, "expected one of cluster-admin, least-privilege"],
    ["clusterName", 5, "expected text"],
    [
      "network",
      { mode: "adopt", vpcId: "vpc-01", cidr: "10.0.0.0/16", privateSubnetIds: ["subnet-01"] },
      "expected at least 2 items",
    ],
    ["nodes", { cpu: { zones: [] } }, "expected at least 1 item"],
  ])("under %s of %j says what is expected", (key, value, expected) => {
    const lines = judge({ ...minimal.aws, [key]: value }).map((finding) => describeFinding(finding));
    expect(lines.filter((line) => line.endsWith(expected))).toHaveLength(1);
  });
});

test.each([
  [
    "aws",
    { nodes: { cpu: { instanceTypes: ["zz9.large"] } } },
    "write a known type such as c7i.large, or the size under nodes.cpu.size",
  ],
  [
    "gcp",
    { nodes: { cpu: { machineType: "zz9-large" } } },
    "write a known type such as n2-standard-2, or the size under nodes.cpu.size",
  ],
] as const)("on %s an unknown machine type is refused with a type of that cloud", (cloud, overrides, remedy) => {
  expect(judge({ ...minimal[cloud], ...overrides }).map((finding) => finding.remedy)).toContain(remedy);
});
