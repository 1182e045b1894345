import { readFileSync } from "node:fs";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { boundAccount } from "../../kubernetes/bound-account.ts";
import { checksum } from "../../kubernetes/checksum.ts";
import { cronJobSpec } from "../../kubernetes/cron-job.ts";
import { componentLabels } from "../../kubernetes/labels.ts";
import { restrictedContainer, restrictedPod } from "../../kubernetes/security-context.ts";
import { orphanCleanupAccount } from "../../model/names.ts";

export interface OrphanCleanupArgs {
  readonly namespace: pulumi.Input<string>;
  /** Cron schedule, in UTC. */
  readonly schedule: string;
  /** Hours without a worker above the minimum after which a RayCluster of a client is deleted. */
  readonly idleHours: number;
  /** An image with Node 24.2 or later, which runs TypeScript and has `import.meta.main`. */
  readonly image: pulumi.Input<string>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

type PolicyRule = kubernetes.types.input.rbac.v1.PolicyRule;

/** The job's permissions, in its own namespace. */
export const cleanupRules: readonly PolicyRule[] = [
  { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["list", "patch", "delete"] },
];

const appName = orphanCleanupAccount;
const scriptFile = "cleanup.mts";
const script = () => readFileSync(new URL("./script.ts", import.meta.url), "utf8");

/** A CronJob that deletes the RayClusters of crashed clients. `script.ts` decides which those are. */
export class OrphanCleanup extends pulumi.ComponentResource {
  constructor(name: string, args: OrphanCleanupArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:OrphanCleanup", name, {}, opts);
    const parent = { parent: this };
    const labels = componentLabels(appName);
    const metadata = { name: appName, namespace: args.namespace, labels };

    const account = boundAccount(name, { metadata, rules: cleanupRules }, parent);
    const data = { [scriptFile]: script() };
    const configMap = new kubernetes.core.v1.ConfigMap(
      name,
      { metadata: { ...metadata, name: `${appName}-${checksum(data)}` }, immutable: true, data },
      parent,
    );
    new kubernetes.batch.v1.CronJob(
      name,
      {
        metadata,
        spec: cronJobSpec({
          schedule: args.schedule,
          labels,
          pod: cleanupPod(args, account.metadata.name, configMap.metadata.name),
          seconds: 300,
          retries: 1,
        }),
      },
      parent,
    );
  }
}

function cleanupPod(
  args: OrphanCleanupArgs,
  serviceAccountName: pulumi.Input<string>,
  configMapName: pulumi.Input<string>,
): kubernetes.types.input.core.v1.PodSpec {
  return {
    serviceAccountName,
    restartPolicy: "Never",
    nodeSelector: { ...args.nodeSelector },
    securityContext: restrictedPod,
    containers: [
      {
        name: appName,
        image: args.image,
        workingDir: "/script",
        command: ["node", `/script/${scriptFile}`],
        args: [args.namespace, String(args.idleHours)],
        env: [{ name: "NODE_EXTRA_CA_CERTS", value: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt" }],
        resources: {
          requests: { cpu: "50m", memory: "96Mi", "ephemeral-storage": "64Mi" },
          limits: { memory: "192Mi", "ephemeral-storage": "256Mi" },
        },
        securityContext: restrictedContainer,
        volumeMounts: [{ name: "script", mountPath: "/script", readOnly: true }],
      },
    ],
    volumes: [{ name: "script", configMap: { name: configMapName } }],
  };
}
