import { errorIf, type Finding, warningIf } from "../../../config/report.ts";
import type { AwsConfig } from "../schema.ts";

/** What AWS would refuse of how the table service is reached. */
export const checkExposure = (config: AwsConfig): Finding[] => [...checkCertificate(config), ...checkFirewall(config)];

function checkCertificate({ tableService: { enabled, exposure, writes } }: AwsConfig): Finding[] {
  if (exposure.mode === "internal")
    return [
      ...warningIf(
        enabled && writes && exposure.certificateArn !== undefined,
        "tableService.exposure.certificateArn",
        "a network load balancer with TLS ends connections that are silent for 350 seconds, which is shorter than the longest write",
        "write exposure.mode: public for such writes, or keep them small",
      ),
      ...errorIf(
        (exposure.certificateArn === undefined) !== (exposure.host === undefined),
        [
          "tableService.exposure",
          exposure.certificateArn === undefined ? { host: exposure.host } : { certificateArn: exposure.certificateArn },
        ],
        "TLS needs the certificate and the name that it is for",
        "write both host and certificateArn, or neither for a load balancer without TLS",
      ),
      ...errorIf(
        enabled && exposure.privateLink !== undefined && exposure.certificateArn === undefined,
        "tableService.exposure.privateLink",
        "tokens of other networks would cross without TLS",
        "write host and certificateArn as well",
      ),
    ];
  return errorIf(
    enabled && exposure.mode === "public" && exposure.certificateArn === undefined && exposure.zone === undefined,
    "tableService.exposure.certificateArn",
    "the load balancer has no certificate",
    "write the id of the host's Route 53 zone in tableService.exposure.zone, or the ARN of a certificate",
  );
}

function checkFirewall({ tableService: { enabled, exposure } }: AwsConfig): Finding[] {
  if (!enabled || exposure.mode !== "public" || exposure.waf === undefined) return [];
  const { webAclArn, managedRuleGroups, requestsPerFiveMinutes } = exposure.waf;
  const key = "tableService.exposure.waf";
  return [
    ...errorIf(
      webAclArn !== undefined && requestsPerFiveMinutes !== undefined,
      `${key}.requestsPerFiveMinutes`,
      "a web ACL of your own has its own rules",
      "leave it out, or leave out webAclArn",
    ),
    ...errorIf(
      new Set(managedRuleGroups).size < managedRuleGroups.length,
      `${key}.managedRuleGroups`,
      "a rule group is listed twice",
      "list each once",
    ),
    ...warningIf(
      webAclArn === undefined && managedRuleGroups.includes("AWSManagedRulesSQLiRuleSet"),
      `${key}.managedRuleGroups`,
      "the filters of queries are SQL, which AWSManagedRulesSQLiRuleSet refuses",
      "leave that group out",
    ),
  ];
}
