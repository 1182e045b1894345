import { z } from "zod";
import { kuberay, nvidiaDevicePlugin, rayHistory, ray as rayVersions } from "../versions.ts";
import { count, cpus, flag, form, group, image, memory, serviceName, version } from "./fields.ts";

/** The location of a Helm chart. The repository is https://, oci:// or empty when `name` is a local path. */
export const chart = (defaults: { repository: string; name: string }) =>
  z
    .strictObject({
      repository: z
        .string()
        .default(defaults.repository)
        .describe("Chart repository: https://…, oci://… (`name` is appended), or empty for a local path"),
      name: z.string().default(defaults.name).describe("Chart name, or a local path when `repository` is empty"),
    })
    .prefault({});

interface WorkerDefaults {
  readonly name: string;
  readonly cpus: number;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly gpus: number;
  readonly maxReplicas: number;
}

const workers = (defaults: WorkerDefaults) =>
  z.strictObject({
    name: serviceName(30).default(defaults.name).describe("Name of the worker group"),
    cpus: cpus.default(defaults.cpus).describe("CPUs of one worker pod, as request and limit"),
    memory: memory.default(defaults.memory).describe("Memory of one worker pod, as request and limit"),
    ephemeralStorage: memory
      .default(defaults.ephemeralStorage)
      .describe(
        "Local disk of one worker pod, as request and limit: logs, installed packages, spilled objects. A pod that uses more is evicted",
      ),
    gpus: count(defaults.gpus === 0 ? 0 : 1, defaults.gpus === 0 ? 0 : 16)
      .default(defaults.gpus)
      .describe("GPUs of one worker pod"),
    minReplicas: count(0, 1000).default(0).describe("Minimum number of worker pods"),
    maxReplicas: count(1, 1000).default(defaults.maxReplicas).describe("Maximum number of worker pods"),
  });

const imageDigest = form(/^sha256:[0-9a-f]{64}$/, "a digest: sha256: and 64 hexadecimal digits");

const head = (defaults: Pick<WorkerDefaults, "cpus" | "memory" | "ephemeralStorage">) =>
  group("The head pod", {
    cpus: cpus.default(defaults.cpus).describe("CPUs of the head container; the autoscaler sidecar adds 1"),
    memory: memory.default(defaults.memory).describe("Memory of the head container; the autoscaler sidecar adds 1Gi"),
    ephemeralStorage: memory
      .default(defaults.ephemeralStorage)
      .describe("Local disk of the head container, as request and limit; the autoscaler sidecar adds 1Gi"),
  });

/** The pods of a RayCluster. */
export const rayPods = (headDefaults: Parameters<typeof head>[0]) => ({
  head: head(headDefaults),
  cpuWorkers: workers({ name: "cpu", cpus: 4, memory: "8Gi", ephemeralStorage: "12Gi", gpus: 0, maxReplicas: 10 })
    .prefault({})
    .describe("The worker group without GPU"),
  gpuWorkers: workers({ name: "gpu", cpus: 8, memory: "16Gi", ephemeralStorage: "40Gi", gpus: 1, maxReplicas: 4 })
    .prefault({})
    .describe("The worker group with GPU; absent without a GPU pool"),
});

export const raySchema = group("The Ray cluster", {
  create: flag(true, "Create a RayCluster; with false only the runtime's client creates clusters, on demand"),
  name: serviceName(46)
    .default("geneva")
    .describe("Name of the RayCluster; the cluster in the client's parameters is `<name>-client`"),
  version: version.default(rayVersions.default).describe("Ray version; must equal the client's exactly"),
  image: group("Image of the Ray pods", {
    repository: z.string().default(rayVersions.image).describe("Image repository, for mirrors"),
    python: z
      .string({ error: 'a version in quotes, such as "3.12"' })
      .refine((text) => rayVersions.pythons.includes(text), {
        error: `one of ${rayVersions.pythons.join(", ")}, for which Ray has images`,
      })
      .default(rayVersions.python)
      .describe("Python minor version; must equal the client's"),
    digest: imageDigest.optional().describe("Digest of the image of head and CPU workers, beside its tag"),
    gpuDigest: imageDigest.optional().describe("Digest of the image of GPU workers, beside its tag"),
    tag: z.string().optional().describe("Tag instead of `<version>-py<python>`; GPU workers use `<tag>-gpu`"),
  }),
  idleTimeoutSeconds: count(1, 86_400).default(60).describe("Seconds until an idle worker pod is removed"),
  auth: z
    .enum(["none", "token"])
    .default("none")
    .describe(
      "`token`: Ray requires a bearer token (Ray 2.52, KubeRay 1.5.1 or later); `none`: only the network policies protect Ray",
    ),
  logsToStderr: flag(
    false,
    "Ray's processes write to the output of their pods, which outlives them where the cluster collects it, and not to `/tmp/ray`: the dashboard then shows no logs",
  ),
  history: group("Ray's events and logs, kept when a RayCluster is gone", {
    enabled: flag(
      false,
      "KubeRay's history server, and its collector in the pods of this RayCluster and of clients' ones, with a bucket of their own; needs Ray 2.58; see docs/monitoring.md (cloud: aws, gcp)",
    ),
    days: count(1, 3650).default(30).describe("Days that they are kept"),
    memory: memory.default("2Gi").describe("Memory of the server"),
    collectorImage: image.default(rayHistory.collector).describe("Image of the collector, for mirrors"),
    serverImage: image.default(rayHistory.server).describe("Image of the server, for mirrors"),
  }),
  ...rayPods({ cpus: 4, memory: "8Gi", ephemeralStorage: "20Gi" }),
});

export const operatorSchema = (modes: readonly ["helm", ...("addon" | "existing")[]]) =>
  group("The KubeRay operator", {
    mode: z
      .enum(modes)
      .default("helm")
      .describe(
        "Who installs KubeRay: this stack with the Helm chart, the cloud's add-on, or another tool (`existing`)",
      ),
    version: version
      .optional()
      .describe(
        `KubeRay version: of the chart and CRDs with \`helm\` (default ${kuberay.default}), of the installed operator with \`existing\` (required), of GKE's operator with \`addon\` (required where no pairing is published)`,
      ),
    namespace: serviceName().default("kuberay-system").describe("Namespace of the operator"),
    chart: chart(kuberay.chart).describe("Chart location, for mirrors"),
    image: z.string().default(kuberay.image).describe("Operator image repository without tag, for mirrors"),
    crds: z
      .string()
      .default(kuberay.crds)
      .describe("Base URL or directory of `v<version>/ray-operator/config/crd/bases/*.yaml`"),
  });

export const devicePluginSchema = group("NVIDIA's device plugin", {
  mode: z
    .enum(["install", "existing"])
    .default("install")
    .describe("Install NVIDIA's device plugin, or use an existing one"),
  version: version.default(nvidiaDevicePlugin.default).describe("Chart and image version"),
  chart: chart(nvidiaDevicePlugin.chart).describe("Chart location, for mirrors"),
  image: z.string().default(nvidiaDevicePlugin.image).describe("Image repository without tag, for mirrors"),
});
