import * as pulumi from "@pulumi/pulumi";
import { environment } from "../../../service/contract.ts";
import type { SecretValues } from "../../config/load.ts";
import { connect } from "../../kubernetes/connect.ts";
import type { Cloud, Exposure } from "../cloud.ts";
import { existingDecisions } from "./decisions.ts";
import type { ExistingConfig, existingSecrets } from "./schema.ts";

/**
 * An existing cluster: kind, k3d or any other. It creates nothing in any cloud.
 * Without a kubeconfig in the configuration the provider reads $KUBECONFIG or ~/.kube/config.
 */
export function createExisting(config: ExistingConfig, secrets: SecretValues<keyof typeof existingSecrets>): Cloud {
  const kubeconfig = secrets.kubeconfig ?? config.kubeconfigPath;
  const { provider, crdProvider } = connect("cluster", {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    clusterIdentifier: config.context ?? config.clusterName,
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const { uri, storageOptions, volumeSize } = config.database;
  return {
    cluster: existingDecisions.clusterModel(config),
    provider,
    crdProvider,
    kubeconfig: undefined,
    clusterName: pulumi.output(config.clusterName),
    runtimeAccountAnnotations: config.accountAnnotations,
    tableServiceImage: config.tableService.image,
    tableServiceAccountAnnotations: {},
    maintenanceAccountAnnotations: {},
    functions: {
      workerAnnotations: {},
      runnerAnnotations: {},
      workerOptions: secrets.functionsStorageOptions,
      metadataServer: false,
      privateServices: [],
    },
    database: {
      uri,
      storageOptions,
      ...(secrets.storageOptions === undefined ? {} : { secretStorageOptions: secrets.storageOptions }),
      ...(uri.startsWith("/") ? { volumeSize } : {}),
    },
    client: {
      configMethod: "LOCAL",
      database: { uri, storageOptions, secretStorageOptions: secrets.storageOptions !== undefined },
    },
    clientCredentials: clientCredentials(config, pulumi.getStack(), secrets.storageOptions !== undefined),
    clientSubject: undefined,
    ready: { system: [], "ray-head": [], "ray-worker-cpu": [], "ray-worker-gpu": [] },
    exposure: exposureOf(config),
    outputs: {},
  };
}

function clientCredentials({ context, database: { uri } }: ExistingConfig, stack: string, secret: boolean): string {
  const storage = uri.startsWith("/")
    ? `# Neither the client nor Ray's pods see ${uri}: it is the table service's volume. For jobs, set database.uri to s3://… or gs://…`
    : secret
      ? `# The client opens ${uri} with these, and sends them to Ray's pods:
export ${environment.storageOptions}="$(npx pulumi config get storageOptions --stack ${stack})"`
      : `# The client and Ray's pods open ${uri} with credentials of their own environment. For keys, set the secret storageOptions.`;
  return `# The client uses your kubeconfig: ${context === undefined ? "its current context" : `kubectl config use-context ${context}`}
${storage}
`;
}

function exposureOf({ tableService: { exposure } }: ExistingConfig): Exposure {
  return {
    internal: { annotations: {} },
    public:
      exposure.mode === "public"
        ? { ingressClass: exposure.ingressClass, tlsSecret: exposure.tlsSecret, annotations: {} }
        : { annotations: {} },
    probeSources: [],
    dependsOn: [],
  };
}
