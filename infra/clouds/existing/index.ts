import * as pulumi from "@pulumi/pulumi";
import type { KubeconfigConfig, Secrets } from "../../config/load.ts";
import { connect } from "../../kubernetes/connect.ts";
import type { Exposure, Platform } from "../index.ts";

/**
 * A cluster that is there already: kind, k3d, or one that somebody else runs. It creates nothing in any cloud.
 * Without a kubeconfig in the configuration the provider reads $KUBECONFIG or ~/.kube/config.
 */
export function createLocalPlatform(config: KubeconfigConfig, secrets: Secrets): Platform {
  const kubeconfig = secrets.kubeconfig ?? config.kubeconfigPath;
  const { provider, crdProvider } = connect("cluster", {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    clusterIdentifier: config.context ?? config.clusterName,
    ...(config.context === undefined ? {} : { context: config.context }),
  });
  const { uri, storageOptions, volumeSize } = config.database;
  return {
    provider,
    crdProvider,
    kubeconfig: undefined,
    clusterName: pulumi.output(config.clusterName),
    runtimeAccountAnnotations: config.accountAnnotations,
    tableServiceAccountAnnotations: {},
    database: {
      uri,
      storageOptions,
      ...(secrets.storageOptions === undefined ? {} : { secretStorageOptions: secrets.storageOptions }),
      ...(uri.startsWith("/") ? { volumeSize } : {}),
    },
    client: { configMethod: "LOCAL" },
    clientSubject: undefined,
    ready: { system: [], "ray-head": [], "ray-worker-cpu": [], "ray-worker-gpu": [] },
    exposure: localExposure(config),
    outputs: {},
  };
}

function localExposure({ tableService: { exposure } }: KubeconfigConfig): Exposure {
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
