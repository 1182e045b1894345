import { readFileSync } from "node:fs";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { environment } from "../../service/contract.ts";
import type { Database } from "../clouds/cloud.ts";
import { checksum, sortedJson } from "../kubernetes/checksum.ts";
import { componentLabels } from "../kubernetes/labels.ts";
import { restrictedContainer, restrictedPod } from "../kubernetes/security-context.ts";
import { functionPackages } from "../model/client-requirements.ts";
import { functionsDisk } from "../model/fit.ts";
import { functionsRunner } from "../model/names.ts";
import { rayPorts } from "../model/ray-cluster.ts";
import { databaseSettings } from "./database-settings.ts";

export interface FunctionsRunnerArgs {
  readonly namespace: pulumi.Input<string>;
  /** Its identity reaches the tables. */
  readonly serviceAccountName: pulumi.Input<string>;
  /** Ray's own: client and cluster have one version of Ray and of Python. */
  readonly image: string;
  readonly ray: { readonly name: string; readonly auth: "none" | "token" };
  /** Storage options of the workers, as a JSON object, where they are not the runner's. */
  readonly workerOptions?: pulumi.Output<string> | undefined;
  readonly packageIndex?: string | undefined;
  readonly runners: number;
  readonly workers: number;
  readonly cpus: number;
  readonly memory: string;
  readonly database: Database;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** Variables of the runner beside those that it shares with the service. */
const variables = {
  address: "LAKEHEAD_RAY_ADDRESS",
  workers: "LAKEHEAD_FUNCTIONS_WORKERS",
  packages: "LAKEHEAD_FUNCTIONS_PACKAGES",
  workerOptions: "LAKEHEAD_FUNCTIONS_STORAGE_OPTIONS",
} as const;

const files = ["main.py", "answers.py", "jobs.py", "column.py", "worker.py", "upload.py"] as const;
const source = (): Record<string, string> =>
  Object.fromEntries(
    files.map((name) => [name, readFileSync(new URL(`../../runner/${name}`, import.meta.url), "utf8")]),
  );

/** The runner's environment without secrets. */
export function runnerData(
  { ray, workers }: Pick<FunctionsRunnerArgs, "ray" | "workers">,
  uri: string,
  storageOptions: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return {
    [environment.database]: uri,
    ...(storageOptions === undefined ? {} : { [environment.storageOptions]: sortedJson(storageOptions) }),
    [variables.address]: `ray://${ray.name}-head-svc:${rayPorts.client}`,
    [variables.workers]: String(workers),
    [variables.packages]: functionPackages.join(" "),
  };
}

/** Pods that take refreshes by Functions from the database, and run them in the workers of a RayCluster. */
export class FunctionsRunner extends pulumi.ComponentResource {
  constructor(name: string, args: FunctionsRunnerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:FunctionsRunner", name, {}, opts);
    const parent = { parent: this };
    const labels = componentLabels(functionsRunner);
    const metadata = { name: functionsRunner, namespace: args.namespace, labels };
    const settings = databaseSettings(name, {
      metadata,
      database: args.database,
      dataOf: (uri, storageOptions) => runnerData(args, uri, storageOptions),
      ...(args.workerOptions === undefined
        ? {}
        : { otherSecretOptions: { [variables.workerOptions]: args.workerOptions } }),
      parent: this,
    });
    const program = source();
    const programMap = new kubernetes.core.v1.ConfigMap(
      `${name}-program`,
      {
        metadata: { ...metadata, name: `${functionsRunner}-program-${checksum(program)}` },
        immutable: true,
        data: program,
      },
      parent,
    );
    new kubernetes.apps.v1.Deployment(
      name,
      {
        metadata,
        spec: {
          replicas: args.runners,
          revisionHistoryLimit: 3,
          selector: { matchLabels: { "app.kubernetes.io/name": functionsRunner } },
          template: {
            metadata: { labels },
            spec: pod(args, settings.configMapName, programMap.metadata.name, settings.secretName),
          },
        },
      },
      parent,
    );
  }
}

const packageFolder = "/tmp/packages";

function pod(
  args: FunctionsRunnerArgs,
  configMapName: pulumi.Input<string>,
  programName: pulumi.Input<string>,
  secretName: pulumi.Input<string> | undefined,
): kubernetes.types.input.core.v1.PodSpec {
  const { ray, memory } = args;
  return {
    serviceAccountName: args.serviceAccountName,
    // The account may delete RayClusters, and the runner needs nothing of Kubernetes.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { ...args.nodeSelector },
    securityContext: restrictedPod,
    // What it has taken is given back to the next runner.
    terminationGracePeriodSeconds: 60,
    containers: [
      {
        name: functionsRunner,
        image: args.image,
        // Ray's image lacks them, or has them already. Their files are those of this container alone.
        command: [
          "sh",
          "-c",
          `pip install --no-cache-dir --quiet --user $${variables.packages} && exec python -u /runner/main.py`,
        ],
        env: [
          { name: "HOME", value: "/tmp" },
          { name: "PYTHONUSERBASE", value: packageFolder },
          { name: "PYTHONDONTWRITEBYTECODE", value: "1" },
          ...(args.packageIndex === undefined ? [] : [{ name: "PIP_INDEX_URL", value: args.packageIndex }]),
          // KubeRay makes the secret, under the name of the RayCluster.
          ...(ray.auth === "token"
            ? [
                { name: "RAY_AUTH_MODE", value: "token" },
                { name: "RAY_AUTH_TOKEN", valueFrom: { secretKeyRef: { name: ray.name, key: "auth_token" } } },
              ]
            : []),
        ],
        envFrom: [
          { configMapRef: { name: configMapName } },
          ...(secretName === undefined ? [] : [{ secretRef: { name: secretName } }]),
        ],
        resources: {
          requests: { cpu: String(args.cpus), memory, "ephemeral-storage": functionsDisk.total },
          limits: { memory, "ephemeral-storage": functionsDisk.total },
        },
        securityContext: restrictedContainer,
        volumeMounts: [
          { name: "tmp", mountPath: "/tmp" },
          { name: "program", mountPath: "/runner", readOnly: true },
        ],
      },
    ],
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: functionsDisk.temporary } },
      { name: "program", configMap: { name: programName } },
    ],
  };
}
