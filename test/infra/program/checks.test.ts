import { describe, expect, test } from "vitest";
import { computed, Secret } from "../../../infra/offline-plan/values.ts";
import { DependencyGraph } from "../../support/infra/graph.ts";
import { judge, type Rule, rules } from "../../support/infra/order-rules.ts";
import { captureOf, resource, stackUrn } from "../support/captures.ts";
import { unknownToStack } from "./checks/client.ts";
import { broadGoogleRoles, broadManagedPolicies, documents, looseTrust, notActions, wildcards } from "./checks/iam.ts";
import { nodePools, placement, podsOf, poolFaults } from "./checks/pods.ts";
import { cloudProtection, notRetained, strayMarks, unprotected } from "./checks/protection.ts";
import { schemaErrors } from "./checks/schemas.ts";
import { kubeconfigTokens, leaks, openSecrets } from "./checks/secrets.ts";
import { components, kubernetesProviders, names, parents, parity, providers } from "./checks/structure.ts";
import { unknownValues } from "./checks/values.ts";
import { unsharedWaits } from "./checks/waits.ts";

// Every check of the whole program, seen to find what it looks for.

const bucket = (name: string, more = {}) => resource("aws:s3/bucket:Bucket", name, more);

describe("structure", () => {
  test("finds a resource that only the update has", () => {
    const preview = captureOf([bucket("a")]);
    const update = captureOf([bucket("a"), bucket("b")]);
    expect(parity({ preview, update })).toEqual([expect.stringMatching(/^only in the update: .*::b$/)]);
    expect(parity({ preview: update, update: preview })).toEqual([
      expect.stringMatching(/^only in the preview: .*::b$/),
    ]);
  });

  test("finds resources outside of components, and silent or oddly typed components", () => {
    expect(parents(captureOf([bucket("loose")]))).toHaveLength(1);
    const component = resource("acme:Thing", "c", { kind: "component" });
    expect(parents(captureOf([component, bucket("b", { parent: component.urn })]))).toEqual([]);
    expect(components(captureOf([component]))).toHaveLength(2);
  });

  test("finds default and foreign providers", () => {
    expect(providers(captureOf([bucket("a")]))).toEqual(["aws:s3/bucket:Bucket a uses the default provider"]);
    expect(providers(captureOf([bucket("a", { provider: "urn:elsewhere" })]))).toHaveLength(1);
  });

  test("finds Kubernetes providers that are not tied down, or that show their kubeconfig", () => {
    const provider = resource("pulumi:providers:kubernetes", "k", { inputs: { kubeconfig: "open" } });
    expect(kubernetesProviders(captureOf([provider]))).toHaveLength(2);
  });

  test("finds two objects of one name, but not in two namespaces", () => {
    const account = (name: string, namespace: string) =>
      resource("kubernetes:core/v1:ServiceAccount", name, { inputs: { metadata: { name: "same", namespace } } });
    expect(names(captureOf([account("a", "x"), account("b", "x")]))).toHaveLength(1);
    expect(names(captureOf([account("a", "x"), account("b", "y")]))).toEqual([]);
  });
});

describe("order", () => {
  test("follows dependencies, parents and providers, and nothing else", () => {
    const first = bucket("first");
    const provider = resource("pulumi:providers:aws", "p", { dependsOn: [first.urn] });
    const component = resource("lakehead:aws:Thing", "c", { kind: "component", dependsOn: [first.urn] });
    const byParent = bucket("child", { parent: component.urn });
    const byProvider = bucket("provided", { provider: provider.urn });
    const alone = bucket("alone");
    const graph = new DependencyGraph([first, provider, component, byParent, byProvider, alone]);
    expect(graph.violations([byParent, byProvider, alone], [first])).toEqual([
      "aws:s3/bucket:Bucket alone does not depend on aws:s3/bucket:Bucket first",
    ]);
  });

  test("of a RayCluster beside its operator is found out", () => {
    const cluster = resource("kubernetes:ray.io/v1:RayCluster", "ray");
    const operator = resource("kubernetes:helm.sh/v3:Release", "op", { inputs: { chart: "kuberay-operator" } });
    const [rule] = rules;
    expect(judge(rule as Rule, captureOf([cluster, operator])).findings).toHaveLength(1);
    const after = resource("kubernetes:ray.io/v1:RayCluster", "ray", { dependsOn: [operator.urn] });
    expect(judge(rule as Rule, captureOf([after, operator])).findings).toEqual([]);
  });
});

describe("protection", () => {
  test("finds marks in the wrong places, and missing ones", () => {
    const group = resource("aws:eks/nodeGroup:NodeGroup", "g", { protect: true, retainOnDelete: true });
    expect(strayMarks(captureOf([group]))).toHaveLength(2);
    expect(unprotected(captureOf([bucket("b")]))).toEqual(["aws:s3/bucket:Bucket b is not protected"]);
    expect(notRetained(captureOf([resource("kubernetes:yaml/v2:ConfigGroup", "crds")]))).toHaveLength(1);
    expect(cloudProtection(captureOf([bucket("b", { protect: true, inputs: { forceDestroy: true } })]))).toHaveLength(
      1,
    );
    expect(cloudProtection(captureOf([resource("aws:eks/cluster:Cluster", "c", { protect: true })]))).toHaveLength(1);
  });
});

describe("secrets", () => {
  test("are found in inputs, outputs and messages, but not where they are secret or unknown", () => {
    const open = bucket("b", { inputs: { tags: { a: ["x hunter2 y"] }, ok: new Secret("hunter2"), later: computed } });
    const capture = captureOf([open], { token: "hunter2" });
    expect(leaks({ ...capture, diagnostics: [{ severity: "info", message: "hunter2" }] }, ["hunter2"])).toEqual([
      "input of aws:s3/bucket:Bucket b: tags.a[0]",
      "output of pulumi:pulumi:Stack lakehead-test: token",
      "message: ",
    ]);
  });

  test("that the provider knows as such are found when the program does not", () => {
    const of = (data: Secret | string) =>
      captureOf([
        resource("kubernetes:core/v1:Secret", "s", { secretOutputs: ["data"], inputs: { data: { key: data } } }),
      ]);
    expect(openSecrets(of("open"))).toEqual(["kubernetes:core/v1:Secret s has data in the open"]);
    expect(openSecrets(of(new Secret("shut")))).toEqual([]);
  });

  test("of a kubeconfig must come from a plugin", () => {
    const provider = (text: string) =>
      captureOf([resource("pulumi:providers:kubernetes", "k", { inputs: { kubeconfig: new Secret(text) } })]);
    expect(kubeconfigTokens(provider('{"user":{"token":"abc"}}'))).toHaveLength(1);
    expect(kubeconfigTokens(provider('{"user":{"exec":{"command":"aws"}}}'))).toEqual([]);
  });
});

describe("identities", () => {
  const role = (property: string, Statement: unknown) =>
    documents(
      captureOf([resource("aws:iam/role:Role", "r", { inputs: { [property]: JSON.stringify({ Statement }) } })]),
    );
  const trust = (condition: unknown, principal: unknown = { Federated: "arn:aws:iam::1:oidc-provider/o" }) =>
    role("assumeRolePolicy", [
      {
        Effect: "Allow",
        Principal: principal,
        Action: "sts:AssumeRoleWithWebIdentity",
        Condition: { StringEquals: condition },
      },
    ]).flatMap(looseTrust);

  test("with wildcards, exclusions or broad policies are found", () => {
    const found = (Statement: unknown) => role("policy", Statement).flatMap(wildcards);
    expect(found([{ Effect: "Allow", Action: ["s3:*"], Resource: ["arn:aws:s3:::b/*"] }])).not.toEqual([]);
    expect(found([{ Effect: "Allow", Action: "iam:PassRole", Resource: "*" }])).toHaveLength(1);
    expect(found([{ Effect: "Allow", NotAction: ["iam:*"], Resource: ["arn:aws:s3:::b"] }])).toHaveLength(1);
    expect(found([{ Effect: "Deny", Action: ["s3:*"], Resource: ["*"] }])).toEqual([]);
    const attachment = resource("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "a", {
      inputs: { policyArn: "arn:aws:iam::aws:policy/AmazonS3FullAccess" },
    });
    expect(broadManagedPolicies(captureOf([attachment]))).toHaveLength(1);
  });

  test("whose trust lets others in are found", () => {
    const sub = "system:serviceaccount:lancedb:geneva-service-account";
    expect(trust({ "o:sub": sub, "o:aud": "sts.amazonaws.com" })).toEqual([]);
    expect(trust({ "o:sub": sub })).toEqual([expect.stringContaining("audience")]);
    expect(trust({ "o:sub": "system:serviceaccount:*:*", "o:aud": "sts.amazonaws.com" })).toHaveLength(1);
    expect(trust({ "o:sub": sub, "o:aud": "sts.amazonaws.com" }, { AWS: "*" })).toEqual([
      expect.stringContaining("anyone"),
    ]);
  });

  test("with actions that do not exist are found", () => {
    const found = role("policy", [{ Effect: "Allow", Action: ["s3:HeadObject", "s3:GetObject"], Resource: [] }]);
    expect(found.flatMap(notActions)).toEqual([expect.stringContaining("there is no action s3:HeadObject")]);
  });

  test("with broad roles on Google Cloud are found", () => {
    const member = (type: string, role: string) => resource(type, "m", { inputs: { role, member: "allUsers" } });
    expect(
      broadGoogleRoles(captureOf([member("gcp:projects/iAMMember:IAMMember", "roles/storage.objectAdmin")])),
    ).toHaveLength(2);
    expect(broadGoogleRoles(captureOf([member("gcp:projects/iAMBinding:IAMBinding", "roles/editor")]))).toHaveLength(3);
  });
});

describe("values", () => {
  test("that no API knows are found", () => {
    const group = resource("aws:eks/nodeGroup:NodeGroup", "g", {
      inputs: {
        amiType: "AL2023_ARM_NVIDIA",
        instanceTypes: ["g6.4xlarge", "g6.5xlarge"],
        taints: [{ effect: "NoSchedule" }],
      },
    });
    const { findings, compared } = unknownValues(captureOf([group]));
    expect(compared).toBe(4);
    expect(findings).toEqual([
      "aws:eks/nodeGroup:NodeGroup g amiType: the API knows no AL2023_ARM_NVIDIA",
      "aws:eks/nodeGroup:NodeGroup g instanceTypes[1]: the API knows no g6.5xlarge",
      "aws:eks/nodeGroup:NodeGroup g taints[0].effect: the API knows no NoSchedule",
    ]);
  });

  test("of objects that do not fit their schema are found", async () => {
    const errors = (apiVersion: string, kind: string, rest: object) =>
      schemaErrors({
        apiVersion,
        kind,
        metadata: { name: "x" },
        body: { apiVersion, kind, metadata: { name: "x", namespace: "n" }, ...rest },
        resource: bucket("b"),
      });
    expect(await errors("apps/v1", "Deployment", { spec: { replicas: "2" } })).not.toEqual([]);
    expect(await errors("ray.io/v1", "RayCluster", { spec: { enableInTreeAutoscalling: true } })).toEqual([
      expect.stringMatching(/required property 'rayVersion'.*additional properties/),
    ]);
    expect(await errors("acme.io/v1", "Thing", {}).catch(String)).toContain("acme.io");
  });
});

describe("pods and nodes", () => {
  const group = (name: string, more: object = {}) =>
    resource("aws:eks/nodeGroup:NodeGroup", name, {
      inputs: {
        labels: { role: name },
        taints: [],
        instanceTypes: ["m7i.xlarge"],
        capacityType: "ON_DEMAND",
        scalingConfig: { minSize: 0 },
        ...more,
      },
    });
  const deployment = (selector: object, cpu = "1") =>
    resource("kubernetes:apps/v1:Deployment", "d", {
      inputs: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          template: {
            spec: { nodeSelector: { ...selector }, containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }] },
          },
        },
      },
    });
  const faults = (pod: ReturnType<typeof deployment>, ...groups: ReturnType<typeof group>[]) => {
    const capture = captureOf([pod, ...groups]);
    return podsOf(capture).flatMap((found) => placement(found, nodePools(capture)));
  };

  test("that do not fit each other are found", () => {
    expect(faults(deployment({ role: "a" }), group("a"))).toEqual([]);
    expect(faults(deployment({ role: "b" }), group("a"))).toEqual(['d selects 0 pools: {"role":"b"}']);
    expect(faults(deployment({}), group("a"))).toEqual(["d may land on any node"]);
    expect(faults(deployment({ role: "a" }, "5"), group("a"))).toEqual([
      expect.stringContaining("d does not fit a m7i.xlarge"),
    ]);
    expect(
      faults(deployment({ role: "a" }), group("a", { taints: [{ key: "k", value: "v", effect: "NO_SCHEDULE" }] })),
    ).toEqual(["d does not tolerate k"]);
  });

  test("pools that lose jobs, take anything or play two roles are found", () => {
    const head = group("head", {
      labels: { "g/ray-head": "", "g/ray-worker-cpu": "true" },
      capacityType: "SPOT",
      instanceTypes: ["g6.4xlarge"],
    });
    expect(poolFaults(nodePools(captureOf([head])))).toEqual([
      "head is spot: a reclaimed head ends every job",
      "head scales to zero: no head is ready in time",
      "head takes any pod",
      "no untainted on-demand pool for kube-system",
      "head plays g/ray-head and g/ray-worker-cpu",
      'head: g/ray-head is not "true"',
      "head has GPUs and no taint for them",
    ]);
  });
});

test("client's parameters that name what the stack does not have are found", () => {
  const group = { service_account: "sa", num_cpus: 1, memory: 2 ** 30, node_selector: { a: "b" } };
  const stack = captureOf([
    resource("aws:eks/cluster:Cluster", "c", { inputs: { name: "lancedb" } }),
    resource("aws:eks/nodeGroup:NodeGroup", "g", { inputs: { labels: {}, instanceTypes: [], scalingConfig: {} } }),
    resource("pulumi:providers:aws", "p", { inputs: { region: "eu-west-1" }, parent: stackUrn }),
  ]);
  expect(
    unknownToStack(stack, {
      name: "geneva",
      namespace: "lancedb",
      cluster_name: "other",
      config_method: "EKS_AUTH",
      region: "us-east-1",
      use_portforwarding: true,
      head_group: group,
      worker_groups: [],
      role_name: "geneva-client-role",
    }),
  ).toEqual([
    "namespace lancedb",
    "service account sa",
    "cluster other",
    "region us-east-1",
    "role geneva-client-role",
    'nodes with {"a":"b"}',
  ]);
});

describe("waits", () => {
  const waiting = (text: unknown) =>
    captureOf([
      resource("kubernetes:core/v1:ResourceQuota", "q", {
        inputs: { metadata: { name: "q", annotations: { "pulumi.com/waitFor": text } } },
      } as never),
    ]);

  test.each([
    "jsonpath={.status.used.count/rayclusters\\.ray\\.io}",
    "jsonpath={.status.used['count/rayclusters.ray.io']}",
    "jsonpath=.status.phase",
    '["condition=Ready", "jsonpath={.a-b}"]',
    "Ready",
  ])("finds %s", (text) => expect(unsharedWaits(waiting(text))).toHaveLength(1));

  test.each(["condition=Ready", "jsonpath={.status.used.*}", "jsonpath={.status.phase}=Bound", '["condition=Ready"]'])(
    "accepts %s",
    (text) => expect(unsharedWaits(waiting(text))).toEqual([]),
  );
});
