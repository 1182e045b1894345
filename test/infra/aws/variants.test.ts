import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { internalAnnotations, publicAttributes } from "../../../infra/clouds/aws/exposure/exposure.ts";
import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { readProject } from "../../../infra/offline-plan/project.ts";
import { plaintext } from "../../../infra/offline-plan/values.ts";
import { DependencyGraph } from "../../support/infra/graph.ts";
import { root, runStack } from "../../support/infra/stacks.ts";
import { configOf } from "../config/minimal.ts";
import { revealed } from "../kubernetes/manifests.ts";
import { textFaults } from "../program/checks/texts.ts";

/** Two stacks that differ from the examples in every choice of the AWS half; a golden plan holds the examples. */
let adopted: Capture;
let closed: Capture;

beforeAll(async () => {
  [adopted, closed] = await Promise.all([
    runStack(
      "aws-dev",
      "update",
      {
        "lakehead:network": {
          mode: "adopt",
          vpcId: "vpc-0a1b",
          cidr: "10.0.0.0/16",
          privateSubnetIds: ["subnet-0a", "subnet-0b"],
          privateRouteTableIds: ["rtb-0a"],
        },
        "lakehead:dockerHub": { cache: true, username: "lakehead" },
        "lakehead:orphanCleanup": { image: "node:26" },
        "lakehead:bucket": { name: "example-existing", create: false },
        "lakehead:endpoint": { publicCidrs: [] },
        "lakehead:nodes": { gpu: { enabled: false } },
        "lakehead:tableService": {
          image: "registry.example.com/lakehead:0.2.0",
          auth: { issuer: "https://login.example.com/", audience: "lakehead" },
          exposure: {
            mode: "internal",
            allowedCidrs: ["10.0.0.0/8"],
            host: "tables.corp.example.com",
            certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
            annotations: { "service.beta.kubernetes.io/aws-load-balancer-name": "tables" },
          },
          writes: true,
          functions: { enabled: true, prefixes: ["docs.lance"] },
          vending: true,
          vendingHours: 12,
        },
      },
      { "lakehead:dockerHubToken": "hub-token" },
    ),
    runStack("aws-dev", "update", {
      "lakehead:network": { mode: "create", zones: ["a", "b"], nat: "none", flowLogs: true },
      "lakehead:client": {},
      "lakehead:viewerArns": [],
      "lakehead:auditorArns": [],
      "lakehead:networkPolicies": false,
      "lakehead:logKmsKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/logs",
      "lakehead:iam": { path: "/team/", permissionsBoundaryArn: "arn:aws:iam::111122223333:policy/boundary" },
      "lakehead:nodeUpdates": { release: "latest", repair: false },
      "lakehead:tags": { CostCenter: "A 1", Project: "mine" },
      "lakehead:bucket": { name: "example-throwaway", forceDestroy: true },
      "lakehead:nodes": { system: { instanceTypes: ["m7g.large"] } },
    }),
  ]);
  for (const { failure } of [adopted, closed]) if (failure !== undefined) throw new Error(failure);
}, 120_000);

const of = (capture: Capture, type: string): PlannedResource[] =>
  capture.resources.filter((resource) => resource.type === `aws:${type}`);
const one = (capture: Capture, type: string, name: string): PlannedResource => {
  const found = of(capture, type).find((resource) => resource.name === name);
  if (found === undefined) throw new Error(`no ${type} ${name}: ${of(capture, type).map((some) => some.name)}`);
  return found;
};
const inputs = (capture: Capture, type: string) => of(capture, type).map((resource) => resource.inputs);

test("the texts are those that the cloud accepts", () => {
  for (const capture of [adopted, closed]) expect(textFaults(capture).findings).toEqual([]);
});

describe("what an organization demands", () => {
  test("every role has the path and the boundary, and none without the key", () => {
    const roles = inputs(closed, "iam/role:Role").map(({ path, permissionsBoundary }) => [path, permissionsBoundary]);
    expect(roles.length).toBeGreaterThan(5);
    expect(roles).toEqual(roles.map(() => ["/team/", "arn:aws:iam::111122223333:policy/boundary"]));
    const free = inputs(adopted, "iam/role:Role").filter((role) => "path" in role || "permissionsBoundary" in role);
    expect(free).toEqual([]);
  });

  test("the client's role is named by its whole ARN where it has a path", () => {
    const arn = "arn:aws:iam::111122223333:role/team/geneva-client-role";
    const { clientParameters, clientCredentials } =
      closed.resources.find(({ kind }) => kind === "stack")?.outputs ?? {};
    expect(clientParameters).toMatchObject({ role_name: arn });
    expect(clientCredentials).toContain(`role_arn = ${arn}`);
    const { assumeRolePolicy } = one(closed, "iam/role:Role", "identities-client").inputs;
    expect(assumeRolePolicy).toContain(`"aws:PrincipalArn":"${arn}"`);
  });

  test("configured tags win over the stack's own, whatever their case", () => {
    const provider = closed.resources.find(({ type }) => type === "pulumi:providers:aws");
    expect(JSON.parse(String(provider?.inputs.defaultTags))).toEqual({
      tags: { CostCenter: "A 1", Project: "mine", stack: "aws-dev", "managed-by": "pulumi" },
    });
  });
});

test("log groups are encrypted with the configured key, and by CloudWatch alone without one", () => {
  const keys = (capture: Capture) => inputs(capture, "cloudwatch/logGroup:LogGroup").map(({ kmsKeyId }) => kmsKeyId);
  expect(keys(closed)).toEqual(Array(2).fill("arn:aws:kms:eu-central-1:111122223333:key/logs"));
  expect(keys(adopted)).toEqual([undefined]);
});

describe("the nodes' machine image", () => {
  test("is AWS's newest where the stack says so, for the architecture of the group", () => {
    const names = closed.invocations.map(({ args }) => args.name);
    const image = (variant: string) =>
      `/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/${variant}/recommended/release_version`;
    expect(names).toEqual(expect.arrayContaining(["arm64/standard", "x86_64/standard", "x86_64/nvidia"].map(image)));
    for (const group of inputs(closed, "eks/nodeGroup:NodeGroup"))
      expect(group).toMatchObject({ releaseVersion: "1.35.0-20260101", nodeRepairConfig: { enabled: false } });
  });

  test("is not named otherwise, and broken nodes are replaced", () => {
    for (const group of inputs(adopted, "eks/nodeGroup:NodeGroup")) {
      expect(group).toMatchObject({ nodeRepairConfig: { enabled: true } });
      expect(group).not.toHaveProperty("releaseVersion");
    }
  });
});

describe("the network", () => {
  test("without NAT has interface endpoints, and no private route to the internet", () => {
    expect(of(closed, "ec2/natGateway:NatGateway")).toEqual([]);
    const services = inputs(closed, "ec2/vpcEndpoint:VpcEndpoint").map(({ serviceName }) => String(serviceName));
    expect(services).toEqual(
      expect.arrayContaining(["com.amazonaws.eu-central-1.ecr.dkr", "com.amazonaws.eu-central-1.sts"]),
    );
    expect(of(closed, "ec2/route:Route").map(({ name }) => name)).toEqual(["network-public-internet"]);
  });

  test("has flow logs only with the key, written by a role that cannot create their group", () => {
    expect(of(closed, "ec2/flowLog:FlowLog")).toHaveLength(1);
    const { policy } = one(closed, "iam/rolePolicy:RolePolicy", "flow-logs-role-write").inputs;
    expect(policy).toContain("logs:PutLogEvents");
    expect(policy).not.toContain("logs:CreateLogGroup");
    expect(of(adopted, "ec2/flowLog:FlowLog")).toEqual([]);
  });

  test("if adopted is not changed, except for an S3 endpoint on the listed route tables", () => {
    expect(of(adopted, "ec2/vpc:Vpc")).toEqual([]);
    expect(of(adopted, "ec2/subnet:Subnet")).toEqual([]);
    expect(inputs(adopted, "ec2/vpcEndpoint:VpcEndpoint")).toEqual([
      expect.objectContaining({ vpcId: "vpc-0a1b", routeTableIds: ["rtb-0a"] }),
    ]);
    expect(one(adopted, "eks/cluster:Cluster", "cluster").inputs.vpcConfig).toMatchObject({
      subnetIds: ["subnet-0a", "subnet-0b"],
    });
  });
});

describe("the cluster", () => {
  test("has a public endpoint only with publicCidrs", () => {
    expect(one(adopted, "eks/cluster:Cluster", "cluster").inputs).toMatchObject({
      vpcConfig: { endpointPrivateAccess: true, endpointPublicAccess: false },
    });
    expect(one(closed, "eks/cluster:Cluster", "cluster").inputs).toMatchObject({
      vpcConfig: { endpointPublicAccess: true, publicAccessCidrs: ["203.0.113.0/24"] },
    });
  });

  test("gives the deployer and the client cluster-admin by default, and no other principal access", () => {
    const grants = inputs(closed, "eks/accessPolicyAssociation:AccessPolicyAssociation").map(
      ({ policyArn, accessScope }) => [String(policyArn).split("/").at(-1), accessScope],
    );
    const admin = ["AmazonEKSClusterAdminPolicy", { type: "cluster" }];
    expect(grants).toEqual([admin, admin]);
    expect(of(closed, "eks/accessEntry:AccessEntry")).toHaveLength(2);
  });

  test("cannot create its own log group again after a destroy", () => {
    const [group] = inputs(closed, "cloudwatch/logGroup:LogGroup");
    const policy = one(closed, "iam/rolePolicy:RolePolicy", "cluster-control-plane-logs").inputs.policy;
    const [statement] = JSON.parse(String(policy)).Statement;
    expect(statement).toMatchObject({ Effect: "Deny", Action: ["logs:CreateLogGroup"] });
    expect(statement.Resource).toContain(`arn:aws:logs:eu-central-1:111122223333:log-group:${group?.name}`);
  });

  test("without GPU nodes has no GPU node group and no device plugin", () => {
    expect(
      of(adopted, "eks/nodeGroup:NodeGroup")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["nodes-ray-head", "nodes-ray-worker-cpu", "nodes-system"]);
    expect(adopted.resources.filter(({ type }) => type.endsWith("GpuPlugin"))).toEqual([]);
  });
});

describe("the bucket", () => {
  test("without protect is deleted on destroy with its settings", () => {
    const around = closed.resources.filter(({ type }) => type.startsWith("aws:s3/"));
    expect(around.length).toBeGreaterThan(5);
    expect(around.filter(({ retainOnDelete }) => retainOnDelete)).toEqual([]);
  });

  test("is emptied by a destroy only with forceDestroy", () => {
    expect(one(closed, "s3/bucket:Bucket", "tables").inputs.forceDestroy).toBe(true);
    expect(configOf("aws", { protect: false }).bucket.forceDestroy).toBe(false);
  });

  test("if it exists is not changed, and identities reach it", () => {
    expect(adopted.resources.filter(({ type }) => type.startsWith("aws:s3/"))).toEqual([]);
    const document = one(adopted, "iam/rolePolicy:RolePolicy", "identities-runtime-tables").inputs.policy;
    expect(JSON.stringify(document)).toContain("arn:aws:s3:::example-existing/*");
  });
});

describe("writes of the table service", () => {
  const rights = (capture: Capture) => {
    const document = one(capture, "iam/rolePolicy:RolePolicy", "identities-table-service-tables").inputs.policy;
    const { Statement } = JSON.parse(String(document)) as { Statement: { Sid: string }[] };
    return Statement.map(({ Sid }) => Sid);
  };

  test("alone give its role the right to put and delete other objects than tags", () => {
    expect(rights(adopted)).toEqual(["ListTables", "LocateBucket", "ReadWriteTables"]);
    expect(rights(closed)).toEqual(["ListTables", "LocateBucket", "ReadTables", "WriteTags"]);
  });

  test("and lent credentials come from a role of its own, which the table service alone assumes", () => {
    const role = one(adopted, "iam/role:Role", "identities-vending");
    const trust = String(role.inputs.assumeRolePolicy);
    expect(trust.match(/system:serviceaccount:[^"]+/g)).toEqual(["system:serviceaccount:lancedb:table-service"]);
    expect(role.inputs.maxSessionDuration).toBe(43_200);
    expect(trust.match(/"sts:[^"]+"/g)).toEqual(['"sts:AssumeRoleWithWebIdentity"']);
    const document = one(adopted, "iam/rolePolicy:RolePolicy", "identities-vending-tables").inputs.policy;
    const { Statement } = JSON.parse(String(document)) as { Statement: { Sid: string }[] };
    expect(Statement.map(({ Sid }) => Sid)).toEqual(["ListTables", "LocateBucket", "ReadWriteTables"]);
    expect(of(closed, "iam/role:Role").filter(({ name }) => name === "identities-vending")).toEqual([]);
    const [configMap] = adopted.resources.filter(
      ({ type, name }) => type.endsWith(":ConfigMap") && name === "table-service",
    );
    expect(configMap?.inputs.data).toMatchObject({
      LAKEHEAD_VENDING: "web-identity",
      LAKEHEAD_VENDING_SECONDS: "43200",
    });
  });

  test("run Functions with roles of their own: workers add files of values, the runner commits and keeps the jobs", () => {
    const policyOf = (name: string) => {
      const document = one(adopted, "iam/rolePolicy:RolePolicy", `identities-functions-${name}-tables`).inputs.policy;
      return JSON.parse(String(document)).Statement as Record<string, unknown>[];
    };
    const accountsOf = (name: string) =>
      String(one(adopted, "iam/role:Role", `identities-functions-${name}`).inputs.assumeRolePolicy).match(
        /system:serviceaccount:[^"]+/g,
      );
    expect([accountsOf("worker"), accountsOf("runner")]).toEqual([
      ["system:serviceaccount:lancedb:functions"],
      ["system:serviceaccount:lancedb:functions-runner"],
    ]);
    const bucket = "arn:aws:s3:::example-existing";
    const listed = (paths: string[]) => ({ Condition: { StringLike: { "s3:prefix": paths } }, Resource: [bucket] });
    expect(policyOf("worker")).toMatchObject([
      { Action: ["s3:ListBucket"], ...listed(["docs.lance", "docs.lance/*"]) },
      { Action: ["s3:GetBucketLocation"] },
      { Action: ["s3:GetObject"], Resource: [`${bucket}/docs.lance/*`] },
      { Action: ["s3:PutObject", "s3:AbortMultipartUpload"], Resource: [`${bucket}/docs.lance/*data/fn-*`] },
      { Effect: "Deny", Action: ["s3:GetObject", "s3:PutObject"], Resource: [`${bucket}/_lakehead/*`] },
    ]);
    expect(policyOf("runner").at(-1)).toMatchObject({
      Sid: "ReadWriteTables",
      Resource: [`${bucket}/docs.lance/*`, `${bucket}/_lakehead/*`],
    });
    expect(of(closed, "iam/role:Role").filter(({ name }) => name.includes("functions"))).toEqual([]);
  });

  test("run the maintenance with a role of its own, which reads and writes the tables and nothing else", () => {
    const role = one(adopted, "iam/role:Role", "identities-maintenance");
    expect(String(role.inputs.assumeRolePolicy)).toContain("system:serviceaccount:lancedb:maintenance");
    const document = one(adopted, "iam/rolePolicy:RolePolicy", "identities-maintenance-tables").inputs.policy;
    const { Statement } = JSON.parse(String(document)) as { Statement: { Sid: string }[] };
    expect(Statement.map(({ Sid }) => Sid)).toEqual(["ListTables", "LocateBucket", "ReadWriteTables"]);
    expect(of(closed, "iam/role:Role").filter(({ name }) => name === "identities-maintenance")).toEqual([]);
  });

  test("have load balancers that wait for the longest write", () => {
    const found = internalAnnotations({ securityGroup: "sg-1", subnets: "subnet-1" }, { protect: false, writes: true });
    expect(found["service.beta.kubernetes.io/aws-load-balancer-listener-attributes.TCP-80"]).toBe(
      "tcp.idle_timeout.seconds=1320",
    );
    const seconds = (writes: boolean) =>
      publicAttributes({ protect: true, writes }, undefined)
        .split(",")
        .find((attribute) => attribute.startsWith("idle_timeout"));
    expect([seconds(false), seconds(true)]).toEqual([
      "idle_timeout.timeout_seconds=120",
      "idle_timeout.timeout_seconds=1320",
    ]);
  });
});

describe("the image of the table service", () => {
  const images = (capture: Capture) => capture.resources.filter(({ type }) => type === "docker-build:index:Image");
  const podImage = (capture: Capture) => {
    const deployment = capture.resources.find(
      ({ type, name }) => type === "kubernetes:apps/v1:Deployment" && name === "table-service",
    );
    return /"image":"([^"]+)"/.exec(JSON.stringify(deployment?.inputs))?.[1];
  };

  test("is built for the system nodes' architecture, from the folder of the Dockerfile, and run by its digest", () => {
    const [image] = images(closed);
    expect(image?.inputs).toMatchObject({ platforms: ["linux/arm64"], buildOnPreview: false });
    const { location } = (image?.inputs.context ?? {}) as { location: string };
    // The engine starts providers in the folder of the program.
    const program = dirname(join(root, readProject(root).main));
    expect(existsSync(join(program, location, "Dockerfile"))).toBe(true);
    expect(podImage(closed)).toMatch(
      /^111122223333\.dkr\.ecr\.eu-central-1\.amazonaws\.com\/lancedb\/table-service@sha256:[0-9a-f]{64}$/,
    );
  });

  test("has a repository whose tags do not move, with a scan of each push", () => {
    expect(inputs(closed, "ecr/repository:Repository")).toEqual([
      expect.objectContaining({ imageTagMutability: "IMMUTABLE", imageScanningConfiguration: { scanOnPush: true } }),
    ]);
  });

  test("of the configuration is used as it is, and nothing is built", () => {
    expect(podImage(adopted)).toBe("registry.example.com/lakehead:0.2.0");
    expect(images(adopted)).toEqual([]);
    expect(of(adopted, "ecr/lifecyclePolicy:LifecyclePolicy").map(({ name }) => name)).not.toContain("service-image");
    expect(adopted.resources.filter(({ type }) => type === "pulumi:providers:docker-build")).toEqual([]);
  });
});

describe("the cache of Docker Hub", () => {
  const cache = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/lancedb/docker-hub";
  const named = (kind: string, own: string) =>
    adopted.resources.find(
      ({ type, name }) => type.startsWith("kubernetes:") && type.endsWith(`:${kind}`) && name === own,
    );
  const rule = "ecr/pullThroughCacheRule:PullThroughCacheRule";

  test("pulls as the configured account, whose token is in no plain input", () => {
    const { credentialArn } = one(adopted, rule, "docker-hub").inputs;
    expect(credentialArn).toMatch(
      /^arn:aws:secretsmanager:eu-central-1:\d+:secret:ecr-pullthroughcache\/lancedb-docker-hub-/,
    );
    const version = one(adopted, "secretsmanager/secretVersion:SecretVersion", "docker-hub");
    expect(revealed(version).secretString).toBe('{"username":"lakehead","accessToken":"hub-token"}');
    const open = adopted.resources.filter((resource) =>
      JSON.stringify([...plaintext(resource.inputs)]).includes("hub-token"),
    );
    expect(open).toEqual([]);
  });

  test("serves Ray, in the stack's cluster and in the client's parameters, and the other images of Docker Hub", () => {
    const ray = `${cache}/rayproject/ray:2.56.0-py312`;
    expect(JSON.stringify(named("RayCluster", "ray-cluster")?.inputs)).toContain(`"image":"${ray}"`);
    const outputs = adopted.resources.find(({ kind }) => kind === "stack")?.outputs;
    expect(outputs).toMatchObject({ clientParameters: { head_group: { image: ray } } });
    expect(outputs?.clientSnippet).toContain(ray);
    const cleanup = adopted.resources.find(({ type, name }) => type.endsWith(":CronJob") && name === "orphan-cleanup");
    expect(JSON.stringify(cleanup?.inputs)).toContain(`"image":"${cache}/library/node:26"`);
    expect(JSON.stringify(named("Deployment", "table-service")?.inputs)).toContain(
      '"image":"registry.example.com/lakehead:0.2.0"',
    );
  });

  test("has its repositories from the stack, so that nodes create none and a destroy leaves none", () => {
    expect(inputs(adopted, "ecr/repository:Repository").map(({ name }) => name)).toEqual([
      "lancedb/docker-hub/library/node",
      "lancedb/docker-hub/rayproject/ray",
    ]);
    const graph = new DependencyGraph(adopted.resources);
    const pods = adopted.resources.filter(({ type }) => /^kubernetes:.*:(RayCluster|CronJob)$/.test(type));
    expect(pods).toHaveLength(4);
    expect(graph.violations(pods, [...of(adopted, rule), ...of(adopted, "ecr/repository:Repository")])).toEqual([]);
    expect(graph.violations(of(adopted, rule), of(adopted, "secretsmanager/secretVersion:SecretVersion"))).toEqual([]);
  });

  test("does not exist without the key", () => {
    expect(of(closed, rule)).toEqual([]);
    expect(
      JSON.stringify(closed.resources.find(({ type }) => type === "kubernetes:ray.io/v1:RayCluster")?.inputs),
    ).toContain('"image":"rayproject/ray:');
  });
});

describe("exposure", () => {
  test.each([true, false])("a load balancer's deletion protection is the stack's protect: %s", (protect) => {
    const ids = { securityGroup: "sg-1", subnets: "subnet-1" };
    const attribute = `deletion_protection.enabled=${protect}`;
    const settings = { protect, writes: false };
    expect(internalAnnotations(ids, settings)["service.beta.kubernetes.io/aws-load-balancer-attributes"]).toBe(
      attribute,
    );
    expect(publicAttributes(settings, undefined).split(",")).toContain(attribute);
  });

  test("internal is an NLB in the private subnets that admits the configured networks", () => {
    const service = adopted.resources.find(({ type, name }) => type.endsWith(":Service") && name === "table-service");
    const text = JSON.stringify(service?.inputs);
    expect(text).toContain('"service.beta.kubernetes.io/aws-load-balancer-scheme":"internal"');
    expect(text).toContain("subnet-0a,subnet-0b");
    expect(inputs(adopted, "vpc/securityGroupIngressRule:SecurityGroupIngressRule")).toContainEqual(
      expect.objectContaining({ cidrIpv4: "10.0.0.0/8", fromPort: 443, toPort: 443 }),
    );
  });

  test("internal ends TLS with the certificate, on a port of its own alone", () => {
    const service = adopted.resources.find(({ type, name }) => type.endsWith(":Service") && name === "table-service");
    const { metadata, spec } = service?.inputs ?? {};
    const prefix = "service.beta.kubernetes.io/aws-load-balancer";
    expect(metadata).toMatchObject({
      annotations: {
        [`${prefix}-ssl-cert`]: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
        [`${prefix}-ssl-ports`]: "443",
        [`${prefix}-name`]: "tables",
      },
    });
    expect(spec).toMatchObject({ ports: [{ port: 443, targetPort: "api" }] });
    const outputs = adopted.resources.find(({ kind }) => kind === "stack")?.outputs;
    expect(outputs?.tableServiceUrl).toBe("https://tables.corp.example.com");
  });

  test("internal without a certificate has no TLS", () => {
    const found = internalAnnotations(
      { securityGroup: "sg-1", subnets: "subnet-1" },
      { protect: false, writes: false },
    );
    expect(Object.keys(found).filter((key) => key.includes("ssl"))).toEqual([]);
  });

  test("the controller's definitions are separate from its chart, of its version, and kept on destroy", () => {
    const named = (name: string) => adopted.resources.find((resource) => resource.name === name);
    const files = named("load-balancer-definitions")?.inputs.files as string[];
    expect(files.map((file) => file.split("/").at(-1))).toEqual(["crds.yaml", "gateway-crds.yaml"]);
    const { version, skipCrds } = named("load-balancer-controller")?.inputs ?? {};
    expect(skipCrds).toBe(true);
    for (const file of files) expect(file).toContain(`/v${version}/`);
    expect(named("load-balancer-definitions")).toMatchObject({
      retainOnDelete: true,
      provider: expect.stringContaining("kubernetes-crds"),
    });
  });

  test("cluster creates no load balancer, controller or security group rule", () => {
    expect(closed.resources.filter(({ name }) => name.startsWith("load-balancer"))).toEqual([]);
  });
});
