import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";

/** Pod Security Standards, from the most permissive to the strictest. */
export type PodSecurityLevel = "privileged" | "baseline" | "restricted";

export interface NamespaceArgs {
  readonly name: string;
  /** The level that admission enforces. Warnings and audit records always use `restricted`. */
  readonly enforce: PodSecurityLevel;
  /** Version of the standards, such as "v1.35"; pinned, so that an upgrade of Kubernetes rejects no further pods. */
  readonly policyVersion: string;
}

/** A namespace that enforces a Pod Security Standard. */
export class Namespace extends pulumi.ComponentResource {
  /** An output of the created namespace, so that its users depend on it. */
  readonly namespaceName: pulumi.Output<string>;
  readonly resource: kubernetes.core.v1.Namespace;

  constructor(name: string, args: NamespaceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Namespace", name, {}, opts);
    this.resource = new kubernetes.core.v1.Namespace(
      name,
      { metadata: { name: args.name, labels: { ...managedBy, ...podSecurityLabels(args) } } },
      { parent: this },
    );
    this.namespaceName = this.resource.metadata.name;
    this.registerOutputs({ namespaceName: this.namespaceName });
  }
}

/** The `pod-security.kubernetes.io/*` labels of a namespace. */
export function podSecurityLabels({ enforce, policyVersion }: Omit<NamespaceArgs, "name">): Record<string, string> {
  const prefix = "pod-security.kubernetes.io";
  return {
    [`${prefix}/enforce`]: enforce,
    [`${prefix}/enforce-version`]: policyVersion,
    [`${prefix}/warn`]: "restricted",
    [`${prefix}/warn-version`]: policyVersion,
    [`${prefix}/audit`]: "restricted",
    [`${prefix}/audit-version`]: policyVersion,
  };
}
