import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffPlans, emptyPlan } from "../../../infra/offline-plan/diff.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
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
  it("counts every resource once, and is symmetric", () => {
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

  it("is empty for equal plans", () => {
    const plan = planWith(entry(cluster, { inputs: { version: "1.35", tags: { a: "b" } } }));
    expect(diffPlans(plan, structuredClone(plan))).toEqual({ stack: "test", resources: [], unchanged: 1, outputs: [] });
  });

  it("shows one changed input", () => {
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
    nodeConfig.machineType: n2-standard-8 -> n2-standard-16
`);
  });

  it("marks a likely replacement and the resources that follow from it", () => {
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

  it("matches a resource by its alias", () => {
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

  it("shows a rename without an alias as removal and addition, with the protection", () => {
    const before = planWith(entry("aws:s3/bucket:Bucket::old", { options: { protect: true } }));
    expect(
      text(before, planWith(entry("aws:s3/bucket:Bucket::new"))),
    ).toBe(`test against main: 1 added, 1 removed, 0 unchanged

+ aws:s3:Bucket  new  (added)

- aws:s3:Bucket  old  (removed; PROTECTED: up fails until the protection is lifted)
`);
  });

  it("matches an old resource with one new resource only", () => {
    const aliases = ["aws:s3/bucket:Bucket::old"];
    const before = planWith(entry("aws:s3/bucket:Bucket::old"));
    const after = planWith(
      entry("aws:s3/bucket:Bucket::a", { aliases }),
      entry("aws:s3/bucket:Bucket::b", { aliases }),
    );
    expect(diffPlans(before, after).resources.map(({ op }) => op)).toEqual(["change", "add"]);
  });

  it("marks inputs that the resource ignores, and does not replace for them", () => {
    const group = (desiredSize: number, subnetIds: string[]) =>
      entry(nodeGroup, {
        inputs: { scalingConfig: { desiredSize }, subnetIds },
        options: { ignoreChanges: ["scalingConfig.desiredSize", "subnetIds"] },
      });
    const { resources } = diffPlans(planWith(group(1, ["a"])), planWith(group(2, ["b"])));
    expect(resources).toMatchObject([{ op: "change", changes: [{ ignored: true }, { ignored: true }] }]);
  });

  it("shows options, with dependencies as a set", () => {
    const before = planWith(entry(nodeGroup, { dependsOn: ["a", "c"], options: { protect: true } }));
    const after = planWith(entry(nodeGroup, { dependsOn: ["a", "b", "c"], options: {} }));
    expect(text(before, after)).toContain(`    options.protect: true (removed)
    options.dependsOn: b (new)
`);
  });

  it("distinguishes a removed input from null", () => {
    const before = planWith(entry(cluster, { inputs: { a: null, b: "x" } }));
    expect(text(before, planWith(entry(cluster, { inputs: { a: "y" } })))).toContain(
      "    a: null -> y\n    b: x (removed)\n",
    );
  });

  it("adds everything to an empty stack", () => {
    expect(diffPlans(emptyPlan("test"), planWith(entry(cluster))).resources).toMatchObject([
      { op: "add", id: cluster },
    ]);
  });
});
