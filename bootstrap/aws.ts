import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { partitionOf } from "../infra/clouds/aws/identity/arn.ts";
import { policy } from "../infra/clouds/aws/identity/policy.ts";
import { tlsOnly } from "../infra/clouds/aws/identity/storage-policies.ts";
import { type Account, deployerPolicies, readerPolicy, statePolicy, trust } from "./aws-permissions.ts";
import { type AwsBootstrap, identityName } from "./config.ts";
import { environmentsOf, issuer, type Made, type SetUp } from "./github.ts";

/** The session of `up.yml`: nodes are replaced one after another. */
const deploymentSeconds = 7200;

/** State bucket, a key for the secrets of each stack, and a role for each GitHub environment. */
export function bootstrapAws(config: AwsBootstrap): pulumi.Output<Made> {
  const { region, account, github, stacks } = config;
  const { path, permissionsBoundaryArn } = config.iam;
  const place: Account = { partition: partitionOf(region), region, account };
  const tags = { project: pulumi.getProject(), stack: pulumi.getStack(), "managed-by": "pulumi" };
  const provider = new aws.Provider("aws", { region, allowedAccountIds: [account], defaultTags: { tags } });
  const opts = { provider };
  const bucket = stateBucket(config.bucket.name, place, opts);
  const keys = Object.fromEntries(
    stacks.map((stack) => [
      stack,
      new aws.kms.Key(
        `${stack}-secrets`,
        { description: `Secrets of the stack ${stack}`, enableKeyRotation: true, deletionWindowInDays: 30 },
        // Without its key a stack's state is unreadable.
        { ...opts, protect: true },
      ).arn,
    ]),
  );
  const host = issuer.replace(/^https:\/\//, "");
  const providerArn = github.createProvider
    ? new aws.iam.OpenIdConnectProvider("github", { url: issuer, clientIdLists: ["sts.amazonaws.com"] }, opts).arn
    : pulumi.output(`arn:${place.partition}:iam::${account}:oidc-provider/${host}`);

  const environments = environmentsOf(stacks, github);
  const roles = Object.fromEntries(
    environments.map((environment) => {
      const { name, stack, purpose } = environment;
      const deploys = purpose === "deploy";
      const role = new aws.iam.Role(
        name,
        {
          name: identityName(name),
          description: `GitHub environment ${name}`,
          assumeRolePolicy: providerArn.apply((arn) =>
            JSON.stringify(trust(arn, environment, deploys ? config.deployers : [])),
          ),
          maxSessionDuration: deploys ? deploymentSeconds : 3600,
          path,
          ...(permissionsBoundaryArn === undefined ? {} : { permissionsBoundary: permissionsBoundaryArn }),
        },
        opts,
      );
      if (deploys)
        for (const [index, part] of deployerPolicies(place).entries()) {
          const { arn: policyArn } = new aws.iam.Policy(
            `${name}-account-${index + 1}`,
            { name: `${identityName(name)}-${index + 1}`, path, policy: JSON.stringify(part) },
            opts,
          );
          new aws.iam.RolePolicyAttachment(`${name}-account-${index + 1}`, { role: role.name, policyArn }, opts);
        }
      else
        new aws.iam.RolePolicy(
          `${name}-account`,
          { role: role.name, name: "account", policy: JSON.stringify(readerPolicy(place, purpose === "drift")) },
          opts,
        );
      new aws.iam.RolePolicy(
        `${name}-state`,
        {
          role: role.name,
          name: "state",
          policy: pulumi
            .output(keys[stack] ?? "")
            .apply((keyArn) =>
              JSON.stringify(statePolicy(place, { bucket: config.bucket.name, stack, keyArn }, deploys)),
            ),
        },
        opts,
      );
      return [name, role.arn];
    }),
  );

  const ownStack = pulumi.getStack();
  const backend = (stack: string) => `s3://${config.bucket.name}/${stack}?region=${region}`;
  return pulumi.all([bucket, keys, roles]).apply(([, keyArns, roleArns]) => {
    const arnOf = (environment: string) => roleArns[environment] ?? "";
    const setUp: SetUp = {
      bootstrap: { stack: ownStack, backend: backend("bootstrap") },
      repository: github,
      environments,
      variables: Object.fromEntries(
        environments.map(({ name, stack }) => [
          name,
          { AWS_ROLE_ARN: arnOf(name), AWS_REGION: region, PULUMI_BACKEND_URL: backend(stack) },
        ]),
      ),
      stacks: Object.fromEntries(
        stacks.map((stack) => [
          stack,
          { backend: backend(stack), secretsProvider: `awskms:///${keyArns[stack]}?region=${region}` },
        ]),
      ),
    };
    const stackKeys = Object.fromEntries(
      stacks.map((stack) => [
        stack,
        {
          deployerArn: arnOf(stack),
          viewerArns: [arnOf(`${stack}-preview`)],
          auditorArns: [arnOf(`${stack}-drift`)],
        },
      ]),
    );
    const deployerCredentials = stacks
      .map((stack) => deployerProfile(identityName(stack), arnOf(stack), region))
      .join("\n");
    return { setUp, stackKeys, deployerCredentials };
  });
}

/** A profile for ~/.aws/config under which a person acts as a stack's deployer. */
export const deployerProfile = (profile: string, roleArn: string, region: string): string => `[profile ${profile}]
role_arn = ${roleArn}
source_profile = default
region = ${region}
`;

function stateBucket(name: string, place: Account, opts: pulumi.CustomResourceOptions): pulumi.Output<string> {
  const bucket = new aws.s3.Bucket("state", { bucket: name }, { ...opts, protect: true });
  const of = { bucket: bucket.bucket };
  const versioning = new aws.s3.BucketVersioning(
    "state",
    { ...of, versioningConfiguration: { status: "Enabled" } },
    opts,
  );
  new aws.s3.BucketServerSideEncryptionConfiguration(
    "state",
    { ...of, rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }] },
    opts,
  );
  new aws.s3.BucketOwnershipControls("state", { ...of, rule: { objectOwnership: "BucketOwnerEnforced" } }, opts);
  const block = new aws.s3.BucketPublicAccessBlock(
    "state",
    { ...of, blockPublicAcls: true, blockPublicPolicy: true, ignorePublicAcls: true, restrictPublicBuckets: true },
    opts,
  );
  new aws.s3.BucketPolicy(
    "state",
    { ...of, policy: JSON.stringify(policy(tlsOnly(place, name))) },
    { ...opts, dependsOn: [block] },
  );
  new aws.s3.BucketLifecycleConfiguration(
    "state",
    {
      ...of,
      rules: [
        {
          id: "noncurrent",
          status: "Enabled",
          filter: {},
          // The engine replaces the state with each step of an `up`.
          noncurrentVersionExpiration: { noncurrentDays: 90 },
          expiration: { expiredObjectDeleteMarker: true },
        },
      ],
    },
    { ...opts, dependsOn: [versioning] },
  );
  return bucket.bucket;
}
