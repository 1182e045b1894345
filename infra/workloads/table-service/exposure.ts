import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Exposure, IngressExposure } from "../../clouds/cloud.ts";

/** `tableService.exposure` in the stack's configuration. */
export type ExposureSettings =
  | { readonly mode: "cluster" }
  | { readonly mode: "internal"; readonly allowedCidrs: readonly string[]; readonly annotations: Settings }
  | {
      readonly mode: "public";
      readonly allowedCidrs: readonly string[];
      readonly annotations: Settings;
      readonly host: string;
    };

type Settings = Readonly<Record<string, string>>;

export interface TableServiceExposureArgs {
  readonly namespace: pulumi.Input<string>;
  /** Name of the Service, the Ingress and their objects. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels of the pods behind it. */
  readonly selector: Readonly<Record<string, string>>;
  readonly settings: ExposureSettings;
  readonly balancing: Exposure;
}

const servicePort = 80;
const tlsPort = 443;

const endsTls = (mode: ExposureSettings["mode"], { internal }: Exposure): boolean =>
  mode === "internal" && internal.tlsHost !== undefined && internal.ingress === undefined;

/** The port of the Service, behind which the pods speak HTTP in any case. */
export const servicePortOf = (mode: ExposureSettings["mode"], balancing: Exposure): number =>
  endsTls(mode, balancing) ? tlsPort : servicePort;

/** The Service of the table service's pods, with the load balancer and TLS of its exposure. */
export class TableServiceExposure extends pulumi.ComponentResource {
  /** Base URL of the API. */
  readonly url: pulumi.Output<string>;
  /** Host name or IP address of the load balancer, the target of a DNS record; undefined without one. */
  readonly address: pulumi.Output<string> | undefined;

  constructor(name: string, args: TableServiceExposureArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:TableServiceExposure", name, {}, opts);
    // A Service or an Ingress that is deleted after its controller leaves the cloud's load balancer behind.
    const childOpts: pulumi.CustomResourceOptions = { parent: this, dependsOn: args.balancing.dependsOn };
    const service = new kubernetes.core.v1.Service(name, serviceInputs(args), {
      ...childOpts,
      // An update does not wait for finalizers, and the same `up` can delete the controller: only a deletion of the
      // Service deletes the load balancer with certainty.
      replaceOnChanges: ["spec.type"],
      deleteBeforeReplace: true,
    });

    const ingress = ingressOf(args);
    if (ingress !== undefined) {
      const { host, balancing } = ingress;
      this.url = pulumi.output(`https://${host}`);
      for (const object of balancing.objects ?? []) {
        new kubernetes.apiextensions.CustomResource(
          `${name}-${object.kind.toLowerCase()}`,
          {
            apiVersion: object.apiVersion,
            kind: object.kind,
            metadata: { name: object.name, namespace: args.namespace, labels: { ...args.labels } },
            spec: object.spec,
          },
          childOpts,
        );
      }
      this.address = loadBalancerAddress(
        new kubernetes.networking.v1.Ingress(name, ingressInputs(args, ingress, service.metadata.name), childOpts)
          .status,
      );
    } else if (args.settings.mode === "internal") {
      this.address = loadBalancerAddress(service.status);
      const { tlsHost } = args.balancing.internal;
      this.url =
        tlsHost === undefined ? pulumi.interpolate`http://${this.address}` : pulumi.output(`https://${tlsHost}`);
    } else {
      this.url = pulumi.interpolate`http://${service.metadata.name}.${args.namespace}.svc.cluster.local`;
    }
    this.registerOutputs({ url: this.url, address: this.address });
  }
}

interface IngressSettings {
  readonly host: string;
  readonly annotations: Settings;
  readonly balancing: IngressExposure;
}

/** The Ingress of the exposure; undefined where the Service itself has the load balancer, or there is none. */
function ingressOf({ settings, balancing }: TableServiceExposureArgs): IngressSettings | undefined {
  if (settings.mode === "public")
    return { host: settings.host, annotations: settings.annotations, balancing: balancing.public };
  const { ingress, tlsHost } = balancing.internal;
  return settings.mode === "cluster" || ingress === undefined || tlsHost === undefined
    ? undefined
    : { host: tlsHost, annotations: settings.annotations, balancing: ingress };
}

function serviceInputs(args: TableServiceExposureArgs): kubernetes.core.v1.ServiceArgs {
  const { settings, balancing } = args;
  const ingress = ingressOf(args);
  const own = ingress === undefined && settings.mode === "internal" ? settings : undefined;
  const annotations =
    own === undefined
      ? (ingress?.balancing.serviceAnnotations ?? {})
      : { ...balancing.internal.annotations, ...own.annotations };
  return {
    metadata: {
      name: args.name,
      namespace: args.namespace,
      labels: { ...args.labels },
      annotations: { ...annotations },
    },
    spec: {
      selector: { ...args.selector },
      // The load balancer ends TLS, and the pods speak HTTP.
      ports: [
        {
          name: endsTls(settings.mode, balancing) ? "https" : "http",
          port: servicePortOf(settings.mode, balancing),
          targetPort: "api",
          protocol: "TCP",
          appProtocol: "http",
        },
      ],
      ...(own === undefined
        ? { type: "ClusterIP" }
        : {
            type: "LoadBalancer",
            loadBalancerSourceRanges: [...own.allowedCidrs],
            ...(balancing.internal.loadBalancerClass === undefined
              ? {}
              : { loadBalancerClass: balancing.internal.loadBalancerClass }),
          }),
    },
  };
}

function ingressInputs(
  args: TableServiceExposureArgs,
  { host, annotations: own, balancing }: IngressSettings,
  serviceName: pulumi.Input<string>,
): kubernetes.networking.v1.IngressArgs {
  const { ingressClass, annotations, tlsSecret } = balancing;
  return {
    metadata: {
      name: args.name,
      namespace: args.namespace,
      labels: { ...args.labels },
      annotations: { ...annotations, ...own },
    },
    spec: {
      ...(ingressClass === undefined ? {} : { ingressClassName: ingressClass }),
      ...(tlsSecret === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecret }] }),
      rules: [
        {
          host,
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: serviceName, port: { number: servicePort } } },
              },
            ],
          },
        },
      ],
    },
  };
}

interface Status {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string; readonly ip?: string }[] };
}

/** Host name or address of a load balancer; "pending" until the cloud assigns one. */
function loadBalancerAddress(status: pulumi.Output<Status>): pulumi.Output<string> {
  return status.apply((known) => {
    const [first] = known?.loadBalancer?.ingress ?? [];
    return first?.hostname ?? first?.ip ?? "pending";
  });
}
