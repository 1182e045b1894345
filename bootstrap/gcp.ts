import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { labelValue } from "../infra/clouds/gcp/labels.ts";
import { requiredServices } from "../infra/clouds/gcp/required-services.ts";
import { awaitService } from "../infra/clouds/gcp/services.ts";
import { type GcpBootstrap, identityName } from "./config.ts";
import {
  bearer,
  deployerRoles,
  oidc,
  readerPermissions,
  readerRoles,
  secretsPermissions,
  tokenCondition,
} from "./gcp-permissions.ts";
import { type Environment, environmentsOf, type Made, type Purpose, type SetUp } from "./github.ts";

/** APIs, state bucket, a key for the secrets of each stack, and a service account for each GitHub environment. */
export function bootstrapGcp(config: GcpBootstrap): pulumi.Output<Made> {
  const { project, region, github, stacks } = config;
  const labels = { project: "lakehead-bootstrap", stack: labelValue(pulumi.getStack()), "managed-by": "pulumi" };
  const provider = new gcp.Provider("google", { project, region, defaultLabels: labels });
  const services = [...requiredServices, "sts.googleapis.com"].map(
    (service) =>
      new gcp.projects.Service(
        service.replace(".googleapis.com", ""),
        { project, service, disableOnDestroy: false },
        { provider },
      ),
  );
  const opts = { provider, dependsOn: services, hooks: { onError: [awaitService()] } };

  const bucket = new gcp.storage.Bucket(
    "state",
    {
      project,
      name: config.bucket.name,
      location: region,
      uniformBucketLevelAccess: true,
      publicAccessPrevention: "enforced",
      versioning: { enabled: true },
      // The engine replaces the state with each step of an `up`.
      lifecycleRules: [
        { action: { type: "Delete" }, condition: { daysSinceNoncurrentTime: 90, withState: "ARCHIVED" } },
      ],
    },
    { ...opts, protect: true },
  );
  // Without a name of its own: Google never deletes a key ring.
  const ring = new gcp.kms.KeyRing("secrets", { project, location: region }, opts);
  const states = new Map(
    stacks.map((stack) => [
      stack,
      {
        folder: new gcp.storage.ManagedFolder(stack, { bucket: bucket.name, name: `${stack}/` }, opts),
        key: new gcp.kms.CryptoKey(
          stack,
          { keyRing: ring.id, purpose: "ENCRYPT_DECRYPT", rotationPeriod: `${90 * 24 * 60 * 60}s` },
          // Without its key a stack's state is unreadable.
          { ...opts, protect: true },
        ),
      },
    ]),
  );

  const environments = environmentsOf(stacks, github);
  const pool = new gcp.iam.WorkloadIdentityPool(
    "github",
    { project, workloadIdentityPoolId: "lakehead-github", displayName: "GitHub's workflows" },
    opts,
  );
  const tokens = new gcp.iam.WorkloadIdentityPoolProvider(
    "github",
    {
      project,
      workloadIdentityPoolId: pool.workloadIdentityPoolId,
      workloadIdentityPoolProviderId: "github",
      attributeMapping: { "google.subject": "assertion.sub" },
      attributeCondition: tokenCondition(environments),
      oidc,
    },
    opts,
  );
  const rolesOf = projectRoles(project, opts);
  const emails = Object.fromEntries(
    environments.map((environment) => [
      environment.name,
      createIdentity(config, environment, { pool, rolesOf, state: states.get(environment.stack) }, opts),
    ]),
  );

  const ownStack = pulumi.getStack();
  const backend = (stack: string) => `gs://${config.bucket.name}/${stack}`;
  const keys = Object.fromEntries([...states].map(([stack, { key }]) => [stack, key.id]));
  return pulumi.all([bucket.name, keys, emails, tokens.name]).apply(([, keyIds, addresses, providerName]) => {
    const setUp: SetUp = {
      bootstrap: { stack: ownStack, backend: backend("bootstrap") },
      repository: github,
      environments,
      variables: Object.fromEntries(
        environments.map(({ name, stack }) => [
          name,
          {
            GOOGLE_PROVIDER: providerName,
            GOOGLE_SERVICE_ACCOUNT: addresses[name] ?? "",
            PULUMI_BACKEND_URL: backend(stack),
          },
        ]),
      ),
      stacks: Object.fromEntries(
        stacks.map((stack) => [stack, { backend: backend(stack), secretsProvider: `gcpkms://${keyIds[stack]}` }]),
      ),
    };
    const made: Made = {
      setUp,
      stackKeys: {},
      deployerCredentials: stacks.map((stack) => impersonation(stack, addresses[stack] ?? "")).join("\n"),
    };
    return made;
  });
}

/** Commands under which a person acts as a stack's deployer: Pulumi reads the first one's credentials, the cluster's plugin gcloud's. */
const impersonation = (stack: string, account: string): string => `# The deployer of ${stack}
gcloud auth application-default login --impersonate-service-account=${account}
gcloud config set auth/impersonate_service_account ${account}
`;

/** The roles on the project of each purpose; custom ones where Google's own read more. */
function projectRoles(
  project: string,
  opts: pulumi.CustomResourceOptions,
): Readonly<Record<Purpose, readonly (readonly [name: string, role: pulumi.Input<string>])[]>> {
  const custom = (name: string, title: string, permissions: readonly string[]) =>
    new gcp.projects.IAMCustomRole(
      name,
      { project, roleId: name, title, permissions: [...new Set(permissions)].sort() },
      opts,
    ).name;
  const predefined = (roles: readonly string[]) =>
    roles.map((role) => [role.replace(/^roles\//, "").replaceAll(".", "-"), role] as const);
  const reader = custom("lakeheadReader", "Read a Lakehead stack", Object.values(readerPermissions).flat());
  const preview = [...predefined(readerRoles), ["reader", reader] as const];
  const secrets = custom("lakeheadSecretsReader", "Read Secrets of Kubernetes", secretsPermissions);
  return { deploy: predefined(deployerRoles), preview, drift: [...preview, ["secrets-reader", secrets] as const] };
}

interface IdentityArgs {
  readonly pool: gcp.iam.WorkloadIdentityPool;
  readonly rolesOf: ReturnType<typeof projectRoles>;
  readonly state: { readonly folder: gcp.storage.ManagedFolder; readonly key: gcp.kms.CryptoKey } | undefined;
}

/** The service account of a GitHub environment, with its rights on project, state and key. */
function createIdentity(
  { project, deployers }: GcpBootstrap,
  environment: Environment,
  { pool, rolesOf, state }: IdentityArgs,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const { name, purpose } = environment;
  const deploys = purpose === "deploy";
  const account = new gcp.serviceaccount.Account(
    name,
    { project, accountId: identityName(name), displayName: `GitHub environment ${name}` },
    opts,
  );
  const member = pulumi.interpolate`serviceAccount:${account.email}`;
  new gcp.serviceaccount.IAMMember(
    `${name}-github`,
    {
      serviceAccountId: account.name,
      role: "roles/iam.workloadIdentityUser",
      member: pool.name.apply((poolName) => bearer(poolName, environment)),
    },
    opts,
  );
  for (const [index, principal] of (deploys ? deployers : []).entries()) {
    new gcp.serviceaccount.IAMMember(
      `${name}-deployer-${index}`,
      { serviceAccountId: account.name, role: "roles/iam.serviceAccountTokenCreator", member: principal },
      opts,
    );
  }
  for (const [key, role] of rolesOf[purpose]) {
    new gcp.projects.IAMMember(`${name}-${key}`, { project, role, member }, opts);
  }
  if (state !== undefined) {
    new gcp.storage.ManagedFolderIamMember(
      `${name}-state`,
      {
        bucket: state.folder.bucket,
        managedFolder: state.folder.name,
        role: deploys ? "roles/storage.objectUser" : "roles/storage.objectViewer",
        member,
      },
      opts,
    );
    new gcp.kms.CryptoKeyIAMMember(
      `${name}-secrets`,
      {
        cryptoKeyId: state.key.id,
        role: deploys ? "roles/cloudkms.cryptoKeyEncrypterDecrypter" : "roles/cloudkms.cryptoKeyDecrypter",
        member,
      },
      opts,
    );
  }
  return account.email;
}
