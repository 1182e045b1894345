/** Stacks with the keys that are off by default, for what judges every resource: names, schemas, permissions, replacements. */

import { rootCertificates } from "node:tls";

const service = {
  image: "registry.example.com/lakehead:0.2.0",
  auth: { issuer: "https://login.example.com/", audience: "lakehead" },
};

/** As in the examples. */
const smallRay = {
  head: { cpus: 2, memory: "8Gi" },
  cpuWorkers: { maxReplicas: 12 },
  gpuWorkers: { maxReplicas: 1 },
};

interface Variant {
  readonly stack: "aws-dev" | "gcp-dev";
  readonly overrides: Readonly<Record<string, unknown>>;
}

export const everyKey: Readonly<Record<string, Variant>> = {
  "aws: internal, with all keys": {
    stack: "aws-dev",
    overrides: {
      "lakehead:ray": { version: "2.60.0", history: { enabled: true }, ...smallRay },
      "lakehead:bucket": {
        name: "example-lakehead-dev",
        encryption: "aws:kms",
        auditAccess: true,
        replica: { name: "example-lakehead-dev-copy", region: "eu-west-1" },
      },
      // A head for each RayCluster: the stack's, that of Functions and a client's.
      "lakehead:nodes": { head: { instanceTypes: ["c6i.2xlarge"], max: 3 } },
      "lakehead:egress": {
        proxy: "http://proxy.corp.lakehead.dev:3128",
        noProxy: [".corp.lakehead.dev"],
        caBundle: rootCertificates[0],
      },
      "lakehead:tableService": {
        ...service,
        writes: true,
        functions: { enabled: true },
        exposure: {
          mode: "internal",
          host: "tables.corp.example.com",
          certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
          privateLink: { allowedPrincipals: ["arn:aws:iam::444455556666:root"], privateDns: true },
        },
      },
    },
  },
  "aws: public, with all keys": {
    stack: "aws-dev",
    overrides: {
      "lakehead:quota": { queue: { mode: "install" } },
      "lakehead:nodes": {
        cpu: { spot: true, fallback: [{ instanceTypes: ["m7i.4xlarge", "m6i.4xlarge"], max: 3 }] },
        gpu: {
          spot: true,
          fallback: [{ instanceTypes: ["g6.4xlarge"] }, { instanceTypes: ["g5.4xlarge"], max: 1 }],
        },
      },
      "lakehead:tableService": {
        ...service,
        exposure: {
          mode: "public",
          host: "tables.example.com",
          zone: "Z0123456789ABCDEFGHIJ",
          waf: {
            managedRuleGroups: ["AWSManagedRulesCommonRuleSet", "AWSManagedRulesKnownBadInputsRuleSet"],
            requestsPerFiveMinutes: 1000,
          },
        },
      },
    },
  },
  "gcp: internal, with all keys": {
    stack: "gcp-dev",
    overrides: {
      "lakehead:ray": { version: "2.60.0", history: { enabled: true }, ...smallRay },
      "lakehead:bucket": {
        name: "example-lakehead-dev",
        auditAccess: true,
        dualRegion: { location: "EU", secondRegion: "europe-west1", turbo: true },
      },
      "lakehead:tableService": {
        ...service,
        exposure: {
          mode: "internal",
          host: "tables.corp.example.com",
          certificateName: "tables-2026",
          proxyCidr: "10.42.16.0/23",
          privateServiceConnect: { consumerProjects: ["analytics-prod"], natCidr: "10.42.18.0/24" },
        },
      },
    },
  },
  "gcp: public, with all keys": {
    stack: "gcp-dev",
    overrides: {
      "lakehead:quota": { queue: { mode: "install" } },
      "lakehead:computeClasses": true,
      "lakehead:nodes": {
        cpu: { fallback: [{ machineType: "n2d-standard-16", max: 3 }] },
        gpu: {
          spot: true,
          fallback: [
            { machineType: "g2-standard-16", flexStart: { hours: 24 } },
            { machineType: "a2-highgpu-1g", max: 1 },
          ],
        },
      },
      "lakehead:tableService": {
        ...service,
        exposure: {
          mode: "public",
          host: "tables.example.com",
          allowedCidrs: ["198.51.100.0/24"],
          waf: { requestsPerMinute: 600 },
        },
      },
    },
  },
};
