import { longestRequestSeconds, paths, ports } from "../../../../service/contract.ts";

/** Name of the bucket of access logs, from that of the tables' bucket, because names are unique in all of AWS. */
export const accessLogsBucket = (tables: string): string => `${tables}-access-logs`;

/** The ports of a table service pod that a load balancer connects to: requests and readiness probes. */
export const balancedPorts: readonly number[] = [ports.api, ports.operations];

/** Port on which a load balancer listens, with and without TLS. */
export const listenerPort = (tls: boolean): 443 | 80 => (tls ? 443 : 80);

const tlsPolicy = "ELBSecurityPolicy-TLS13-1-2-2021-06";

const drainSeconds = 30;

/** Ids that AWS assigns; `Text` is a string or an output of one. */
interface Ids<Text> {
  readonly securityGroup: Text;
  /** Ids joined by commas. */
  readonly subnets: Text;
}

export interface BalancerSettings {
  readonly protect: boolean;
  /** Whether the service serves writes, whose requests last longer. */
  readonly writes: boolean;
}

/** AWS refuses to delete a protected load balancer, also for the controller. */
const deletionProtection = (protect: boolean): string => `deletion_protection.enabled=${protect}`;

/** Annotations of a Service of type LoadBalancer: an internal NLB with the pods as targets. */
export function internalAnnotations<Text>(
  { securityGroup, subnets }: Ids<Text>,
  { protect, writes }: BalancerSettings,
  certificateArn?: string,
  privateLink = false,
): Record<string, string | Text> {
  const prefix = "service.beta.kubernetes.io/aws-load-balancer";
  return {
    [`${prefix}-scheme`]: "internal",
    [`${prefix}-nlb-target-type`]: "ip",
    [`${prefix}-security-groups`]: securityGroup,
    [`${prefix}-subnets`]: subnets,
    [`${prefix}-healthcheck-protocol`]: "http",
    [`${prefix}-healthcheck-port`]: String(ports.operations),
    [`${prefix}-healthcheck-path`]: paths.ready,
    [`${prefix}-attributes`]: deletionProtection(protect),
    [`${prefix}-target-group-attributes`]: `deregistration_delay.timeout_seconds=${drainSeconds}`,
    ...(certificateArn === undefined
      ? {}
      : {
          [`${prefix}-ssl-cert`]: certificateArn,
          [`${prefix}-ssl-ports`]: String(listenerPort(true)),
          [`${prefix}-ssl-negotiation-policy`]: tlsPolicy,
        }),
    // Endpoints of other networks come from addresses of their own; the endpoint service decides who has one.
    ...(privateLink ? { [`${prefix}-inbound-sg-rules-on-private-link-traffic`]: "off" } : {}),
    // Without it, 350 seconds, which a listener with TLS always has.
    ...(writes && certificateArn === undefined
      ? {
          [`${prefix}-listener-attributes.TCP-${listenerPort(false)}`]: `tcp.idle_timeout.seconds=${longestRequestSeconds(writes)}`,
        }
      : {}),
  };
}

/** Attributes that record every request in a bucket; none without one. */
const accessLogs = (bucket: string | undefined): string[] =>
  bucket === undefined ? [] : ["access_logs.s3.enabled=true", `access_logs.s3.bucket=${bucket}`];

/** Attributes of an ALB. */
export const publicAttributes = ({ protect, writes }: BalancerSettings, logBucket: string | undefined): string =>
  [
    `idle_timeout.timeout_seconds=${longestRequestSeconds(writes)}`,
    "routing.http.drop_invalid_header_fields.enabled=true",
    deletionProtection(protect),
    ...accessLogs(logBucket),
  ].join();

/** Annotations of an Ingress: an ALB on the internet, TLS only, with the pods as targets. */
export function publicAnnotations<Text>(
  { securityGroup, subnets }: Ids<Text>,
  certificateArn: string | Text,
  attributes: string | Text,
): Record<string, string | Text> {
  const prefix = "alb.ingress.kubernetes.io";
  return {
    [`${prefix}/scheme`]: "internet-facing",
    [`${prefix}/target-type`]: "ip",
    [`${prefix}/security-groups`]: securityGroup,
    [`${prefix}/subnets`]: subnets,
    [`${prefix}/listen-ports`]: JSON.stringify([{ HTTPS: listenerPort(true) }]),
    [`${prefix}/certificate-arn`]: certificateArn,
    [`${prefix}/ssl-policy`]: tlsPolicy,
    [`${prefix}/healthcheck-protocol`]: "HTTP",
    [`${prefix}/healthcheck-port`]: String(ports.operations),
    [`${prefix}/healthcheck-path`]: paths.ready,
    [`${prefix}/load-balancer-attributes`]: attributes,
    [`${prefix}/target-group-attributes`]: `deregistration_delay.timeout_seconds=${drainSeconds}`,
  };
}
