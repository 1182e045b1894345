import { beforeAll, describe, expect, test } from "vitest";
import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { configOf } from "../config/minimal.ts";
import { DependencyGraph } from "../support/graph.ts";
import { runStack } from "../support/stacks.ts";

/** The production example, and two stacks that take the other way at every fork of the AWS half. */
let prod: Capture;
let adopted: Capture;
let closed: Capture;

beforeAll(async () => {
  [prod, adopted, closed] = await Promise.all([
    runStack("aws-prod", "update"),
    runStack("aws-dev", "update", {
      "lakehead:network": {
        mode: "adopt",
        vpcId: "vpc-0a1b",
        cidr: "10.0.0.0/16",
        privateSubnetIds: ["subnet-0a", "subnet-0b"],
        privateRouteTableIds: ["rtb-0a"],
      },
      "lakehead:bucket": { name: "example-existing", create: false },
      "lakehead:endpoint": { publicCidrs: [] },
      "lakehead:nodes": { gpu: { enabled: false } },
      "lakehead:tableService": {
        image: "registry.example.com/lakehead:0.1.0",
        auth: { issuer: "https://login.example.com/", audience: "lakehead" },
        exposure: { mode: "internal", allowedCidrs: ["10.0.0.0/8"] },
      },
    }),
    runStack("aws-dev", "update", {
      "lakehead:network": { mode: "create", zones: ["a", "b"], nat: "none" },
      "lakehead:client": {},
      "lakehead:viewerArns": [],
      "lakehead:auditorArns": [],
      "lakehead:networkPolicies": false,
      "lakehead:bucket": { name: "example-throwaway", forceDestroy: true },
    }),
  ]);
});

const of = (capture: Capture, type: string): PlannedResource[] =>
  capture.resources.filter((resource) => resource.type === `aws:${type}`);
const one = (capture: Capture, type: string, name: string): PlannedResource => {
  const found = of(capture, type).find((resource) => resource.name === name);
  if (found === undefined) throw new Error(`no ${type} ${name}: ${of(capture, type).map((some) => some.name)}`);
  return found;
};
const inputs = (capture: Capture, type: string) => of(capture, type).map((resource) => resource.inputs);

describe("the network", () => {
  test("has a way to S3 on every private route table, and one NAT gateway per zone in production", () => {
    const tables = of(prod, "ec2/routeTable:RouteTable").filter(({ name }) => name.includes("private"));
    const endpoint = one(prod, "ec2/vpcEndpoint:VpcEndpoint", "network-s3");
    expect(endpoint.inputs).toMatchObject({ vpcEndpointType: "Gateway", serviceName: "com.amazonaws.eu-central-1.s3" });
    expect(tables).toHaveLength(3);
    expect(endpoint.inputs.routeTableIds).toHaveLength(3);
    expect(endpoint.dependsOn).toEqual(expect.arrayContaining(tables.map(({ urn }) => urn)));
    expect(of(prod, "ec2/natGateway:NatGateway")).toHaveLength(3);
  });

  test("without NAT has endpoints for what nodes call, and no way to the internet for them", () => {
    expect(of(closed, "ec2/natGateway:NatGateway")).toEqual([]);
    const services = inputs(closed, "ec2/vpcEndpoint:VpcEndpoint").map(({ serviceName }) => String(serviceName));
    expect(services).toEqual(
      expect.arrayContaining(["com.amazonaws.eu-central-1.ecr.dkr", "com.amazonaws.eu-central-1.sts"]),
    );
    expect(of(closed, "ec2/route:Route").map(({ name }) => name)).toEqual(["network-public-internet"]);
  });

  test("that exists is used as it is, with an endpoint on the named route tables alone", () => {
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
  test("lets in by access entries alone, keeps secrets under a key and logs everything", () => {
    expect(one(prod, "eks/cluster:Cluster", "cluster").inputs).toMatchObject({
      accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
      bootstrapSelfManagedAddons: false,
      deletionProtection: true,
      enabledClusterLogTypes: ["api", "audit", "authenticator", "controllerManager", "scheduler"],
      encryptionConfig: { resources: ["secrets"] },
      upgradePolicy: { supportType: "STANDARD" },
      vpcConfig: { endpointPrivateAccess: true, publicAccessCidrs: ["203.0.113.7/32"] },
    });
    expect(one(adopted, "eks/cluster:Cluster", "cluster").inputs).toMatchObject({
      vpcConfig: { endpointPrivateAccess: true, endpointPublicAccess: false },
    });
    expect(one(closed, "eks/cluster:Cluster", "cluster").inputs).toMatchObject({
      deletionProtection: false,
      vpcConfig: { endpointPublicAccess: true, publicAccessCidrs: ["203.0.113.0/24"] },
    });
  });

  test("gives the deployer administration, viewers a view, auditors all of it, and the client what access says", () => {
    const grants = (capture: Capture) =>
      inputs(capture, "eks/accessPolicyAssociation:AccessPolicyAssociation").map(({ policyArn, accessScope }) => [
        String(policyArn).split("/").at(-1),
        accessScope,
      ]);
    const scope = { type: "cluster" };
    expect(grants(closed)).toEqual([
      ["AmazonEKSClusterAdminPolicy", scope],
      ["AmazonEKSClusterAdminPolicy", scope],
    ]);
    expect(grants(prod).sort()).toEqual([
      ["AmazonEKSAdminViewPolicy", scope],
      ["AmazonEKSClusterAdminPolicy", scope],
      ["AmazonEKSViewPolicy", scope],
    ]);
    const client = one(prod, "eks/accessEntry:AccessEntry", "identities-client-access");
    expect(client.inputs).toMatchObject({ type: "STANDARD", kubernetesGroups: ["lakehead:geneva-clients"] });
    for (const entry of inputs(prod, "eks/accessEntry:AccessEntry")) expect(entry.type).toBe("STANDARD");
  });

  test("keeps the subnets that it was made with: EKS takes none in another zone", () => {
    expect(one(prod, "eks/cluster:Cluster", "cluster").ignoreChanges).toEqual(["vpcConfig.subnetIds"]);
  });

  test("is reached by a kubeconfig that holds no credential, and is told apart by its ARN", () => {
    const providers = prod.resources.filter(({ type }) => type === "pulumi:providers:kubernetes");
    expect(providers).toHaveLength(2);
    for (const { inputs: given } of providers) {
      expect(JSON.stringify(given.clusterIdentifier)).toContain("arn:aws:eks:");
      expect(JSON.stringify(given.kubeconfig)).not.toMatch(/\\"token\\"|client-key-data|aws_secret/i);
    }
  });

  test("is reached on its private endpoint from the VPC, which EKS's own group would not let in, before any object", () => {
    const rules = of(prod, "vpc/securityGroupIngressRule:SecurityGroupIngressRule").filter(({ name }) =>
      name.startsWith("cluster-api-from-"),
    );
    expect(rules.map(({ inputs: given }) => given)).toEqual([
      expect.objectContaining({ cidrIpv4: "10.64.0.0/16", ipProtocol: "tcp", fromPort: 443, toPort: 443 }),
    ]);
    const graph = new DependencyGraph(prod.resources);
    const objects = prod.resources.filter(({ type }) => type.startsWith("kubernetes:"));
    expect(objects.length).toBeGreaterThan(20);
    expect(graph.violations(objects, rules)).toEqual([]);
  });

  test("takes credentials of the configured account only", () => {
    const [provider] = prod.resources.filter(({ type }) => type === "pulumi:providers:aws");
    expect(JSON.stringify(provider?.inputs.allowedAccountIds)).toContain("444455556666");
  });
});

describe("the nodes", () => {
  test("hide their role from pods, and encrypt disks of the configured size", () => {
    const templates = of(prod, "ec2/launchTemplate:LaunchTemplate");
    expect(templates).toHaveLength(4);
    for (const { inputs: given } of templates) {
      expect(given.metadataOptions).toMatchObject({ httpTokens: "required", httpPutResponseHopLimit: 1 });
      expect(given.blockDeviceMappings).toMatchObject([{ ebs: { encrypted: "true", volumeType: "gp3" } }]);
    }
    expect(one(prod, "ec2/launchTemplate:LaunchTemplate", "nodes-ray-worker-gpu").inputs).toMatchObject({
      blockDeviceMappings: [{ ebs: { volumeSize: 300 } }],
    });
  });

  test("leave their number to the autoscaler", () => {
    for (const { ignoreChanges } of of(prod, "eks/nodeGroup:NodeGroup"))
      expect(ignoreChanges).toEqual(["scalingConfig.desiredSize"]);
  });

  test("are replaced one by one where each carries something, a third at a time where they are workers", () => {
    const pace = of(prod, "eks/nodeGroup:NodeGroup").map(({ name, inputs: given }) => [name, given.updateConfig]);
    expect(Object.fromEntries(pace)).toEqual({
      "nodes-system": { maxUnavailable: 1 },
      "nodes-ray-head": { maxUnavailable: 1 },
      "nodes-ray-worker-cpu": { maxUnavailablePercentage: 33 },
      "nodes-ray-worker-gpu": { maxUnavailablePercentage: 33 },
    });
  });

  test("may take longer to be replaced than the provider's own hour", () => {
    for (const { timeouts } of of(prod, "eks/nodeGroup:NodeGroup"))
      expect(timeouts).toMatchObject({ create: expect.any(String), update: "120m", delete: expect.any(String) });
  });

  test("wait for identities, CNI, proxy and egress, and are gone before any of these", () => {
    const graph = new DependencyGraph(prod.resources);
    const earlier = prod.resources.filter(
      ({ type, name }) =>
        (type === "aws:iam/rolePolicyAttachment:RolePolicyAttachment" && name.startsWith("nodes-")) ||
        (type === "aws:eks/addon:Addon" && /vpc-cni|kube-proxy/.test(name)) ||
        /ec2\/(natGateway|route|routeTableAssociation|vpcEndpoint):/.test(type),
    );
    expect(earlier.length).toBeGreaterThan(15);
    expect(graph.violations(of(prod, "eks/nodeGroup:NodeGroup"), earlier)).toEqual([]);
    expect(one(prod, "eks/addon:Addon", "nodes-vpc-cni").inputs.preserve).toBe(true);
  });

  test("run coredns, metrics and storage only once system nodes are there", () => {
    const graph = new DependencyGraph(prod.resources);
    const system = [one(prod, "eks/nodeGroup:NodeGroup", "nodes-system")];
    const later = of(prod, "eks/addon:Addon").filter(({ name }) => /coredns|metrics|block/.test(name));
    expect(later).toHaveLength(3);
    expect(graph.violations(later, system)).toEqual([]);
  });

  test("are scaled by an autoscaler of the cluster's minor that may list what it waits for", () => {
    const release = prod.resources.find(({ name, type }) => name === "autoscaler" && type.endsWith(":Release"));
    expect(release?.inputs.values).toMatchObject({
      autoDiscovery: { clusterName: "lancedb" },
      image: { tag: expect.stringMatching(/^v1\.35\./) },
      rbac: {
        additionalRules: expect.arrayContaining([
          expect.objectContaining({ resources: expect.arrayContaining(["resourceslices", "deviceclasses"]) }),
          expect.objectContaining({ resources: ["volumeattachments"] }),
        ]),
      },
    });
  });

  test("tag their autoscaling groups, whatever EKS called them", () => {
    const group = one(prod, "eks/nodeGroup:NodeGroup", "nodes-ray-worker-cpu");
    const tags = of(prod, "autoscaling/tag:Tag").filter(({ name }) => name.startsWith("nodes-ray-worker-cpu-"));
    expect(tags.length).toBeGreaterThan(3);
    for (const { dependsOn } of tags) expect(dependsOn).toContain(group.urn);
  });

  test("have add-ons of exact versions", () => {
    for (const { addonVersion } of inputs(prod, "eks/addon:Addon"))
      expect(addonVersion).toMatch(/^v\d+\.\d+\.\d+-eksbuild\.\d+$/);
  });

  test("of a GPU are left out when there shall be none, and with them the worker group and the plugin", () => {
    expect(of(adopted, "eks/nodeGroup:NodeGroup").map(({ name }) => name)).not.toContain("nodes-ray-worker-gpu");
    expect(adopted.resources.filter(({ type }) => type.endsWith("GpuPlugin"))).toEqual([]);
  });
});

describe("the tables", () => {
  test("are private, encrypted, versioned, kept on destroy and reached by TLS alone", () => {
    expect(one(prod, "s3/bucket:Bucket", "tables")).toMatchObject({
      protect: true,
      retainOnDelete: true,
      inputs: { forceDestroy: false },
    });
    expect(inputs(prod, "s3/bucketPublicAccessBlock:BucketPublicAccessBlock")).toEqual([
      expect.objectContaining({
        blockPublicAcls: true,
        blockPublicPolicy: true,
        ignorePublicAcls: true,
        restrictPublicBuckets: true,
      }),
    ]);
    const [encryption] = inputs(
      prod,
      "s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    );
    expect(JSON.stringify(encryption)).toContain("aws:kms");
  });

  test("that are kept on destroy keep their key, and what makes them private and versioned", () => {
    const around = prod.resources.filter(({ type, name }) => type.startsWith("aws:s3/") || name === "tables-key");
    expect(around.length).toBeGreaterThan(6);
    for (const { retainOnDelete } of around) expect(retainOnDelete).toBe(true);
    for (const { type, retainOnDelete } of closed.resources)
      if (type.startsWith("aws:s3/")) expect(retainOnDelete).toBe(false);
  });

  test("are emptied by a destroy only where a key of its own says so", () => {
    expect(one(closed, "s3/bucket:Bucket", "tables").inputs.forceDestroy).toBe(true);
    expect(configOf("aws", { protect: false }).bucket.forceDestroy).toBe(false);
  });

  test("in a bucket that exists leave the bucket alone, while identities reach it", () => {
    expect(adopted.resources.filter(({ type }) => type.startsWith("aws:s3/"))).toEqual([]);
    const document = one(adopted, "iam/rolePolicy:RolePolicy", "identities-runtime-tables").inputs.policy;
    expect(JSON.stringify(document)).toContain("arn:aws:s3:::example-existing/*");
  });
});

describe("exposure", () => {
  const service = (capture: Capture, kind: string) =>
    JSON.stringify(
      capture.resources.find(({ type, name }) => type.endsWith(`:${kind}`) && name === "table-service")?.inputs,
    );

  test("to the internet is an ALB with TLS in the public subnets, probing the port that it does not serve", () => {
    const ingress = service(prod, "Ingress");
    expect(ingress).toContain('"alb.ingress.kubernetes.io/scheme":"internet-facing"');
    expect(ingress).toContain("certificate/6f1c2a9e-0d0b-4d55-9a5e-2f1f6f2f7a11");
    expect(ingress).toContain('"alb.ingress.kubernetes.io/healthcheck-port":"9090"');
  });

  test("has a controller whose chart makes another certificate at each rendering, which is no change", () => {
    const releases = prod.resources.filter(({ type }) => type === "kubernetes:helm.sh/v3:Release");
    expect(releases.filter(({ ignoreChanges }) => ignoreChanges.includes("checksum")).map(({ name }) => name)).toEqual([
      "load-balancer-controller",
    ]);
  });

  test("inside the network is an NLB in the private subnets, open to the configured networks", () => {
    const found = service(adopted, "Service");
    expect(found).toContain('"service.beta.kubernetes.io/aws-load-balancer-scheme":"internal"');
    expect(found).toContain("subnet-0a,subnet-0b");
    expect(inputs(adopted, "vpc/securityGroupIngressRule:SecurityGroupIngressRule")).toContainEqual(
      expect.objectContaining({ cidrIpv4: "10.0.0.0/8", fromPort: 80, toPort: 80 }),
    );
  });

  test("to the cluster alone makes no load balancer, no controller and no rule", () => {
    expect(closed.resources.filter(({ name }) => name.startsWith("load-balancer"))).toEqual([]);
  });
});
