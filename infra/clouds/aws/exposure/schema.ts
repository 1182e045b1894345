import { z } from "zod";
import { count, flag, form } from "../../../config/fields.ts";
import { arn } from "../fields.ts";

export const privateLink = z
  .strictObject({
    allowedPrincipals: z
      .array(
        form(
          /^arn:aws[a-z-]*:iam::\d{12}:(root|(role|user)\/[^*]+)$/,
          "the ARN of an account (arn:aws:iam::111122223333:root), role or user, without wildcards",
        ),
      )
      .min(1, { error: "at least one principal" })
      .describe("Accounts, roles and users that may make endpoints"),
    acceptanceRequired: flag(true, "Each new endpoint waits until you accept it"),
    privateDns: flag(
      false,
      "Endpoints answer to `host` in their own VPC, once the record of the output `privateLinkDnsRecord` proves that the name is yours",
    ),
  })
  .optional()
  .describe("AWS PrivateLink: publish the load balancer to other VPCs; needs `certificateArn`");

export const waf = z
  .strictObject({
    webAclArn: arn("wafv2", "arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/name/…")
      .optional()
      .describe("Regional web ACL of your own, instead of one that the stack makes of the keys below"),
    managedRuleGroups: z
      .array(form(/^AWSManagedRules\w+$/, "a rule group such as AWSManagedRulesCommonRuleSet"))
      .default(["AWSManagedRulesAmazonIpReputationList", "AWSManagedRulesKnownBadInputsRuleSet"])
      .describe(
        "Rule groups of AWS, in their order. Of `AWSManagedRulesCommonRuleSet` the limit of 8 KB for bodies only counts",
      ),
    requestsPerFiveMinutes: count(10, 2_000_000_000)
      .optional()
      .describe("Requests of one address in five minutes after which further ones get 429; default: no limit"),
  })
  .optional()
  .describe("AWS WAF before the load balancer");
