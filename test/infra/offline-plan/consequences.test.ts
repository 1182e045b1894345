import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { inheriting } from "../../../infra/offline-plan/consequences.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import type { PlanEntry } from "../../../infra/offline-plan/plan.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import { knownTypes } from "../../../infra/offline-plan/replacements.ts";
import { declarationOf } from "../../support/infra/forced-replacements.ts";
import { entry, nodeGroup, planWith } from "./plans.ts";

/** What Google's client library says of each field of GKE's `UpdateNodePoolRequest`. */

const require = createRequire(import.meta.url);

/** The folder of an installed package, from the path of any of its files. */
const packageRoot = (entry: string, name: string): string => entry.slice(0, entry.lastIndexOf(name) + name.length);

interface DocumentedField {
  /** As Pulumi spells it, such as `resourceLabels`. */
  readonly field: string;
  /** On one line. */
  readonly comment: string;
}

/** @throws Error when the library has no such message */
function updateNodePoolFields(): DocumentedField[] {
  const name = "@google-cloud/container";
  const folder = packageRoot(dirname(require.resolve(name)), name);
  const proto = readFileSync(join(folder, "build/protos/google/container/v1/cluster_service.proto"), "utf8");
  const message = /^message UpdateNodePoolRequest \{\n([\s\S]*?)^\}/m.exec(proto)?.[1];
  if (message === undefined) throw new Error(`${name} has no UpdateNodePoolRequest`);
  return [...message.matchAll(/((?:^ +\/\/.*\n)+) +(?:repeated |optional )?[\w.]+ (\w+) = \d+/gm)].map(
    ([, comment = "", field = ""]) => ({
      field: field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      comment: comment.replaceAll(/\s*\n?\s*\/\/ ?/g, " ").trim(),
    }),
  );
}

const template = "aws:ec2/launchTemplate:LaunchTemplate::cpu";
const provider = "pulumi:providers:aws::aws";
const defaults = (owner: string) => entry(provider, { inputs: { defaultTags: { tags: { owner } } } });
const withAws = (id: string, more: Partial<PlanEntry> = {}) => entry(id, { options: { provider: "aws" }, ...more });

describe("what follows from a replacement", () => {
  const vpc = "aws:ec2/vpc:Vpc::network";
  const moved = (...others: PlanEntry[]) => {
    const of = (cidrBlock: string) => planWith(entry(vpc, { inputs: { cidrBlock } }), ...others);
    return diffPlans(of("10.0.0.0/16"), of("10.1.0.0/16")).resources;
  };

  test("a resource that takes an output of the replaced one is updated, even where the input forces nothing", () => {
    const gateway = "aws:ec2/internetGateway:InternetGateway::network";
    const found = moved(entry(gateway, { inputs: { vpcId: "<computed>" }, references: { vpcId: [vpc] } }));
    expect(found.find(({ id }) => id === gateway)).toMatchObject({ op: "change", follows: { from: vpc } });
  });

  test("a resource whose input is known before stays", () => {
    const rule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule::a";
    expect(moved(entry(rule, { inputs: { cidrIpv4: "10.9.0.0/16" }, references: { cidrIpv4: [vpc] } }))).toHaveLength(
      1,
    );
  });

  test("a cluster that ignores its new subnets makes the cloud refuse the deletion of the old ones", () => {
    const found = moved(
      entry("aws:eks/cluster:Cluster::cluster", {
        inputs: { vpcConfig: { subnetIds: ["<computed>"], endpointPrivateAccess: true } },
        options: { ignoreChanges: ["vpcConfig.subnetIds"] },
        references: { vpcConfig: [vpc] },
      }),
    );
    expect(found).toMatchObject([
      {
        id: vpc,
        op: "replace",
        warnings: [expect.stringMatching(/^cluster stays .* refuses to delete .* create it anew$/)],
      },
    ]);
  });
});

describe("Google's subnetwork and node pools", () => {
  const subnetwork = "gcp:compute/subnetwork:Subnetwork::network";
  const ranged = (before: object, after: object) => {
    const [a, b] = [before, after].map((inputs) => planWith(entry(subnetwork, { inputs: { ...inputs } })));
    return diffPlans(a ?? planWith(), b ?? planWith()).resources;
  };

  test.each([
    ["10.64.0.0/20", "10.64.0.0/19", "change"],
    ["10.64.16.0/20", "10.64.0.0/19", "change"],
    ["10.64.0.0/20", "10.64.0.0/21", "replace"],
    ["10.64.0.0/20", "10.65.0.0/20", "replace"],
  ])("from %s to %s: %s", (before, after, op) => {
    const [found] = ranged({ ipCidrRange: before }, { ipCidrRange: after });
    expect(found?.op).toBe(op);
    const said = op === "replace" ? [expect.stringContaining("overlap the old one's")] : [];
    expect(found?.warnings ?? []).toEqual(said);
  });

  test("another secondary range is refused while a cluster uses it", () => {
    const of = (ipCidrRange: string) => ({ secondaryIpRanges: [{ rangeName: "pods", ipCidrRange }] });
    const [found] = ranged(of("10.68.0.0/14"), of("10.72.0.0/14"));
    expect(found).toMatchObject({ op: "change", warnings: [expect.stringContaining("while a cluster uses it")] });
  });

  test("removed zones of a pool change nothing, and fewer do", () => {
    const pool = "gcp:container/nodePool:NodePool::gpu";
    const of = (...zones: string[]) =>
      planWith(entry(pool, { inputs: zones.length === 0 ? {} : { nodeLocations: zones } }));
    const ignored = (after: ReturnType<typeof of>) =>
      diffPlans(of("a", "b"), after).resources.flatMap(({ changes }) => changes.map((change) => change.ignored));
    expect(ignored(of())).toEqual([true, true]);
    expect(ignored(of("a"))).toEqual([undefined]);
  });

  test.each([
    ["controlPlaneEndpointsConfig", true],
    ["resourceLabels", false],
  ])("a change of the cluster's %s changes the kubeconfig: %s", (property, expected) => {
    const main = "gcp:container/cluster:Cluster::main";
    const kubernetes = "pulumi:providers:kubernetes::kubernetes";
    const of = (value: string) =>
      planWith(
        entry(main, { inputs: { [property]: { a: value } } }),
        entry(kubernetes, { inputs: { kubeconfig: "<secret>" }, references: { kubeconfig: [main] } }),
      );
    const found = diffPlans(of("a"), of("b")).resources.find(({ id }) => id === kubernetes);
    expect(found?.op === "change").toBe(expected);
  });
});

describe("the consequences of a change", () => {
  test("a new version of a launch template updates its node group", () => {
    const group = entry(nodeGroup, { references: { launchTemplate: [template] } });
    const of = (size: number) => planWith(entry(template, { inputs: { size } }), group);
    const diff = diffPlans(of(100), of(200));
    expect(diff.resources.map(({ id, op, follows }) => [id, op, follows])).toEqual([
      [template, "change", undefined],
      [nodeGroup, "change", { property: "launchTemplate", from: template }],
    ]);
    expect(renderDiff(diff, "main")).toContain(`because launchTemplate comes from ${template}, which is changed`);
  });

  test("a new launch template version is shown on a node group that changes anyway, with the loss of its nodes", () => {
    const of = (size: number, max: number) =>
      planWith(
        entry(template, { inputs: { size } }),
        entry(nodeGroup, { inputs: { labels: { max } }, references: { launchTemplate: [template] } }),
      );
    const [, group] = diffPlans(of(100, 1), of(200, 2)).resources;
    expect(group).toMatchObject({ op: "change", changes: [{ path: "labels.max" }], follows: { from: template } });
    expect(group?.warnings).toEqual([expect.stringContaining("jobs on them end")]);
  });

  test.each([
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

  test("another size of a volume is an update that a StorageClass may refuse", () => {
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

  test("a changed default tag updates the tagged resources of that provider only", () => {
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

  const ray = "kubernetes:ray.io/v1:RayCluster::ray";
  const workers = (group: object) => ({ spec: { workerGroupSpecs: [{ groupName: "cpu", ...group }] } });
  test.each([
    ["Ray's version", { spec: { rayVersion: "1" } }, { spec: { rayVersion: "2" } }, true],
    [
      "a label of its pods",
      workers({ template: { metadata: {} } }),
      workers({ template: { metadata: { labels: { a: "b" } } } }),
      true,
    ],
    ["another worker group", { spec: { workerGroupSpecs: [] } }, workers({ replicas: 1 }), true],
    [
      "numbers of workers",
      workers({ minReplicas: 0, maxReplicas: 1 }),
      workers({ minReplicas: 1, maxReplicas: 9 }),
      false,
    ],
    ["a label of the object", { metadata: { labels: { a: "b" } } }, { metadata: { labels: { a: "c" } } }, false],
  ])("a changed RayCluster ends its jobs only where KubeRay recreates it: %s", (_what, before, after, ends) => {
    const of = (inputs: PlanEntry["inputs"]) => planWith(entry(ray, { inputs }));
    const [found] = diffPlans(of(before), of(after)).resources;
    expect(found?.op).toBe("change");
    expect(found?.warnings ?? []).toEqual(ends ? ["recreates the Ray cluster: running jobs end"] : []);
  });

  describe("a GKE node pool, as Google's client library describes its update", () => {
    const documented = updateNodePoolFields();
    const matching = (pattern: RegExp): string[] =>
      documented.filter(({ comment }) => pattern.test(comment)).map(({ field }) => field);
    const kept = matching(/existing (?:node labels|node taints|network tags|tags) will be|annotate any related/i);
    const recreated = matching(/initiates an upgrade operation that (?:migrates|recreates) the nodes/i);
    const warningsOf = (input: string): readonly string[] => {
      const of = (value: string) =>
        planWith(entry("gcp:container/nodePool:NodePool::cpu", { inputs: { nodeConfig: { [input]: value } } }));
      return diffPlans(of("1"), of("2")).resources[0]?.warnings ?? [];
    };

    test("has both kinds of inputs", () => {
      expect(kept).toEqual(["tags", "taints", "labels", "resourceLabels", "resourceManagerTags"]);
      expect(recreated).toEqual(expect.arrayContaining(["machineType", "diskType", "diskSizeGb"]));
    });

    test("keeps its nodes where existing values are replaced", () => {
      expect(kept.map((input) => [input, warningsOf(input)])).toEqual(kept.map((input) => [input, []]));
    });

    test.each([...recreated, "imageType"])("recreates its nodes for another %s", (input) => {
      expect(warningsOf(input)).toEqual([expect.stringContaining("jobs on them end")]);
    });
  });

  test("another cluster identifier replaces the provider of Kubernetes and everything on it", () => {
    const provided = entry("kubernetes:core/v1:ConfigMap::c", { options: { provider: "k" } });
    const elsewhere = entry("kubernetes:core/v1:ConfigMap::d", { options: { provider: "other" } });
    const of = (inputs: PlanEntry["inputs"]) =>
      planWith(entry("pulumi:providers:kubernetes::k", { inputs }), provided, elsewhere);
    const operations = (before: PlanEntry["inputs"], after: PlanEntry["inputs"]) =>
      diffPlans(of(before), of(after)).resources.map(({ name, op, follows }) => [name, op, follows?.property]);
    expect(operations({ clusterIdentifier: "a" }, { clusterIdentifier: "b" })).toEqual([
      ["c", "replace", "options.provider"],
      ["k", "replace", undefined],
    ]);
    expect(operations({}, { clusterIdentifier: "b" })).toEqual([["k", "change", undefined]]);
  });

  test("a replaced cluster replaces the provider that it identifies, and everything on it", () => {
    const id = "aws:eks/cluster:Cluster::main";
    const of = (name: string) =>
      planWith(
        entry(id, { inputs: { name } }),
        entry("pulumi:providers:kubernetes::k", {
          inputs: { clusterIdentifier: "<computed>" },
          references: { clusterIdentifier: [id] },
        }),
        entry("kubernetes:core/v1:Namespace::n", { options: { provider: "k" } }),
      );
    expect(diffPlans(of("a"), of("b")).resources.map(({ op }) => op)).toEqual(["replace", "replace", "replace"]);
  });

  test("another region of the provider replaces what takes its region from it", () => {
    const of = (region: string) =>
      planWith(
        entry(provider, { inputs: { region } }),
        withAws("aws:ec2/vpc:Vpc::v"),
        withAws("aws:iam/role:Role::r"),
        withAws("aws:ec2/vpc:Vpc::w", { inputs: { region: "eu-west-1" } }),
      );
    expect(diffPlans(of("eu-west-1"), of("eu-west-3")).resources.map(({ name, op }) => [name, op])).toEqual([
      ["v", "replace"],
      ["aws", "change"],
    ]);
  });

  test("other changes of the provider and ignored changes have no consequences", () => {
    const vpc = withAws("aws:ec2/vpc:Vpc::v");
    const of = (allowedAccountIds: string) => planWith(entry(provider, { inputs: { allowedAccountIds } }), vpc);
    expect(diffPlans(of("1"), of("2")).resources.map(({ id }) => id)).toEqual([provider]);
    const group = entry(nodeGroup, { references: { launchTemplate: [template] } });
    const ignoring = (size: number) => entry(template, { inputs: { size }, options: { ignoreChanges: ["size"] } });
    expect(diffPlans(planWith(ignoring(1), group), planWith(ignoring(2), group)).resources.map(({ id }) => id)).toEqual(
      [template],
    );
  });

  test.each(Object.entries(inheriting))(
    "the types with %s are those of the SDKs, of all that the stacks use",
    (output, listed) => {
      const carries = (type: string) => new RegExp(`^ +readonly ${output}:`, "m").test(declarationOf(type));
      expect([...knownTypes].filter(carries).sort()).toEqual([...listed].sort());
    },
  );
});
