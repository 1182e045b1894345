import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderGolden } from "../../../infra/offline-plan/golden.ts";
import { renderGraph } from "../../../infra/offline-plan/graph.ts";
import { leaves } from "../../../infra/offline-plan/leaves.ts";
import { planOf, transitiveReduction, unfold } from "../../../infra/offline-plan/plan.ts";
import { renderTree } from "../../../infra/offline-plan/tree.ts";
import { echoed } from "../../../infra/offline-plan/unknowns.ts";
import {
  abridge,
  computed,
  decode,
  mask,
  type Plain,
  plaintext,
  Secret,
  type Value,
} from "../../../infra/offline-plan/values.ts";
import { captureOf, resource } from "../support/captures.ts";
import { entry, planWith } from "./plans.ts";

const reachable = (graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> => {
  const found = new Set<string>();
  const open = [from];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const edge of graph.get(next) ?? []) if (!found.has(edge) && found.add(edge)) open.push(edge);
  return found;
};

// Edges from a higher number to a lower one: no cycles, as in a program that refers to what it has made before.
const graphs = fc
  .array(fc.uniqueArray(fc.nat(11), { maxLength: 6 }), { maxLength: 12 })
  .map((rows) => new Map(rows.map((row, node) => [String(node), row.filter((edge) => edge < node).map(String)])));

describe("the reduction of dependencies", () => {
  test("preserves reachability and has no redundant edge", () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const reduced = transitiveReduction(graph);
        for (const node of graph.keys()) {
          expect(reachable(reduced, node)).toEqual(reachable(graph, node));
          for (const edge of reduced.get(node) ?? []) {
            const without = new Map(reduced).set(
              node,
              (reduced.get(node) ?? []).filter((other) => other !== edge),
            );
            expect(reachable(without, node).has(edge)).toBe(false);
          }
        }
      }),
    );
  });
});

test("a cycle between groups loses no dependency", () => {
  const graph = new Map([
    ["a", ["b", "c"]],
    ["b", ["a", "c"]],
    ["c", []],
  ]);
  const reduced = transitiveReduction(graph);
  for (const node of graph.keys()) expect(reachable(reduced, node)).toEqual(reachable(graph, node));
});

const plains = fc.letrec<{ tree: Plain }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("tree"), { maxKeys: 3 }),
  ),
})).tree;

describe("values", () => {
  test("never print a secret, at any depth", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 4 }), (path) => {
        const value = path.reduceRight<Value>((inner, key) => ({ [key]: [inner] }), new Secret({ deep: "hunter2" }));
        expect(JSON.stringify(mask(value))).not.toContain("hunter2");
        expect([...plaintext(value)]).toEqual([]);
      }),
    );
  });

  test("are decoded as they were encoded", () => {
    const signature = "4dabf18193072939515e22adb298388d";
    expect(decode("04da6b54-80e4-46f7-96ec-b56ff0331ba9")).toBe(computed);
    expect(decode({ [signature]: "1b47061264138c4ac30d75fd1eb44270", value: { a: 1 } })).toEqual(new Secret({ a: 1 }));
    expect(decode({ [signature]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", secret: true })).toEqual(new Secret(computed));
    expect(decode({ [signature]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", value: 3 })).toBe(3);
    expect(decode({ [signature]: "5cf8f73096256a8f31e491e813e4eb8e", urn: "urn:x" })).toBe("<resource urn:x>");
    expect(decode({ [signature]: "c44067f5952c0a294b673a41bacd8c17", path: "./a" })).toBe("<asset ./a>");
    fc.assert(
      fc.property(plains, (value) => {
        expect(decode(structuredClone(value))).toEqual(value);
      }),
    );
  });

  test("are shortened when long, and still differ", () => {
    const crd = (field: string) => ({
      metadata: { name: "x" },
      spec: { schema: Array.from({ length: 5000 }, () => field) },
    });
    const short = abridge(crd("a")) as { metadata: unknown; spec: unknown };
    expect(short.metadata).toEqual({ name: "x" });
    expect(JSON.stringify(short).length).toBeLessThan(200);
    expect(abridge(crd("b"))).not.toEqual(short);
  });

  test("that are JSON text are parsed", () => {
    expect(unfold({ policy: '{"Version":"2012-10-17","Statement":[{"Action":["a"]}]}', text: "{not json" })).toEqual({
      policy: { Statement: [{ Action: ["a"] }], Version: "2012-10-17" },
      text: "{not json",
    });
  });

  test("have one path for each leaf", () => {
    fc.assert(
      fc.property(plains, (value) => {
        const paths = leaves(value).map(([path]) => path);
        expect(new Set(paths).size).toBe(paths.length);
      }),
    );
    expect(leaves({ a: { "b/c": [1, { d: "x" }] }, e: [], f: {} })).toEqual([
      ['a["b/c"][0]', 1],
      ['a["b/c"][1].d', "x"],
      ["e", "[]"],
      ["f", "{}"],
    ]);
  });
});

describe("a plan", () => {
  const capture = captureOf([
    resource("aws:iam/user:User", "u", {
      inputs: { name: "u", password: "in-the-clear" },
      secretOutputs: ["password"],
    }),
  ]);

  test("hides inputs that the provider keeps secret", () => {
    expect(renderGolden(planOf(capture))).not.toContain("in-the-clear");
    expect(renderTree(planOf(capture), { full: true })).not.toContain("in-the-clear");
  });

  test("does not depend on the order of registration", () => {
    const resources = ["c", "a", "b"].map((name) => resource("x:y/z:Z", name));
    expect(renderGolden(planOf(captureOf(resources)))).toBe(renderGolden(planOf(captureOf(resources.toReversed()))));
  });

  test("contains the program's warnings", () => {
    const warned = { ...capture, diagnostics: [{ severity: "warning" as const, message: "old operator\n" }] };
    expect(planOf(warned, ["esc"]).warnings).toEqual(["esc", "old operator"]);
    expect(renderTree(planOf(warned))).toContain("Warning: old operator");
  });
});

test("outputs inside an input's object are unknown, not absent", () => {
  const marker = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  expect(echoed("aws:eks/cluster:Cluster", { name: "x", vpcConfig: { subnetIds: ["a"], vpcId: "known" } })).toEqual({
    name: "x",
    vpcConfig: { subnetIds: ["a"], vpcId: "known", clusterSecurityGroupId: marker },
  });
  expect(echoed("aws:eks/cluster:Cluster", { name: "x" })).toEqual({ name: "x" });
  expect(echoed("kubernetes:core/v1:Secret", { metadata: { name: "s" } })).toEqual({
    metadata: { name: "s", uid: marker, resourceVersion: marker },
  });
});

test("the graph shows components, their sizes and dependencies", () => {
  const plan = planWith(
    entry("lakehead:aws:Platform::platform", { kind: "component" }),
    entry("lakehead:aws:Network::network", { kind: "component", parent: "lakehead:aws:Platform::platform" }),
    entry("lakehead:aws:Network$aws:ec2/vpc:Vpc::vpc", { parent: "lakehead:aws:Network::network" }),
    entry("lakehead:aws:Cluster::cluster", { kind: "component", parent: "lakehead:aws:Platform::platform" }),
    entry("lakehead:aws:Cluster$aws:eks/cluster:Cluster::eks", {
      parent: "lakehead:aws:Cluster::cluster",
      dependsOn: ["lakehead:aws:Network$aws:ec2/vpc:Vpc::vpc", "pulumi:providers:aws::aws"],
    }),
    entry("pulumi:providers:aws::aws"),
    entry("aws:s3/bucket:Bucket::logs", { dependsOn: ["lakehead:aws:Cluster$aws:eks/cluster:Cluster::eks"] }),
  );
  expect(renderGraph(plan)).toBe(`flowchart LR
  subgraph f0["platform"]
    n0["network<br/>lakehead:aws:Network<br/>1 resource"]
    n1["cluster<br/>lakehead:aws:Cluster<br/>1 resource"]
  end
  n2["logs<br/>aws:s3:Bucket"]
  n0 --> n1
  n1 --> n2
`);
});

test("the tree begins each resource's inputs with the most important ones", () => {
  const inputs = {
    amiType: "AL2023",
    anything: 1,
    metadata: { name: "cpu" },
    scalingConfig: { maxSize: 3 },
    spec: { name: "x" },
  };
  const tree = renderTree(planWith(entry("aws:eks/nodeGroup:NodeGroup::cpu", { inputs })));
  expect([...tree.matchAll(/^ {8}(\S+)/gm)].map(([, path]) => path)).toEqual([
    "metadata.name",
    "amiType",
    "scalingConfig.maxSize",
    "anything",
    "spec.name",
  ]);
});
