/** What identities may do: no wildcard beyond the list below, and every trust bound to one subject and audience. */

import type { PolicyDocument } from "../../../../infra/clouds/aws/identity/policy.ts";
import type { Capture, PlannedResource } from "../../../../infra/offline-plan/capture.ts";
import { describe } from "../../../support/infra/graph.ts";
import { wildcardViolations } from "../../support/wildcards.ts";

interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action?: string | string[];
  readonly NotAction?: unknown;
  readonly NotResource?: unknown;
  readonly Resource?: string | string[];
  readonly Principal?: unknown;
  readonly Condition?: Record<string, Record<string, string | string[]>>;
}

export interface Document {
  readonly resource: PlannedResource;
  readonly property: string;
  readonly statements: readonly Statement[];
}

const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat());

/** Every IAM document in a resource's inputs. */
export function documents({ resources }: Pick<Capture, "resources">): Document[] {
  return (
    resources
      // A lifecycle policy of images is no document of IAM.
      .filter(({ type }) => type.startsWith("aws:") && type !== "aws:ecr/lifecyclePolicy:LifecyclePolicy")
      .flatMap((resource) =>
        ["policy", "assumeRolePolicy"].flatMap((property): Document[] => {
          const value = resource.inputs[property];
          if (typeof value !== "string") return [];
          const { Statement } = JSON.parse(value) as { Statement: Statement | Statement[] };
          return [{ resource, property, statements: [Statement].flat() }];
        }),
      )
  );
}

/** Wildcards that the project's written list (support/wildcards.ts) does not have, and statements by exclusion. */
export function wildcards({ resource, property, statements }: Document): string[] {
  const document = {
    Version: "2012-10-17" as const,
    Statement: statements.map((statement) => ({
      ...statement,
      Action: list(statement.Action),
      Resource: list(statement.Resource),
    })),
  };
  return [
    ...wildcardViolations(document as unknown as PolicyDocument),
    ...statements.flatMap(({ NotAction, NotResource, Sid }) =>
      NotAction === undefined && NotResource === undefined ? [] : [`${Sid}: allows all but what it names`],
    ),
  ].map((found) => `${describe(resource)} ${property}: ${found}`);
}

/** AWS's own policies that give more than one purpose needs. */
export function broadManagedPolicies({ resources }: Pick<Capture, "resources">): string[] {
  return (
    resources
      .filter(({ inputs }) => /(FullAccess|Administrator|PowerUser)/.test(String(inputs.policyArn)))
      // An access policy of EKS, not of IAM: the documents ask for it by default.
      .filter(({ type }) => type !== "aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
      .map((resource) => `${describe(resource)} attaches ${resource.inputs.policyArn}`)
  );
}

/** Trust in a web identity binds both who asks and for whom the token was made. */
export function looseTrust({ resource, property, statements }: Document): string[] {
  return statements.flatMap((statement) => {
    const actions = list(statement.Action);
    const where = `${describe(resource)} ${property}`;
    if (property !== "assumeRolePolicy") return [];
    const anyone = JSON.stringify(statement.Principal ?? "*").includes('"*"');
    if (anyone) return [`${where} trusts anyone`];
    if (!actions.includes("sts:AssumeRoleWithWebIdentity")) return [];
    const equals = statement.Condition?.StringEquals ?? {};
    const value = (suffix: string) => Object.entries(equals).find(([key]) => key.endsWith(suffix))?.[1];
    return [
      ...(value(":aud") === "sts.amazonaws.com" ? [] : [`${where} does not check the audience`]),
      ...(/^system:serviceaccount:[a-z0-9-]+:[a-z0-9-]+$/.test(String(value(":sub")))
        ? []
        : [`${where} does not name one service account`]),
    ];
  });
}

/** `s3:HeadObject` and its like are operations, not actions; IAM accepts and ignores them. */
export function notActions({ resource, property, statements }: Document): string[] {
  return statements
    .flatMap(({ Action }) => list(Action))
    .filter(
      (action) =>
        /^s3:(HeadObject|HeadBucket|ListObjects(V2)?)$/.test(action) || !/^[a-z0-9-]+:[A-Za-z*?]+$|^\*$/.test(action),
    )
    .map((action) => `${describe(resource)} ${property}: there is no action ${action}`);
}

/** Roles that give more than any identity here needs, wherever they are bound. */
export function broadGoogleRoles({ resources }: Pick<Capture, "resources">): string[] {
  return resources
    .filter(({ type }) => /^gcp:.*IAM(Member|Binding|Policy)|^gcp:.*IamMember/.test(type))
    .flatMap((resource) => {
      const role = String(resource.inputs.role);
      const inProject = resource.type === "gcp:projects/iAMMember:IAMMember";
      return [
        ...(/roles\/(owner|editor|viewer)$/.test(role) ? [`${describe(resource)}: ${role}`] : []),
        ...(inProject && /admin|storage\./i.test(role) ? [`${describe(resource)}: ${role} on the whole project`] : []),
        ...(/IAM(Binding|Policy)$/.test(resource.type)
          ? [`${describe(resource)} overrules everyone else's members`]
          : []),
        ...(["allUsers", "allAuthenticatedUsers"].includes(String(resource.inputs.member))
          ? [`${describe(resource)} is for everyone`]
          : []),
      ];
    });
}
