import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { HistoryPlace } from "../clouds/cloud.ts";
import { boundAccount } from "../kubernetes/bound-account.ts";
import { componentLabels } from "../kubernetes/labels.ts";
import { restrictedContainer, restrictedPod } from "../kubernetes/security-context.ts";
import { historyServer } from "../model/history.ts";
import { parseMemory } from "../model/quantity.ts";

export interface HistoryServerArgs {
  readonly namespace: pulumi.Input<string>;
  readonly place: HistoryPlace;
  readonly image: string;
  readonly memory: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

const port = 8080;

/** KubeRay's server of the history of RayClusters, which nothing in the cluster can reach: people forward its port. */
export class HistoryServer extends pulumi.ComponentResource {
  constructor(name: string, args: HistoryServerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:HistoryServer", name, {}, opts);
    const parent = { parent: this };
    const labels = componentLabels(historyServer);
    const metadata = { name: historyServer, namespace: args.namespace, labels };
    // It asks whether a RayCluster still runs. It also lists those of all namespaces to show the dashboards of live ones: refused, and logged.
    const rules = [{ apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "list"] }];
    const account = boundAccount(name, { metadata, annotations: args.place.serverAnnotations, rules }, parent);
    const selector = { "app.kubernetes.io/name": historyServer };
    new kubernetes.apps.v1.Deployment(
      name,
      {
        metadata,
        spec: {
          replicas: 1,
          revisionHistoryLimit: 3,
          selector: { matchLabels: selector },
          template: { metadata: { labels }, spec: pod(args, account.metadata.name) },
        },
      },
      parent,
    );
    new kubernetes.core.v1.Service(
      name,
      { metadata, spec: { selector, ports: [{ name: "http", port: 80, targetPort: port }] } },
      parent,
    );
  }
}

function pod(
  { place, image, memory, nodeSelector }: HistoryServerArgs,
  serviceAccountName: pulumi.Input<string>,
): kubernetes.types.input.core.v1.PodSpec {
  const bytes = parseMemory(memory);
  const probe = (path: string) => ({ httpGet: { path, port } });
  return {
    serviceAccountName,
    enableServiceLinks: false,
    nodeSelector: { ...nodeSelector },
    securityContext: restrictedPod,
    containers: [
      {
        name: historyServer,
        image,
        // Sessions that it keeps decoded are beside these, and by default these alone may be 2 GiB.
        args: [`--session-cache-max-memory=${Math.floor(bytes / 2)}`],
        env: Object.entries({ ...place.store, GOMEMLIMIT: String(Math.floor(0.9 * bytes)) }).map(([key, value]) => ({
          name: key,
          value,
        })),
        ports: [{ name: "http", containerPort: port }],
        resources: {
          requests: { cpu: "100m", memory, "ephemeral-storage": "256Mi" },
          limits: { memory, "ephemeral-storage": "1Gi" },
        },
        readinessProbe: probe("/readz"),
        livenessProbe: probe("/livez"),
        securityContext: restrictedContainer,
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      },
    ],
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: "512Mi" } }],
  };
}
