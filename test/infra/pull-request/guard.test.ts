import { describe, expect, test } from "vitest";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { knownTypes } from "../../../infra/offline-plan/replacements.ts";
import { allowLabel, commentMarker, renderComment } from "../../../infra/pull-request/comment.ts";
import {
  dangers,
  digestOfPreview,
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
  test.each([...guardedTypes])("stops the deletion and the replacement of %s, and nothing else", (type) => {
    expect(dangers([step(`${type}::x`, "delete")])).toHaveLength(1);
    expect(dangers([step(`a:b:C$${type}::x`, "replace")])).toHaveLength(1);
    expect(dangers([step(`${type}::x`, "update"), step(`${type}::y`, "create")])).toEqual([]);
  });

  test.each(["launchTemplate", "launchTemplate.version", "version"])(
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

  test.each([
    ["gcp:container/nodePool:NodePool", "nodeConfig.machineType", "replaces every node of a node group"],
    ["gcp:container/nodePool:NodePool", "nodeConfig", "replaces every node of a node group"],
    ["kubernetes:ray.io/v1:RayCluster", "spec.rayVersion", "recreates a Ray cluster, which ends its jobs"],
    ["kubernetes:ray.io/v1:RayCluster", "spec.workerGroupSpecs[groupName=a].template.metadata.labels.x", "recreates"],
  ])("stops an update of %s by %s, which ends jobs", (type, input, action) => {
    expect(dangers([step(`${type}::x`, "update", { inputs: [input] })])).toMatchObject([
      { action: expect.stringContaining(action) },
    ]);
  });

  test.each([
    ["gcp:container/nodePool:NodePool", "nodeConfig.labels.a"],
    ["gcp:container/nodePool:NodePool", "autoscaling.totalMaxNodeCount"],
    ["kubernetes:ray.io/v1:RayCluster", "spec.workerGroupSpecs[0].maxReplicas"],
    ["kubernetes:ray.io/v1:RayCluster", "metadata.labels.a"],
  ])("passes an update of %s by %s, which ends none", (type, input) => {
    expect(dangers([step(`${type}::x`, "update", { inputs: [input] })])).toEqual([]);
  });

  test("passes resources that can be recreated", () => {
    expect(
      dangers([step("kubernetes:apps/v1:Deployment::x", "delete"), step("aws:ec2/route:Route::r", "replace")]),
    ).toEqual([]);
  });

  test("covers the stateful types of the replacement table, for both clouds", () => {
    const stateful = [...knownTypes].filter((type) =>
      /:(Cluster|NodeGroup|NodePool|Bucket|Role|Account|Key|CryptoKey)$/.test(type),
    );
    expect(stateful.length).toBeGreaterThanOrEqual(9);
    for (const type of stateful) expect(guardedTypes).toContain(type);
  });
});

describe("the steps of pulumi preview --json", () => {
  test("count a replacement once, whichever of its three steps comes first", () => {
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

  test("leave out what stays the same", () => {
    const quiet = ["same", "read", "refresh", "read-replacement"].map((op) => ({ op, urn: urn(cluster) }));
    expect(stepsOfPreview(preview(...quiet))).toEqual([]);
  });

  const changed = (id: string, before: object, after: object, more: object = {}) =>
    stepsOfPreview(
      preview({
        op: "update",
        urn: urn(id),
        oldState: { inputs: before },
        newState: { inputs: after, ...more },
        diffReasons: Object.keys(after),
      }),
    );
  const pool = "gcp:container/nodePool:NodePool::cpu";

  test("have old and new values of changed inputs, and the most precise names", () => {
    const of = (machineType: string) => ({ nodeConfig: { machineType, spot: true } });
    expect(changed(pool, of("n2-standard-16"), of("n2-standard-32"))).toEqual([
      step(pool, "update", {
        inputs: ["nodeConfig.machineType"],
        values: [{ path: "nodeConfig.machineType", before: "n2-standard-16", after: "n2-standard-32" }],
      }),
    ]);
  });

  test("have a digest of every operation and value, and of secrets the path alone", () => {
    const digest = (op: string, before: object, after: object) =>
      digestOfPreview(
        preview({ op, urn: urn(pool), oldState: { inputs: before }, newState: { inputs: after } }, { op: "same" }),
      );
    const long = (end: string) => ({ userData: `${"a".repeat(200)}${end}` });
    const base = digest("update", long("b"), long("c"));
    expect(digest("update", long("b"), long("c"))).toBe(base);
    expect(digest("update", long("b"), long("d"))).not.toBe(base);
    expect(digest("replace", long("b"), long("c"))).not.toBe(base);
    const many = (value: string) => Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, value]));
    expect(digest("create", {}, { ...many("a"), k29: "b" })).not.toBe(digest("create", {}, many("a")));
    const token = (value: string) => ({ ...many("a"), token: value });
    expect(digest("create", {}, token("one"))).toBe(digest("create", {}, token("two")));
    expect(digest("create", {}, token("one"))).not.toBe(digest("create", {}, many("a")));
    expect(() => digestOfPreview({ steps: "none" })).toThrow("it has no list of steps");
  });

  test("compare policies statement by statement", () => {
    const policy = (...Action: string[]) => ({ policy: JSON.stringify({ Statement: [{ Sid: "Read", Action }] }) });
    expect(changed("aws:iam/policy:Policy::p", policy("s3:Get"), policy("s3:Get", "s3:*"))[0]?.values).toEqual([
      { path: "policy.Statement[Sid=Read].Action[1]", after: "s3:*" },
    ]);
  });

  const marked = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "hunter2" };
  test.each([
    ["masked by the CLI", pool, { a: "[secret]" }, { a: "hunter2" }, {}],
    ["marked by the engine", pool, { a: marked }, { a: "hunter2" }, {}],
    ["kept secret by the provider", pool, { a: "hunter1" }, { a: "hunter2" }, { additionalSecretOutputs: ["a"] }],
    [
      "in an object of secrets",
      "kubernetes:core/v1:Secret::s",
      { data: { a: "hunter1" } },
      { data: { a: "hunter2" } },
      {},
    ],
    ["a credential by its name", pool, { adminPassword: "hunter1" }, { adminPassword: "hunter2" }, {}],
    ["in a provider", "pulumi:providers:aws::aws", { profile: "hunter1" }, { profile: "hunter2" }, {}],
    ["a private key", pool, { pem: "x" }, { pem: "-----BEGIN PRIVATE KEY-----hunter2" }, {}],
  ])("have no value of a secret: %s", (_what, id, before, after, more) => {
    const steps = changed(id, before, after, more);
    expect(steps[0]?.inputs.length).toBeGreaterThan(0);
    expect(steps[0]?.values).toBeUndefined();
    expect(renderComment([{ stack: "s", steps, source: "preview" }], true).text).not.toContain("hunter");
  });

  test("cut long values, and list a bounded number of them", () => {
    const of = (text: string) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`input${i}`, text.repeat(500)]));
    const steps = changed(pool, of("a"), of("b"));
    expect(JSON.stringify(steps[0]?.values).length).toBeLessThan(2_000);
    expect(steps[0]?.inputs).toHaveLength(50);
  });

  test("take type and name from the URN, under any parents", () => {
    const [found] = stepsOfPreview(preview({ op: "delete", urn: urn(`lakehead:aws:Cluster$${cluster}`) }));
    expect(found).toMatchObject({ op: "delete", type: "aws:eks/cluster:Cluster", name: "main" });
  });

  test.each([[undefined], [null], [[]], [{}], [{ steps: "none" }], ["error: no credentials"]])(
    "are refused when they are %j",
    (document) => {
      expect(() => stepsOfPreview(document)).toThrow(StepsError);
    },
  );
});

test("the offline plan's diff is read as steps", () => {
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

test("an ignored input is not part of a step", () => {
  const of = (version: string) => entry(nodeGroup, { inputs: { version }, options: { ignoreChanges: ["version"] } });
  expect(stepsOfDiff(diffPlans(planWith(of("1.35")), planWith(of("1.36")))).map(({ inputs }) => inputs)).toEqual([[]]);
});

describe("the comment", () => {
  const stack = (...steps: Step[]) => ({ stack: "aws-prod", steps, source: "preview" as const });

  test("passes a harmless plan", () => {
    const { text, passes } = renderComment([stack(step("x:y/z:Z::z", "update", { inputs: ["a"] }))], false);
    expect(passes).toBe(true);
    expect(text.startsWith(commentMarker)).toBe(true);
    expect(text).toContain("aws-prod: 0 create, 1 update, 0 replace, 0 delete");
  });

  test("stops a dangerous one, unless it is labelled", () => {
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

  test("stays under GitHub's limit and keeps the decision", () => {
    const steps = Array.from({ length: 2000 }, (_, index) => step(`x:y/z:Z::resource-${index}`, "create"));
    const { text } = renderComment([stack(...steps, step(cluster, "delete"))], false);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain("**Stopped.**");
    expect(text).toContain("The comment is too long");
  });

  test("shows old and new values as code", () => {
    const values = [
      { path: "nodeConfig.machineType", before: "n2-standard-16", after: "n2-standard-32" },
      { path: "role", before: "<computed Role a|b.arn>" },
    ];
    const inputs = [...values.map(({ path }) => path), "tagsAll"];
    expect(renderComment([stack(step("x:y/z:Z::z", "update", { inputs, values }))], false).text).toContain(
      "| `nodeConfig.machineType: n2-standard-16 → n2-standard-32`<br>`role: <computed Role a\\|b.arn> → (none)`<br>`tagsAll` |",
    );
  });

  test("escapes names", () => {
    const { text } = renderComment([stack(step("x:y/z:Z::a|b`c\nd", "create"))], false);
    expect(text).toContain("a\\|b'c d");
  });
});
