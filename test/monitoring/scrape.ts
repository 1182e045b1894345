/** What prometheus-operator makes of a PodMonitor, for pods that are processes of this machine. */

/** A process that stands where a pod would. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The declared ports by name: where the process listens instead. */
  readonly ports: Readonly<Record<string, number>>;
  /** The ports that no pod declares: where the process listens instead. */
  readonly undeclaredPorts?: Readonly<Record<number, number>>;
}

interface Relabeling {
  readonly action: string;
  readonly sourceLabels?: readonly string[];
  readonly targetLabel: string;
  readonly replacement?: string;
}

export interface PodMonitor {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly body: {
    readonly spec: {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly podMetricsEndpoints: readonly { readonly port: string; readonly relabelings: readonly Relabeling[] }[];
    };
  };
}

const loopback = "127.0.0.1";
const labelName = (label: string): string => label.replaceAll(/[^a-zA-Z0-9_]/g, "_");
const copied = (from: string, to: string) => ({ source_labels: [`__meta_kubernetes_${from}`], target_label: to });

/** As Prometheus discovers it: one target for each declared port. */
const targetsOf = ({ namespace, name, labels, ports }: Pod) =>
  Object.entries(ports).map(([portName, port]) => ({
    targets: [`${loopback}:${port}`],
    labels: {
      __meta_kubernetes_namespace: namespace,
      __meta_kubernetes_pod_name: name,
      __meta_kubernetes_pod_ip: loopback,
      __meta_kubernetes_pod_phase: "Running",
      __meta_kubernetes_pod_container_port_name: portName,
      ...Object.fromEntries(
        Object.entries(labels).flatMap(([label, value]) => [
          [`__meta_kubernetes_pod_label_${labelName(label)}`, value],
          [`__meta_kubernetes_pod_labelpresent_${labelName(label)}`, "true"],
        ]),
      ),
    },
  }));

/**
 * One for each endpoint of the monitor. The order of the relabelings is that of `generatePodMonitorConfig` in
 * prometheus-operator's pkg/prometheus/promcfg.go: what the monitor selects, the usual labels, then its own relabelings.
 */
export const scrapeConfigs = ({ metadata, body: { spec } }: PodMonitor, pods: readonly Pod[]) =>
  spec.podMetricsEndpoints.map(({ port, relabelings }, index) => ({
    job_name: `podMonitor/${metadata.namespace}/${metadata.name}/${index}`,
    static_configs: pods.filter(({ namespace }) => namespace === metadata.namespace).flatMap(targetsOf),
    relabel_configs: [
      { source_labels: ["__meta_kubernetes_pod_phase"], action: "drop", regex: "(Failed|Succeeded)" },
      ...Object.entries(spec.selector.matchLabels).map(([label, value]) => ({
        action: "keep",
        source_labels: ["label", "labelpresent"].map((kind) => `__meta_kubernetes_pod_${kind}_${labelName(label)}`),
        regex: `(${value});true`,
      })),
      { action: "keep", source_labels: ["__meta_kubernetes_pod_container_port_name"], regex: port },
      copied("namespace", "namespace"),
      copied("pod_name", "pod"),
      { target_label: "job", replacement: `${metadata.namespace}/${metadata.name}` },
      { target_label: "endpoint", replacement: port },
      ...relabelings.map(({ action, sourceLabels, targetLabel, replacement }) => ({
        action,
        ...(sourceLabels === undefined ? {} : { source_labels: sourceLabels }),
        target_label: targetLabel,
        ...(replacement === undefined ? {} : { replacement: listening(replacement, pods) }),
      })),
    ],
  }));

/** The replacement with the port at which a process listens in place of the pod's. */
function listening(replacement: string, pods: readonly Pod[]): string {
  const actual = new Map(pods.flatMap(({ undeclaredPorts = {} }) => Object.entries(undeclaredPorts)));
  return replacement.replace(/(?<=^\$1:)\d+$/, (port) => String(actual.get(port) ?? port));
}
