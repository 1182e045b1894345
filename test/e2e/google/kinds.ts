/**
 * What Google adds to a resource and what it refuses, for the kinds that the stacks use, from Google's documents. What is not
 * here is kept as it is sent.
 */

import { record, text, valuesAt } from "../providers/cloud.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Held {
  readonly kind: string;
  /** Address without host and version, such as `projects/p/global/networks/n`. */
  readonly path: string;
  readonly body: Fields;
}

/** What exists. */
export interface World {
  readonly project: string;
  /** Host of the API server of every cluster, and its certificate authority in base64. */
  readonly apiServer: { readonly host: string; readonly ca: string };
  of(kind: string): readonly Held[];
  /** By any form of its address. */
  at(address: unknown): Held | undefined;
  /** Roles of a member in the project. */
  rolesOf(member: string): readonly string[];
}

export interface Kind {
  /** What the documents say in words of a name; that of Compute Engine is in its discovery document. */
  readonly name?: RegExp;
  /** Fields that are another after each change. */
  readonly stamps?: readonly string[];
  /** Fields that Google adds where they are not sent. */
  readonly adds?: (held: Held, world: World) => Fields;
  /** It is part of the resource that its address begins with, and whether that can then not be deleted. */
  readonly inside?: "uses" | "holds";
  /** Fields that Google writes in another way than they are sent. */
  readonly rewrites?: (body: Fields) => Fields;
  /** Fields that name other resources, and whether those can then not be deleted. */
  readonly refers?: Readonly<Record<string, "uses" | "holds">>;
  readonly refuses?: readonly ((held: Held, world: World, before: Held | undefined) => string | undefined)[];
  /** Why what was begun fails. */
  readonly fails?: (held: Held, world: World) => string | undefined;
}

/** The part of an address that does not depend on host and version. */
export const pathOf = (address: unknown): string =>
  /(?:^|\/)((?:projects|b)\/.*)$/.exec(text(address))?.[1] ?? text(address);
const last = (path: string): string => path.split("/").at(-1) ?? "";
export const parent = (path: string, levels = 2): string => path.split("/").slice(0, -levels).join("/");
const part = (path: string, collection: string): string =>
  new RegExp(`(?:^|/)${collection}/([^/]+)`).exec(path)?.[1] ?? "";

type Range = readonly [first: number, last: number];

function rangeOf(cidr: string): Range {
  const [address = "", bits = "32"] = cidr.split("/");
  const first = address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return [first, first + 2 ** (32 - Number(bits)) - 1];
}

const overlap = (one: string, other: string): boolean => {
  const [[a, b], [c, d]] = [rangeOf(one), rangeOf(other)];
  return a <= d && c <= b;
};

const within = (inner: string, outer: string): boolean => {
  const [[a, b], [c, d]] = [rangeOf(inner), rangeOf(outer)];
  return c <= a && b <= d;
};

const texts = (body: Fields, path: string): string[] => valuesAt(body, path).map(text);
const rangesOf = ({ body }: Held): string[] => [
  ...texts(body, "ipCidrRange"),
  ...texts(body, "secondaryIpRanges.ipCidrRange"),
];
const controlPlane = ({ body }: Held): string[] => texts(body, "privateClusterConfig.masterIpv4CidrBlock");
const sameNetwork = (one: Held, other: Held): boolean => pathOf(one.body.network) === pathOf(other.body.network);

/** Source: cloud.google.com/vpc/docs/subnets#valid-ranges */
const rangesAreFree: NonNullable<Kind["refuses"]>[number] = (held, world) => {
  const own = rangesOf(held);
  for (const [at, cidr] of own.entries()) {
    const [first] = rangeOf(cidr);
    const size = 2 ** (32 - Number(cidr.split("/")[1]));
    if (first % size !== 0) return `Invalid IPCidrRange: ${cidr} has bits outside of its prefix.`;
    if (own.slice(at + 1).some((other) => overlap(cidr, other)))
      return `Invalid IPCidrRange: ${cidr} conflicts with another range of the subnetwork.`;
    for (const other of world.of("compute.subnetworks"))
      if (other.path !== held.path && sameNetwork(held, other) && rangesOf(other).some((one) => overlap(cidr, one)))
        return `Invalid IPCidrRange: ${cidr} conflicts with existing subnetwork '${last(other.path)}'.`;
    for (const other of world.of("container.clusters"))
      if (sameNetwork(held, other) && controlPlane(other).some((one) => overlap(cidr, one)))
        return `Invalid IPCidrRange: ${cidr} conflicts with the control plane of ${last(other.path)}.`;
  }
  return undefined;
};

/** Source: cloud.google.com/vpc/docs/create-modify-vpc-networks#expand-subnet and #subnet-remove-secondary */
const rangesInUseStay: NonNullable<Kind["refuses"]>[number] = (held, world, before) => {
  if (before === undefined) return undefined;
  if (!within(text(before.body.ipCidrRange), text(held.body.ipCidrRange)))
    return `Invalid IPCidrRange: ${text(held.body.ipCidrRange)} must contain ${text(before.body.ipCidrRange)}.`;
  const rangeNames = texts(held.body, "secondaryIpRanges.rangeName");
  for (const user of world.of("container.clusters"))
    for (const field of ["clusterSecondaryRangeName", "servicesSecondaryRangeName"])
      for (const name of texts(user.body, `ipAllocationPolicy.${field}`))
        if (pathOf(user.body.subnetwork) === held.path && !rangeNames.includes(name))
          return `The secondary range '${name}' is already being used by '${user.path}'`;
  return undefined;
};

/** Source: the description of `PrivateClusterConfig.masterIpv4CidrBlock`, and cloud.google.com/kubernetes-engine/docs/how-to/private-clusters */
const controlPlaneFits: NonNullable<Kind["refuses"]>[number] = (held, world) => {
  for (const cidr of controlPlane(held)) {
    if (!cidr.endsWith("/28")) return `Invalid master CIDR block ${cidr}: must be a /28.`;
    const taken = [
      ...world.of("compute.subnetworks").map((other) => ({ other, ranges: rangesOf(other) })),
      ...world.of("container.clusters").map((other) => ({ other, ranges: controlPlane(other) })),
    ].find(
      ({ other, ranges }) =>
        other.path !== held.path && sameNetwork(held, other) && ranges.some((one) => overlap(cidr, one)),
    );
    if (taken !== undefined) return `Requested CIDR ${cidr} for master conflicts with '${last(taken.other.path)}'.`;
  }
  return undefined;
};

/** Source: cloud.google.com/kubernetes-engine/docs/how-to/alias-ips */
const rangesOfPodsExist: NonNullable<Kind["refuses"]>[number] = ({ body }, world) => {
  const known = texts(world.at(body.subnetwork)?.body ?? {}, "secondaryIpRanges.rangeName");
  const missing = ["clusterSecondaryRangeName", "servicesSecondaryRangeName"]
    .flatMap((field) => texts(body, `ipAllocationPolicy.${field}`))
    .find((name) => !known.includes(name));
  return missing === undefined ? undefined : `Services or pods range "${missing}" does not exist in the subnetwork.`;
};

/** Source: the description of `WorkloadIdentityConfig.workloadPool` */
const ownWorkloadPool: NonNullable<Kind["refuses"]>[number] = ({ body }, { project }) => {
  const [pool] = texts(body, "workloadIdentityConfig.workloadPool");
  return pool === undefined || pool === `${project}.svc.id.goog`
    ? undefined
    : `Invalid value for workload_pool: must be ${project}.svc.id.goog.`;
};

const accountExists =
  (path: string): NonNullable<Kind["refuses"]>[number] =>
  ({ body }, world) => {
    const email = texts(body, path).find((one) => one !== "default");
    return email === undefined || world.at(`projects/${world.project}/serviceAccounts/${email}`) !== undefined
      ? undefined
      : `Service account "${email}" does not exist.`;
  };

/** Source: cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler */
const boundsAreOfOneKind: NonNullable<Kind["refuses"]>[number] = ({ body }) => {
  const { minNodeCount, maxNodeCount, totalMinNodeCount, totalMaxNodeCount } = record(body.autoscaling);
  // Zero is sent for those that are not meant.
  const [each, total] = [maxNodeCount || minNodeCount, totalMaxNodeCount || totalMinNodeCount];
  if (each && total) return "Bounds of a pool are for each zone or in total, not both.";
  return Number(totalMinNodeCount ?? 0) > Number(totalMaxNodeCount ?? Number.POSITIVE_INFINITY)
    ? "max_node_count must be >= min_node_count"
    : undefined;
};

/**
 * Nodes whose account has no role cannot report metrics or pull images, and without a way to the internet private nodes reach
 * no registry. Source: cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster#use_least_privilege_sa
 */
const nodesRegister =
  (account: string): NonNullable<Kind["fails"]> =>
  ({ kind, path, body }, world) => {
    const roles = world.rolesOf(`serviceAccount:${texts(body, account)[0] ?? ""}`);
    if (!roles.includes("roles/container.defaultNodeServiceAccount"))
      return "All cluster resources were brought up, but: nodes are unhealthy: their account lacks roles/container.defaultNodeServiceAccount.";
    const cluster = kind === "container.clusters" ? body : world.at(parent(path))?.body;
    const subnetwork = pathOf(cluster?.subnetwork);
    const covered = world
      .of("compute.routers")
      .some((router) => texts(router.body, "nats.subnetworks.name").map(pathOf).includes(subnetwork));
    return covered ? undefined : "All cluster resources were brought up, but: nodes are unhealthy: no Cloud NAT.";
  };

const compute = "https://www.googleapis.com/compute/v1";
const zonesOf = (location: string): string[] => ["a", "b", "c"].map((zone) => `${location}-${zone}`);
const now = (): string => new Date().toISOString();

export const kinds: Readonly<Record<string, Kind>> = {
  "compute.subnetworks": {
    stamps: ["fingerprint"],
    refers: { network: "holds" },
    refuses: [rangesAreFree, rangesInUseStay],
    adds: () => ({
      purpose: "PRIVATE",
      stackType: "IPV4_ONLY",
      privateIpv6GoogleAccess: "DISABLE_GOOGLE_ACCESS",
    }),
  },
  "compute.routers": { refers: { network: "holds", "nats.subnetworks.name": "holds" } },
  "container.clusters": {
    name: /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/,
    refers: { network: "holds", subnetwork: "holds" },
    refuses: [controlPlaneFits, rangesOfPodsExist, ownWorkloadPool, accountExists("nodeConfig.serviceAccount")],
    // Its first pool, which is removed at once, has to come up as well.
    fails: nodesRegister("nodeConfig.serviceAccount"),
    adds: clusterAdds,
  },
  "container.nodePools": {
    inside: "uses",
    name: /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/,
    refuses: [accountExists("config.serviceAccount"), boundsAreOfOneKind],
    fails: nodesRegister("config.serviceAccount"),
    adds: ({ path }, world) => {
      const cluster = world.at(parent(path))?.body ?? {};
      return {
        status: "RUNNING",
        version: cluster.currentMasterVersion,
        locations: cluster.locations,
        podIpv4CidrSize: 24,
        maxPodsConstraint: { maxPodsPerNode: "110" },
        networkConfig: { podRange: texts(cluster, "ipAllocationPolicy.clusterSecondaryRangeName")[0] },
        upgradeSettings: { strategy: "SURGE" },
      };
    },
  },
  "iam.serviceAccounts": {
    name: /^[a-z][-a-z0-9]{4,28}[a-z0-9]@/,
    stamps: ["etag"],
    adds: ({ path }, { project }) => ({
      name: path,
      email: last(path),
      projectId: project,
      uniqueId: String(10 ** 17 + path.length),
    }),
  },
  "storage.buckets": {
    // Source: cloud.google.com/storage/docs/buckets#naming
    name: /^(?!goog)(?!.*google)[a-z0-9][-a-z0-9_.]{1,61}[a-z0-9]$/,
    rewrites: ({ location }) => ({ location: text(location).toUpperCase() }),
    adds: ({ path }) => ({
      id: last(path),
      kind: "storage#bucket",
      metageneration: "1",
      timeCreated: now(),
      locationType: "region",
      softDeletePolicy: { retentionDurationSeconds: "604800", effectiveTime: now() },
    }),
  },
  "storage.managedFolders": {
    inside: "holds",
    adds: ({ path }) => ({ bucket: part(path, "b"), kind: "storage#managedFolder", metageneration: "1" }),
  },
  "artifactregistry.repositories": {
    // Source: cloud.google.com/artifact-registry/docs/repositories/create-repos
    name: /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/,
    adds: ({ path }) => ({ name: path, mode: "STANDARD_REPOSITORY", createTime: now(), updateTime: now() }),
  },
};

/** What every resource of Compute Engine has. */
export function computeAdds({ kind, path }: Held): Fields {
  const region = part(path, "regions");
  const type = kind.replace("compute.", "").replace(/ies$/, "y").replace(/s$/, "");
  return {
    kind: `compute#${type}`,
    id: String(Date.now()),
    name: last(path),
    selfLink: `${compute}/${path}`,
    creationTimestamp: now(),
    ...(region === "" ? {} : { region: `${compute}/projects/${part(path, "projects")}/regions/${region}` }),
  };
}

function clusterAdds({ path, body }: Held, { apiServer }: World): Fields {
  const location = part(path, "locations");
  const version = `${text(body.initialClusterVersion)}-gke.1000`;
  return {
    status: "RUNNING",
    location,
    locations: zonesOf(location),
    selfLink: `https://container.googleapis.com/v1/${path}`,
    currentMasterVersion: version,
    currentNodeVersion: version,
    endpoint: apiServer.host,
    masterAuth: { clusterCaCertificate: apiServer.ca },
    legacyAbac: {},
    networkConfig: { network: pathOf(body.network), subnetwork: pathOf(body.subnetwork) },
    labelFingerprint: "a",
    controlPlaneEndpointsConfig: {
      dnsEndpointConfig: { endpoint: apiServer.host },
      ipEndpointsConfig: { enabled: true, enablePublicEndpoint: true },
    },
    databaseEncryption: { currentState: "CURRENT_STATE_DECRYPTED" },
  };
}
