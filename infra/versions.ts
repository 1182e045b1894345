/**
 * The versions that a deployment pins and the ranges that it supports, with their sources. Charts and images are
 * defaults: the stack's configuration can select a mirror or another version.
 */

/** Kubernetes minors that a provider still supports, with the last day of its standard support (ISO date). */
export interface KubernetesRange {
  readonly default: string;
  readonly supported: Readonly<Record<string, { readonly standardSupportEnds: string }>>;
  readonly source: string;
}

export const eks: KubernetesRange = {
  default: "1.35",
  supported: {
    "1.34": { standardSupportEnds: "2026-12-02" },
    "1.35": { standardSupportEnds: "2027-03-27" },
    "1.36": { standardSupportEnds: "2027-08-02" },
  },
  source: "docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, as of 2026-11-20",
};

export const gke: KubernetesRange = {
  default: "1.35",
  supported: {
    "1.34": { standardSupportEnds: "2026-10-01" },
    "1.35": { standardSupportEnds: "2027-04-11" },
    "1.36": { standardSupportEnds: "2027-08-09" },
  },
  source: "cloud.google.com/kubernetes-engine/docs/release-schedule, as of 2026-11-20",
};

/** The operator version of GKE's Ray add-on, by GKE minor; no newer pairing is published. */
export const gkeRayAddon = {
  pairings: { "1.30": "1.1", "1.31": "1.2" } as Readonly<Record<string, string>>,
  minimumGkeVersion: "1.30.0-gke.1747000",
  source: "docs.lancedb.com/geneva/deployment and cloud.google.com/kubernetes-engine/docs/add-on/ray-on-gke",
} as const;

export const kuberay = {
  default: "1.7.1",
  /** The runtime's documented minimum; an older version is an error. */
  minimum: "1.1.0",
  /** First version that uses `autoscalerOptions.version`, which the runtime's client sets (kuberay#3794). */
  recommended: "1.4.0",
  chart: { repository: "https://ray-project.github.io/kuberay-helm/", name: "kuberay-operator" },
  image: "quay.io/kuberay/operator",
  crds: "https://raw.githubusercontent.com/ray-project/kuberay",
  source: "github.com/ray-project/kuberay/releases, 1.7.1 of 2026-09-18",
} as const;

export const ray = {
  default: "2.56.0",
  /** The runtime's documented minimum; an older version is an error. */
  minimum: "2.43.0",
  /** First version with the fix of CVE-2026-27482 (unauthenticated job submission). */
  recommended: "2.54.0",
  python: "3.12",
  /** Python minors that Ray's images have. Source: the tags of rayproject/ray; ray's wheels on PyPI have them too. */
  pythons: ["3.10", "3.11", "3.12", "3.13"] as readonly string[],
  image: "rayproject/ray",
  source:
    "github.com/ray-project/ray/releases; 2.56.0 is what github.com/lancedb/geneva-examples locks, and its image is published for Python 3.12",
} as const;

/** KubeRay's history server, beta: images of KubeRay 1.7.1, and the Ray that its guide requires. */
export const rayHistory = {
  minimumRay: "2.58.0",
  collector: "quay.io/kuberay/collector:v1.7.1",
  server: "quay.io/kuberay/historyserver:v1.7.1",
  source: "docs.ray.io, Ray History Server with KubeRay; github.com/ray-project/kuberay/releases, 1.7.0 of 2026-08-20",
} as const;

/**
 * What a user installs to run jobs on the cluster, beside `ray.version`. The three agree: geneva 0.17 needs Ray 2.54,
 * lancedb 0.37.1 and pylance 10 or later and warns with lancedb 0.40; lancedb 0.39.0 contains Lance 12.0.0, as the table
 * service's @lancedb/lancedb of the same version does, so client, Ray pods and table service write one format.
 */
export const client = {
  geneva: "0.17.0",
  lancedb: "0.39.0",
  pylance: "12.0.0",
  pyarrow: "26.0.1",
  /** Runs the maintenance of large tables on Ray, with the same pylance. */
  lanceRay: "0.5.0",
  /** First Ray version that this geneva accepts. */
  minimumRay: "2.54.0",
  /** Python minor versions that this geneva accepts. */
  pythons: ["3.10", "3.11", "3.12", "3.13"],
  source: "the package metadata of geneva 0.17.0 on pypi.org; `npm run test:geneva` resolves, installs and calls it",
} as const;

export const nvidiaDevicePlugin = {
  default: "0.20.1",
  chart: { repository: "https://nvidia.github.io/k8s-device-plugin", name: "nvidia-device-plugin" },
  image: "nvcr.io/nvidia/k8s-device-plugin",
  source: "github.com/NVIDIA/k8s-device-plugin/releases, v0.20.1 of 2026-09-22",
} as const;

/** github.com/prometheus-community/helm-charts, 88.5.3 of 2026-08-22, and the operator that the chart has. */
export const prometheusStack = {
  version: "88.5.3",
  operatorVersion: "0.93.1",
  chart: { repository: "https://prometheus-community.github.io/helm-charts", name: "kube-prometheus-stack" },
  crds: "https://raw.githubusercontent.com/prometheus-operator/prometheus-operator",
} as const;

/** The version that kube-prometheus-stack has, too. */
export const kubeStateMetrics = {
  version: "8.4.0",
  chart: { repository: "https://prometheus-community.github.io/helm-charts", name: "kube-state-metrics" },
  registry: "registry.k8s.io",
} as const;

/** github.com/opencost/opencost-helm-chart, as of 2026-04. */
export const openCost = {
  version: "2.5.17",
  chart: { repository: "https://opencost.github.io/opencost-helm-chart", name: "opencost" },
} as const;

/** github.com/kubernetes-sigs/kueue/releases, v0.19.2 of 2026-08; the chart has the controller's version. */
export const kueue = {
  version: "0.19.2",
  chart: { repository: "oci://registry.k8s.io/kueue/charts", name: "kueue" },
  image: "registry.k8s.io/kueue/kueue",
} as const;

/** github.com/aws/eks-charts, as of 2026-08; the chart pins the image's tag. */
export const fluentBit = {
  version: "0.2.0",
  chart: { repository: "https://aws.github.io/eks-charts", name: "aws-for-fluent-bit" },
  image: "public.ecr.aws/aws-observability/aws-for-fluent-bit",
} as const;

/** github.com/NVIDIA/dcgm-exporter, chart 4.8.2 of 2026-05. */
export const dcgmExporter = {
  version: "4.8.2",
  chart: { repository: "https://nvidia.github.io/dcgm-exporter/helm-charts", name: "dcgm-exporter" },
  image: "nvcr.io/nvidia/k8s/dcgm-exporter",
} as const;

export interface EksAddons {
  readonly vpcCni: string;
  readonly kubeProxy: string;
  readonly coredns: string;
  readonly ebsCsi: string;
  readonly metricsServer: string;
}

/** EKS add-on versions by Kubernetes minor; `aws eks describe-addon-versions --kubernetes-version <minor>` lists them. */
export const eksAddons: Readonly<Record<string, EksAddons>> = {
  "1.34": {
    vpcCni: "v1.22.4-eksbuild.3",
    kubeProxy: "v1.34.6-eksbuild.21",
    coredns: "v1.12.4-eksbuild.29",
    ebsCsi: "v1.63.1-eksbuild.1",
    metricsServer: "v0.9.0-eksbuild.5",
  },
  "1.35": {
    vpcCni: "v1.22.4-eksbuild.3",
    kubeProxy: "v1.35.3-eksbuild.21",
    coredns: "v1.13.2-eksbuild.21",
    ebsCsi: "v1.63.1-eksbuild.1",
    metricsServer: "v0.9.0-eksbuild.5",
  },
  "1.36": {
    vpcCni: "v1.22.4-eksbuild.3",
    kubeProxy: "v1.36.0-eksbuild.21",
    coredns: "v1.14.3-eksbuild.16",
    ebsCsi: "v1.63.1-eksbuild.1",
    metricsServer: "v0.9.0-eksbuild.5",
  },
};

/** The cluster autoscaler; its minor must be the cluster's (table of versions in its README). */
export const clusterAutoscaler = {
  chartVersion: "9.59.0",
  chart: { repository: "https://kubernetes.github.io/autoscaler", name: "cluster-autoscaler" },
  image: "registry.k8s.io/autoscaling/cluster-autoscaler",
  tags: { "1.34": "v1.34.1", "1.35": "v1.35.2", "1.36": "v1.36.1" } as Readonly<Record<string, string>>,
} as const;

/** github.com/kubernetes-sigs/aws-load-balancer-controller/releases; the chart has the controller's version. */
export const loadBalancerController = {
  version: "3.5.0",
  chart: { repository: "https://aws.github.io/eks-charts", name: "aws-load-balancer-controller" },
  image: "public.ecr.aws/eks/aws-load-balancer-controller",
  crds: "https://raw.githubusercontent.com/kubernetes-sigs/aws-load-balancer-controller",
} as const;
