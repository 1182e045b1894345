/** The stacks of the clouds: the credentials, the overrides for a machine without a network, the changes of the suite. */

import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { root } from "../../support/infra/stacks.ts";
import { kuberayCrdBase, operatorVersion } from "../support/crds.ts";
import { withoutPlaceholders } from "../support/placeholders.ts";

export type CloudStack = "aws-dev" | "gcp-dev";

export interface Change {
  readonly what: string;
  readonly overrides: Readonly<Record<string, unknown>>;
}

export interface CloudFacts {
  readonly cloud: "aws" | "gcp";
  /** The account of the caller's credentials: the one in the stack's file. */
  readonly account: string;
  readonly region: string;
  readonly principal: string;
  /** Type and name of a node group whose creation fails in the middle of an `up`, as the cloud's part of the suite has them. */
  readonly failing: string;
  /** Type and name of the resource whose deletion fails in the middle of a `destroy`. */
  readonly stuck: string;
  readonly changes: readonly Change[];
}

const values = (stack: CloudStack): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(readStackConfig(readProject(root), stack).values).map(([key, value]) => [
      key,
      withoutPlaceholders(value),
    ]),
  );

/** A key of the stack's configuration with some fields replaced. */
export function changed(
  stack: CloudStack,
  key: string,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const held = JSON.parse(values(stack)[`lakehead:${key}`] ?? "{}") as Record<string, unknown>;
  return { [`lakehead:${key}`]: { ...held, ...fields } };
}

export function factsOf(stack: CloudStack): CloudFacts {
  const own = values(stack);
  const nodes = JSON.parse(own["lakehead:nodes"] ?? "{}") as Record<string, Record<string, unknown>>;
  const pool = (name: string, fields: Record<string, unknown>) =>
    changed(stack, "nodes", { [name]: { ...nodes[name], ...fields } });
  const more = changed(stack, "ray", { cpuWorkers: { maxReplicas: 6 } });
  if (stack === "aws-dev")
    return {
      cloud: "aws",
      account: own["lakehead:account"] ?? "",
      region: own["lakehead:region"] ?? "",
      principal: own["lakehead:deployerArn"] ?? "",
      failing: "aws:eks/nodeGroup:NodeGroup nodes-ray-worker-cpu",
      stuck: "aws:eks/cluster:Cluster cluster",
      changes: [
        { what: "more workers, longer logs", overrides: { ...more, "lakehead:logRetentionDays": 14 } },
        { what: "another instance type", overrides: pool("gpu", { instanceTypes: ["g5.4xlarge"] }) },
        { what: "a larger disk", overrides: pool("cpu", { diskGiB: 220 }) },
        { what: "a larger maximum", overrides: pool("cpu", { diskGiB: 220, max: 5 }) },
        { what: "one more zone", overrides: changed(stack, "network", { zones: ["a", "b", "c"] }) },
        { what: "one more tag", overrides: changed(stack, "tags", { owner: "e2e" }) },
      ],
    };
  return {
    cloud: "gcp",
    account: own["lakehead:project"] ?? "",
    region: own["lakehead:region"] ?? "",
    principal: "",
    failing: "container.nodePools cpu-pool",
    stuck: "container.clusters ",
    changes: [
      {
        what: "more workers, older versions kept longer",
        overrides: { ...more, ...changed(stack, "bucket", { noncurrentDays: 9 }) },
      },
      { what: "a pool that is no longer spot", overrides: pool("cpu", { spot: false }) },
      { what: "another machine", overrides: pool("head", { machineType: "n2-standard-16" }) },
      { what: "a larger range of nodes", overrides: changed(stack, "network", { nodeCidr: "10.42.0.0/19" }) },
      { what: "one more label", overrides: changed(stack, "tags", { owner: "e2e" }) },
    ],
  };
}

/** Own values in place of the placeholders. */
export function ownValues(stack: CloudStack): Record<string, unknown> {
  const examples = readStackConfig(readProject(root), stack).values;
  const own = Object.entries(values(stack))
    .filter(([key, text]) => text !== examples[key])
    .map(([key, text]): [string, unknown] => [key, /^[[{]/.test(text) ? JSON.parse(text) : text]);
  return Object.fromEntries(own);
}

/** Own values, the operator version that runs here, and its definitions from a folder, because they cannot be fetched. */
export async function offline(stack: CloudStack): Promise<Record<string, unknown>> {
  return {
    ...ownValues(stack),
    ...changed(stack, "operator", { version: operatorVersion, crds: await kuberayCrdBase() }),
  };
}
