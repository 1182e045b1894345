import { describe, expect, it } from "vitest";
import { inheriting } from "../../../infra/offline-plan/consequences.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import type { PlanEntry } from "../../../infra/offline-plan/plan.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import { knownTypes } from "../../../infra/offline-plan/replacements.ts";
import { declarationOf } from "../../support/infra/forced-replacements.ts";
import { entry, nodeGroup, planWith } from "./plans.ts";

const template = "aws:ec2/launchTemplate:LaunchTemplate::cpu";
const provider = "pulumi:providers:aws::aws";
const defaults = (owner: string) => entry(provider, { inputs: { defaultTags: { tags: { owner } } } });
const withAws = (id: string, more: Partial<PlanEntry> = {}) => entry(id, { options: { provider: "aws" }, ...more });

describe("the consequences of a change", () => {
  it("a new version of a launch template updates its node group", () => {
    const group = entry(nodeGroup, { references: { launchTemplate: [template] } });
    const of = (size: number) => planWith(entry(template, { inputs: { size } }), group);
    const diff = diffPlans(of(100), of(200));
    expect(diff.resources.map(({ id, op, follows }) => [id, op, follows])).toEqual([
      [template, "change", undefined],
      [nodeGroup, "change", { property: "launchTemplate", from: template }],
    ]);
    expect(renderDiff(diff, "main")).toContain(`because launchTemplate comes from ${template}, which is changed`);
  });

  it("a new launch template version is shown on a node group that changes anyway, with the loss of its nodes", () => {
    const of = (size: number, max: number) =>
      planWith(
        entry(template, { inputs: { size } }),
        entry(nodeGroup, { inputs: { labels: { max } }, references: { launchTemplate: [template] } }),
      );
    const [, group] = diffPlans(of(100, 1), of(200, 2)).resources;
    expect(group).toMatchObject({ op: "change", changes: [{ path: "labels.max" }], follows: { from: template } });
    expect(group?.warnings).toEqual([expect.stringContaining("jobs on them end")]);
  });

  it.each([
    ["maximum", { maxSize: 4 }, ["--refresh"]],
    ["minimum, lowered", { minSize: 0 }, ["--refresh"]],
    ["minimum, raised", { minSize: 2 }, ["--refresh", "AWS refuses"]],
    ["desired size only", { desiredSize: 7 }, []],
  ])("a node group's other %s is sent together with the size that the state knows", (_what, changed, said) => {
    const of = (sizes: Record<string, number>) =>
      planWith(
        entry(nodeGroup, {
          inputs: { scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 1, ...sizes } },
          options: { ignoreChanges: ["scalingConfig.desiredSize"] },
        }),
      );
    const diff = diffPlans(of({}), of(changed));
    const [group] = diff.resources;
    expect(group?.warnings ?? []).toEqual(said.map((part) => expect.stringContaining(part)));
    for (const part of said) expect(renderDiff(diff, "main")).toMatch(new RegExp(`^    note: .*${part}`, "m"));
  });

  it("another size of a volume is an update that a StorageClass may refuse", () => {
    const of = (storage: string) =>
      planWith(
        entry("kubernetes:core/v1:PersistentVolumeClaim::data", {
          inputs: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } } },
        }),
      );
    const diff = diffPlans(of("10Gi"), of("20Gi"));
    expect(diff.resources).toMatchObject([
      { op: "change", warnings: [expect.stringContaining("allowVolumeExpansion")] },
    ]);
    expect(renderDiff(diff, "main")).toMatch(/^ {4}note: .*otherwise `up` fails/m);
  });

  it("a changed default tag updates the tagged resources of that provider only", () => {
    const others = [
      withAws("aws:ec2/vpc:Vpc::tagged"),
      withAws("aws:ec2/route:Route::bare"),
      entry("aws:ec2/vpc:Vpc::elsewhere", { options: { provider: "another" } }),
    ];
    const diff = diffPlans(planWith(defaults("a"), ...others), planWith(defaults("b"), ...others));
    expect(diff.resources.map(({ id, follows }) => [id, follows?.property])).toEqual([
      ["aws:ec2/vpc:Vpc::tagged", "tagsAll"],
      [provider, undefined],
    ]);
  });

  it("other changes of the provider and ignored changes have no consequences", () => {
    const vpc = withAws("aws:ec2/vpc:Vpc::v");
    const of = (allowedAccountIds: string) => planWith(entry(provider, { inputs: { allowedAccountIds } }), vpc);
    expect(diffPlans(of("1"), of("2")).resources.map(({ id }) => id)).toEqual([provider]);
    const group = entry(nodeGroup, { references: { launchTemplate: [template] } });
    const ignoring = (size: number) => entry(template, { inputs: { size }, options: { ignoreChanges: ["size"] } });
    expect(diffPlans(planWith(ignoring(1), group), planWith(ignoring(2), group)).resources.map(({ id }) => id)).toEqual(
      [template],
    );
  });

  it.each(Object.entries(inheriting))(
    "the types with %s are those of the SDKs, of all that the stacks use",
    (output, listed) => {
      const carries = (type: string) => new RegExp(`^ +readonly ${output}:`, "m").test(declarationOf(type));
      expect([...knownTypes].filter(carries).sort()).toEqual([...listed].sort());
    },
  );
});
