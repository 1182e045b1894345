import { beforeAll, describe, expect, test } from "vitest";
import { balancerName } from "../../../infra/clouds/aws/exposure/attachments.ts";
import { caFile } from "../../../infra/model/egress.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { everyKey } from "../../support/infra/every-key.ts";
import { DependencyGraph, ofType } from "../../support/infra/graph.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { revealed } from "../kubernetes/manifests.ts";

const captureOf = async (name: string): Promise<Capture> => {
  const variant = everyKey[name];
  if (variant === undefined) throw new Error(`no variant ${name}`);
  const capture = await runStack(variant.stack, "update", variant.overrides);
  if (capture.failure !== undefined) throw new Error(capture.failure);
  return capture;
};
const only = ({ resources }: Capture, type: string) => {
  const [first, ...others] = ofType(resources, type);
  if (first === undefined || others.length > 0) throw new Error(`${others.length + 1} resources of type ${type}`);
  return first;
};

test("the name of a load balancer is read from its DNS name, as AWS documents both", () => {
  expect(balancerName("k8s-lancedb-tableser-0d1e2f3a4b-5060708090a0b0c0.elb.eu-central-1.amazonaws.com")).toBe(
    "k8s-lancedb-tableser-0d1e2f3a4b",
  );
  expect(balancerName("my-alb-1234567890.eu-central-1.elb.amazonaws.com")).toBe("my-alb");
});

let inside: Capture;
let outside: Capture;
beforeAll(async () => {
  [inside, outside] = await Promise.all([
    captureOf("aws: internal, with all keys"),
    captureOf("aws: public, with all keys"),
  ]);
}, 300_000);

describe("PrivateLink", () => {
  test("publishes the load balancer of the Service, once it exists, to the listed principals", () => {
    const service = only(inside, "aws:ec2/vpcEndpointService:VpcEndpointService");
    expect(revealed(service)).toMatchObject({
      acceptanceRequired: true,
      allowedPrincipals: ["arn:aws:iam::444455556666:root"],
      privateDnsName: "tables.corp.example.com",
      networkLoadBalancerArns: [expect.stringMatching(/^arn:aws:elasticloadbalancing:eu-central-1:/)],
    });
    const balancers = ofType(inside.resources, "kubernetes:core/v1:Service").filter(
      ({ name }) => name === "table-service",
    );
    expect(new DependencyGraph(inside.resources).violations([service], balancers)).toEqual([]);
  });

  test("lets endpoints pass the security group, which knows the network's addresses only", () => {
    const service = ofType(inside.resources, "kubernetes:core/v1:Service").find(({ name }) => name === "table-service");
    expect(JSON.stringify(service?.inputs)).toContain(
      '"service.beta.kubernetes.io/aws-load-balancer-inbound-sg-rules-on-private-link-traffic":"off"',
    );
  });

  test("names the service and the record that proves the name among the outputs", () => {
    const { outputs } = inside.resources.find(({ kind }) => kind === "stack") ?? {};
    expect(outputs).toHaveProperty("privateLinkService");
    expect(outputs).toHaveProperty("privateLinkDnsRecord");
  });
});

describe("AWS WAF", () => {
  test("limits an address, then applies AWS's groups, of whose body limit it only counts", () => {
    const { rules, defaultAction, scope } = revealed(only(outside, "aws:wafv2/webAcl:WebAcl"));
    expect({ defaultAction, scope }).toEqual({ defaultAction: { allow: {} }, scope: "REGIONAL" });
    expect(rules).toMatchObject([
      {
        priority: 0,
        action: { block: { customResponse: { responseCode: 429 } } },
        statement: { rateBasedStatement: { limit: 1000, aggregateKeyType: "IP" } },
      },
      {
        priority: 1,
        overrideAction: { none: {} },
        statement: {
          managedRuleGroupStatement: {
            name: "AWSManagedRulesCommonRuleSet",
            ruleActionOverrides: [{ name: "SizeRestrictions_BODY", actionToUse: { count: {} } }],
          },
        },
      },
      { priority: 2, statement: { managedRuleGroupStatement: { name: "AWSManagedRulesKnownBadInputsRuleSet" } } },
    ]);
  });

  test("is attached to the load balancer of the Ingress, and detached before that goes", () => {
    const association = only(outside, "aws:wafv2/webAclAssociation:WebAclAssociation");
    const graph = new DependencyGraph(outside.resources);
    for (const type of ["kubernetes:networking.k8s.io/v1:Ingress", "aws:wafv2/webAcl:WebAcl"])
      expect(graph.violations([association], ofType(outside.resources, type))).toEqual([]);
  });
});

describe("the trail of the tables", () => {
  test("records requests for their objects alone, in a bucket that only this trail writes", () => {
    const trail = only(inside, "aws:cloudtrail/trail:Trail");
    expect(revealed(trail)).toMatchObject({
      s3BucketName: "example-lakehead-dev-audit-logs",
      enableLogFileValidation: true,
      advancedEventSelectors: [
        {
          fieldSelectors: [
            { field: "eventCategory", equals: ["Data"] },
            { field: "resources.type", equals: ["AWS::S3::Object"] },
            { field: "resources.ARN", startsWiths: ["arn:aws:s3:::example-lakehead-dev/"] },
          ],
        },
      ],
    });
    const grants = ofType(inside.resources, "aws:s3/bucketPolicy:BucketPolicy").filter(
      ({ name }) => name === "audit-trail",
    );
    expect(grants).toHaveLength(1);
    expect(revealed(grants[0] as never).policy).toContain(
      '"aws:SourceArn":"arn:aws:cloudtrail:eu-central-1:111122223333:trail/lancedb-tables"',
    );
    expect(new DependencyGraph(inside.resources).violations([trail], grants)).toEqual([]);
  });

  test("is not made by default", () => expect(ofType(outside.resources, "aws:cloudtrail/trail:Trail")).toEqual([]));
});

describe("the copy of the tables in another region", () => {
  const elsewhere = (type: string) =>
    ofType(inside.resources, type).filter(({ name }) => name.startsWith("tables-replica"));

  test("is as private as the tables, with a key of its own region", () => {
    for (const type of ["bucketPublicAccessBlock:BucketPublicAccessBlock", "bucketPolicy:BucketPolicy"]) {
      expect(elsewhere(`aws:s3/${type}`).map(({ inputs }) => inputs.region)).toEqual(["eu-west-1"]);
    }
    expect(elsewhere("aws:kms/key:Key").map(({ inputs }) => inputs.region)).toEqual(["eu-west-1"]);
  });

  test("begins once both buckets keep versions and the role has its rights", () => {
    const rule = only(inside, "aws:s3/bucketReplicationConfig:BucketReplicationConfig");
    expect(revealed(rule).rules).toMatchObject([
      {
        status: "Enabled",
        deleteMarkerReplication: { status: "Enabled" },
        sourceSelectionCriteria: { sseKmsEncryptedObjects: { status: "Enabled" } },
      },
    ]);
    const graph = new DependencyGraph(inside.resources);
    const versioning = ofType(inside.resources, "aws:s3/bucketVersioning:BucketVersioning");
    expect(versioning).toHaveLength(2);
    const rights = ofType(inside.resources, "aws:iam/rolePolicy:RolePolicy").filter(({ name }) =>
      name.startsWith("tables-replication"),
    );
    expect(rights).toHaveLength(1);
    expect(graph.violations([rule], [...versioning, ...rights])).toEqual([]);
    expect(revealed(rights[0] as never).policy).toContain('"Resource":["arn:aws:s3:::example-lakehead-dev-copy/*"]');
  });
});

describe("proxy and certificates", () => {
  const podsOf = ({ resources }: Capture) =>
    resources
      .filter(({ type }) => /^kubernetes:.*:(Deployment|CronJob|RayCluster)$/.test(type))
      .map((resource) => [resource.name, JSON.stringify(resource.inputs.spec)] as const);

  test("reach the pods that call outside, and not the cleanup, which asks the API server alone", () => {
    const pods = podsOf(inside);
    const through = (part: string) => pods.filter(([, spec]) => spec.includes(part)).map(([name]) => name);
    const of = ["cluster", "runner"].map((part) => `functions-${part}`);
    const all = [...of, "history-server", "maintenance", "ray-cluster", "table-service"];
    // The cleanup has `NODE_EXTRA_CA_CERTS` of its own: the certificate of the API server.
    for (const part of ['"https_proxy"', "ca-bundle-", '"SSL_CERT_FILE"', `"NODE_EXTRA_CA_CERTS","value":"${caFile}"`])
      expect(through(part).sort()).toEqual(all);
    expect(pods.map(([name]) => name)).toContain("orphan-cleanup");
    const [, ray = ""] = pods.find(([name]) => name === "ray-cluster") ?? [];
    // Ray and the collector of its history in the head and in each group of workers.
    expect(ray.split('"HTTPS_PROXY"').length - 1).toBe(2 * ray.split('"groupName"').length);
  });

  test("leave the cluster's own networks, the metadata servers and the bucket to the direct way", () => {
    const [, spec = ""] = podsOf(inside).find(([name]) => name === "table-service") ?? [];
    const direct = /"name":"NO_PROXY","value":"([^"]+)"/.exec(spec)?.[1]?.split(",");
    expect(direct).toEqual(
      expect.arrayContaining([
        "10.42.0.0/16",
        "172.20.0.0/16",
        "169.254.169.254",
        ".svc",
        "s3.eu-central-1.amazonaws.com",
      ]),
    );
    expect(direct).toEqual(expect.arrayContaining(["kubernetes.default", "geneva-head-svc", ".corp.lakehead.dev"]));
  });

  test("open the proxy's port to the pods whose egress is limited", () => {
    const policies = ofType(inside.resources, "kubernetes:networking.k8s.io/v1:NetworkPolicy").filter(({ name }) =>
      /(table-service|maintenance|functions-runner|functions-worker)$/.test(name),
    );
    expect(policies).toHaveLength(4);
    for (const policy of policies) expect(JSON.stringify(policy.inputs.spec)).toContain('"port":3128');
  });

  test("come before the pods, and nowhere without the keys", () => {
    const [bundle] = ofType(inside.resources, "kubernetes:core/v1:ConfigMap").filter(
      ({ name }) => name === "ca-bundle",
    );
    const pods = inside.resources.filter(({ type }) => /^kubernetes:.*:(Deployment|RayCluster)$/.test(type));
    expect(new DependencyGraph(inside.resources).violations(pods, bundle === undefined ? pods : [bundle])).toEqual([]);
    for (const [, spec] of podsOf(outside)) expect(spec).not.toMatch(/PROXY|SSL_CERT_FILE/);
  });
});

describe("node groups to fall back to", () => {
  const groups = () => ofType(outside.resources, "aws:eks/nodeGroup:NodeGroup").map(revealed);

  test("serve the pods of their role, and start empty", () => {
    const ofGpu = groups().filter(({ labels }) => Object.hasOwn(labels as object, "geneva.lancedb.com/ray-worker-gpu"));
    const prefixes = ["fallback-1-ray-worker-gpu-", "fallback-2-ray-worker-gpu-", "ray-worker-gpu-"];
    expect(ofGpu.map(({ nodeGroupNamePrefix }) => nodeGroupNamePrefix)).toEqual(prefixes);
    expect(ofGpu).toMatchObject([
      { capacityType: "ON_DEMAND", instanceTypes: ["g6.4xlarge"], scalingConfig: { minSize: 0, maxSize: 4 } },
      { capacityType: "ON_DEMAND", instanceTypes: ["g5.4xlarge"], scalingConfig: { minSize: 0, maxSize: 1 } },
      { capacityType: "SPOT", instanceTypes: ["g6.4xlarge"], scalingConfig: { maxSize: 4 } },
    ]);
    for (const { taints } of ofGpu) expect(taints).toEqual(ofGpu[0]?.taints);
  });

  test("are tried by the autoscaler in their order: each group matches the pattern of one priority", () => {
    const [release] = ofType(outside.resources, "kubernetes:helm.sh/v3:Release")
      .filter(({ name }) => name === "autoscaler")
      .map(revealed);
    expect(release).toMatchObject({ values: { extraArgs: { expander: "priority,least-waste" } } });
    const { expanderPriorities = {} } = (release?.values ?? {}) as { expanderPriorities?: Record<string, string[]> };
    const prioritiesOf = (prefix: string) =>
      Object.entries(expanderPriorities).flatMap(([priority, patterns]) =>
        patterns.some((pattern) => new RegExp(pattern).test(`eks-${prefix}20261125-1a2b`)) ? [Number(priority)] : [],
      );
    const found = groups().map(({ nodeGroupNamePrefix }) => prioritiesOf(String(nodeGroupNamePrefix)));
    expect(found.toSorted()).toEqual([[100], [100], [100], [100], [98], [99], [99]].toSorted());
  });
});

describe("the history of RayClusters", () => {
  const bucket = "arn:aws:s3:::example-lakehead-dev-ray-history";
  const policyOf = (name: string) => {
    const [found] = ofType(inside.resources, "aws:iam/rolePolicy:RolePolicy").filter((one) => one.name === name);
    return JSON.parse(String(found?.inputs.policy)).Statement as { Action: string[]; Resource: string[] }[];
  };

  test("is a bucket of its own, which Ray's pods write and the server reads, and neither empties", () => {
    const actions = (name: string) =>
      policyOf(name).map(({ Action, Resource }) => [Resource.join(), Action.toSorted().join()]);
    const find = [bucket, "s3:GetBucketLocation,s3:ListBucket"];
    expect(actions("identities-runtime-history")).toEqual([find, [`${bucket}/*`, "s3:GetObject,s3:PutObject"]]);
    expect(actions("ray-history-server-history")).toEqual([find, [`${bucket}/*`, "s3:GetObject"]]);
  });

  test("is written by a collector beside Ray in each pod of the stack's RayCluster, and of no other", () => {
    const podsOf = (name: string) => {
      const [found] = ofType(inside.resources, "kubernetes:ray.io/v1:RayCluster").filter((one) => one.name === name);
      const { headGroupSpec, workerGroupSpecs } = (revealed(found as never) as never as { spec: Spec }).spec;
      return [headGroupSpec, ...workerGroupSpecs].map(({ template: { spec } }) => spec);
    };
    interface Spec {
      headGroupSpec: Group;
      workerGroupSpecs: Group[];
    }
    interface Group {
      template: { spec: { initContainers?: { env: { name: string; value?: string }[] }[]; containers: object[] } };
    }
    const pods = podsOf("ray-cluster");
    const roles = pods.map(({ initContainers: [one] = [] }) => one?.env.find(({ name }) => name === "RAY_ROLE")?.value);
    expect(roles).toEqual(["Head", "Worker", "Worker"]);
    for (const pod of pods) {
      // A sidecar, which KubeRay's autoscaler v2 lets restart, and which stops after Ray, with time to upload.
      expect(pod.initContainers).toMatchObject([{ name: "collector", restartPolicy: "Always" }]);
      expect(pod).toMatchObject({ terminationGracePeriodSeconds: 60, containers: [{}] });
    }
    for (const pod of podsOf("functions-cluster")) expect(pod).not.toHaveProperty("initContainers");
  });

  test("is kept decoded by the server in half of its memory", () => {
    const [deployment] = ofType(inside.resources, "kubernetes:apps/v1:Deployment")
      .map((one) => revealed(one) as never as { metadata: { name: string }; spec: { template: { spec: object } } })
      .filter(({ metadata }) => metadata.name === "history-server");
    expect(deployment?.spec.template.spec).toMatchObject({
      containers: [
        {
          args: [`--session-cache-max-memory=${2 ** 30}`],
          resources: { limits: { memory: "2Gi" } },
        },
      ],
    });
  });

  test("is shown by a server that reaches the API server and the bucket, and that no pod reaches", () => {
    const [policy] = ofType(inside.resources, "kubernetes:networking.k8s.io/v1:NetworkPolicy")
      .map((one) => revealed(one) as never as { metadata: { name: string }; spec: object })
      .filter(({ metadata }) => metadata.name === "history-server");
    expect(policy?.spec).toMatchObject({ policyTypes: ["Egress"] });
    const served = ofType(inside.resources, "kubernetes:core/v1:Service").filter(
      ({ name }) => name === "history-server",
    );
    expect(served).toHaveLength(1);
    expect(ofType(outside.resources, "kubernetes:apps/v1:Deployment").map(({ name }) => name)).not.toContain(
      "history-server",
    );
  });
});
