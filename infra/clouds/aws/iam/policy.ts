/** IAM policy documents as plain data. Documents are built here and only turned to JSON by the components. */

export interface Statement {
  readonly Sid: string;
  readonly Effect: "Allow" | "Deny";
  readonly Action: readonly string[];
  readonly Resource?: readonly string[];
  readonly Principal?: Readonly<Record<string, string | readonly string[]>> | "*";
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly Statement[];
}

export function policy(...statements: readonly Statement[]): PolicyDocument {
  return { Version: "2012-10-17", Statement: statements };
}

/** The account and region that ARNs are made of. */
export interface Place {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly cluster: string;
}

export function clusterArn({ partition, region, account, cluster }: Place): string {
  return `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`;
}

/** Lets one Kubernetes service account, of this cluster's OIDC provider, assume the role. */
export function serviceAccountTrust(providerArn: string, namespace: string, serviceAccount: string): PolicyDocument {
  const issuer = issuerOf(providerArn);
  return policy({
    Sid: "ServiceAccount",
    Effect: "Allow",
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Principal: { Federated: providerArn },
    Condition: {
      StringEquals: {
        [`${issuer}:aud`]: "sts.amazonaws.com",
        [`${issuer}:sub`]: `system:serviceaccount:${namespace}:${serviceAccount}`,
      },
    },
  });
}

/** The issuer without its scheme, which is what conditions name. From the ARN, so that it waits for the provider. */
export function issuerOf(providerArn: string): string {
  const issuer = providerArn.split(":oidc-provider/")[1];
  if (issuer === undefined) throw new RangeError(`"${providerArn}" is not the ARN of an OIDC provider`);
  return issuer;
}

/** Lets an AWS service assume the role. */
export function serviceTrust(service: string): PolicyDocument {
  return policy({ Sid: "Service", Effect: "Allow", Action: ["sts:AssumeRole"], Principal: { Service: service } });
}

/** Lets the listed roles and users assume the role. */
export function principalsTrust(principals: readonly string[]): PolicyDocument {
  if (principals.length === 0) throw new RangeError("a role that nobody may assume has no use");
  return policy({
    Sid: "Principals",
    Effect: "Allow",
    Action: ["sts:AssumeRole"],
    Principal: { AWS: [...new Set(principals)].sort() },
  });
}
