import type * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { entry, environment, paths, ports, terminationGraceSeconds } from "../../../service/contract.ts";
import { restrictedContainer, restrictedPod } from "../../kubernetes/security-context.ts";

type PodTemplate = kubernetes.types.input.core.v1.PodTemplateSpec;
type Probe = kubernetes.types.input.core.v1.Probe;

export interface PodArgs {
  readonly image: string;
  /** CPU request; there is no limit, for a plan's analysis is short and the node's idle time is free. */
  readonly cpus: number;
  /** Request and limit alike, so that the pod is never the one that the node's pressure evicts. */
  readonly memory: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly serviceAccountName: pulumi.Input<string>;
  readonly configMapName: pulumi.Input<string>;
  /** The Secret with further variables and a text that changes whenever it does. */
  readonly secret?: { readonly name: pulumi.Input<string>; readonly revision: pulumi.Input<string> } | undefined;
  /** A claim that is mounted where the database is, when the database is a path. */
  readonly volume?: { readonly claimName: pulumi.Input<string>; readonly mountPath: pulumi.Input<string> } | undefined;
}

const probe = (path: string, timing: Omit<Probe, "httpGet">): Probe => ({
  httpGet: { path, port: "operations" },
  timeoutSeconds: 3,
  ...timing,
});

/** The service's pod: everything that the service's contract says, under the `restricted` Pod Security Standard. */
export function podTemplate(args: PodArgs): PodTemplate {
  const spread = (topologyKey: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { ...args.labels } },
    // Old pods of a rollout would otherwise count, and the new ones land together.
    matchLabelKeys: ["pod-template-hash"],
  });
  return {
    metadata: {
      labels: { ...args.labels },
      annotations: {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(ports.operations),
        "prometheus.io/path": paths.metrics,
        ...(args.secret === undefined ? {} : { "lakehead/secret-revision": args.secret.revision }),
      },
    },
    spec: {
      serviceAccountName: args.serviceAccountName,
      // A Service by the name of "lakehead" would otherwise put LAKEHEAD_PORT=tcp://… into the environment.
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      nodeSelector: { ...args.nodeSelector },
      securityContext: restrictedPod,
      terminationGracePeriodSeconds: terminationGraceSeconds,
      topologySpreadConstraints: [spread("topology.kubernetes.io/zone"), spread("kubernetes.io/hostname")],
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
            ...(args.secret === undefined ? [] : [{ secretRef: { name: args.secret.name } }]),
          ],
          env: [
            {
              name: environment.memoryLimit,
              valueFrom: { resourceFieldRef: { containerName: "table-service", resource: "limits.memory" } },
            },
          ],
          resources: {
            requests: { cpu: String(args.cpus), memory: args.memory },
            limits: { memory: args.memory },
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
        { name: "tmp", emptyDir: { sizeLimit: "1Gi" } },
        ...(args.volume === undefined
          ? []
          : [{ name: "database", persistentVolumeClaim: { claimName: args.volume.claimName } }]),
      ],
    },
  };
}
