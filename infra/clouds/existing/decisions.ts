import { storageAddress } from "../../../service/contract.ts";
import { ownsFunctionsCluster } from "../../config/functions.ts";
import type { CheckContext } from "../../config/parse.ts";
import { errorIf, type Finding, warningIf } from "../../config/report.ts";
import type { ClusterModel } from "../../model/cluster.ts";
import type { Amount } from "../../model/fit.ts";
import { operatorVersion } from "../../model/operator.ts";
import { parseMemory } from "../../model/quantity.ts";
import { rayRoles, roleFacts } from "../../model/roles.ts";
import { buildsServiceImage } from "../../model/service-image.ts";
import type { CloudDecisions, VerificationFacts } from "../cloud.ts";
import type { ExistingConfig } from "./schema.ts";

export const existingDecisions: CloudDecisions<ExistingConfig> = {
  placeholders: {},
  clusterModel,
  check,
  verification,
};

function clusterModel({ nodes, labelPrefix, operator, devicePlugin }: ExistingConfig): ClusterModel {
  const capacities = rayRoles.flatMap((role) => {
    const node = nodes[roleFacts[role].key];
    return node === undefined ? [] : [[role, capacityOf(node)] as const];
  });
  const hasGpuNodes = nodes.gpu !== undefined;
  return {
    roles: { labelPrefix, headTaint: nodes.headTaint },
    pools: [],
    capacity: Object.fromEntries(capacities),
    hasGpuNodes,
    systemNodeSelector: {},
    kubernetesVersion: undefined,
    dockerHubCache: undefined,
    operatorVersion: operatorVersion(operator),
    devicePlugin: hasGpuNodes && devicePlugin.mode === "install" ? devicePlugin : undefined,
    ownNetworks: [],
    machines: undefined,
  };
}

type Node = NonNullable<ExistingConfig["nodes"]["head"]>;

const capacityOf = ({ cpus, memory, gpus, ephemeralStorage }: Node): Amount => ({
  cpus,
  memoryBytes: parseMemory(memory),
  gpus,
  ...(ephemeralStorage === undefined ? {} : { diskBytes: parseMemory(ephemeralStorage) }),
});

/** Names of credentials among the options of object stores; an id of a key is none. */
const credential =
  /secret|password|token$|_sas|credential|service_account(_key)?$|account_key$|(?<!kms_)encryption_key$/i;

function check(config: ExistingConfig, { secrets }: CheckContext): Finding[] {
  const { database, tableService, ray } = config;
  const { enabled, exposure, replicas } = tableService;
  return [
    ...errorIf(
      ray.history.enabled,
      "ray.history.enabled",
      "the stack has no bucket for it here, and Ray's pods have no identity that writes",
      "write false, and install KubeRay's history server by its guide",
    ),
    ...errorIf(
      buildsServiceImage({ tableService }),
      "tableService.image",
      "the table service has no image, and the stack builds one only where it makes the registry",
      "build the Dockerfile, push it or load it into the nodes, and write its tag or digest, or write tableService.enabled: false",
    ),
    ...Object.keys(database.storageOptions)
      .filter((option) => credential.test(option))
      .flatMap((option) =>
        errorIf(
          true,
          [`database.storageOptions.${option}`, "…"],
          "a credential would stand in the stack's file and in every plan",
          `npx pulumi config set --secret storageOptions '{"${option}": "…"}', and leave it out here`,
        ),
      ),
    ...errorIf(
      tableService.functions.enabled && database.uri.startsWith("/"),
      "tableService.functions.enabled",
      "Functions run in Ray's pods, which do not see the volume of a database that is a path",
      "write an s3:// or gs:// address as database.uri, or tableService.functions.enabled: false",
    ),
    ...errorIf(
      ownsFunctionsCluster(config) && secrets.has("storageOptions") && !secrets.has("functionsStorageOptions"),
      "tableService.functions.cluster",
      "the workers of Functions have no keys of the tables, and the service's would reach all that it reaches",
      "set keys of their own: pulumi config set --secret functionsStorageOptions '{…}', or write cluster: shared",
    ),
    // The network policy opens the port of such an address.
    ...Object.entries(database.storageOptions)
      .filter(([option, value]) => storageAddress.test(option) && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
      .flatMap(([option, value]) =>
        errorIf(
          true,
          [`database.storageOptions.${option}`, value],
          "the address has no scheme",
          "write https://<host>[:<port>], or http:// with allow_http",
        ),
      ),
    ...warningIf(
      enabled && database.uri.startsWith("/") && replicas.max > 1,
      "tableService.replicas.max",
      "database.uri is a path on one volume, which usually only one node can mount",
      "write 1, or an object store under database.uri",
    ),
    ...(exposure.mode === "public"
      ? errorIf(
          exposure.allowedCidrs.join() !== "0.0.0.0/0",
          "tableService.exposure.allowedCidrs",
          "no annotation restricts the networks for every IngressClass",
          "leave it out, and restrict the ingress controller itself",
        )
      : []),
  ];
}

function verification({ kubeconfigPath, context }: ExistingConfig): VerificationFacts {
  return {
    ownKubeconfig: { path: kubeconfigPath, context },
    ownsNodes: false,
    identityOutput: undefined,
    clientSubject: () => undefined,
    gpuRemedy:
      "the device plugin is missing or fails: kubectl -n kube-system get pods -l app.kubernetes.io/name=nvidia-device-plugin",
    ownNamespaces: undefined,
  };
}
