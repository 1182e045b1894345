import type * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { entry, environment, paths, ports, terminationGraceSeconds } from "../../../service/contract.ts";
import { restrictedContainer, restrictedPod } from "../../kubernetes/security-context.ts";
import { tableServiceDisk } from "../../model/fit.ts";

type PodTemplate = kubernetes.types.input.core.v1.PodTemplateSpec;
type Probe = kubernetes.types.input.core.v1.Probe;

export interface PodArgs {
  readonly image: pulumi.Input<string>;
  /** CPU request. There is no limit: queries are short, and idle CPU time of the node is free. */
  readonly cpus: number;
  /** Request and limit, equal, so that memory pressure of the node does not evict the pod first. */
  readonly memory: string;
  /** Whether it serves writes, which need more local disk. */
  readonly writes: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Whether every node has the label of its zone. */
  readonly zones: boolean;
  readonly serviceAccountName: pulumi.Input<string>;
  readonly configMapName: pulumi.Input<string>;
  /** The Secret with further variables. Its name changes with its data, which restarts the pods. */
  readonly secretName?: pulumi.Input<string> | undefined;
  /** The volume claim of a database in a path, and that path. */
  readonly volume?: { readonly claimName: pulumi.Input<string>; readonly mountPath: pulumi.Input<string> } | undefined;
}

const probe = (path: string, timing: Omit<Probe, "httpGet">): Probe => ({
  httpGet: { path, port: "operations" },
  timeoutSeconds: 3,
  ...timing,
});

/** The service's pod by the service's contract, within the `restricted` Pod Security Standard. */
export function podTemplate(args: PodArgs): PodTemplate {
  const disk = tableServiceDisk(args.writes);
  const spread = (topologyKey: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { ...args.labels } },
    // Without it the old pods of a rollout count, and the new ones share a node.
    matchLabelKeys: ["pod-template-hash"],
  });
  return {
    metadata: {
      labels: { ...args.labels },
      annotations: {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(ports.operations),
        "prometheus.io/path": paths.metrics,
      },
    },
    spec: {
      serviceAccountName: args.serviceAccountName,
      // A Service with the name "lakehead" would set LAKEHEAD_PORT=tcp://… in the environment.
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      nodeSelector: { ...args.nodeSelector },
      securityContext: restrictedPod,
      terminationGracePeriodSeconds: terminationGraceSeconds,
      // The scheduler leaves out nodes that lack one of the keys: without zones, replicas would share a node.
      topologySpreadConstraints: [
        ...(args.zones ? [spread("topology.kubernetes.io/zone")] : []),
        spread("kubernetes.io/hostname"),
      ],
      containers: [
        {
          name: "table-service",
          image: args.image,
          command: ["node", entry],
          ports: [
            { name: "api", containerPort: ports.api, protocol: "TCP" },
            { name: "operations", containerPort: ports.operations, protocol: "TCP" },
          ],
          envFrom: [
            { configMapRef: { name: args.configMapName } },
            ...(args.secretName === undefined ? [] : [{ secretRef: { name: args.secretName } }]),
          ],
          env: [
            {
              name: environment.memoryLimit,
              valueFrom: { resourceFieldRef: { containerName: "table-service", resource: "limits.memory" } },
            },
          ],
          resources: {
            requests: { cpu: String(args.cpus), memory: args.memory, "ephemeral-storage": disk.total },
            limits: { memory: args.memory, "ephemeral-storage": disk.total },
          },
          startupProbe: probe(paths.live, { periodSeconds: 2, failureThreshold: 30 }),
          livenessProbe: probe(paths.live, { periodSeconds: 10, failureThreshold: 3 }),
          readinessProbe: probe(paths.ready, { periodSeconds: 5, failureThreshold: 2 }),
          securityContext: restrictedContainer,
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            ...(args.volume === undefined ? [] : [{ name: "database", mountPath: args.volume.mountPath }]),
          ],
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: { sizeLimit: disk.temporary } },
        ...(args.volume === undefined
          ? []
          : [{ name: "database", persistentVolumeClaim: { claimName: args.volume.claimName } }]),
      ],
    },
  };
}
