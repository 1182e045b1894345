import {
  type AwsConfig,
  type Config,
  clusterModel,
  type ExistingConfig,
  type GcpConfig,
  stackDefinition,
} from "../../../infra/clouds/schema.ts";
import { type ParseOptions, parseConfig } from "../../../infra/config/parse.ts";
import { ConfigError, describeFinding, type Finding } from "../../../infra/config/report.ts";

/** The required keys of each cloud; everything else is a default. */
const service = {
  image: "registry.example.com/lakehead:0.2.0",
  auth: { issuer: "https://login.example.com/", audience: "lakehead" },
};
export const minimal = {
  aws: {
    cloud: "aws",
    region: "eu-central-1",
    account: "111122223333",
    deployerArn: "arn:aws:iam::111122223333:role/deployer",
    endpoint: { publicCidrs: ["203.0.113.0/24"] },
    bucket: { name: "example-tables" },
    tableService: service,
  },
  gcp: {
    cloud: "gcp",
    project: "example-project",
    region: "europe-west4",
    bucket: { name: "example-tables" },
    tableService: service,
  },
  kubeconfig: { cloud: "kubeconfig", tableService: { ...service, replicas: { min: 1, max: 1 } } },
} as const;

type Clouds = { aws: AwsConfig; gcp: GcpConfig; kubeconfig: ExistingConfig };
type Tree = Readonly<Record<string, unknown>>;

/** A day on which every pinned version is supported. */
export const someDay = new Date("2026-09-01T00:00:00Z");

/** A minimal configuration with overrides, objects merged key by key; undefined or null removes a key. */
export function raw(cloud: keyof Clouds, overrides: Tree = {}): Tree {
  return merge(minimal[cloud], overrides);
}

export function configOf<Cloud extends keyof Clouds>(cloud: Cloud, overrides: Tree = {}): Clouds[Cloud] {
  const { config } = parseConfig(stackDefinition, raw(cloud, overrides), { today: someDay });
  return config as Config as Clouds[Cloud];
}

/** The same with what the cloud decides about its nodes. */
export function modelOf<Cloud extends keyof Clouds>(cloud: Cloud, overrides: Tree = {}) {
  const config = configOf(cloud, overrides);
  return { config, cluster: clusterModel(config) };
}

/** The findings about a configuration, as a user reads them. */
export function findingsFor(cloud: keyof Clouds, overrides: Tree = {}, options: ParseOptions = {}): string[] {
  return judge(raw(cloud, overrides), options).map((finding) => `${finding.level}${describeFinding(finding).slice(1)}`);
}

export function judge(value: unknown, options: ParseOptions = {}): readonly Finding[] {
  try {
    return parseConfig(stackDefinition, value, { today: someDay, ...options }).warnings;
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.findings;
    throw cause;
  }
}

function merge(base: Tree, over: Tree): Tree {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    if (value === undefined || value === null) delete merged[key];
    else merged[key] = isTree(old) && isTree(value) && !("mode" in value) ? merge(old, value) : value;
  }
  return merged;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
