import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export const definitionType = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition";

export interface DefinitionsArgs {
  /** URLs or paths of manifests. */
  readonly files: readonly string[];
  /** Changes to definitions, in addition to their retention. */
  readonly transforms?: readonly pulumi.ResourceTransform[];
}

/**
 * Custom resource definitions from manifests. Helm installs a chart's definitions once and never upgrades them, so the
 * stack owns them separately. A destroy keeps them: the deletion of a definition deletes every object of its kind.
 *
 * @param opts - its provider must be the `crdProvider` of `connect`, which adopts existing definitions
 */
export function retainedDefinitions(
  name: string,
  { files, transforms = [] }: DefinitionsArgs,
  opts: pulumi.ComponentResourceOptions,
): kubernetes.yaml.v2.ConfigGroup {
  return new kubernetes.yaml.v2.ConfigGroup(
    name,
    { files: [...files] },
    {
      ...opts,
      retainOnDelete: true,
      // The provider's plugin registers the definitions, so only a transform reaches them. Engines pass retainOnDelete on
      // to children, but do not guarantee it (pulumi#19654).
      transforms: [retainDefinitions, ...transforms],
    },
  );
}

/** Marks only custom resource definitions as retained. */
export const retainDefinitions: pulumi.ResourceTransform = ({ type, props, opts }) =>
  type === definitionType ? { props, opts: pulumi.mergeOptions(opts, { retainOnDelete: true }) } : undefined;

/** `base` without a slash at its end, and a path below it. */
export const fileBelow = (base: string, path: string): string => `${base.replace(/\/+$/, "")}/${path}`;
