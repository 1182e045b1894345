/**
 * Sample results of the provider functions that a program invokes. The values are those of the clouds' documentation, which
 * identifies them as samples. A plan lists the functions that got such a result.
 */

import { parseAllDocuments } from "yaml";
import type { AnswerContext, Wire } from "./recorder.ts";
import type { Properties, Value } from "./values.ts";

export const sampleAccount = "123456789012";
export const sampleProject = "sample-project";
/** An address of documentation, such as load balancers have in a plan. */
export const sampleAddress = "203.0.113.30";
/** A short-lived secret of a registry. */
export const sampleRegistryToken = "sample registry token";

const string = (value: Value | undefined): string | undefined => (typeof value === "string" ? value : undefined);

type Answer = (args: Properties, context: AnswerContext) => Wire;

const awsRegion = (args: Properties, context: AnswerContext): string =>
  string(args.region) ?? string(context.provider.region) ?? "us-east-1";

const awsPartition = (region: string): string =>
  region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";

const gcpProject = (args: Properties, context: AnswerContext): string =>
  string(args.project) ?? string(context.provider.project) ?? sampleProject;

const answers: Readonly<Record<string, Answer>> = {
  "aws:index/getCallerIdentity:getCallerIdentity": () => ({
    id: sampleAccount,
    accountId: sampleAccount,
    userId: "AIDACKCEVSQ6C2EXAMPLE",
    arn: `arn:aws:iam::${sampleAccount}:user/sample`,
  }),
  "aws:index/getPartition:getPartition": (args, context) => {
    const partition = awsPartition(awsRegion(args, context));
    const dnsSuffix = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
    return { id: partition, partition, dnsSuffix, reverseDnsPrefix: dnsSuffix.split(".").reverse().join(".") };
  },
  "aws:index/getRegion:getRegion": (args, context) => {
    const region = awsRegion(args, context);
    return { id: region, name: region, region, description: region, endpoint: `ec2.${region}.amazonaws.com` };
  },
  "aws:index/getAvailabilityZones:getAvailabilityZones": (args, context) => {
    const region = awsRegion(args, context);
    const names = ["a", "b", "c"].map((zone) => `${region}${zone}`);
    return { id: region, region, names, zoneIds: names.map((_, index) => `use1-az${index + 1}`), groupNames: [region] };
  },
  "aws:iam/getSessionContext:getSessionContext": (args) => {
    const arn = string(args.arn) ?? "";
    return { id: arn, arn, issuerArn: arn, issuerId: "", issuerName: "", sessionName: "" };
  },
  "aws:ecr/getAuthorizationToken:getAuthorizationToken": (args, context) => {
    const registryId = string(args.registryId) ?? sampleAccount;
    return {
      id: registryId,
      registryId,
      authorizationToken: Buffer.from(`AWS:${sampleRegistryToken}`).toString("base64"),
      userName: "AWS",
      password: sampleRegistryToken,
      proxyEndpoint: `https://${registryId}.dkr.ecr.${awsRegion(args, context)}.amazonaws.com`,
      expiresAt: "2026-01-01T00:00:00Z",
    };
  },
  // A public parameter of the machine images of EKS.
  "aws:ssm/getParameter:getParameter": (args) => ({
    id: string(args.name) ?? "",
    name: string(args.name) ?? "",
    value: "1.35.0-20260101",
    insecureValue: "1.35.0-20260101",
    type: "String",
    version: 1,
  }),
  "aws:lb/getHostedZoneId:getHostedZoneId": () => ({ id: "Z215JYRZR1TBD5", loadBalancerType: "application" }),
  "aws:lb/getLoadBalancer:getLoadBalancer": (args, context) => {
    const name = string(args.name) ?? "";
    const region = awsRegion(args, context);
    return {
      id: name,
      name,
      arn: `arn:aws:elasticloadbalancing:${region}:${sampleAccount}:loadbalancer/net/${name}/0123456789abcdef`,
    };
  },
  "gcp:compute/getForwardingRules:getForwardingRules": (args, context) => {
    const project = gcpProject(args, context);
    const parent = `projects/${project}/regions/${string(args.region) ?? "us-central1"}`;
    const selfLink = `https://www.googleapis.com/compute/v1/${parent}/forwardingRules/k8s2-fs-sample`;
    return { id: parent, project, rules: [{ ipAddress: sampleAddress, selfLink }] };
  },
  "gcp:organizations/getProject:getProject": (args, context) => {
    const projectId = gcpProject(args, context);
    return { id: `projects/${projectId}`, projectId, number: sampleAccount, name: projectId };
  },
  "gcp:organizations/getClientConfig:getClientConfig": (args, context) => {
    const project = gcpProject(args, context);
    const region = string(context.provider.region) ?? "us-central1";
    return { id: project, project, region, zone: "", accessToken: sampleRegistryToken };
  },
  "gcp:compute/getZones:getZones": (args, context) => {
    const region = string(args.region) ?? string(context.provider.region) ?? "us-central1";
    const project = gcpProject(args, context);
    return {
      id: `projects/${project}/regions/${region}`,
      project,
      region,
      names: ["a", "b", "c"].map((z) => `${region}-${z}`),
    };
  },
  // Asks no cloud: the provider parses text.
  "kubernetes:yaml:decode": (args) => ({
    result: parseAllDocuments(string(args.text) ?? "").flatMap((document) => {
      const value: unknown = document.toJS();
      return value === null || value === undefined ? [] : [value];
    }),
  }),
};

/** The result of a provider function, by its token; undefined for an unknown function. */
export function answer(token: string, args: Properties, context: AnswerContext): Wire | undefined {
  return answers[token]?.(args, context);
}
