/**
 * Ids and outputs such as the clouds give their resources, so that the program can run as an update. Every value is made
 * from the resource's name: two resources never share one, and a value that turns up elsewhere tells where it came from.
 */

import { createHash } from "node:crypto";
import { sampleAddress } from "../../../infra/offline-plan/answers.ts";
import type { Created, Wire } from "../../../infra/offline-plan/recorder.ts";

export const account = "123456789012";
export const gcpProject = "sample-project";

interface Request {
  readonly type: string;
  readonly name: string;
  readonly urn: string;
  readonly inputs: Wire;
}

const hex = (seed: string, length = 17): string => createHash("sha256").update(seed).digest("hex").slice(0, length);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const record = (value: unknown): Wire => (typeof value === "object" && value !== null ? (value as Wire) : {});
const base64 = (value: string): string => Buffer.from(value).toString("base64");

type Fabricate = (request: Request & { readonly physicalName: string }) => { id?: string; outputs: Wire };

/** An EC2 object: an id with a prefix, and an ARN. */
const ec2 =
  (prefix: string, kind: string, more: (id: string) => Wire = () => ({})): Fabricate =>
  ({ urn }) => {
    const id = `${prefix}-${hex(urn)}`;
    return { id, outputs: { arn: `arn:aws:ec2:eu-central-1:${account}:${kind}/${id}`, ...more(id) } };
  };

const iam =
  (kind: string): Fabricate =>
  ({ physicalName, inputs }) => {
    const path = text(inputs.path) ?? "/";
    return {
      id: kind === "policy" ? `arn:aws:iam::${account}:${kind}${path}${physicalName}` : physicalName,
      outputs: { arn: `arn:aws:iam::${account}:${kind}${path}${physicalName}`, uniqueId: `AROA${hex(physicalName)}` },
    };
  };

const eksPart =
  (kind: string): Fabricate =>
  ({ physicalName, inputs }) => ({
    id: `${inputs.clusterName}:${physicalName}`,
    outputs: {
      arn: `arn:aws:eks:eu-central-1:${account}:${kind}/${inputs.clusterName}/${physicalName}/${hex(physicalName)}`,
    },
  });

const registryHost = `${account}.dkr.ecr.eu-central-1.amazonaws.com`;

const issuer = (name: string): string =>
  `https://oidc.eks.eu-central-1.amazonaws.com/id/${hex(name, 32).toUpperCase()}`;

const byType: Readonly<Record<string, Fabricate>> = {
  "gcp:compute/address:Address": () => ({ outputs: { address: "10.42.0.10" } }),
  "aws:ec2/vpcEndpointService:VpcEndpointService": ec2("vpce-svc", "vpc-endpoint-service", (id) => ({
    serviceName: `com.amazonaws.vpce.eu-central-1.${id}`,
    privateDnsNameConfigurations: [{ name: "_sample", type: "TXT", value: `vpce:${id}`, state: "pendingVerification" }],
  })),
  "aws:ec2/vpc:Vpc": ec2("vpc", "vpc", (id) => ({
    mainRouteTableId: `rtb-${hex(id)}`,
    defaultSecurityGroupId: `sg-${hex(id)}`,
  })),
  "aws:ec2/subnet:Subnet": ec2("subnet", "subnet"),
  "aws:ec2/internetGateway:InternetGateway": ec2("igw", "internet-gateway"),
  "aws:ec2/natGateway:NatGateway": ec2("nat", "natgateway"),
  "aws:ec2/eip:Eip": ec2("eipalloc", "elastic-ip", (id) => ({ allocationId: id, publicIp: "203.0.113.10" })),
  "aws:ec2/routeTable:RouteTable": ec2("rtb", "route-table"),
  "aws:ec2/routeTableAssociation:RouteTableAssociation": ec2("rtbassoc", "route-table-association"),
  "aws:ec2/vpcEndpoint:VpcEndpoint": ec2("vpce", "vpc-endpoint"),
  "aws:ec2/securityGroup:SecurityGroup": ec2("sg", "security-group"),
  "aws:ec2/flowLog:FlowLog": ec2("fl", "vpc-flow-log"),
  "aws:ec2/launchTemplate:LaunchTemplate": ec2("lt", "launch-template", () => ({
    latestVersion: 1,
    defaultVersion: 1,
  })),
  "aws:amp/workspace:Workspace": ({ urn }) => {
    const id = `ws-${hex(urn, 8)}-0000-4000-8000-${hex(urn, 12)}`;
    return {
      id,
      outputs: {
        arn: `arn:aws:aps:eu-central-1:${account}:workspace/${id}`,
        prometheusEndpoint: `https://aps-workspaces.eu-central-1.amazonaws.com/workspaces/${id}/`,
      },
    };
  },
  "aws:acm/certificate:Certificate": ({ urn, inputs }) => {
    const arn = `arn:aws:acm:eu-central-1:${account}:certificate/${hex(urn, 8)}-0000-4000-8000-${hex(urn, 12)}`;
    return {
      id: arn,
      outputs: {
        arn,
        domainValidationOptions: [
          {
            domainName: inputs.domainName,
            resourceRecordName: `_${hex(urn, 32)}.${inputs.domainName}.`,
            resourceRecordType: "CNAME",
            resourceRecordValue: `_${hex(`${urn} value`, 32)}.acm-validations.aws.`,
          },
        ],
      },
    };
  },
  "aws:acm/certificateValidation:CertificateValidation": ({ urn, inputs }) => ({
    id: hex(urn),
    outputs: { certificateArn: inputs.certificateArn },
  }),
  "aws:route53/record:Record": ({ inputs }) => ({
    id: `${inputs.zoneId}_${inputs.name}_${inputs.type}`,
    outputs: { fqdn: String(inputs.name).replace(/\.$/, "") },
  }),
  "aws:ecr/repository:Repository": ({ physicalName }) => ({
    id: physicalName,
    outputs: {
      arn: `arn:aws:ecr:eu-central-1:${account}:repository/${physicalName}`,
      registryId: account,
      repositoryUrl: `${registryHost}/${physicalName}`,
    },
  }),
  "aws:secretsmanager/secret:Secret": ({ physicalName }) => {
    const arn = `arn:aws:secretsmanager:eu-central-1:${account}:secret:${physicalName}-${hex(physicalName, 6)}`;
    return { id: arn, outputs: { arn } };
  },
  "docker-build:index:Image": ({ urn }) => {
    const digest = `sha256:${hex(urn, 64)}`;
    return { id: digest, outputs: { digest, contextHash: hex(`${urn} context`, 64), ref: "" } };
  },
  "aws:eks/cluster:Cluster": ({ physicalName, inputs }) => ({
    id: physicalName,
    outputs: {
      arn: `arn:aws:eks:eu-central-1:${account}:cluster/${physicalName}`,
      endpoint: `https://${hex(physicalName, 32).toUpperCase()}.gr7.eu-central-1.eks.amazonaws.com`,
      certificateAuthority: { data: base64(`certificate of ${physicalName}`) },
      certificateAuthorities: [{ data: base64(`certificate of ${physicalName}`) }],
      identities: [{ oidcs: [{ issuer: issuer(physicalName) }] }],
      status: "ACTIVE",
      vpcConfig: { ...record(inputs.vpcConfig), clusterSecurityGroupId: `sg-${hex(`cluster ${physicalName}`)}` },
    },
  }),
  "aws:eks/nodeGroup:NodeGroup": ({ physicalName, inputs }) => ({
    id: `${inputs.clusterName}:${physicalName}`,
    outputs: {
      arn: `arn:aws:eks:eu-central-1:${account}:nodegroup/${inputs.clusterName}/${physicalName}/${hex(physicalName)}`,
      status: "ACTIVE",
      resources: [{ autoscalingGroups: [{ name: `eks-${physicalName}-${hex(physicalName)}` }] }],
    },
  }),
  "aws:eks/addon:Addon": eksPart("addon"),
  "aws:eks/accessEntry:AccessEntry": eksPart("access-entry"),
  "aws:iam/role:Role": iam("role"),
  "aws:iam/policy:Policy": iam("policy"),
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ({ inputs }) => {
    const url = String(inputs.url).replace(/^https:\/\//, "");
    const arn = `arn:aws:iam::${account}:oidc-provider/${url}`;
    return { id: arn, outputs: { arn } };
  },
  "aws:kms/key:Key": ({ urn }) => {
    const keyId = hex(urn, 32);
    return { id: keyId, outputs: { keyId, arn: `arn:aws:kms:eu-central-1:${account}:key/${keyId}` } };
  },
  "aws:s3/bucket:Bucket": ({ inputs, physicalName }) => {
    const bucket = text(inputs.bucket) ?? physicalName;
    return {
      id: bucket,
      outputs: {
        bucket,
        arn: `arn:aws:s3:::${bucket}`,
        bucketRegionalDomainName: `${bucket}.s3.eu-central-1.amazonaws.com`,
      },
    };
  },
  "aws:cloudwatch/logGroup:LogGroup": ({ physicalName }) => ({
    id: physicalName,
    outputs: { arn: `arn:aws:logs:eu-central-1:${account}:log-group:${physicalName}` },
  }),
  "aws:sqs/queue:Queue": ({ physicalName }) => ({
    id: `https://sqs.eu-central-1.amazonaws.com/${account}/${physicalName}`,
    outputs: { arn: `arn:aws:sqs:eu-central-1:${account}:${physicalName}` },
  }),
  "gcp:container/cluster:Cluster": ({ physicalName, inputs }) => ({
    id: `projects/${gcpProject}/locations/${inputs.location}/clusters/${physicalName}`,
    outputs: {
      endpoint: "203.0.113.20",
      masterAuth: { clusterCaCertificate: base64(`certificate of ${physicalName}`) },
      masterVersion: "1.35.8-gke.1000",
      selfLink: `https://container.googleapis.com/v1/projects/${gcpProject}/locations/${inputs.location}/clusters/${physicalName}`,
      controlPlaneEndpointsConfig: {
        ...record(inputs.controlPlaneEndpointsConfig),
        dnsEndpointConfig: {
          ...record(record(inputs.controlPlaneEndpointsConfig).dnsEndpointConfig),
          endpoint: `gke-${hex(physicalName)}.eu-west4.gke.goog`,
        },
      },
    },
  }),
  "gcp:artifactregistry/repository:Repository": ({ inputs }) => ({
    id: `projects/${gcpProject}/locations/${inputs.location}/repositories/${inputs.repositoryId}`,
    outputs: { name: inputs.repositoryId, createTime: "2026-01-01T00:00:00Z" },
  }),
  "gcp:secretmanager/secret:Secret": ({ inputs }) => ({
    id: `projects/${gcpProject}/secrets/${inputs.secretId}`,
    outputs: { name: `projects/100000000001/secrets/${inputs.secretId}` },
  }),
  "gcp:secretmanager/secretVersion:SecretVersion": ({ inputs }) => ({
    id: `${inputs.secret}/versions/1`,
    outputs: { name: `${inputs.secret}/versions/1`, version: "1" },
  }),
  "gcp:kms/keyRing:KeyRing": ({ physicalName, inputs }) => ({
    id: `projects/${gcpProject}/locations/${inputs.location}/keyRings/${physicalName}`,
    outputs: {},
  }),
  "gcp:kms/cryptoKey:CryptoKey": ({ physicalName, inputs }) => ({
    id: `${inputs.keyRing}/cryptoKeys/${physicalName}`,
    outputs: {},
  }),
  "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": ({ inputs }) => {
    const name = `projects/100000000001/locations/global/workloadIdentityPools/${inputs.workloadIdentityPoolId}`;
    return { id: name, outputs: { name } };
  },
  "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": ({ inputs }) => {
    const { workloadIdentityPoolId: pool, workloadIdentityPoolProviderId: id } = inputs;
    const name = `projects/100000000001/locations/global/workloadIdentityPools/${pool}/providers/${id}`;
    return { id: name, outputs: { name } };
  },
  "gcp:projects/iAMCustomRole:IAMCustomRole": ({ inputs }) => {
    const name = `projects/${gcpProject}/roles/${inputs.roleId}`;
    return { id: name, outputs: { name } };
  },
  "gcp:projects/serviceIdentity:ServiceIdentity": ({ inputs }) => {
    const agents: Readonly<Record<string, string>> = {
      "container.googleapis.com": "container-engine-robot",
      "artifactregistry.googleapis.com": "gcp-sa-artifactregistry",
    };
    const email = `service-100000000001@${agents[String(inputs.service)]}.iam.gserviceaccount.com`;
    return {
      id: `projects/${gcpProject}/services/${inputs.service}`,
      outputs: { email, member: `serviceAccount:${email}` },
    };
  },
  "gcp:serviceaccount/account:Account": ({ inputs }) => {
    const project = text(inputs.project) ?? gcpProject;
    const email = `${inputs.accountId}@${project}.iam.gserviceaccount.com`;
    const name = `projects/${project}/serviceAccounts/${email}`;
    return { id: name, outputs: { email, name, member: `serviceAccount:${email}`, uniqueId: "100000000000000000001" } };
  },
  "gcp:storage/bucket:Bucket": ({ physicalName }) => ({
    id: physicalName,
    outputs: { url: `gs://${physicalName}`, selfLink: `https://www.googleapis.com/storage/v1/b/${physicalName}` },
  }),
};

/** What a cloud, or a Kubernetes API server, would have answered to the creation of that resource. */
export function fabricate(request: Request): Created {
  const { type, name, inputs, urn } = request;
  if (type.startsWith("kubernetes:")) return fabricateObject(request);
  const physicalName =
    text(inputs.name) ??
    text(inputs.nodeGroupName) ??
    text(inputs.addonName) ??
    text(inputs.bucket) ??
    `${name}-${hex(urn, 7)}`;
  const made = byType[type]?.({ ...request, physicalName }) ?? { outputs: {} };
  const link = `https://www.googleapis.com/${type.split(":")[1]}/${physicalName}`;
  return {
    id: made.id ?? `${physicalName}-id`,
    outputs: {
      name: physicalName,
      ...(type.startsWith("gcp:") ? { selfLink: link, project: text(inputs.project) ?? gcpProject } : {}),
      ...(type.startsWith("aws:")
        ? { arn: `arn:aws:fabricated:eu-central-1:${account}:${type.split(":").at(-1)}/${physicalName}` }
        : {}),
      ...made.outputs,
    },
  };
}

function fabricateObject({ name, inputs, urn }: Request): Created {
  const metadata = record(inputs.metadata);
  const objectName = text(metadata.name) ?? text(inputs.name) ?? `${name}-${hex(urn, 8)}`;
  const namespace = text(metadata.namespace) ?? text(inputs.namespace);
  const isGoogle = /"gce|networking\.gke\.io/.test(JSON.stringify(metadata.annotations ?? {}));
  return {
    id: namespace === undefined ? objectName : `${namespace}/${objectName}`,
    outputs: {
      ...("metadata" in inputs
        ? { metadata: { ...metadata, name: objectName, uid: hex(urn, 32), resourceVersion: hex(`${urn} version`, 6) } }
        : { name: objectName }),
      status: {
        loadBalancer: {
          ingress: [
            isGoogle ? { ip: sampleAddress } : { hostname: `${hex(urn, 10)}.elb.example.com`, ip: sampleAddress },
          ],
        },
        name: objectName,
        namespace: namespace ?? "default",
      },
    },
  };
}
