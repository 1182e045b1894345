import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Annotations, FunctionsPlace } from "../clouds/cloud.ts";
import type { Config, Secrets } from "../clouds/schema.ts";
import { managedBy } from "../kubernetes/labels.ts";
import type { ClusterModel } from "../model/cluster.ts";
import { functionSecretKey, functionSecretsName, functionsRay } from "../model/functions-cluster.ts";
import { functionsCluster, functionsHeadAccount, functionsRunner } from "../model/names.ts";
import { rayClusterSpec } from "../model/ray-cluster.ts";
import { RayCluster } from "./ray-cluster.ts";

export interface FunctionsClusterArgs {
  readonly config: Config;
  readonly cluster: ClusterModel;
  readonly namespace: pulumi.Input<string>;
  readonly place: FunctionsPlace;
  readonly secretValues: Secrets["functionSecrets"];
}

/** A RayCluster for Functions alone, its accounts, and the secrets that its workers read. */
export class FunctionsCluster extends pulumi.ComponentResource {
  readonly address: pulumi.Output<string>;
  /** The account of the pods that hand work to it. */
  readonly runnerAccount: pulumi.Output<string>;

  constructor(name: string, args: FunctionsClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:FunctionsCluster", name, {}, opts);
    const { config, namespace, place } = args;
    const account = (accountName: string, annotations: Annotations) =>
      new kubernetes.core.v1.ServiceAccount(
        accountName,
        {
          metadata: { name: accountName, namespace, labels: managedBy, annotations },
          automountServiceAccountToken: false,
        },
        { parent: this },
      );
    const runner = account(functionsRunner, place.runnerAnnotations);
    const accounts = [account(functionsCluster, place.workerAnnotations), account(functionsHeadAccount, {})];
    const names = config.tableService.functions.secrets;
    const secrets =
      names.length === 0 || args.secretValues === undefined
        ? []
        : [
            new kubernetes.core.v1.Secret(
              functionSecretsName,
              {
                // Of one name, so that pods see a new value without a new cluster.
                metadata: { name: functionSecretsName, namespace, labels: managedBy },
                stringData: args.secretValues.apply((text) => functionSecretValues(text, names)),
              },
              { parent: this },
            ),
          ];
    const cluster = new RayCluster(
      name,
      { name: functionsCluster, namespace, spec: rayClusterSpec(functionsRay(config), args.cluster) },
      { parent: this, dependsOn: [...accounts, ...secrets] },
    );
    this.address = cluster.address;
    this.runnerAccount = runner.metadata.name;
    this.registerOutputs({ address: this.address });
  }
}

/**
 * The data of the Kubernetes Secret.
 * @param text a JSON object of values by name
 * @throws TypeError where a value is missing or not text, without any value in the message
 */
export function functionSecretValues(text: string, names: readonly string[]): Record<string, string> {
  const key = "lakehead:functionSecrets";
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    // Node's message has a part of the text.
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new TypeError(`${key}: expected a JSON object with a text for each name, such as {"team$openai":"…"}`);
  const known = new Map(Object.entries(values));
  return Object.fromEntries(
    names.map((name) => {
      const value = known.get(name);
      if (typeof value !== "string")
        throw new TypeError(`${key}: no text for "${name}", which tableService.functions.secrets names: add it`);
      return [functionSecretKey(name), value];
    }),
  );
}
