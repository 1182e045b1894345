import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Outputs } from "../../cloud.ts";
import type { AwsConfig } from "../schema.ts";

type Exposure = AwsConfig["tableService"]["exposure"];
export type PrivateLink = NonNullable<Extract<Exposure, { mode: "internal" }>["privateLink"]>;
export type Firewall = NonNullable<Extract<Exposure, { mode: "public" }>["waf"]>;

interface BalancerArgs {
  readonly region: string;
  /** DNS name of the load balancer, known once its controller has made it. */
  readonly address: pulumi.Output<string>;
}

/** The name in a load balancer's DNS name, `<name>-<id>.<…>.amazonaws.com`, as AWS documents it. */
export const balancerName = (address: string): string => (address.split(".")[0] ?? "").replace(/-[0-9a-z]+$/, "");

/** It is asked once there is one, because the offline plan asks nothing. */
const balancerArn = ({ region, address }: BalancerArgs, parent: pulumi.Resource): pulumi.Output<string> =>
  address.apply(async (known) => (await aws.lb.getLoadBalancer({ name: balancerName(known), region }, { parent })).arn);

export interface EndpointServiceArgs extends BalancerArgs {
  readonly settings: PrivateLink;
  /** DNS name of the endpoint, for which the load balancer has its certificate. */
  readonly host: string | undefined;
}

/** AWS PrivateLink: other VPCs reach the internal load balancer by an endpoint of their own. */
export class EndpointService extends pulumi.ComponentResource {
  readonly outputs: Outputs;

  constructor(name: string, args: EndpointServiceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:EndpointService", name, {}, opts);
    const { acceptanceRequired, allowedPrincipals, privateDns } = args.settings;
    const service = new aws.ec2.VpcEndpointService(
      name,
      {
        acceptanceRequired,
        allowedPrincipals: [...allowedPrincipals],
        networkLoadBalancerArns: [balancerArn(args, this)],
        ...(privateDns && args.host !== undefined ? { privateDnsName: args.host } : {}),
      },
      { parent: this },
    );
    this.outputs = {
      privateLinkService: service.serviceName,
      ...(privateDns ? { privateLinkDnsRecord: service.privateDnsNameConfigurations.apply(([record]) => record) } : {}),
    };
    this.registerOutputs(this.outputs);
  }
}

export interface WebFirewallArgs extends BalancerArgs {
  readonly clusterName: string;
  readonly settings: Firewall;
}

/**
 * AWS WAF before the public load balancer. The stack attaches it, not the controller, which would leave the rules attached when
 * they are to be deleted: without its annotation it changes nothing.
 */
export class WebFirewall extends pulumi.ComponentResource {
  constructor(name: string, args: WebFirewallArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:WebFirewall", name, {}, opts);
    const { clusterName, settings } = args;
    const webAclArn =
      settings.webAclArn ??
      new aws.wafv2.WebAcl(
        name,
        {
          name: `${clusterName}-table-service`,
          description: `Table service in ${clusterName}`,
          scope: "REGIONAL",
          defaultAction: { allow: {} },
          rules: firewallRules(settings),
          visibilityConfig: visibility("table-service"),
        },
        { parent: this },
      ).arn;
    new aws.wafv2.WebAclAssociation(name, { webAclArn, resourceArn: balancerArn(args, this) }, { parent: this });
  }
}

const visibility = (metricName: string) => ({
  metricName,
  cloudwatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});

/** Rules of AWS's groups that would refuse what the service is for, counted instead. */
const countedRules: Readonly<Record<string, readonly string[]>> = {
  // Bodies over 8 KB: vectors and rows.
  AWSManagedRulesCommonRuleSet: ["SizeRestrictions_BODY"],
};

/** The limit first: what it refuses is not inspected. */
function firewallRules({ managedRuleGroups, requestsPerFiveMinutes }: Firewall): aws.types.input.wafv2.WebAclRule[] {
  return [
    ...(requestsPerFiveMinutes === undefined
      ? []
      : [
          {
            name: "rate",
            priority: 0,
            action: { block: { customResponse: { responseCode: 429 } } },
            statement: {
              rateBasedStatement: { limit: requestsPerFiveMinutes, evaluationWindowSec: 300, aggregateKeyType: "IP" },
            },
            visibilityConfig: visibility("rate"),
          },
        ]),
    ...managedRuleGroups.map((group, index) => ({
      name: group,
      priority: index + 1,
      overrideAction: { none: {} },
      statement: {
        managedRuleGroupStatement: {
          vendorName: "AWS",
          name: group,
          ruleActionOverrides: (countedRules[group] ?? []).map((rule) => ({
            name: rule,
            actionToUse: { count: {} },
          })),
        },
      },
      visibilityConfig: visibility(group),
    })),
  ];
}
