import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { environment } from "../../../service/contract.ts";
import type { Annotations, Database, Exposure, VendingIdentity } from "../../clouds/cloud.ts";
import { checksum } from "../../kubernetes/checksum.ts";
import { componentLabels } from "../../kubernetes/labels.ts";
import { tableServiceName, tableServiceSelector } from "../../model/names.ts";
import { type CatalogCaller, configMapData, mergeStorageOptions, type ServiceSettings } from "./environment.ts";
import { type ExposureSettings, TableServiceExposure } from "./exposure.ts";
import { podTemplate } from "./pod.ts";

export interface TableServiceArgs {
  readonly namespace: pulumi.Input<string>;
  /** Name of its service account; the cloud's identity is bound to it. */
  readonly accountName: string;
  readonly accountAnnotations: Annotations;
  readonly image: pulumi.Input<string>;
  readonly replicas: { readonly min: number; readonly max: number; readonly targetCpuPercent: number };
  readonly cpus: number;
  readonly memory: string;
  readonly settings: ServiceSettings;
  readonly exposure: ExposureSettings;
  readonly balancing: Exposure;
  readonly database: Database;
  readonly vending: pulumi.Input<VendingIdentity> | undefined;
  readonly catalogCaller: pulumi.Input<CatalogCaller> | undefined;
  readonly staticTokens: pulumi.Output<string> | undefined;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Whether every node has the label of its zone. */
  readonly zones: boolean;
  /** Protect the volume that holds the tables, when the database is a path. */
  readonly protect: boolean;
}

/** The HTTP API over the Lance tables. */
export class TableService extends pulumi.ComponentResource {
  readonly url: pulumi.Output<string>;
  /** See `TableServiceExposure`. */
  readonly address: pulumi.Output<string> | undefined;
  /** The claim of the tables' volume, when the database is a path. */
  readonly claimName: pulumi.Output<string> | undefined;

  constructor(name: string, args: TableServiceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:TableService", name, {}, opts);
    const parent = { parent: this };
    const labels = componentLabels(tableServiceName);
    const metadata = { namespace: args.namespace, labels };
    const named = { name: tableServiceName, ...metadata };

    const account = new kubernetes.core.v1.ServiceAccount(
      name,
      {
        metadata: { ...metadata, name: args.accountName, annotations: { ...args.accountAnnotations } },
        automountServiceAccountToken: false,
      },
      parent,
    );
    const configMap = this.#configMap(name, args, metadata);
    const secret = this.#secret(name, args, metadata);
    const volume = this.#volume(name, args, named);

    const deployment = new kubernetes.apps.v1.Deployment(
      name,
      {
        metadata: named,
        spec: {
          // The autoscaler decides the number of replicas; without it one pod uses the volume at a time.
          ...(volume === undefined ? {} : { replicas: 1 }),
          strategy:
            volume === undefined
              ? { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
              : { type: "Recreate" },
          revisionHistoryLimit: 3,
          selector: { matchLabels: { ...tableServiceSelector } },
          template: podTemplate({
            image: args.image,
            cpus: args.cpus,
            memory: args.memory,
            writes: args.settings.writes,
            labels: { ...labels },
            nodeSelector: args.nodeSelector,
            zones: args.zones,
            serviceAccountName: account.metadata.name,
            configMapName: configMap.metadata.name,
            secretName: secret?.metadata.name,
            volume: volume && { claimName: volume.metadata.name, mountPath: args.database.uri },
          }),
        },
      },
      parent,
    );

    if (volume === undefined) {
      new kubernetes.autoscaling.v2.HorizontalPodAutoscaler(
        name,
        {
          metadata: named,
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: deployment.metadata.name },
            minReplicas: args.replicas.min,
            maxReplicas: args.replicas.max,
            metrics: [
              {
                type: "Resource",
                resource: {
                  name: "cpu",
                  target: { type: "Utilization", averageUtilization: args.replicas.targetCpuPercent },
                },
              },
            ],
          },
        },
        parent,
      );
    }
    new kubernetes.policy.v1.PodDisruptionBudget(
      name,
      {
        metadata: named,
        // With one pod, minAvailable would block the drain of its node.
        spec: {
          maxUnavailable: 1,
          unhealthyPodEvictionPolicy: "AlwaysAllow",
          selector: { matchLabels: { ...tableServiceSelector } },
        },
      },
      parent,
    );
    const exposure = new TableServiceExposure(
      name,
      {
        namespace: args.namespace,
        name: tableServiceName,
        labels,
        selector: tableServiceSelector,
        settings: args.exposure,
        balancing: args.balancing,
      },
      parent,
    );
    this.claimName = volume?.metadata.name;
    this.url = exposure.url;
    this.address = exposure.address;
    this.registerOutputs({ url: this.url, address: this.address });
  }

  /** Its name contains a checksum of its data, so that a change restarts the pods and old pods keep their data. */
  #configMap(name: string, args: TableServiceArgs, metadata: object): kubernetes.core.v1.ConfigMap {
    const open = args.database.secretStorageOptions === undefined ? args.database.storageOptions : undefined;
    const data = pulumi
      .all([args.database.uri, args.vending, args.catalogCaller])
      .apply(([uri, vending, caller]) => configMapData(args.settings, { uri, storageOptions: open }, vending, caller));
    return new kubernetes.core.v1.ConfigMap(
      name,
      {
        metadata: { ...metadata, name: data.apply((known) => `${tableServiceName}-${checksum(known)}`) },
        immutable: true,
        data,
      },
      { parent: this },
    );
  }

  /**
   * Named by a checksum, too. The provider replaces a Secret whose data change, and one with a fixed name delete-first:
   * then the engine also deletes and creates what depends on it, the Deployment.
   */
  #secret(name: string, args: TableServiceArgs, metadata: object): kubernetes.core.v1.Secret | undefined {
    const { storageOptions, secretStorageOptions } = args.database;
    const merged = secretStorageOptions?.apply((text) => mergeStorageOptions(storageOptions, text));
    const values = {
      ...(args.staticTokens === undefined ? {} : { [environment.staticTokens]: args.staticTokens }),
      ...(merged === undefined ? {} : { [environment.storageOptions]: merged }),
    };
    if (Object.keys(values).length === 0) return undefined;
    const stringData: pulumi.Output<Record<string, string>> = pulumi.all(values);
    // Forty bits of a digest do not reveal the data; kustomize names generated Secrets the same way.
    const checksummed = pulumi.unsecret(stringData.apply((known) => `${tableServiceName}-${checksum(known)}`));
    return new kubernetes.core.v1.Secret(
      name,
      { metadata: { ...metadata, name: checksummed }, immutable: true, stringData },
      { parent: this },
    );
  }

  #volume(
    name: string,
    args: TableServiceArgs,
    metadata: object,
  ): kubernetes.core.v1.PersistentVolumeClaim | undefined {
    const { volumeSize } = args.database;
    if (volumeSize === undefined) return undefined;
    return new kubernetes.core.v1.PersistentVolumeClaim(
      name,
      {
        // Storage classes that bind on first use leave it pending until the pod exists.
        metadata: { ...metadata, annotations: { "pulumi.com/skipAwait": "true" } },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: volumeSize } } },
      },
      { parent: this, protect: args.protect },
    );
  }
}
