/**
 * Asks Google Cloud for what must exist before the first `up`. Reads only. The token is that of the application default
 * credentials, which Pulumi uses too, from the gcloud CLI.
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { attempt, type Line, mapOutcome, type Outcome, ok, wrong } from "../../../check-line.ts";
import type { ClusterModel } from "../../../model/cluster.ts";
import { buildsServiceImage } from "../../../model/service-image.ts";
import { checkGivenBucket, checkName, isOwn, type OwnTags, type Tags } from "../../taken-name.ts";
import { type ManagedZone, parseZone } from "../exposure/managed-zone.ts";
import { labelValue } from "../labels.ts";
import { requiredServices } from "../required-services.ts";
import type { GcpConfig } from "../schema.ts";
import {
  checkAdoptedNetwork,
  checkMember,
  checkPermissions,
  checkServices,
  checkZone,
  checkZones,
  type FoundRouters,
  type FoundSubnetwork,
  type FoundZone,
  memberAccounts,
  nameOf,
  requiredPermissions,
  type ServiceStates,
  type TestedPermissions,
} from "./checks.ts";
import { checkQuota, checkUnknownPools, countedDemands, type Quota, quotaDemands } from "./quotas.ts";

const run = promisify(execFile);

export interface ApiRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: unknown;
}

const get = (url: string): ApiRequest => ({ method: "GET", url });
const post = (url: string, body: unknown): ApiRequest => ({ method: "POST", url, body });

const compute = (project: string): string => `https://compute.googleapis.com/compute/v1/projects/${project}`;

/** The requests, each by its method in Google's discovery documents. */
export const requests = ({ project, region }: Pick<GcpConfig, "project" | "region">) => ({
  "cloudresourcemanager.v1 projects.testIamPermissions": post(
    `https://cloudresourcemanager.googleapis.com/v1/projects/${project}:testIamPermissions`,
    { permissions: requiredPermissions },
  ),
  "serviceusage.v1 services.batchGet": get(
    `https://serviceusage.googleapis.com/v1/projects/${project}/services:batchGet?${new URLSearchParams(
      requiredServices.map((service) => ["names", `projects/${project}/services/${service}`]),
    )}`,
  ),
  "compute.v1 regions.get": get(`${compute(project)}/regions/${region}`),
  "compute.v1 projects.get": get(compute(project)),
});

export const accountRequest = (email: string) => ({
  // Google finds the account's project by its address.
  "iam.v1 projects.serviceAccounts.get": get(`https://iam.googleapis.com/v1/projects/-/serviceAccounts/${email}`),
});

export const zoneRequest = ({ project, name }: ManagedZone) => ({
  "dns.v1 managedZones.get": get(`https://dns.googleapis.com/dns/v1/projects/${project}/managedZones/${name}`),
});

/** The names that the stack gives. */
export const nameRequests = ({
  project,
  region,
  clusterName,
  bucket,
}: Pick<GcpConfig, "project" | "region" | "clusterName"> & { readonly bucket: { readonly name: string } }) => {
  const location = `v1/projects/${project}/locations/${region}`;
  return {
    "container.v1 projects.locations.clusters.get": get(
      `https://container.googleapis.com/${location}/clusters/${clusterName}`,
    ),
    "storage.v1 buckets.get": get(`https://storage.googleapis.com/storage/v1/b/${bucket.name}`),
    "artifactregistry.v1 projects.locations.repositories.get": get(
      `https://artifactregistry.googleapis.com/${location}/repositories/${clusterName}`,
    ),
  };
};

/** @param subnetwork name or self link, which has a project of its own */
export const networkRequests = ({ project, region }: Pick<GcpConfig, "project" | "region">, subnetwork: string) => {
  const base = `${compute(/projects\/([^/]+)\//.exec(subnetwork)?.[1] ?? project)}/regions/${region}`;
  return {
    "compute.v1 subnetworks.get": get(`${base}/subnetworks/${nameOf(subnetwork)}`),
    "compute.v1 routers.list": get(`${base}/routers`),
  };
};

export const readToken = (): Promise<Outcome<string>> =>
  attempt(async () => {
    const { stdout } = await run("gcloud", ["auth", "application-default", "print-access-token", "--quiet"], {
      timeout: 30_000,
    });
    return stdout.trim();
  });

/** Value of an Authorization header for images in Artifact Registry; undefined for other registries, and without a token. */
export async function artifactRegistryCredentials(image: string): Promise<string | undefined> {
  if (!/^[a-z0-9-]+-docker\.pkg\.dev\//.test(image)) return undefined;
  const token = await readToken();
  return "failure" in token ? undefined : `Basic ${Buffer.from(`oauth2accesstoken:${token.value}`).toString("base64")}`;
}

export const send = <Body>(token: string, { method, url, body }: ApiRequest): Promise<Outcome<Body>> =>
  attempt(async () => {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`status ${response.status}: ${failureOf(text)}`);
    return JSON.parse(text) as Body;
  });

/** `google.rpc.Status` in JSON: the message, and the reason of its ErrorInfo. */
function failureOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as {
      error?: { message?: string; details?: readonly { reason?: string }[] };
    };
    const reason = error?.details?.find((detail) => detail.reason !== undefined)?.reason;
    return [reason, error?.message].filter((part) => part !== undefined).join(": ");
  } catch {
    return text.slice(0, 200);
  }
}

type Quotas = Outcome<{ quotas?: Quota[] }>;

function judgeQuotas(
  config: GcpConfig,
  cluster: ClusterModel,
  region: Quotas,
  project: Quotas,
  ran: boolean,
): readonly Line[] {
  const [quotas, globalQuotas] = [region, project].map((found) => mapOutcome(found, (value) => value.quotas ?? [])) as [
    Outcome<Quota[]>,
    Outcome<Quota[]>,
  ];
  const { demands, unknownPools } = quotaDemands(config, cluster);
  return [
    ...[...countedDemands(config, cluster), ...demands].map((demand) => {
      const global = demand.global ?? demand.metric === "GPUS_ALL_REGIONS";
      return checkQuota(config, demand, global ? globalQuotas : quotas, ran);
    }),
    ...checkUnknownPools(config, unknownPools),
  ];
}

/** The quotas of Compute Engine against the pools' maximum. */
export async function quotaLines(config: GcpConfig, cluster: ClusterModel): Promise<readonly Line[]> {
  const token = await readToken();
  const all = requests(config);
  const [region, project] = await Promise.all(
    (["compute.v1 regions.get", "compute.v1 projects.get"] as const).map(
      async (name): Promise<Quotas> => ("failure" in token ? token : send(token.value, all[name])),
    ),
  );
  return region === undefined || project === undefined ? [] : judgeQuotas(config, cluster, region, project, false);
}

interface Labelled {
  readonly labels?: Tags;
  readonly resourceLabels?: Tags;
}

/** The labels of what has a name; undefined when nothing has it. */
function labelsOf(found: Outcome<Labelled>, unique: boolean): Outcome<Tags | undefined> {
  if ("value" in found) return { value: found.value.labels ?? found.value.resourceLabels ?? {} };
  // Nothing has been made with an API that is off.
  if (/^status 404|SERVICE_DISABLED/.test(found.failure)) return { value: undefined };
  // Names of buckets are unique in all of Cloud Storage: a denial means that another project has it.
  return unique && /^status 403/.test(found.failure) ? { value: {} } : found;
}

async function readNames(token: string, config: GcpConfig, own: OwnTags) {
  const { region, project, clusterName, bucket } = config;
  const all = nameRequests(config);
  const [cluster, repository, tables] = await Promise.all([
    send<Labelled>(token, all["container.v1 projects.locations.clusters.get"]),
    send<Labelled>(token, all["artifactregistry.v1 projects.locations.repositories.get"]),
    send<Labelled>(token, all["storage.v1 buckets.get"]),
  ]);
  const where = `--location ${region} --project ${project}`;
  const found = labelsOf(cluster, false);
  const describeBucket = `gcloud storage buckets describe gs://${bucket.name}`;
  return {
    /** Whether the stack has run. */
    ran: "value" in found && found.value !== undefined && isOwn(found.value, own),
    lines: [
      checkName(
        {
          what: "cluster",
          key: "clusterName",
          name: clusterName,
          byHand: `gcloud container clusters describe ${clusterName} ${where}`,
        },
        own,
        found,
      ),
      ...(buildsServiceImage(config)
        ? [
            checkName(
              {
                what: "repository",
                key: "tableService",
                remedyKey: "clusterName",
                name: clusterName,
                byHand: `gcloud artifacts repositories describe ${clusterName} ${where}`,
              },
              own,
              labelsOf(repository, false),
            ),
          ]
        : []),
      bucket.create
        ? checkName(
            { what: "bucket", key: "bucket.name", name: bucket.name, byHand: describeBucket },
            own,
            labelsOf(tables, true),
          )
        : checkGivenBucket(bucket.name, describeBucket, labelsOf(tables, true)),
    ],
  };
}

/** Yields each group of lines when it is known. */
export async function* preflightGcp(
  config: GcpConfig,
  cluster: ClusterModel,
  stack: string,
): AsyncGenerator<readonly Line[]> {
  const token = await readToken();
  if ("failure" in token) {
    const reason = token.failure.trim().split("\n").at(-1);
    yield [wrong(`caller: no application default credentials (${reason})`, "gcloud auth application-default login")];
    return;
  }
  yield [ok("caller: gcloud has application default credentials")];
  const all = requests(config);
  const [permissions, services, region, project] = await Promise.all([
    send<TestedPermissions>(token.value, all["cloudresourcemanager.v1 projects.testIamPermissions"]),
    send<ServiceStates>(token.value, all["serviceusage.v1 services.batchGet"]),
    send<{ zones?: string[]; quotas?: Quota[] }>(token.value, all["compute.v1 regions.get"]),
    send<{ quotas?: Quota[] }>(token.value, all["compute.v1 projects.get"]),
  ]);
  const { tags } = config;
  const own = { stack: labelValue(tags.stack ?? stack), "managed-by": tags["managed-by"] ?? "pulumi" };
  const names = await readNames(token.value, config, own);
  yield names.lines;
  yield [
    checkPermissions(config, permissions),
    checkServices(config, services),
    checkZones(
      config,
      cluster,
      mapOutcome(region, (value) => value.zones ?? []),
    ),
    ...judgeQuotas(config, cluster, region, project, names.ran),
  ];
  const { network } = config;
  if (network.mode === "adopt") {
    const asked = networkRequests(config, network.subnetwork);
    const [subnetwork, routers] = await Promise.all([
      send<FoundSubnetwork>(token.value, asked["compute.v1 subnetworks.get"]),
      send<FoundRouters>(token.value, asked["compute.v1 routers.list"]),
    ]);
    yield checkAdoptedNetwork(config, network, subnetwork, routers);
  }
  yield await Promise.all(
    memberAccounts(config).map(async (email) => {
      const request = accountRequest(email)["iam.v1 projects.serviceAccounts.get"];
      return checkMember(email, await send<unknown>(token.value, request));
    }),
  );
  const { enabled, exposure } = config.tableService;
  if (!enabled || exposure.mode !== "public" || exposure.zone === undefined) return;
  const zone = parseZone(exposure.zone, config.project);
  const found = await send<FoundZone>(token.value, zoneRequest(zone)["dns.v1 managedZones.get"]);
  yield [checkZone(exposure.host, zone, found)];
}
