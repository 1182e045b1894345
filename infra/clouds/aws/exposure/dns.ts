import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

interface HostArgs {
  /** DNS name of the public endpoint. */
  readonly host: string;
  /** Id of the Route 53 hosted zone of the host. */
  readonly zoneId: string;
}

/** A certificate for the host, validated by a record in its zone. */
export class HostCertificate extends pulumi.ComponentResource {
  /** ARN of the certificate, known once it is issued: a load balancer refuses one that is not. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, { host, zoneId }: HostArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:HostCertificate", name, {}, opts);
    const child = { parent: this };
    const certificate = new aws.acm.Certificate(name, { domainName: host, validationMethod: "DNS" }, child);
    // One domain has one option.
    const option = certificate.domainValidationOptions.apply(([only]) => only);
    const record = new aws.route53.Record(
      `${name}-validation`,
      {
        zoneId,
        name: option.apply((known) => known?.resourceRecordName ?? ""),
        type: "CNAME",
        records: [option.apply((known) => known?.resourceRecordValue ?? "")],
        ttl: 300,
        // ACM gives every certificate of one account and domain the same record.
        allowOverwrite: true,
      },
      child,
    );
    const validation = new aws.acm.CertificateValidation(
      name,
      { certificateArn: certificate.arn, validationRecordFqdns: [record.fqdn] },
      child,
    );
    this.arn = validation.certificateArn;
    this.registerOutputs({ arn: this.arn });
  }
}

interface HostRecordArgs extends HostArgs {
  readonly region: string;
  /** DNS name of the application load balancer, which its controller creates. */
  readonly address: pulumi.Output<string>;
}

/** Points the host at the load balancer. */
export class HostRecord extends pulumi.ComponentResource {
  constructor(name: string, { host, zoneId, region, address }: HostRecordArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:HostRecord", name, {}, opts);
    // Load balancers of one region share a zone, whose id is a constant of the provider. It is asked once there is one, because
    // the offline plan asks nothing.
    const balancerZone = address.apply(
      async () => (await aws.lb.getHostedZoneId({ loadBalancerType: "application", region }, { parent: this })).id,
    );
    new aws.route53.Record(
      name,
      {
        zoneId,
        name: host,
        type: "A",
        aliases: [{ name: address, zoneId: balancerZone, evaluateTargetHealth: false }],
      },
      { parent: this },
    );
  }
}
