import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { PlannedStack } from "../../clouds/schema.ts";
import { type DefinitionFact, type DeploymentFact, isReady } from "../facts.ts";

/** The kinds without which the operator does not start. */
const neededKinds = ["rayclusters.ray.io", "rayjobs.ray.io", "rayservices.ray.io"];

export interface OperatorFacts {
  /** Every Deployment of the cluster whose image is KubeRay's operator. */
  readonly operators: readonly DeploymentFact[];
  readonly definitions: readonly DefinitionFact[];
}

/** KubeRay: its definitions, and one operator at the version that the stack asked for. */
export function checkOperator(stack: PlannedStack, { operators, definitions }: OperatorFacts): Line[] {
  return [checkDefinitions(definitions), checkDeployment(stack, operators)];
}

function checkDefinitions(definitions: readonly DefinitionFact[]): Line {
  const established = definitions.filter(({ status }) => isReady(status.conditions, "Established"));
  const missing = neededKinds.filter((kind) => !established.some(({ metadata }) => metadata.name === kind));
  return missing.length === 0
    ? ok(`definitions: ${neededKinds.join(", ")} are established`)
    : wrong(
        `definitions: ${missing.join(", ")} missing or not established`,
        "pulumi up; the operator does not start without them",
      );
}

/** Whether a Deployment runs the operator's image, from any registry. */
export const isOperator = ({ spec }: DeploymentFact): boolean =>
  spec.template.spec.containers.some(({ image }) => /(^|\/)kuberay\/operator[:@]|kuberay-operator[:@]/.test(image));

function checkDeployment({ config, cluster }: PlannedStack, operators: readonly DeploymentFact[]): Line {
  const { mode } = config.operator;
  const [operator, second] = operators;
  if (operator === undefined)
    return mode === "addon"
      ? unknown(
          "operator: not visible, because GKE runs its add-on's operator",
          `gcloud container clusters describe ${config.clusterName} --format='value(addonsConfig.rayOperatorConfig)'`,
        )
      : wrong(
          "operator: no Deployment in the cluster runs KubeRay's image",
          mode === "helm" ? "pulumi up" : "install KubeRay, or set operator.mode: helm",
        );
  const where = `${operator.metadata.namespace ?? ""}/${operator.metadata.name}`;
  if (second !== undefined || mode === "addon")
    return wrong(
      `operator: more than one (${operators.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ")}${mode === "addon" ? " beside GKE's add-on" : ""}), which undo each other's changes`,
      "keep the one that operator.mode names",
    );
  const image = operator.spec.template.spec.containers[0]?.image ?? "";
  const wanted = cluster.operatorVersion;
  const tag = /:v?(?<version>[^:@/]+)(?:@|$)/.exec(image)?.groups?.version;
  if ((operator.status.availableReplicas ?? 0) < 1) {
    const reason = operator.status.conditions?.find(({ status }) => status !== "True")?.message;
    return wrong(
      `operator ${where}: not available${reason === undefined ? "" : ` (${reason})`}`,
      `kubectl -n ${operator.metadata.namespace ?? ""} logs deployment/${operator.metadata.name}`,
    );
  }
  if (wanted !== undefined && tag !== undefined && tag !== wanted)
    return wrong(
      `operator ${where}: runs ${tag}, but the stack configures ${wanted}`,
      "pulumi up, or set operator.version",
    );
  return ok(`operator ${where}: available, ${image}`);
}
