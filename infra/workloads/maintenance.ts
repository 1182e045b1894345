import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { environment, maintenanceEntry } from "../../service/contract.ts";
import type { Annotations, Cloud, Database } from "../clouds/cloud.ts";
import type { Config } from "../clouds/schema.ts";
import { sortedJson } from "../kubernetes/checksum.ts";
import { cronJobSpec } from "../kubernetes/cron-job.ts";
import { componentLabels } from "../kubernetes/labels.ts";
import { restrictedContainer, restrictedPod } from "../kubernetes/security-context.ts";
import { maintenancePackages } from "../model/client-requirements.ts";
import { maintenanceDisk } from "../model/fit.ts";
import { maintenanceAccount, tableServiceSelector } from "../model/names.ts";
import { rayPorts } from "../model/ray-cluster.ts";
import { databaseSettings } from "./database-settings.ts";

export interface MaintenanceArgs {
  readonly namespace: pulumi.Input<string>;
  /** Of its service account; the cloud's identity reads and writes the tables and nothing else. */
  readonly accountAnnotations: Annotations;
  /** The table service's: the runs are a part of it. */
  readonly image: pulumi.Input<string>;
  /** Cron schedule, in UTC. */
  readonly schedule: string;
  readonly rules: readonly object[];
  readonly cpus: number;
  readonly memory: string;
  readonly minutes: number;
  readonly logLevel: string;
  readonly database: Database;
  /** The table service's volume, when the database is a path. */
  readonly claimName: pulumi.Input<string> | undefined;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The RayCluster that gets the work on large tables; undefined: none does. */
  readonly ray: RayArgs | undefined;
}

interface RayArgs {
  /** Name of the RayCluster. */
  readonly name: string;
  readonly auth: "none" | "token";
  readonly gigabytes: number;
  readonly workers: number;
}

/** The share of a run's time in which it begins with tables, and for which it works on one. */
const share = { tables: 0.75, table: 0.9 } as const;

/** The run's environment without secrets. */
export function maintenanceData(
  { rules, minutes, logLevel, ray }: Pick<MaintenanceArgs, "rules" | "minutes" | "logLevel" | "ray">,
  uri: string,
  storageOptions: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const seconds = minutes * 60;
  return {
    [environment.database]: uri,
    ...(storageOptions === undefined ? {} : { [environment.storageOptions]: sortedJson(storageOptions) }),
    [environment.logLevel]: logLevel,
    [environment.maintenance]: JSON.stringify(rules),
    [environment.maintenanceRunSeconds]: String(Math.floor(seconds * share.tables)),
    [environment.maintenanceTableSeconds]: String(Math.floor(seconds * share.table)),
    ...(ray === undefined
      ? {}
      : {
          [environment.maintenanceRay]: `http://${ray.name}-head-svc:${rayPorts.dashboard}`,
          [environment.maintenanceRayPackages]: maintenancePackages.join(","),
          [environment.maintenanceRayWorkers]: String(ray.workers),
          [environment.maintenanceRayBytes]: String(ray.gigabytes * 1e9),
        }),
  };
}

/** Ray's pods see neither the volume of a database that is a path, nor tables that the table service opens for them. */
export const maintainsOnRay = ({ maintenance, ray }: Config, { database, catalogIssuer }: Cloud): boolean =>
  maintenance.ray.enabled && ray.create && database.volumeSize === undefined && catalogIssuer === undefined;

/** A CronJob that keeps the tables fast, with an identity of its own. */
export class Maintenance extends pulumi.ComponentResource {
  constructor(name: string, args: MaintenanceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Maintenance", name, {}, opts);
    const parent = { parent: this };
    const labels = componentLabels(maintenanceAccount);
    const metadata = { name: maintenanceAccount, namespace: args.namespace, labels };
    const account = new kubernetes.core.v1.ServiceAccount(
      name,
      {
        metadata: { ...metadata, annotations: { ...args.accountAnnotations } },
        automountServiceAccountToken: false,
      },
      parent,
    );
    const settings = databaseSettings(name, {
      metadata,
      database: args.database,
      dataOf: (uri, storageOptions) => maintenanceData(args, uri, storageOptions),
      parent: this,
    });
    new kubernetes.batch.v1.CronJob(
      name,
      {
        metadata,
        spec: cronJobSpec({
          schedule: args.schedule,
          labels,
          pod: pod(args, account.metadata.name, settings.configMapName, settings.secretName),
          seconds: args.minutes * 60,
          // The next run continues.
          retries: 0,
        }),
      },
      parent,
    );
  }
}

function pod(
  args: MaintenanceArgs,
  serviceAccountName: pulumi.Input<string>,
  configMapName: pulumi.Input<string>,
  secretName: pulumi.Input<string> | undefined,
): kubernetes.types.input.core.v1.PodSpec {
  const { claimName, database, memory, ray } = args;
  return {
    serviceAccountName,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: "Never",
    nodeSelector: { ...args.nodeSelector },
    // A volume is mounted by the pods of one node.
    ...(claimName === undefined
      ? {}
      : {
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { ...tableServiceSelector } } },
              ],
            },
          },
        }),
    securityContext: restrictedPod,
    containers: [
      {
        name: maintenanceAccount,
        image: args.image,
        command: ["node", maintenanceEntry, "--json"],
        envFrom: [
          { configMapRef: { name: configMapName } },
          ...(secretName === undefined ? [] : [{ secretRef: { name: secretName } }]),
        ],
        env: [
          {
            name: environment.memoryLimit,
            valueFrom: { resourceFieldRef: { containerName: maintenanceAccount, resource: "limits.memory" } },
          },
          // KubeRay makes the secret, under the name of the RayCluster.
          ...(ray?.auth === "token"
            ? [
                {
                  name: environment.maintenanceRayToken,
                  valueFrom: { secretKeyRef: { name: ray.name, key: "auth_token" } },
                },
              ]
            : []),
        ],
        resources: {
          requests: { cpu: String(args.cpus), memory, "ephemeral-storage": maintenanceDisk.total },
          limits: { memory, "ephemeral-storage": maintenanceDisk.total },
        },
        securityContext: restrictedContainer,
        volumeMounts: [
          { name: "tmp", mountPath: "/tmp" },
          ...(claimName === undefined ? [] : [{ name: "database", mountPath: database.uri }]),
        ],
      },
    ],
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: maintenanceDisk.temporary } },
      ...(claimName === undefined ? [] : [{ name: "database", persistentVolumeClaim: { claimName } }]),
    ],
  };
}
