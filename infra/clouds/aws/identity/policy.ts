/** IAM policy documents as plain data. The components convert them to JSON. */

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

export const allow = (
  Sid: string,
  Action: Statement["Action"],
  Resource: readonly string[],
  Condition?: Statement["Condition"],
): Statement => ({ Sid, Effect: "Allow", Action, Resource, ...(Condition && { Condition }) });

/** The parts of ARNs. */
export interface Place {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly cluster: string;
}

export function clusterArn({ partition, region, account, cluster }: Place): string {
  return `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`;
}

/** One Kubernetes service account of this cluster's OIDC provider can assume the role. */
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

/** The issuer without its scheme, as in conditions. From the ARN, so that it depends on the provider. */
export function issuerOf(providerArn: string): string {
  const issuer = providerArn.split(":oidc-provider/")[1];
  if (issuer === undefined) throw new RangeError(`"${providerArn}" is not the ARN of an OIDC provider`);
  return issuer;
}

/** An AWS service can assume the role. */
export function serviceTrust(service: string): PolicyDocument {
  return policy({ Sid: "Service", Effect: "Allow", Action: ["sts:AssumeRole"], Principal: { Service: service } });
}

/**
 * The listed roles and users can assume the role, and so can the role itself. The runtime's client assumes its role for
 * Kubernetes, also when its credentials for the tables are of that role already.
 * The role is not named as a principal: IAM refuses a principal that does not exist yet.
 */
export function clientTrust(
  principals: readonly string[],
  { partition, account }: Place,
  ownArn: string,
): PolicyDocument {
  if (principals.length === 0) throw new RangeError("principals: the list is empty; list at least one role or user");
  return policy(
    {
      Sid: "Principals",
      Effect: "Allow",
      Action: ["sts:AssumeRole"],
      Principal: { AWS: [...new Set(principals)].sort() },
    },
    {
      Sid: "Itself",
      Effect: "Allow",
      Action: ["sts:AssumeRole"],
      Principal: { AWS: `arn:${partition}:iam::${account}:root` },
      Condition: { ArnEquals: { "aws:PrincipalArn": ownArn } },
    },
  );
}

/** The ARN of a role by its name, with its path before it unless that is `/`. */
export function roleArn({ partition, account }: Pick<Place, "partition" | "account">, roleName: string): string {
  return `arn:${partition}:iam::${account}:role/${roleName}`;
}
