import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { stringify } from "yaml";
import { ruleGroups } from "../../model/alerts.ts";
import { prometheusAccount } from "../../model/names.ts";
import { scrapedSources } from "../../model/scrape-targets.ts";
import type { RemoteWrite } from "../cloud.ts";
import { metricsPolicy } from "./identity/cluster-policies.ts";
import type { Place } from "./identity/policy.ts";
import { Role, trustServiceAccount } from "./identity/role.ts";
import type { AwsConfig } from "./schema.ts";

export interface ManagedPrometheusArgs {
  readonly place: Place;
  readonly config: AwsConfig;
  readonly settings: Extract<AwsConfig["monitoring"], { mode: "managed" }>;
  readonly oidcProviderArn: pulumi.Output<string>;
  /** Whether the stack installs the exporter of GPU metrics. */
  readonly gpu: boolean;
}

/** A workspace of Amazon Managed Service for Prometheus with the stack's rules, and the identity of what writes to it. */
export class ManagedPrometheus extends pulumi.ComponentResource {
  readonly metrics: RemoteWrite;
  /** For Grafana's data source. */
  readonly endpoint: pulumi.Output<string>;

  constructor(
    name: string,
    { place, config, settings, oidcProviderArn, gpu }: ManagedPrometheusArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:aws:ManagedPrometheus", name, {}, opts);
    const workspace = new aws.amp.Workspace(
      name,
      { alias: place.cluster, tags: { Name: place.cluster } },
      { parent: this, protect: config.protect },
    );
    new aws.amp.RuleGroupNamespace(
      name,
      {
        name: "lakehead",
        workspaceId: workspace.id,
        data: stringify({ groups: ruleGroups(config.namespace, settings.runbooks, scrapedSources(config, gpu)) }),
      },
      { parent: this },
    );
    const role = new Role(
      `${name}-role`,
      {
        description: `Prometheus of ${place.cluster}`,
        trust: trustServiceAccount(oidcProviderArn, settings.namespace, prometheusAccount),
        policies: { write: workspace.arn.apply((arn) => JSON.stringify(metricsPolicy(arn))) },
      },
      { parent: this },
    );
    this.endpoint = workspace.prometheusEndpoint;
    this.metrics = {
      kinds: "prometheus-operator",
      url: pulumi.interpolate`${workspace.prometheusEndpoint}api/v1/remote_write`,
      region: place.region,
      accountAnnotations: { "eks.amazonaws.com/role-arn": role.arn },
    };
    this.registerOutputs({ endpoint: this.endpoint });
  }
}
