import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsConfig } from "../schema.ts";
import { type PolicyDocument, serviceAccountTrust } from "./policy.ts";

export interface RoleArgs {
  /** Exact name; chosen by Pulumi when omitted. */
  readonly roleName?: string;
  readonly description: string;
  readonly trust: PolicyDocument | pulumi.Input<string>;
  /** The role's own policy documents, by name. */
  readonly policies?: Readonly<Record<string, pulumi.Input<string>>>;
  /** Maximum life of a session, in seconds; AWS permits an hour by default. */
  readonly maxSessionDuration?: number | undefined;
  /** ARNs of AWS managed policies, by a short name. */
  readonly managedPolicies?: Readonly<Record<string, string>>;
}

/** A role with its policies. Its users depend on the whole component, so that they never run without permissions. */
export class Role extends pulumi.ComponentResource {
  readonly arn: pulumi.Output<string>;
  readonly roleName: pulumi.Output<string>;

  constructor(name: string, args: RoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Role", name, {}, opts);
    const role = new aws.iam.Role(
      name,
      {
        ...(args.roleName === undefined ? {} : { name: args.roleName }),
        description: args.description,
        assumeRolePolicy: isDocument(args.trust) ? JSON.stringify(args.trust) : args.trust,
        ...(args.maxSessionDuration === undefined ? {} : { maxSessionDuration: args.maxSessionDuration }),
      },
      { parent: this },
    );
    for (const [key, policy] of Object.entries(args.policies ?? {})) {
      new aws.iam.RolePolicy(`${name}-${key}`, { role: role.name, name: key, policy }, { parent: this });
    }
    for (const [key, policyArn] of Object.entries(args.managedPolicies ?? {})) {
      new aws.iam.RolePolicyAttachment(`${name}-${key}`, { role: role.name, policyArn }, { parent: this });
    }
    this.arn = role.arn;
    this.roleName = role.name;
    this.registerOutputs({ arn: this.arn, roleName: this.roleName });
  }
}

/** Gives every role of a component the path and the boundary that an organization demands. */
export const governed = ({ path, permissionsBoundaryArn }: AwsConfig["iam"]): pulumi.ResourceTransform[] =>
  path === "/" && permissionsBoundaryArn === undefined
    ? []
    : [
        ({ type, props, opts }) =>
          type === "aws:iam/role:Role"
            ? {
                props: {
                  ...props,
                  path,
                  ...(permissionsBoundaryArn === undefined ? {} : { permissionsBoundary: permissionsBoundaryArn }),
                },
                opts,
              }
            : undefined,
      ];

function isDocument(trust: RoleArgs["trust"]): trust is PolicyDocument {
  return typeof trust === "object" && "Statement" in trust;
}

/** The trust policy for one Kubernetes service account, as JSON. */
export function trustServiceAccount(
  oidcProviderArn: pulumi.Output<string>,
  namespace: string,
  serviceAccount: string,
): pulumi.Output<string> {
  return oidcProviderArn.apply((arn) => JSON.stringify(serviceAccountTrust(arn, namespace, serviceAccount)));
}
