import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { PlannedStack } from "../../clouds/schema.ts";
import type { ClusterModel } from "../../model/cluster.ts";
import { type Amount, describeAmount, podsPerNode } from "../../model/fit.ts";
import { describeMemory } from "../../model/quantity.ts";
import { rayGroups, wholePod } from "../../model/ray-groups.ts";
import { gpuResource, type NodeRole, nodeLabels, nodeRoles, nodeTaints, systemRole } from "../../model/roles.ts";
import { amountOf, isReady, type NodeFact } from "../facts.ts";

/** Nodes of each role: the minimum number is ready, with the planned taints, and large enough for the role's pods. */
export function checkNodes(stack: PlannedStack, nodes: readonly NodeFact[]): Line[] {
  return expectedRoles(stack.cluster).flatMap(({ role, min }) => checkRole(stack, role, min, nodes));
}

/** An existing cluster has only the roles that its configuration describes. */
function expectedRoles({ pools, capacity }: ClusterModel): { role: NodeRole; min: number }[] {
  if (pools.length > 0) return pools.map(({ role, min }) => ({ role, min }));
  return nodeRoles.flatMap((role) => (capacity[role] === undefined ? [] : [{ role, min: 1 }]));
}

function checkRole(stack: PlannedStack, role: NodeRole, min: number, nodes: readonly NodeFact[]): Line[] {
  const options = stack.cluster.roles;
  const [key = "", value = ""] = Object.entries(nodeLabels(role, options))[0] ?? [];
  const mislabelled = nodes.filter(
    ({ metadata }) => metadata.labels?.[key] !== undefined && metadata.labels[key] !== value,
  );
  const own = nodes.filter(({ metadata }) => metadata.labels?.[key] === value);
  const ready = own.filter(({ status, spec }) => isReady(status.conditions) && spec.unschedulable !== true);
  const lines = mislabelled.map(({ metadata }) =>
    wrong(
      `node ${metadata.name}: its label ${key} is "${metadata.labels?.[key]}", but selectors require "${value}"`,
      `kubectl label node ${metadata.name} --overwrite ${key}=${value}`,
    ),
  );
  if (own.length === 0) return [...lines, noNodes(role, key, value, min)];
  if (ready.length < min) {
    const cordoned = own.filter(({ spec }) => spec.unschedulable === true).map(({ metadata }) => metadata.name);
    const why = cordoned.length === 0 ? "" : ` (cordoned: ${cordoned.join(", ")})`;
    return [
      ...lines,
      wrong(
        `nodes ${role}: ${ready.length} of ${own.length} ready, at least ${min} expected${why}`,
        cordoned.length === 0 ? `kubectl describe node -l ${key}=${value}` : `kubectl uncordon ${cordoned.join(" ")}`,
      ),
    ];
  }
  return [...lines, ...ready.slice(0, 1).map(() => size(stack, role, ready)), ...taints(stack, role, own)];
}

function noNodes(role: NodeRole, key: string, value: string, min: number): Line {
  return min > 0
    ? wrong(
        `nodes ${role}: no node has the label ${key}=${value}`,
        "see the events of the node group in the cloud's console: quota, capacity or routes keep machines from joining",
      )
    : unknown(
        `nodes ${role}: none now, and the minimum is 0; not checked whether the autoscaler adds one`,
        `start a pod with nodeSelector ${key}: "${value}" and run this again`,
      );
}

/** What one pod of the role requests; the head includes the autoscaler's sidecar. */
function podOf({ config, cluster }: PlannedStack, role: NodeRole): Amount | undefined {
  const { head, workers } = rayGroups(config, cluster);
  return [head, ...workers].map(wholePod).find((pod) => pod.role === role);
}

function size(stack: PlannedStack, role: NodeRole, nodes: readonly NodeFact[]): Line {
  const amounts = nodes.map(({ status: { allocatable = {} } }) => amountOf(allocatable));
  const [first = { cpus: 0, memoryBytes: 0, gpus: 0 }] = amounts;
  const have = `nodes ${role}: ${nodes.length} ready, ${describeAmount(first)} allocatable on the first`;
  if (role === "ray-worker-gpu" && amounts.some(({ gpus }) => gpus === 0))
    return wrong(`${have}: a GPU node without ${gpuResource}`, stack.facts.gpuRemedy);
  const pod = role === systemRole ? undefined : podOf(stack, role);
  if (pod !== undefined && !amounts.some((node) => podsPerNode(pod, node) > 0))
    return wrong(
      `${have}, but one pod of the role requests ${describeAmount(pod)} and ${describeMemory(pod.diskBytes ?? 0)} of local disk`,
      "choose a larger machine or disk under nodes, or request less under ray, in the stack's configuration",
    );
  return ok(have);
}

function taints({ cluster, facts }: PlannedStack, role: NodeRole, nodes: readonly NodeFact[]): Line[] {
  if (!facts.ownsNodes) return [];
  return nodeTaints(role, cluster.roles).flatMap(({ key, effect }) => {
    const bare = nodes.filter(
      ({ spec }) => !spec.taints?.some((taint) => taint.key === key && taint.effect === effect),
    );
    return bare.map(({ metadata }) =>
      wrong(
        `node ${metadata.name}: the taint ${key}:${effect} is missing, so any pod may run on it`,
        "pulumi refresh, then pulumi up: the node group was changed outside of the stack",
      ),
    );
  });
}
