import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { isAtLeast } from "../model/semver.ts";

export interface KubeRayCrdsArgs {
  /** Base URL or directory with a folder for each version, laid out as KubeRay's repository is. */
  readonly base: string;
  /** The operator's version, such as 1.7.1. */
  readonly version: string;
}

/** The kinds that KubeRay defines, with the first minor version that has them. */
const definedSince = { rayclusters: "1.0", rayjobs: "1.0", rayservices: "1.0", raycronjobs: "1.6" } as const;

/** URLs or paths of a version's manifests, one definition each. */
export function crdFiles({ base, version }: KubeRayCrdsArgs): string[] {
  return Object.entries(definedSince)
    .filter(([, since]) => isAtLeast(version, since))
    .map(([kind]) => `${base.replace(/\/+$/, "")}/v${version}/ray-operator/config/crd/bases/ray.io_${kind}.yaml`);
}

const crdType = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition";

/**
 * KubeRay's custom resource definitions at the operator's version. Helm installs a chart's definitions once and never
 * upgrades them, so they are owned here, apart from the chart. They stay on destroy: deleting a definition deletes
 * every RayCluster of the cluster, whoever made it.
 */
export class KubeRayCrds extends pulumi.ComponentResource {
  readonly resource: kubernetes.yaml.v2.ConfigGroup;

  /** `opts.provider` must be the one that adopts existing definitions, see `connect`. */
  constructor(name: string, args: KubeRayCrdsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:KubeRayCrds", name, {}, opts);
    this.resource = new kubernetes.yaml.v2.ConfigGroup(
      name,
      { files: crdFiles(args) },
      {
        parent: this,
        retainOnDelete: true,
        // The provider's plugin reads the manifests and registers the definitions, out of this program's reach but for
        // a transform. Engines hand retainOnDelete down to children, but do not promise it (pulumi#19654).
        transforms: [retainDefinitions],
      },
    );
    this.registerOutputs({});
  }
}

/** Marks every custom resource definition as retained, leaving anything else alone. */
export const retainDefinitions: pulumi.ResourceTransform = ({ type, props, opts }) =>
  type === crdType ? { props, opts: pulumi.mergeOptions(opts, { retainOnDelete: true }) } : undefined;
