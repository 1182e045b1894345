/** The service's scopes of a caller that creates, reads and writes tables by their files. */
export const catalogScopes = ["credentials", "read", "write", "manage"] as const;

/** The audience of the pods' tokens where the stack names none for its issuer. */
export const catalogAudience = "lakehead";

const moduleName = "lakehead_catalog";
const className = "Token";
const tokenFile = "LAKEHEAD_TOKEN_FILE";

/** A pod has a file that the kubelet renews; a person's program has a variable. pylance calls it before each request. */
const tokenClass = `class ${className}:
    """Sends a token with each request to the table service: a pod's own, which Kubernetes renews, or yours."""

    def provide_context(self, info):
        file = os.environ.get("${tokenFile}")
        token = open(file).read().strip() if file else os.environ["LAKEHEAD_TOKEN"]
        return {"headers.authorization": f"Bearer {token}"}
`;

/** The ConfigMap with the module that Ray's pods import. */
export const catalogModule = {
  configMap: "lakehead-catalog",
  data: { [`${moduleName}.py`]: `import os\n\n\n${tokenClass}` },
} as const;

/** Properties of a client of Lance's namespaces, by pylance's names. */
export const namespaceProperties = (uri: string) => ({
  uri,
  "dynamic_context_provider.impl": `${moduleName}.${className}`,
});

/** The database of the client's program, which gives Ray's pods the address in the cluster. */
export const catalogConnection = (uri: string): string => `${tokenClass}

# Ray's pods import this class from a ConfigMap, and this program from itself.
sys.modules["${moduleName}"] = sys.modules[__name__]
# The table service opens the tables: neither this program nor Ray's pods have rights on the bucket.
database = geneva.connect(
    namespace_client_impl="rest",
    namespace_client_properties={
        "uri": os.environ["LAKEHEAD_URL"],
        "worker_uri": "${uri}",
        # LanceDB's own part of the client sends this; pylance, which Ray's pods use, sends what the class gives.
        "headers.authorization": f"Bearer {os.environ['LAKEHEAD_TOKEN']}",
        "dynamic_context_provider.impl": "${namespaceProperties(uri)["dynamic_context_provider.impl"]}",
    },
)`;

const directory = "/var/run/lakehead";

/** What a Ray pod needs beside its account: a token for the table service, and the module that sends it. */
export const catalogPod = (audience: string) => ({
  volume: {
    name: "lakehead",
    projected: {
      sources: [
        { serviceAccountToken: { path: "token", audience, expirationSeconds: 3600 } },
        { configMap: { name: catalogModule.configMap } },
      ],
    },
  },
  mount: { name: "lakehead", mountPath: directory, readOnly: true as const },
  env: { PYTHONPATH: directory, [tokenFile]: `${directory}/token` },
});
export type CatalogPod = ReturnType<typeof catalogPod>;

/** Whether the table service opens the tables for Ray's pods and the client, which then have no rights on the bucket. */
export const usesCatalog = ({
  tableService,
}: {
  readonly tableService: { readonly enabled: boolean; readonly catalog?: boolean };
}): boolean => tableService.enabled && tableService.catalog === true;
