import * as pulumi from "@pulumi/pulumi";
import { ownsFunctionsCluster } from "../../../config/functions.ts";
import { runsMaintenance } from "../../../config/maintenance.ts";
import { usesCatalog } from "../../../model/catalog.ts";
import { functionsCluster, functionsRunner, maintenanceAccount, tableServiceAccount } from "../../../model/names.ts";
import type { AwsConfig } from "../schema.ts";
import { clientGroup } from "../verify.ts";
import { Access } from "./access.ts";
import {
  clientPolicy,
  clientRoleArn,
  functionsRunnerPolicy,
  functionsWorkerPolicy,
  historyPolicy,
  maintenancePolicy,
  runtimePolicy,
  tableServicePolicy,
  vendingPolicy,
} from "./cluster-policies.ts";
import { clientTrust, type Place, type PolicyDocument } from "./policy.ts";
import { Role, trustServiceAccount } from "./role.ts";
import type { BucketScope } from "./storage-policies.ts";

export interface IdentitiesArgs {
  readonly config: AwsConfig;
  readonly place: Place;
  readonly clusterName: pulumi.Output<string>;
  readonly oidcProviderArn: pulumi.Output<string>;
  readonly scope: pulumi.Output<BucketScope>;
}

/** Life of a lent credential, and the most that its role permits; undefined: an hour, the default of both. */
export const vendingSeconds = ({ tableService: { vendingHours } }: AwsConfig): number | undefined =>
  vendingHours === 1 ? undefined : vendingHours * 3600;

/** One role for each identity that reaches the tables: Ray pods, table service, maintenance, Functions and the runtime's client. */
export class Identities extends pulumi.ComponentResource {
  readonly runtime: Role;
  readonly tableService: Role | undefined;
  /** The role whose sessions the table service lends. It is no pod's own. */
  readonly vending: Role | undefined;
  readonly maintenance: Role | undefined;
  /** Of the workers of Functions on a RayCluster of their own, and of the pods that commit their results. */
  readonly functions: { readonly worker: Role; readonly runner: Role } | undefined;
  readonly client: Role;

  constructor(name: string, args: IdentitiesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Identities", name, {}, opts);
    const { config, place, oidcProviderArn } = args;
    const child = { parent: this };
    const document = (decide: (at: Place, scope: BucketScope) => PolicyDocument) =>
      args.scope.apply((scope) => JSON.stringify(decide(place, scope)));
    const byCatalog = usesCatalog(config);

    this.runtime = new Role(
      `${name}-runtime`,
      {
        description: `Ray pods of ${place.cluster}`,
        trust: trustServiceAccount(oidcProviderArn, config.namespace, config.serviceAccount),
        policies: {
          ...(byCatalog ? { cluster: JSON.stringify(runtimePolicy(place)) } : { tables: document(runtimePolicy) }),
          ...(config.ray.history.enabled
            ? { history: JSON.stringify(historyPolicy(place, config.bucket.name, "write")) }
            : {}),
        },
      },
      child,
    );
    this.tableService = config.tableService.enabled
      ? new Role(
          `${name}-table-service`,
          {
            description: `Table service of ${place.cluster}`,
            trust: trustServiceAccount(oidcProviderArn, config.namespace, tableServiceAccount),
            policies: { tables: document((at, scope) => tableServicePolicy(at, scope, config.tableService.writes)) },
          },
          child,
        )
      : undefined;
    this.vending =
      config.tableService.enabled && config.tableService.vending
        ? new Role(
            `${name}-vending`,
            {
              description: `Credentials that the table service of ${place.cluster} lends`,
              maxSessionDuration: vendingSeconds(config),
              trust: trustServiceAccount(oidcProviderArn, config.namespace, tableServiceAccount),
              policies: { tables: document((at, scope) => vendingPolicy(at, scope, config.tableService.writes)) },
            },
            child,
          )
        : undefined;
    this.maintenance = runsMaintenance(config)
      ? new Role(
          `${name}-maintenance`,
          {
            description: `Maintenance of the tables of ${place.cluster}`,
            trust: trustServiceAccount(oidcProviderArn, config.namespace, maintenanceAccount),
            policies: { tables: document(maintenancePolicy) },
          },
          child,
        )
      : undefined;

    const { prefixes } = config.tableService.functions;
    const ofFunctions = (suffix: string, account: string, decide: typeof functionsWorkerPolicy) =>
      new Role(
        `${name}-functions-${suffix}`,
        {
          description: `Functions of ${place.cluster}: ${suffix}`,
          trust: trustServiceAccount(oidcProviderArn, config.namespace, account),
          policies: { tables: document((at, scope) => decide(at, scope, prefixes)) },
        },
        child,
      );
    this.functions = ownsFunctionsCluster(config)
      ? {
          worker: ofFunctions("worker", functionsCluster, functionsWorkerPolicy),
          runner: ofFunctions("runner", functionsRunner, functionsRunnerPolicy),
        }
      : undefined;

    const { principals, roleName, access } = config.client;
    const ownArn = clientRoleArn(place, config);
    this.client = new Role(
      `${name}-client`,
      {
        roleName,
        description: `Clients of the runtime in ${place.cluster}`,
        trust: clientTrust(principals.length > 0 ? principals : [config.deployerArn], place, ownArn),
        policies: byCatalog
          ? { cluster: JSON.stringify(clientPolicy(place, undefined, ownArn)) }
          : { tables: document((at, scope) => clientPolicy(at, scope, ownArn)) },
      },
      child,
    );
    new Access(
      `${name}-client-access`,
      {
        clusterName: args.clusterName,
        principalArn: this.client.arn,
        ...(access === "cluster-admin"
          ? { policy: { partition: place.partition, name: "AmazonEKSClusterAdminPolicy" } }
          : { groups: [clientGroup] }),
      },
      child,
    );
  }
}
