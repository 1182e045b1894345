/** The policies of the workflows' identities in an AWS account. */

import { allow, type PolicyDocument, policy, type Statement } from "../infra/clouds/aws/identity/policy.ts";
import { type Account, type Grant, grants } from "./aws-grants.ts";
import { type Environment, issuer } from "./github.ts";

/** The statements of the grants whose actions `choose` takes: one for each, and one together for those on everything. */
function statements(account: Account, choose: (grant: Grant) => readonly string[]): Statement[] {
  const chosen = grants.flatMap((grant) => {
    const actions = choose(grant);
    const { sid, service, resources, condition } = grant;
    return actions.length === 0
      ? []
      : [
          {
            Sid: sid,
            Effect: "Allow",
            Action: actions.map((action) => `${service}:${action}`),
            Resource: resources(account).map((name) =>
              name === "*" || name.startsWith("arn:") ? name : `arn:${account.partition}:${service}:${name}`,
            ),
            ...(condition === undefined ? {} : { Condition: condition(account) }),
          } as const,
        ];
  });
  const everywhere = chosen.filter(({ Resource }) => Resource[0] === "*");
  return [
    allow(
      "Everywhere",
      everywhere.flatMap(({ Action }) => Action),
      ["*"],
    ),
    ...chosen.filter((statement) => !everywhere.includes(statement)),
  ];
}

/** Reads what a stack has in the account, no object of any bucket and no secret; `refresh` lists the names of objects, too. */
export const readerPolicy = (account: Account, refreshes: boolean): PolicyDocument =>
  policy(...statements(account, ({ read = [], refresh = [] }) => (refreshes ? [...read, ...refresh] : read)));

/**
 * Reads, creates, changes and deletes what a stack has. It may create roles with any permission, so that it is as powerful as
 * an administrator of the account.
 */
export const deployerPolicy = (account: Account): PolicyDocument =>
  policy(...statements(account, ({ read = [], write = [] }) => [...read, ...write]));

/** The maximum of a managed policy, which IAM counts without white space. */
const longestPolicy = 6144;

/**
 * The deployer's policy in as few managed policies as its statements fill: a role's own policies have 10,240 characters in
 * all. Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
 */
export function deployerPolicies(account: Account): PolicyDocument[] {
  const empty = JSON.stringify(policy()).length;
  const parts: Statement[][] = [[]];
  let length = empty;
  for (const statement of deployerPolicy(account).Statement) {
    const more = JSON.stringify(statement).length + 1;
    if (length + more > longestPolicy) {
      parts.push([]);
      length = empty;
    }
    parts.at(-1)?.push(statement);
    length += more;
  }
  return parts.map((part) => policy(...part));
}

export type { Account };

export interface State {
  readonly bucket: string;
  /** The stack's folder in the bucket. */
  readonly stack: string;
  readonly keyArn: string;
}

/** The stack's state and the key of its secrets: to read, and with `write` to change. */
export function statePolicy({ partition }: Account, { bucket, stack, keyArn }: State, write: boolean): PolicyDocument {
  const bucketArn = `arn:${partition}:s3:::${bucket}`;
  return policy(
    allow("ListState", ["s3:ListBucket"], [bucketArn], { StringLike: { "s3:prefix": [stack, `${stack}/*`] } }),
    allow("State", write ? ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"] : ["s3:GetObject"], [
      `${bucketArn}/${stack}/*`,
    ]),
    allow("Secrets", write ? ["kms:Decrypt", "kms:Encrypt"] : ["kms:Decrypt"], [keyArn]),
  );
}

/** One GitHub environment can act as the role; the principals can too, for the first `up`. */
export function trust(
  providerArn: string,
  { subject, claims }: Pick<Environment, "subject" | "claims">,
  principals: readonly string[],
): PolicyDocument {
  const host = issuer.replace(/^https:\/\//, "");
  return policy(
    {
      Sid: "GitHub",
      Effect: "Allow",
      Action: ["sts:AssumeRoleWithWebIdentity"],
      Principal: { Federated: providerArn },
      Condition: {
        StringEquals: {
          [`${host}:aud`]: "sts.amazonaws.com",
          [`${host}:sub`]: subject,
          ...Object.fromEntries(Object.entries(claims).map(([claim, value]) => [`${host}:${claim}`, value])),
        },
      },
    },
    ...(principals.length === 0
      ? []
      : [
          {
            Sid: "FirstUp",
            Effect: "Allow",
            Action: ["sts:AssumeRole"],
            Principal: { AWS: [...new Set(principals)].sort() },
          } as const,
        ]),
  );
}
