/**
 * The policies of `bootstrap/` against the permissions that AWS's own schemas name for each type of resource in the plans:
 * the deployer needs those of every handler, previews and drift those of the handler that reads.
 */

import { deployerPolicy, readerPolicy } from "../../bootstrap/aws-permissions.ts";
import type { PolicyDocument } from "../../infra/clouds/aws/identity/policy.ts";
import { everyKey } from "../support/infra/every-key.ts";
import { runStack } from "../support/infra/stacks.ts";
import { toTemplate } from "./cloudformation.ts";
import type { Finding } from "./waits.ts";

/** By type, then by handler. */
type Handlers = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Permissions that the schemas name and the stack does not need, of every type or of one, each with its reason. */
const unneeded: readonly (readonly [permissions: RegExp, reason: string])[] = [
  [
    /^s3:.*(Abac|Acl|Analytics|CORS|Cors|IntelligentTiering|Inventory|Logging|MetadataTable|JournalTable|AnnotationTable|InventoryTable|Metrics|Notification|ObjectLock|Website)|^s3:PutAccelerateConfiguration$|^s3tables:/,
    "features of buckets that no stack uses",
  ],
  [/^s3:DeleteBucket(Encryption|Lifecycle)$/, "no actions: to put a configuration includes to delete it"],
  [/^s3:(Put|Delete)BucketReplication$/, "no actions: s3:PutReplicationConfiguration is for both"],
  [/^s3:DeleteObject$/, "the deployer deletes no tables; bucket.forceDestroy needs rights beyond these"],
  [/^s3:ListBucket$/, "the reader lists no tables; the state's policy has its own"],
  [/^s3:REST\.PUT\.OBJECT$|^firehose:/, "no action, and targets of logs that no stack uses"],
  [
    /^logs:.*(DataProtection|DeletionProtection|Index|ResourcePolic|BearerToken|LogDelivery|KmsKey)/,
    "features of log groups that no stack uses",
  ],
  [/^vpc-lattice:|^vpce:/, "endpoints of kinds that no stack has"],
  [
    /^ec2:(AcceptAddressTransfer|.*NatGatewayAddress|.*SubnetCidrBlock|.*VpcEncryptionControls?|ModifyVpcTenancy|DescribeKeyPairs)$/,
    "features of networks and nodes that no stack uses",
  ],
  [/^eks:(ActivateCertificateAuthority|.*PodIdentityAssociation)$/, "features of clusters that no stack uses"],
  [/^iam:.*(InstanceProfile|PermissionsBoundary)/, "EKS makes the instance profiles; no role has a boundary"],
  [/^acm-pca:/, "private certificate authorities, which no stack uses"],
  [/^route53:ListHostedZones$/, "the zone is named by its id"],
  [/^cloudtrail:((Get|Put)EventConfiguration|PutInsightSelectors)$/i, "features of trails that no stack uses"],
  [
    /^aps:.*(AlertManagerDefinition|LoggingConfiguration|WorkspaceConfiguration)$|^logs:ListLogDeliveries$|^AWS::APS::Workspace kms:/i,
    "features of workspaces that no stack uses: their logs, alert manager and a key of one's own",
  ],
  [/^organizations:/, "the trail is of one account"],
  [
    /^cloudwatch:.*InsightRules$|^ec2:ModifyVpcEndpointServicePayerResponsibility$/,
    "features of endpoint services that no stack uses",
  ],
  [/^payments:|^wafv2:(Get|Put)PermissionPolicy$/, "rule groups of a marketplace or of another account"],
  [
    /^(amplify|apigateway|apprunner|appsync|bedrock-agentcore|cognito-idp):|^ec2:.*VerifiedAccessInstanceWebAcl/,
    "the web firewall is attached to a load balancer",
  ],
  [/^kms:(DisableKey|RetireGrant)$/, "keys stay enabled, and repositories have no key"],
];

const isUnneeded = (type: string, permission: string): boolean =>
  unneeded.some(([pattern]) => pattern.test(permission) || pattern.test(`${type} ${permission}`));

/** Of an association the schemas say that to read it attaches and detaches. */
const attaches =
  /^(wafv2:(Associate|Disassociate)WebACL|elasticloadbalancing:((Create|Delete)WebACLAssociation|SetWebACL))$/;

/** In small letters: IAM compares actions without case, and the schemas write some otherwise. */
const granted = ({ Statement }: PolicyDocument): ReadonlySet<string> =>
  new Set(
    Statement.flatMap(({ Effect, Action }) => (Effect === "Allow" ? Action.map((action) => action.toLowerCase()) : [])),
  );

const place = { partition: "aws", region: "eu-central-1", account: "123456789012" };

/** What the schemas name, a policy does not grant, and no reason explains. */
function missing(policy: PolicyDocument, handlers: Handlers, chosen: (handler: string) => boolean): string[] {
  const actions = granted(policy);
  return Object.entries(handlers).flatMap(([type, byHandler]) =>
    Object.entries(byHandler)
      .filter(([handler]) => chosen(handler))
      .flatMap(([handler, permissions]) =>
        permissions
          .filter((permission) => !actions.has(permission.toLowerCase()) && !isUnneeded(type, permission))
          .filter((permission) => handler !== "read" || !attaches.test(permission))
          .map((permission) => `${type} ${handler}: ${permission}`),
      ),
  );
}

/** @param ask - Prints the handlers of the types of CloudFormation as JSON. */
export async function judgePermissions(ask: (types: readonly string[]) => Promise<string>): Promise<Finding[]> {
  const variants = Object.values(everyKey).filter(({ stack }) => stack === "aws-dev");
  const captures = await Promise.all([
    ...["aws-dev", "aws-prod"].map((stack) => runStack(stack, "update")),
    ...variants.map(({ stack, overrides }) => runStack(stack, "update", overrides)),
  ]);
  const types = new Set(
    captures.flatMap(({ resources }) =>
      Object.values(toTemplate(resources).template.Resources).map(({ Type }) => Type),
    ),
  );
  const handlers = JSON.parse(await ask([...types].sort())) as Handlers;
  const reads = (handler: string): boolean => handler === "read";
  // CloudFormation lists all resources of an account; Pulumi does not.
  const changes = (handler: string): boolean => handler !== "list";
  const all = Object.entries(handlers).flatMap(([type, byHandler]) =>
    Object.values(byHandler).flatMap((permissions) => permissions.flatMap((name) => [name, `${type} ${name}`])),
  );
  const without = {
    ...deployerPolicy(place),
    Statement: deployerPolicy(place).Statement.filter(({ Sid }) => Sid !== "PassRoles"),
  };
  return [
    {
      what: `${types.size} types' permissions in the deployer's policy, by AWS's schemas`,
      faults: missing(deployerPolicy(place), handlers, changes),
    },
    {
      what: `${types.size} types' permissions in the reader's policy, by AWS's schemas`,
      faults: missing(readerPolicy(place, true), handlers, reads),
    },
    {
      what: "a policy without iam:PassRole is found by AWS's schemas",
      faults: missing(without, handlers, changes).length > 0 ? [] : ["it was not"],
    },
    {
      what: "each permission that is left out is one of the schemas",
      faults: unneeded
        .filter(([pattern]) => !all.some((name) => pattern.test(name)))
        .map(([pattern]) => String(pattern)),
    },
  ];
}
