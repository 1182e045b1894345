import { describe, expect, it } from "vitest";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { knownTypes } from "../../../infra/offline-plan/replacements.ts";
import { allowLabel, commentMarker, renderComment } from "../../../infra/pull-request/comment.ts";
import {
  dangers,
  guardedTypes,
  type Step,
  StepsError,
  stepsOfDiff,
  stepsOfPreview,
} from "../../../infra/pull-request/guard.ts";
import { cluster, entry, nodeGroup, planWith } from "../offline-plan/plans.ts";

const urn = (id: string) => `urn:pulumi:prod::lakehead::${id}`;
const preview = (...steps: Record<string, unknown>[]) => ({ steps, changeSummary: {} });
const step = (id: string, op: Step["op"], more: Partial<Step> = {}): Step => ({
  op,
  urn: urn(id),
  type: (id.split("::")[0] ?? "").split("$").at(-1) ?? "",
  name: id.split("::")[1] ?? "",
  protect: false,
  inputs: [],
  ...more,
});

describe("the guard", () => {
  it.each([...guardedTypes])("stops the deletion and the replacement of %s, and nothing else", (type) => {
    expect(dangers([step(`${type}::x`, "delete")])).toHaveLength(1);
    expect(dangers([step(`a:b:C$${type}::x`, "replace")])).toHaveLength(1);
    expect(dangers([step(`${type}::x`, "update"), step(`${type}::y`, "create")])).toEqual([]);
  });

  it.each(["launchTemplate", "launchTemplate.version", "version"])(
    "stops a node group's update of %s, which replaces its nodes one after another",
    (input) => {
      const group = (type: string) => dangers([step(`${type}::x`, "update", { inputs: ["labels.a", input] })]);
      expect(group("aws:eks/nodeGroup:NodeGroup").map(({ action }) => action)).toEqual([
        "replaces every node of a node group, which ends the jobs on them",
      ]);
      expect(group("aws:eks/cluster:Cluster")).toEqual([]);
      expect(
        dangers([step(nodeGroup, "update", { inputs: ["scalingConfig.maxSize", "options.dependsOn", "tagsAll"] })]),
      ).toEqual([]);
    },
  );

  it("passes resources that can be recreated", () => {
    expect(
      dangers([step("kubernetes:apps/v1:Deployment::x", "delete"), step("aws:ec2/route:Route::r", "replace")]),
    ).toEqual([]);
  });

  it("covers the stateful types of the replacement table, for both clouds", () => {
    const stateful = [...knownTypes].filter((type) =>
      /:(Cluster|NodeGroup|NodePool|Bucket|Role|Account|Key|CryptoKey)$/.test(type),
    );
    expect(stateful.length).toBeGreaterThanOrEqual(9);
    for (const type of stateful) expect(guardedTypes).toContain(type);
  });
});

describe("the steps of pulumi preview --json", () => {
  it("count a replacement once, whichever of its three steps comes first", () => {
    const parts = ["create-replacement", "replace", "delete-replaced"].map((op) => ({
      op,
      urn: urn(nodeGroup),
      oldState: { protect: true },
      replaceReasons: ["amiType"],
    }));
    for (const steps of [parts, parts.toReversed()])
      expect(stepsOfPreview(preview(...steps))).toEqual([
        step(nodeGroup, "replace", { protect: true, inputs: ["amiType"] }),
      ]);
  });

  it("leave out what stays the same", () => {
    const quiet = ["same", "read", "refresh", "read-replacement"].map((op) => ({ op, urn: urn(cluster) }));
    expect(stepsOfPreview(preview(...quiet))).toEqual([]);
  });

  it("take type and name from the URN, under any parents", () => {
    const [found] = stepsOfPreview(preview({ op: "delete", urn: urn(`lakehead:aws:Cluster$${cluster}`) }));
    expect(found).toMatchObject({ op: "delete", type: "aws:eks/cluster:Cluster", name: "main" });
  });

  it.each([[undefined], [null], [[]], [{}], [{ steps: "none" }], ["error: no credentials"]])(
    "are refused when they are %j",
    (document) => {
      expect(() => stepsOfPreview(document)).toThrow(StepsError);
    },
  );
});

it("the offline plan's diff is read as steps", () => {
  const before = planWith(entry(cluster, { inputs: { name: "a" } }), entry(nodeGroup));
  const after = planWith(entry(cluster, { inputs: { name: "b" } }), entry("aws:s3/bucket:Bucket::new"));
  const steps = stepsOfDiff(diffPlans(before, after));
  expect(steps.map(({ op, name, inputs }) => [op, name, inputs])).toEqual([
    ["replace", "main", ["name"]],
    ["delete", "cpu", []],
    ["create", "new", []],
  ]);
  expect(dangers(steps)).toHaveLength(2);
});

it("an ignored input is not part of a step", () => {
  const of = (version: string) => entry(nodeGroup, { inputs: { version }, options: { ignoreChanges: ["version"] } });
  expect(stepsOfDiff(diffPlans(planWith(of("1.35")), planWith(of("1.36")))).map(({ inputs }) => inputs)).toEqual([[]]);
});

describe("the comment", () => {
  const stack = (...steps: Step[]) => ({ stack: "aws-prod", steps, source: "preview" as const });

  it("passes a harmless plan", () => {
    const { text, passes } = renderComment([stack(step("x:y/z:Z::z", "update", { inputs: ["a"] }))], false);
    expect(passes).toBe(true);
    expect(text.startsWith(commentMarker)).toBe(true);
    expect(text).toContain("aws-prod: 0 create, 1 update, 0 replace, 0 delete");
  });

  it("stops a dangerous one, unless it is labelled", () => {
    const stacks = [stack(step(cluster, "replace", { inputs: ["name"], protect: true }))];
    expect(renderComment(stacks, false)).toMatchObject({
      passes: false,
      text: expect.stringContaining(`Set the label \`${allowLabel}\``),
    });
    expect(renderComment(stacks, false).text).toContain(
      "- **aws-prod** replaces a cluster: `aws:eks:Cluster` `main` (protected), because of `name`",
    );
    expect(renderComment(stacks, true)).toMatchObject({ passes: true });
  });

  it("stays under GitHub's limit and keeps the decision", () => {
    const steps = Array.from({ length: 2000 }, (_, index) => step(`x:y/z:Z::resource-${index}`, "create"));
    const { text } = renderComment([stack(...steps, step(cluster, "delete"))], false);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain("**Stopped.**");
    expect(text).toContain("The comment is too long");
  });

  it("escapes names", () => {
    const { text } = renderComment([stack(step("x:y/z:Z::a|b`c\nd", "create"))], false);
    expect(text).toContain("a\\|b'c d");
  });
});
