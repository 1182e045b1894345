/** The state of a running stack: the parts of Kubernetes objects that the checks read. */

import type { Amount } from "../model/fit.ts";
import { parseMemory } from "../model/quantity.ts";
import { gpuResource } from "../model/roles.ts";

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string }[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Amounts of resources as Kubernetes writes them. */
export type Quantities = Readonly<Record<string, string>>;

export interface NodeFact {
  readonly metadata: Metadata;
  readonly spec: {
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
    readonly unschedulable?: boolean;
  };
  readonly status: {
    readonly allocatable?: Quantities;
    readonly conditions?: readonly Condition[];
  };
}

export interface PodFact {
  readonly metadata: Metadata;
  readonly spec: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly containers?: readonly { readonly resources?: { readonly requests?: Quantities } }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly state?: {
        readonly waiting?: { readonly reason?: string; readonly message?: string };
        readonly running?: { readonly startedAt: string };
        readonly terminated?: { readonly startedAt: string; readonly finishedAt: string };
      };
    }[];
  };
}

export interface DeploymentFact {
  readonly metadata: Metadata;
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status: { readonly availableReplicas?: number; readonly conditions?: readonly Condition[] };
}

export interface AccountFact {
  readonly metadata: Metadata;
}

export interface DefinitionFact {
  readonly metadata: Metadata;
  readonly status: { readonly conditions?: readonly Condition[] };
}

export interface RayClusterFact {
  readonly metadata: Metadata;
  readonly status?: {
    readonly state?: string;
    readonly reason?: string;
    readonly conditions?: readonly Condition[];
    readonly availableWorkerReplicas?: number;
    readonly minWorkerReplicas?: number;
    readonly head?: { readonly podName?: string; readonly podIP?: string };
  };
}

/** An access review: whether the subject may use the verb on the resource. */
export interface Question {
  readonly subject: { readonly user: string; readonly groups: readonly string[] } | "me";
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Undefined for all namespaces, and for resources without a namespace. */
  readonly namespace?: string;
}

export type { Outcome } from "../check-line.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export const isReady = (conditions: readonly Condition[] | undefined, type = "Ready"): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

export const amountOf = (quantities: Quantities): Amount => ({
  cpus: cpuQuantity(quantities.cpu ?? "0"),
  memoryBytes: parseMemory(quantities.memory ?? "0"),
  gpus: Number(quantities[gpuResource] ?? 0),
  ...(quantities["ephemeral-storage"] === undefined ? {} : { diskBytes: parseMemory(quantities["ephemeral-storage"]) }),
});

/** CPUs of a Kubernetes quantity, such as `7910m` or `8`. Any other text is 0. */
function cpuQuantity(text: string): number {
  const match = /^(?<number>\d+(?:\.\d+)?)(?<milli>m?)$/.exec(text)?.groups;
  return match === undefined ? 0 : Number(match.number) / (match.milli === "m" ? 1000 : 1);
}
