import { describe, expect, test } from "vitest";
import { knownTypes, replacementSource, tables } from "../../../infra/offline-plan/replacements.ts";
import { documentedPaths, elsewhere, forcesReplacement, inputsOf } from "../../support/infra/forced-replacements.ts";

describe("the table of inputs that force a replacement", () => {
  test.each([...knownTypes])("has no input of %s that no source names", (type) => {
    const sources = [...documentedPaths(type), ...(elsewhere[type]?.slice(1) ?? [])];
    // An entry for a whole block stands for the inputs in it.
    const unsupported = (tables[type] ?? []).filter(
      (path) => !forcesReplacement(type, path) && !sources.some((source) => source.startsWith(`${path}.`)),
    );
    expect(unsupported).toEqual([]);
  });

  test.each([...knownTypes])("has every input of %s that a document says forces one", (type) => {
    expect(documentedPaths(type).filter((path) => replacementSource(type, path) === undefined)).toEqual([]);
  });

  test.each(Object.entries(elsewhere))("names another source for %s only where no document speaks", (type, named) => {
    const paths = named.slice(1);
    const documents = documentedPaths(type);
    expect(paths.filter((path) => documents.includes(path) || !tables[type]?.includes(path))).toEqual([]);
    const inputs = inputsOf(type);
    expect(paths.filter((path) => !new RegExp(`^ +${path.split(".")[0]}\\??:`, "m").test(inputs))).toEqual([]);
  });

  test.each([
    ["aws:eks/nodeGroup:NodeGroup", "instanceTypes", true],
    ["aws:eks/nodeGroup:NodeGroup", "scalingConfig.maxSize", false],
    ["aws:eks/nodeGroup:NodeGroup", "launchTemplate.id", true],
    ["aws:eks/nodeGroup:NodeGroup", "launchTemplate.version", false],
    ["aws:eks/cluster:Cluster", "version", false],
    ["aws:ec2/vpc:Vpc", "region", true],
    ["gcp:container/nodePool:NodePool", "nodeConfig.machineType", false],
    ["gcp:container/nodePool:NodePool", "nodeConfig.spot", true],
    ["gcp:storage/bucket:Bucket", "project", true],
    ["kubernetes:apps/v1:Deployment", "spec.replicas", false],
    ["kubernetes:apps/v1:Deployment", "spec.selector.matchLabels.app", true],
    ["kubernetes:core/v1:PersistentVolumeClaim", "spec.storageClassName", true],
    ["kubernetes:core/v1:PersistentVolumeClaim", "spec.resources.requests.storage", false],
    ["kubernetes:ray.io/v1:RayCluster", "metadata.namespace", true],
    ["kubernetes:ray.io/v1:RayCluster", "metadata.labels.a", false],
    ["lakehead:aws:Network", "name", false],
  ])("%s %s: %s", (type, path, replaces) => {
    expect(replacementSource(type, path) !== undefined).toBe(replaces);
  });
});

describe("the documents", () => {
  test.each([
    ["the SDK's comment", "gcp:serviceaccount/account:Account", ["accountId"], ["displayName"]],
    ["the SDK's comment", "gcp:compute/network:Network", ["description"], ["deletionPolicy"]],
    ["the SDK's comment, not under a condition", "aws:ec2/subnet:Subnet", [], ["ipv6CidrBlock", "tags"]],
    ["the documented identity", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", ["role", "policyArn"], ["id"]],
    ["the EKS API", "aws:eks/nodeGroup:NodeGroup", ["instanceTypes", "subnetIds"], ["version", "labels", "tags"]],
    ["the EKS API", "aws:eks/cluster:Cluster", ["roleArn"], ["version", "vpcConfig", "deletionProtection"]],
    ["the Google provider", "gcp:container/nodePool:NodePool", ["nodeConfig.spot"], ["nodeConfig.machineType"]],
  ])("are read: %s on %s", (_source, type, forced, others) => {
    const paths = documentedPaths(type);
    expect(paths).toEqual(expect.arrayContaining(forced));
    expect(paths.filter((path) => others.includes(path))).toEqual([]);
  });
});
