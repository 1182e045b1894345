import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change } from "../../../infra/offline-plan/changes.ts";
import { diffPlans, emptyPlan } from "../../../infra/offline-plan/diff.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import type { Plain } from "../../../infra/offline-plan/values.ts";
import { cluster, entry, nodeGroup, planWith } from "./plans.ts";

const text = (...plans: Parameters<typeof diffPlans>) => renderDiff(diffPlans(...plans), "main");

const plans = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      size: fc.nat(2),
      taints: fc.array(fc.nat(2), { maxLength: 2 }),
    }),
    {
      selector: ({ name }) => name,
    },
  )
  .map((groups) =>
    planWith(...groups.map(({ name, ...inputs }) => entry(`aws:eks/nodeGroup:NodeGroup::${name}`, { inputs }))),
  );

describe("the diff of two plans", () => {
  test("counts every resource once, and is symmetric", () => {
    fc.assert(
      fc.property(plans, plans, (a, b) => {
        const [there, back] = [diffPlans(a, b), diffPlans(b, a)];
        const ids = (diff: typeof there, op: string) =>
          diff.resources.filter((item) => item.op === op).map(({ id }) => id);
        expect(ids(there, "add")).toEqual(ids(back, "remove"));
        expect(ids(there, "change")).toEqual(ids(back, "change"));
        expect(there.unchanged + there.resources.filter(({ op }) => op !== "remove").length).toBe(b.entries.length);
        for (const { changes } of there.resources)
          for (const { before, after } of changes) expect(before).not.toBe(after);
        expect(diffPlans(a, a).resources).toEqual([]);
      }),
    );
  });

  test("is empty for equal plans", () => {
    const plan = planWith(entry(cluster, { inputs: { version: "1.35", tags: { a: "b" } } }));
    expect(diffPlans(plan, structuredClone(plan))).toEqual({ stack: "test", resources: [], unchanged: 1, outputs: [] });
  });

  test("shows one changed input", () => {
    const before = planWith(
      entry(cluster),
      entry("gcp:container/nodePool:NodePool::cpu", {
        inputs: { nodeConfig: { machineType: "n2-standard-8", spot: true } },
      }),
    );
    const after = planWith(
      entry(cluster),
      entry("gcp:container/nodePool:NodePool::cpu", {
        inputs: { nodeConfig: { machineType: "n2-standard-16", spot: true } },
      }),
    );
    expect(text(before, after)).toBe(`test against main: 1 changed, 1 unchanged

~ gcp:container:NodePool  cpu  (changed)
    note: replaces the pool's nodes one after another; jobs on them end
    nodeConfig.machineType: n2-standard-8 -> n2-standard-16
`);
  });

  test("marks a likely replacement and the resources that follow from it", () => {
    const group = (amiType: string) => entry(nodeGroup, { inputs: { amiType, clusterName: "<computed>" } });
    const association = entry("aws:eks/podIdentityAssociation:PodIdentityAssociation::p", {
      inputs: { clusterName: "<computed>" },
      references: { clusterName: [cluster] },
    });
    const follower = { ...group("AL2023_x86_64_STANDARD"), references: { clusterName: [cluster] } };
    const before = planWith(entry(cluster, { inputs: { name: "one" } }), follower, association);
    const after = planWith(entry(cluster, { inputs: { name: "two" } }), follower, association);
    const { resources } = diffPlans(before, after);
    expect(resources.map(({ id, op, follows }) => [id, op, follows])).toEqual([
      [cluster, "replace", undefined],
      [nodeGroup, "replace", { property: "clusterName", from: cluster }],
      [association.id, "replace", { property: "clusterName", from: cluster }],
    ]);
  });

  test("matches a resource by its alias", () => {
    const before = planWith(
      entry("aws:s3/bucket:Bucket::old", { inputs: { bucket: "b" } }),
      entry("x:y/z:Z::z", { dependsOn: ["aws:s3/bucket:Bucket::old"] }),
    );
    const renamed = entry("aws:s3/bucket:Bucket::new", {
      inputs: { bucket: "b" },
      aliases: ["aws:s3/bucket:Bucket::old"],
    });
    const after = planWith(renamed, entry("x:y/z:Z::z", { dependsOn: [renamed.id] }));
    const { resources } = diffPlans(before, after);
    expect(resources).toMatchObject([
      { op: "change", id: renamed.id, changes: [], renamedFrom: "aws:s3/bucket:Bucket::old" },
    ]);
  });

  test("shows a rename without an alias as removal and addition, with the protection", () => {
    const before = planWith(entry("aws:s3/bucket:Bucket::old", { options: { protect: true } }));
    expect(
      text(before, planWith(entry("aws:s3/bucket:Bucket::new"))),
    ).toBe(`test against main: 1 added, 1 removed, 0 unchanged

+ aws:s3:Bucket  new  (added)

- aws:s3:Bucket  old  (removed; PROTECTED: up fails until the protection is lifted)
`);
  });

  test("matches an old resource with one new resource only", () => {
    const aliases = ["aws:s3/bucket:Bucket::old"];
    const before = planWith(entry("aws:s3/bucket:Bucket::old"));
    const after = planWith(
      entry("aws:s3/bucket:Bucket::a", { aliases }),
      entry("aws:s3/bucket:Bucket::b", { aliases }),
    );
    expect(diffPlans(before, after).resources.map(({ op }) => op)).toEqual(["change", "add"]);
  });

  test("marks inputs that the resource ignores, and does not replace for them", () => {
    const group = (desiredSize: number, subnetIds: string[]) =>
      entry(nodeGroup, {
        inputs: { scalingConfig: { desiredSize }, subnetIds },
        options: { ignoreChanges: ["scalingConfig.desiredSize", "subnetIds"] },
      });
    const { resources } = diffPlans(planWith(group(1, ["a"])), planWith(group(2, ["b"])));
    expect(resources).toMatchObject([{ op: "change", changes: [{ ignored: true }, { ignored: true }] }]);
  });

  test("shows options, with dependencies as a set", () => {
    const before = planWith(entry(nodeGroup, { dependsOn: ["a", "c"], options: { protect: true } }));
    const after = planWith(entry(nodeGroup, { dependsOn: ["a", "b", "c"], options: {} }));
    expect(text(before, after)).toContain(`    options.protect: true (removed)
    options.dependsOn: b (new)
`);
  });

  test.each([
    [
      "many changed dependencies",
      ["y::a"],
      ["y::b", "y::c", "y::d"],
      "options.dependsOn: 3 new (b, c, d), 1 removed (a)",
    ],
    [
      "two changed dependencies",
      ["y::a"],
      ["y::b"],
      "options.dependsOn: y::b (new)\n    options.dependsOn: y::a (removed)",
    ],
  ])("writes %s in as few lines as they need", (_what, before, after, said) => {
    const of = (dependsOn: string[]) => planWith(entry(nodeGroup, { dependsOn }));
    expect(text(of(before), of(after))).toContain(`(changed)\n    ${said}\n`);
  });

  test("folds resources whose dependencies alone change", () => {
    const of = (dependency: string, count: number) =>
      planWith(
        ...["a", "b", "c"].slice(0, count).map((name) => entry(`x:y/z:Z::${name}`, { dependsOn: [dependency] })),
      );
    expect(text(of("y::a", 3), of("y::b", 3))).toBe(
      "test against main: 3 changed, 0 unchanged\n\n~ 3 resources whose dependencies alone change: a, b, c\n",
    );
    expect(text(of("y::a", 2), of("y::b", 2)).match(/options\.dependsOn/g)).toHaveLength(4);
  });

  const changesOf = (before: Plain, after: Plain) =>
    diffPlans(
      planWith(entry(cluster, { inputs: { list: before } })),
      planWith(entry(cluster, { inputs: { list: after } })),
    ).resources.flatMap(({ changes }) => changes);

  test.each<[string, Plain, Plain, Change[]]>([
    [
      "by name, wherever it stands",
      [
        { name: "a", size: 1 },
        { name: "b", size: 2 },
      ],
      [
        { name: "new", size: 0 },
        { name: "a", size: 1 },
        { name: "b", size: 3 },
      ],
      [
        { path: "list[name=b].size", before: 2, after: 3 },
        { path: "list[name=new].name", after: "new" },
        { path: "list[name=new].size", after: 0 },
      ],
    ],
    [
      "by its order",
      [{ key: "a" }, { key: "b" }],
      [{ key: "b" }, { key: "a" }],
      [{ path: "list", before: "[a, b]", after: "[b, a]" }],
    ],
    [
      "by position where names repeat",
      [
        { name: "a", n: 1 },
        { name: "a", n: 2 },
      ],
      [
        { name: "a", n: 1 },
        { name: "a", n: 3 },
      ],
      [{ path: "list[1].n", before: 2, after: 3 }],
    ],
    ["at the front of a list of texts", ["b", "c"], ["a", "b", "c"], [{ path: "list[0]", after: "a" }]],
    ["in the middle of a list of texts", ["a", "b", "c"], ["a", "c"], [{ path: "list[1]", before: "b" }]],
    ["in place", ["a", "b", "c"], ["a", "x", "c"], [{ path: "list[1]", before: "b", after: "x" }]],
    ["that was the only one", ["a"], [], [{ path: "list[0]", before: "a" }]],
  ])("shows a changed list item: %s", (_what, before, after, changes) => {
    expect(changesOf(before, after)).toEqual(changes);
  });

  test("shows a change exactly where two lists differ", () => {
    const item = fc.oneof(
      fc.constantFrom("a", "b", "c"),
      fc.record({ name: fc.constantFrom("a", "b", "c"), size: fc.nat(2) }),
    );
    const list = fc.array(item, { maxLength: 5 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        expect(changesOf(before, after).length > 0).toBe(JSON.stringify(before) !== JSON.stringify(after));
      }),
    );
  });

  test("finds the input that forces a replacement inside a list item with a name", () => {
    const of = (effect: string) =>
      planWith(
        entry("gcp:container/nodePool:NodePool::p", {
          inputs: { nodeConfig: { guestAccelerators: [{ name: "x", effect }] } },
        }),
      );
    expect(diffPlans(of("a"), of("b")).resources).toMatchObject([{ op: "replace" }]);
  });

  test("distinguishes a removed input from null", () => {
    const before = planWith(entry(cluster, { inputs: { a: null, b: "x" } }));
    expect(text(before, planWith(entry(cluster, { inputs: { a: "y" } })))).toContain(
      "    a: null -> y\n    b: x (removed)\n",
    );
  });

  test("adds everything to an empty stack", () => {
    expect(diffPlans(emptyPlan("test"), planWith(entry(cluster))).resources).toMatchObject([
      { op: "add", id: cluster },
    ]);
  });
});
