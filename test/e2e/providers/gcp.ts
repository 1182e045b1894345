/** What Google Cloud refuses, and who holds whom, for the types that the stacks use. */

import { type Cloud, type Reference, type Refusal, record, text, valuesAt } from "./cloud.ts";
import type { Settings } from "./settings.ts";

const network = "gcp:compute/network:Network";
const subnetwork = "gcp:compute/subnetwork:Subnetwork";
const router = "gcp:compute/router:Router";
const nat = "gcp:compute/routerNat:RouterNat";
const cluster = "gcp:container/cluster:Cluster";
const pool = "gcp:container/nodePool:NodePool";
const account = "gcp:serviceaccount/account:Account";
const bucket = "gcp:storage/bucket:Bucket";
const folder = "gcp:storage/managedFolder:ManagedFolder";
const service = "gcp:projects/service:Service";
const grant = "gcp:projects/iAMMember:IAMMember";

const inUse = "resourceInUseByAnotherResource";
const inNetwork: Reference = { path: "network", to: network, holds: inUse };
const inBucket: Reference = { path: "bucket", to: bucket, holds: "conflict: the bucket is not empty" };

const references: Cloud["references"] = {
  [subnetwork]: [inNetwork],
  [router]: [inNetwork],
  [nat]: [
    { path: "router", to: router },
    { path: "subnetworks.name", to: subnetwork, holds: inUse },
  ],
  [cluster]: [inNetwork, { path: "subnetwork", to: subnetwork, holds: inUse }],
  [pool]: [
    { path: "cluster", to: cluster },
    { path: "nodeConfig.serviceAccount", to: account },
  ],
  [folder]: [inBucket],
  "gcp:storage/bucketIAMMember:BucketIAMMember": [{ path: "bucket", to: bucket }],
  "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": [
    { path: "bucket", to: bucket },
    { path: "managedFolder", to: folder },
  ],
  "gcp:serviceaccount/iAMMember:IAMMember": [{ path: "serviceAccountId", to: account }],
};

/** The API that must be switched on in the project before the first call. */
const apis: Readonly<Record<string, string>> = {
  artifactregistry: "artifactregistry.googleapis.com",
  compute: "compute.googleapis.com",
  container: "container.googleapis.com",
  serviceaccount: "iam.googleapis.com",
  storage: "storage.googleapis.com",
};

/** An API answers some time after it was enabled. */
const apiEnabled =
  (delay: number): Refusal =>
  ({ type, inputs }, world) => {
    const module = /^gcp:(?<module>\w+)\//.exec(type)?.groups?.module ?? "";
    const api = type === grant ? "cloudresourcemanager.googleapis.com" : apis[module];
    if (api === undefined) return undefined;
    return world.of(service).some((item) => item.inputs.service === api && item.since + delay <= Date.now())
      ? undefined
      : `SERVICE_DISABLED: ${api} has not been used in project ${inputs.project ?? ""} before or it is disabled`;
  };

/** A grant names a service account, and the project's identity pool exists only beside a cluster that uses it. */
const memberExists: Refusal = ({ inputs }, world) => {
  const member = text(inputs.member);
  const workload = /^serviceAccount:(?<poolName>[^[]+\.svc\.id\.goog)\[/.exec(member)?.groups?.poolName;
  if (workload !== undefined) {
    const found = world
      .of(cluster)
      .some((item) => valuesAt(item.inputs, "workloadIdentityConfig.workloadPool")[0] === workload);
    return found ? undefined : `badRequest: Identity Pool does not exist (${workload})`;
  }
  if (!member.startsWith("serviceAccount:")) return undefined;
  const email = member.slice("serviceAccount:".length);
  return world.find(account, email) === undefined ? `badRequest: Service account ${email} does not exist` : undefined;
};

/** Without these the nodes cannot log in, report metrics or pull images, and the pool's creation times out. */
const nodesCanRegister: Refusal = ({ type, inputs }, world) => {
  const member = `serviceAccount:${valuesAt(inputs, "nodeConfig.serviceAccount")[0]}`;
  const roles = world.of(grant).flatMap(({ inputs: own }) => (own.member === member ? [own.role] : []));
  if (!roles.includes("roles/container.defaultNodeServiceAccount"))
    return "the nodes of the pool are unhealthy: their service account lacks roles/container.defaultNodeServiceAccount";
  const host = type === cluster ? { inputs } : world.find(cluster, inputs.cluster);
  const subnet = world.find(subnetwork, host?.inputs.subnetwork);
  const covered = world
    .of(nat)
    .some((item) => subnet !== undefined && valuesAt(item.inputs, "subnetworks.name").includes(subnet.id));
  return covered || subnet === undefined
    ? undefined
    : "the nodes of the pool are unhealthy: nothing routes them to the internet";
};

const nameIsFree: Refusal = ({ type, inputs }, world) => {
  const taken = ["name", "accountId"].find(
    (key) =>
      inputs[key] !== undefined &&
      world.of(type).some((item) => item.inputs[key] === inputs[key] && item.inputs.bucket === inputs.bucket),
  );
  return taken === undefined ? undefined : `alreadyExists: ${inputs[taken]} already exists`;
};

/** `account` is the project that the caller's credentials may use. */
export function gcpCloud({ account: project, apiDelay = 0 }: Pick<Settings, "account" | "apiDelay">): Cloud {
  const enabled = apiEnabled(apiDelay);
  const everywhere = [enabled, nameIsFree];
  return {
    sdk: "@pulumi/gcp",
    references,
    refusals: {
      [network]: everywhere,
      [subnetwork]: everywhere,
      [router]: everywhere,
      [nat]: everywhere,
      [bucket]: everywhere,
      [account]: everywhere,
      [folder]: everywhere,
      // The first pool, which is removed at once, has to come up as well.
      [cluster]: [...everywhere, nodesCanRegister],
      [pool]: [...everywhere, nodesCanRegister],
      [grant]: [enabled, memberExists],
      "gcp:serviceaccount/iAMMember:IAMMember": [enabled, memberExists],
      "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": [enabled, memberExists],
      "gcp:storage/bucketIAMMember:BucketIAMMember": [enabled, memberExists],
    },
    refusedUpdates: {},
    keeps: {
      [cluster]: ({ inputs }) =>
        inputs.deletionProtection === true
          ? "Cannot destroy cluster because deletionProtection is set to true; set it to false and run an update first"
          : undefined,
    },
    inherited: (_type, inputs, configuration, computed) => {
      if (!computed.includes("effectiveLabels")) return {};
      const defaults: unknown =
        typeof configuration.defaultLabels === "string"
          ? JSON.parse(configuration.defaultLabels)
          : configuration.defaultLabels;
      const own = record(inputs.labels ?? inputs.resourceLabels);
      const labels = { ...record(defaults), ...own, "goog-pulumi-provisioned": "true" };
      return { effectiveLabels: labels, pulumiLabels: labels };
    },
    refuseConfiguration: (configuration) =>
      configuration.project === undefined || configuration.project === project
        ? undefined
        : `forbidden: the credentials may not use project ${String(configuration.project)}`,
    onUpdate: {},
  };
}
