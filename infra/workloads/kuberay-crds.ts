import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { definitionType, fileBelow, retainedDefinitions } from "../kubernetes/definitions.ts";
import { isAtLeast } from "../model/semver.ts";

export interface KubeRayCrdsArgs {
  /** Base URL or directory with a folder for each version, in the layout of KubeRay's repository. */
  readonly base: string;
  /** The operator's version, such as 1.7.1. */
  readonly version: string;
}

/** KubeRay's kinds, with the first minor version that defines them. */
const definedSince = { rayclusters: "1.0", rayjobs: "1.0", rayservices: "1.0", raycronjobs: "1.6" } as const;

/** URLs or paths of a version's manifests, one for each definition. */
export function crdFiles({ base, version }: KubeRayCrdsArgs): string[] {
  return Object.entries(definedSince)
    .filter(([, since]) => isAtLeast(version, since))
    .map(([kind]) => fileBelow(base, `v${version}/ray-operator/config/crd/bases/ray.io_${kind}.yaml`));
}

/** KubeRay's custom resource definitions at the operator's version, separate from its chart. */
export class KubeRayCrds extends pulumi.ComponentResource {
  readonly resource: kubernetes.yaml.v2.ConfigGroup;

  /** `opts.provider` must be the `crdProvider` of `connect`, which adopts existing definitions. */
  constructor(name: string, args: KubeRayCrdsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:KubeRayCrds", name, {}, opts);
    this.resource = retainedDefinitions(
      name,
      { files: crdFiles(args), transforms: [mergeWorkerGroups] },
      { parent: this },
    );
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface DefinitionVersion {
  readonly schema?: { readonly openAPIV3Schema?: Schema };
}

const workerGroups = ["spec", "workerGroupSpecs"] as const;
const mergedByName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["groupName"] } as const;

/** A schema with further fields at a property's path. */
function extended(schema: Schema, [head, ...rest]: readonly string[], fields: object): Schema {
  if (head === undefined) return { ...schema, ...fields };
  const inner = schema.properties?.[head];
  return inner === undefined
    ? schema
    : { ...schema, properties: { ...schema.properties, [head]: extended(inner, rest, fields) } };
}

/** A RayCluster definition whose worker groups server-side apply merges by name. */
export const withMergedWorkerGroups = (versions: readonly DefinitionVersion[]): DefinitionVersion[] =>
  versions.map((version) => {
    const schema = version.schema?.openAPIV3Schema;
    return schema === undefined
      ? version
      : { ...version, schema: { ...version.schema, openAPIV3Schema: extended(schema, workerGroups, mergedByName) } };
  });

/**
 * KubeRay's definition names no list type, so an apply replaces all worker groups and resets `replicas`, which Ray's
 * autoscaler owns and the stack leaves out. `ignoreChanges` does not help: the provider cannot drop a field inside a list
 * (`handleSSAIgnoreFields` in its pkg/await/await.go).
 */
export const mergeWorkerGroups: pulumi.ResourceTransform = ({ type, props, opts }) =>
  type === definitionType && props.metadata?.name === "rayclusters.ray.io" && Array.isArray(props.spec?.versions)
    ? { props: { ...props, spec: { ...props.spec, versions: withMergedWorkerGroups(props.spec.versions) } }, opts }
    : undefined;
