import { checkBucketName } from "../../config/checks/bucket-name.ts";
import { checkProtection } from "../../config/checks/created-cluster.ts";
import { checkDockerHub } from "../../config/checks/docker-hub.ts";
import { checkRegion } from "../../config/checks/regions.ts";
import { checkKubernetes } from "../../config/checks/versions.ts";
import type { CheckContext } from "../../config/parse.ts";
import { errorIf, type Finding } from "../../config/report.ts";
import { internalNetworks } from "../../config/table-service.ts";
import { overlappingPairs, parseCidr, size } from "../../model/cidr.ts";
import { maximumNodes } from "../../model/cluster.ts";
import { historyBucket } from "../../model/history.ts";
import { compareVersions } from "../../model/semver.ts";
import { gke, gkeRayAddon } from "../../versions.ts";
import { acceleratorOf, attachableGpus, gcpMachines, hyperdiskOnly } from "./nodes/machines.ts";
import { fallbacksOf, type PoolSettings } from "./nodes/settings.ts";
import { gcpRegions } from "./regions.ts";
import type { GcpConfig } from "./schema.ts";

/** What Google Cloud would refuse, some of it only after minutes. */
export function check(config: GcpConfig, { today, secrets }: CheckContext): Finding[] {
  const { kubernetesVersion, operator, tags } = config;
  const accountIds = [
    config.runtimeAccountId,
    config.tableServiceAccountId,
    config.maintenanceAccountId,
    config.functionsAccountId,
    config.functionsRunnerAccountId,
    config.historyAccountId,
    config.client.accountId,
  ];
  const paired = operator.mode === "addon" && kubernetesVersion in gkeRayAddon.pairings;
  return [
    ...checkKubernetes(kubernetesVersion, gke, today, paired),
    ...(operator.mode === "addon" ? checkAddon(config) : []),
    ...checkNetwork(config),
    ...errorIf(
      config.network.mode === "create" && !config.endpoint.dns && config.endpoint.publicCidrs.length === 0,
      "endpoint",
      "the Kubernetes API is reachable only from the network that this stack creates, so the first `up` cannot reach it",
      "write endpoint.dns: true, which IAM protects, or the networks that you deploy from in endpoint.publicCidrs",
    ),
    ...checkInternalTls(config),
    ...checkFirewall(config),
    ...checkProtection(config),
    ...checkMachines(config),
    ...checkRegion(config.region, gcpRegions),
    ...checkBucketName(config.bucket.name, reservedBucketNames),
    ...errorIf(
      config.ray.history.enabled && historyBucket(config.bucket.name).length > 63,
      "ray.history.enabled",
      `the bucket ${historyBucket(config.bucket.name)} would have a name of more than 63 characters`,
      `write a bucket.name of at most ${63 - historyBucket("").length} characters, or enabled: false`,
    ),
    ...checkKey(config),
    ...checkDualRegion(config),
    ...checkDockerHub(config.dockerHub, secrets, { required: false }),
    ...Object.entries(tags).flatMap(([key, value]) =>
      errorIf(
        !/^[a-z0-9_-]{0,63}$/.test(value) || !/^[a-z][a-z0-9_-]{0,62}$/.test(key),
        [`tags.${key}`, value],
        "Google Cloud does not accept this key or value in a label",
        "use at most 63 lower-case letters, digits, - and _, and a letter at the start of the key",
      ),
    ),
    ...errorIf(
      new Set(accountIds).size < accountIds.length,
      "runtimeAccountId",
      "two of the runtime, the table service, the maintenance, Functions, the history server and the client would share an identity",
      "write different ids in runtimeAccountId, tableServiceAccountId, maintenanceAccountId, functionsAccountId, functionsRunnerAccountId, historyAccountId and client.accountId",
    ),
  ];
}

/** Cloud Storage accepts keys of the bucket's own location. */
function checkKey({ bucket: { kmsKeyName, dualRegion }, region }: GcpConfig): Finding[] {
  const location = kmsKeyName?.split("/")[3];
  if (dualRegion !== undefined)
    return errorIf(
      location !== undefined && gcpRegions.includes(location),
      "bucket.kmsKeyName",
      `the key is in ${location} alone, and the bucket in two regions`,
      `write a key of the multi-region of ${dualRegion.location}`,
    );
  return errorIf(
    location !== undefined && location !== region,
    "bucket.kmsKeyName",
    `the key is in ${location}, and the bucket in ${region}`,
    `write a key of ${region}`,
  );
}

function checkDualRegion({ bucket: { create, dualRegion }, region }: GcpConfig): Finding[] {
  if (dualRegion === undefined) return [];
  return [
    ...errorIf(
      !create,
      "bucket.dualRegion",
      "the stack does not change an existing bucket",
      "leave it out: the place of a bucket is decided when it is made",
    ),
    ...errorIf(
      dualRegion.secondRegion === region,
      "bucket.dualRegion.secondRegion",
      "the bucket is in this region anyway",
      "write another region of the same area",
    ),
    ...checkRegion(dualRegion.secondRegion, gcpRegions, "bucket.dualRegion.secondRegion"),
  ];
}

function checkAddon({ kubernetesVersion, operator: { version } }: GcpConfig): Finding[] {
  const paired = gkeRayAddon.pairings[kubernetesVersion];
  const pairs = Object.entries(gkeRayAddon.pairings).map(([minor, operator]) => `${minor} with ${operator}`);
  const minor = version?.split(".").slice(0, 2).join(".");
  return [
    ...errorIf(
      paired === undefined && version === undefined,
      "operator.version",
      `the operator version of GKE ${kubernetesVersion}'s add-on is not published (only ${pairs.join(", ")})`,
      "write operator.mode: helm, or the version that the add-on of your clusters installs",
    ),
    ...errorIf(
      paired !== undefined && minor !== undefined && compareVersions(minor, paired) !== 0,
      "operator.version",
      `GKE ${kubernetesVersion}'s add-on installs ${paired}`,
      `leave it out, or write "${paired}"`,
    ),
  ];
}

/** The network's ranges by key. */
export const rangesOf = (network: GcpConfig["network"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(network).flatMap(([key, value]) =>
      typeof value === "string" && key.endsWith("Cidr") ? [[`network.${key}`, value]] : [],
    ),
  );

function checkNetwork({ network, nodes }: GcpConfig): Finding[] {
  const ranges = rangesOf(network);
  return [
    ...errorIf(
      parseCidr(network.controlPlaneCidr)?.length !== 28,
      "network.controlPlaneCidr",
      "GKE accepts only a /28",
      "write a /28",
    ),
    ...(network.mode === "create" ? checkCapacity(network, nodes) : []),
    ...overlappingPairs(ranges).flatMap(([a, b]) =>
      errorIf(true, b, `it overlaps ${a}`, "write networks that do not overlap"),
    ),
  ];
}

/** Google's minimum of a proxy-only subnetwork. */
const proxyRangeLength = 26;

/** TLS inside the network, and who reaches it from others. */
function checkInternalTls({ network, tableService: { enabled, exposure } }: GcpConfig): Finding[] {
  if (!enabled || exposure.mode !== "internal") return [];
  const { allowedCidrs, privateServiceConnect: connect } = exposure;
  const key = "tableService.exposure";
  const names = ["host", "certificateName", "proxyCidr"] as const;
  const missing = names.filter((name) => exposure[name] === undefined);
  const created = network.mode === "create";
  const ranges: Record<string, string> = {
    ...rangesOf(network),
    ...(exposure.proxyCidr === undefined ? {} : { [`${key}.proxyCidr`]: exposure.proxyCidr }),
    ...(connect?.natCidr === undefined ? {} : { [`${key}.privateServiceConnect.natCidr`]: connect.natCidr }),
  };
  return [
    ...errorIf(
      missing.length > 0 && (missing.length < names.length || connect !== undefined),
      `${key}.${missing[0]}`,
      `TLS inside the network needs host, certificateName and proxyCidr${connect === undefined ? "" : ", and Private Service Connect needs TLS"}`,
      "write all three, or none for a load balancer without TLS",
    ),
    ...errorIf(
      missing.length === 0 && String(allowedCidrs) !== String(internalNetworks),
      `${key}.allowedCidrs`,
      "an internal Application Load Balancer of GKE does not limit callers by their address",
      "leave it out: every caller in the network reaches the load balancer, and needs a token",
    ),
    ...errorIf(
      exposure.proxyCidr !== undefined && (parseCidr(exposure.proxyCidr)?.length ?? 0) > proxyRangeLength,
      `${key}.proxyCidr`,
      `Google accepts a /${proxyRangeLength} or larger`,
      "write a /23, which Google recommends",
    ),
    ...errorIf(
      connect !== undefined && connect[created ? "natCidr" : "natSubnetwork"] === undefined,
      `${key}.privateServiceConnect.${created ? "natCidr" : "natSubnetwork"}`,
      "callers from other networks get addresses of a subnetwork for Private Service Connect",
      created
        ? "write a free network such as a /24"
        : "write the self link of such a subnetwork of the adopted network",
    ),
    ...errorIf(
      connect !== undefined && connect[created ? "natSubnetwork" : "natCidr"] !== undefined,
      `${key}.privateServiceConnect.${created ? "natSubnetwork" : "natCidr"}`,
      created
        ? "the stack creates the network, and the subnetwork"
        : "the stack makes no subnetwork in an adopted network",
      created ? "leave it out, and write natCidr" : "leave it out, and write natSubnetwork",
    ),
    ...overlappingPairs(ranges)
      .filter(([, b]) => b.startsWith(key))
      .flatMap(([a, b]) => errorIf(true, b, `it overlaps ${a}`, "write networks that do not overlap")),
  ];
}

/** A backend has one policy of Cloud Armor. */
function checkFirewall({ tableService: { enabled, exposure } }: GcpConfig): Finding[] {
  if (!enabled || exposure.mode !== "public" || exposure.waf?.securityPolicy === undefined) return [];
  const { allowedCidrs, waf } = exposure;
  return [
    ...errorIf(
      !allowedCidrs.includes("0.0.0.0/0"),
      "tableService.exposure.allowedCidrs",
      "a Cloud Armor policy of your own decides who can connect",
      "leave it out, or leave out waf.securityPolicy",
    ),
    ...errorIf(
      waf.requestsPerMinute !== undefined,
      "tableService.exposure.waf.requestsPerMinute",
      "a Cloud Armor policy of your own has its own rules",
      "leave it out, or leave out waf.securityPolicy",
    ),
  ];
}

/** Google keeps four addresses of a subnetwork. */
const reservedAddresses = 4;
/** GKE gives each node a /24 of the pods' range, with its default of 110 pods on a node. */
const podRangeLength = 24;

/** The ranges hold every node of the pools' maxima. A range of pods cannot be changed later. */
function checkCapacity(
  { nodeCidr, podCidr }: { readonly nodeCidr: string; readonly podCidr: string },
  nodes: GcpConfig["nodes"],
): Finding[] {
  const most = maximumNodes({ nodes });
  const capacities = {
    nodeCidr: { range: nodeCidr, nodes: size(parseCidr(nodeCidr)?.length ?? 0) - reservedAddresses },
    podCidr: { range: podCidr, nodes: Math.floor(2 ** (podRangeLength - (parseCidr(podCidr)?.length ?? 0))) },
  };
  return Object.entries(capacities).flatMap(([key, capacity]) =>
    errorIf(
      capacity.nodes < most,
      `network.${key}`,
      `it holds ${Math.max(capacity.nodes, 0)} nodes, and the pools have up to ${most}`,
      "write a larger network, or lower the maxima under nodes",
    ),
  );
}

function checkMachines({ nodes, region }: GcpConfig): Finding[] {
  const { gpu, ...others } = nodes;
  const pools = Object.entries<PoolSettings>({ ...others, ...(gpu.enabled ? { gpu } : {}) }).flatMap(([key, pool]) => [
    { path: `nodes.${key}`, pool },
    ...fallbacksOf(pool).map((one, index) => ({ path: `nodes.${key}.fallback.${index}`, pool: one })),
  ]);
  return [
    ...pools
      .filter(({ path }) => path.startsWith("nodes.gpu"))
      .flatMap(({ path, pool }) => checkAccelerator(path, pool)),
    ...pools.flatMap(({ path, pool }) => {
      const { machineType, size, diskType, zones, flexStart } = pool;
      const arm = (gcpMachines.find(machineType) ?? size)?.architecture === "arm64";
      const foreign = (zones ?? []).filter((zone) => !zone.startsWith(`${region}-`));
      return [
        // Source: cloud.google.com/kubernetes-engine/docs/concepts/arm-on-gke
        ...errorIf(
          arm,
          [`${path}.machineType`, machineType],
          "GKE taints Arm nodes with kubernetes.io/arch=arm64:NoSchedule, which no pod of the stack and of the client tolerates",
          "write an x86 type such as n2-standard-8",
        ),
        ...errorIf(
          !arm && hyperdiskOnly.test(machineType) && !diskType.startsWith("hyperdisk-"),
          [`${path}.diskType`, diskType],
          `${machineType} has no persistent disks`,
          'write "hyperdisk-balanced"',
        ),
        ...errorIf(
          flexStart !== undefined && (pool.spot || pool.min > 0),
          `${path}.flexStart`,
          "nodes of flex-start are no spot nodes, and come when a pod waits for one",
          `write ${path}.${pool.spot ? "spot: false" : "min: 0"}`,
        ),
        ...errorIf(
          foreign.length > 0,
          [`${path}.zones`, zones],
          `${foreign.join(", ")} is not in ${region}`,
          `write zones of the region, such as ${region}-b`,
        ),
      ];
    }),
  ];
}

/** The GPUs are the machine's own, or such as attach to N1 machines. */
function checkAccelerator(path: string, { machineType, size, accelerator }: PoolSettings): Finding[] {
  const key = `${path}.accelerator`;
  const known = gcpMachines.find(machineType);
  const own = acceleratorOf(machineType);
  if (accelerator === undefined)
    return errorIf(
      (known ?? size ?? { gpus: 0 }).gpus > 0 && own === undefined,
      key,
      `the GPU of ${machineType} is unknown, and GKE requires its name`,
      "write its type and count",
    );
  if (own !== undefined)
    return errorIf(
      accelerator.type !== own.type || accelerator.count !== own.count,
      key,
      `${machineType} has ${own.count} ${own.type}`,
      "leave the key out",
    );
  if (/^n1-/.test(machineType))
    return errorIf(
      !attachableGpus[accelerator.type]?.includes(accelerator.count),
      key,
      `${machineType} cannot have ${accelerator.count} ${accelerator.type}`,
      `write one of ${Object.entries(attachableGpus)
        .map(([type, counts]) => `${type} (${counts.join(", ")})`)
        .join(", ")}`,
    );
  return errorIf(
    known !== undefined,
    key,
    `no GPU attaches to ${machineType}`,
    "write a type with GPUs such as g2-standard-12 and leave the key out, or an N1 type",
  );
}

/** Source: cloud.google.com/storage/docs/buckets#naming, which also forbids spellings close to google. */
export const reservedBucketNames = [/^goog/, /g[o0][o0]g[l1i]e/];
