/**
 * Every part that is built from Go modules, at its exact version. One table, so that an update is one line.
 *
 * `modules` are required at that version; `packages` are what is built; `staging` gives the version that stands for the
 * `./staging/…` replacements of a module; `unlisted` modules have no entry in Go's checksum database, so that their
 * checksum is written here in its place.
 */
export interface GoPart {
  readonly modules: Readonly<Record<string, string>>;
  readonly packages: readonly string[];
  readonly replace?: Readonly<Record<string, string>>;
  readonly staging?: { readonly of: string; readonly version: string };
  readonly unlisted?: Readonly<Record<string, { readonly zip: string; readonly mod: string }>>;
  /** A program whose `main` is written here, for what is published as a library: its name, and the source of `main.go`. */
  readonly main?: { readonly name: string; readonly source: string };
  /** `-X` settings of the linker. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Version of the API server, controller manager and scheduler. */
export const kubernetesVersion = "v1.34.11";
/** Version of the operator and its custom resource definitions. */
export const kuberayVersion = "v1.6.1";
/** `k8s.io/kubernetes` at that version, which several parts are built from. */
const kubernetesSource = {
  modules: { "k8s.io/kubernetes": kubernetesVersion },
  staging: { of: "k8s.io/kubernetes", version: "v0.34.11" },
  unlisted: {
    "k8s.io/kubernetes": {
      zip: "h1:iiQTHITJH/LMthuxREF6Oo8hTBOpnTgwiuA7aaZ73OA=",
      mod: "h1:kOPVDSkvFrxbLPI6u/Qg/FAXhs8ZcJx6Nor08s3hhLM=",
    },
  },
  settings: {
    "k8s.io/component-base/version.gitVersion": kubernetesVersion,
    "k8s.io/component-base/version.gitMajor": "1",
    "k8s.io/component-base/version.gitMinor": "34",
  },
} as const;
const kwok = { module: "sigs.k8s.io/kwok", version: "v0.8.0" } as const;
/** Its module has the definitions, too. */
export const prometheusOperator = {
  module: "github.com/prometheus-operator/prometheus-operator",
  version: "v0.93.1",
  definitions: "example/prometheus-operator-crd",
} as const;
/** Its module has its chart, too. */
export const kueue = { module: "sigs.k8s.io/kueue", version: "v0.19.2", chart: "charts/kueue" } as const;
const kuberayModule = "github.com/ray-project/kuberay/ray-operator";

const table = {
  pulumi: {
    modules: { "github.com/pulumi/pulumi/pkg/v3": "v3.259.0", "github.com/pulumi/pulumi/sdk/v3": "v3.259.0" },
    packages: ["github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"],
    replace: {
      "github.com/atotto/clipboard": "github.com/tgummerer/clipboard@v0.0.0-20241001131231-d02d263e614e",
    },
    settings: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v3.259.0" },
  },
  etcd: {
    modules: { "go.etcd.io/etcd/server/v3": "v3.6.14" },
    packages: ["go.etcd.io/etcd/server/v3"],
  },
  kubernetes: {
    // The order of the keys is part of the cache's key.
    modules: kubernetesSource.modules,
    packages: [
      "k8s.io/kubernetes/cmd/kube-apiserver",
      "k8s.io/kubernetes/cmd/kube-controller-manager",
      "k8s.io/kubernetes/cmd/kube-scheduler",
    ],
    staging: kubernetesSource.staging,
    unlisted: kubernetesSource.unlisted,
    settings: kubernetesSource.settings,
  },
  node: {
    ...kubernetesSource,
    packages: ["k8s.io/kubernetes/cmd/kubelet", "k8s.io/kubernetes/cmd/kube-proxy"],
  },
  coredns: {
    modules: { "github.com/coredns/coredns": "v1.12.4" },
    packages: [],
    // The plugins that a cluster's Corefile needs; CoreDNS's own main has those of every cloud.
    main: {
      name: "coredns",
      source: `package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "template"}
	coremain.Run()
}
`,
    },
  },
  "kube-router": {
    // The newest release under this module path. Plug-ins that queue packets need NFT_QUEUE, which not every kernel has.
    modules: { "github.com/cloudnativelabs/kube-router": "v1.6.1" },
    packages: [],
    // Its controller of network policies without its routing, whose modules are not all published.
    main: {
      name: "kube-router",
      source: `package main

import (
	"sync"

	"github.com/cloudnativelabs/kube-router/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/pkg/options"
	"github.com/spf13/pflag"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	config := options.NewKubeRouterConfig()
	config.AddFlags(pflag.CommandLine)
	pflag.Parse()
	connection, err := clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(connection)
	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	var sets sync.Mutex
	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, namespaces, &sets)
	if err != nil {
		klog.Fatal(err)
	}
	pods.AddEventHandler(controller.PodEventHandler)
	namespaces.AddEventHandler(controller.NamespaceEventHandler)
	policies.AddEventHandler(controller.NetworkPolicyEventHandler)
	heartbeats := make(chan *healthcheck.ControllerHeartbeat, 10)
	go func() {
		for range heartbeats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(heartbeats, stop, &running)
}
`,
    },
  },
  "metrics-server": {
    modules: { "sigs.k8s.io/metrics-server": "v0.9.0" },
    packages: ["sigs.k8s.io/metrics-server/cmd/metrics-server"],
  },
  "prometheus-operator": {
    modules: { [prometheusOperator.module]: prometheusOperator.version },
    packages: [`${prometheusOperator.module}/cmd/operator`],
    replace: Object.fromEntries(
      ["apis/monitoring", "client"].map((path) => {
        const module = `${prometheusOperator.module}/pkg/${path}`;
        return [module, `${module}@${prometheusOperator.version}`];
      }),
    ),
  },
  "kube-state-metrics": {
    modules: { "k8s.io/kube-state-metrics/v2": "v2.15.0" },
    packages: ["k8s.io/kube-state-metrics/v2"],
  },
  helm: {
    modules: { "helm.sh/helm/v3": "v3.22.0" },
    packages: ["helm.sh/helm/v3/cmd/helm"],
  },
  kueue: {
    modules: { [kueue.module]: kueue.version },
    packages: [`${kueue.module}/cmd/kueue`],
  },
  kwok: {
    modules: { [kwok.module]: kwok.version },
    packages: [`${kwok.module}/cmd/kwok`],
  },
  kuberay: {
    modules: { [kuberayModule]: kuberayVersion },
    packages: [kuberayModule],
  },
} as const satisfies Record<string, GoPart>;

export type PartName = keyof typeof table;
export const goParts: Readonly<Record<PartName, GoPart>> = table;

/** kwok's stages of nodes and pods: ready and deleted without delay. */
export const kwokStages = {
  ...kwok,
  files: [
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-complete.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
  ],
} as const;

/** Folder of KubeRay's custom resource definitions inside its module. */
export const kuberayCrds = { module: kuberayModule, folder: "config/crd/bases" } as const;
