import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { checksum } from "../kubernetes/checksum.ts";
import { managedBy } from "../kubernetes/labels.ts";
import { caFile, type Egress, egressVariables } from "../model/egress.ts";
import { orphanCleanupAccount } from "../model/names.ts";

const fileName = caFile.split("/").at(-1) ?? "";
const folder = caFile.slice(0, -fileName.length - 1);

const dataOf = (pem: string) => ({ [fileName]: pem });
/** Its name changes with the certificates, which restarts the pods. */
const mapName = (pem: string): string => `ca-bundle-${checksum(dataOf(pem))}`;

/** The root certificates that the namespace's pods trust. */
export class CaBundle extends pulumi.ComponentResource {
  constructor(
    name: string,
    { namespace, pem }: { readonly namespace: pulumi.Input<string>; readonly pem: string },
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:kubernetes:CaBundle", name, {}, opts);
    new kubernetes.core.v1.ConfigMap(
      name,
      { metadata: { name: mapName(pem), namespace, labels: managedBy }, immutable: true, data: dataOf(pem) },
      { parent: this },
    );
  }
}

interface Container {
  readonly env?: readonly object[];
  readonly volumeMounts?: readonly object[];
}
interface Pod {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
}
interface Template {
  readonly spec: Pod;
}
type Change = (template: Template) => Template;

/** Where each kind has its pods. */
const places: Readonly<Record<string, (spec: never, change: Change) => object>> = {
  "kubernetes:apps/v1:Deployment": (spec: { template: Template }, change) => ({
    ...spec,
    template: change(spec.template),
  }),
  "kubernetes:batch/v1:CronJob": (spec: { jobTemplate: { spec: { template: Template } } }, change) => ({
    ...spec,
    jobTemplate: {
      ...spec.jobTemplate,
      spec: { ...spec.jobTemplate.spec, template: change(spec.jobTemplate.spec.template) },
    },
  }),
  "kubernetes:ray.io/v1:RayCluster": (
    spec: { headGroupSpec: { template: Template }; workerGroupSpecs: readonly { template: Template }[] },
    change,
  ) => ({
    ...spec,
    headGroupSpec: { ...spec.headGroupSpec, template: change(spec.headGroupSpec.template) },
    workerGroupSpecs: spec.workerGroupSpecs.map((group) => ({ ...group, template: change(group.template) })),
  }),
};

/**
 * Gives the pods that reach outside proxy and certificates: the table service, maintenance, Ray and what runs Functions. The cleanup
 * calls the API server alone.
 */
export function throughEgress(egress: Egress, own: readonly string[]): pulumi.ResourceTransform[] {
  const variables = Object.entries(egressVariables(egress, own)).map(([name, value]) => ({ name, value }));
  if (variables.length === 0) return [];
  const { caBundle } = egress;
  const mount = { name: "ca-bundle", mountPath: folder, readOnly: true };
  const outward = (container: Container): Container => ({
    ...container,
    env: [...(container.env ?? []), ...variables],
    ...(caBundle === undefined ? {} : { volumeMounts: [...(container.volumeMounts ?? []), mount] }),
  });
  const withEgress: Change = (template) => ({
    ...template,
    spec: {
      ...template.spec,
      ...(template.spec.initContainers === undefined
        ? {}
        : { initContainers: template.spec.initContainers.map(outward) }),
      containers: template.spec.containers.map(outward),
      ...(caBundle === undefined
        ? {}
        : {
            volumes: [...(template.spec.volumes ?? []), { name: mount.name, configMap: { name: mapName(caBundle) } }],
          }),
    },
  });
  return [
    ({ type, props, opts }) => {
      const place = places[type];
      return place === undefined || props.metadata?.name === orphanCleanupAccount
        ? undefined
        : { props: { ...props, spec: place(props.spec as never, withEgress) }, opts };
    },
  ];
}
