import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dnsSuffixOf, partitionOf } from "../../../infra/clouds/aws/identity/arn.ts";
import {
  autoscalerPolicy,
  clientPolicy,
  controlPlanePolicy,
  flowLogsPolicy,
  runtimePolicy,
  tableServicePolicy,
  vendingPolicy,
} from "../../../infra/clouds/aws/identity/cluster-policies.ts";
import { loadBalancerControllerPolicy } from "../../../infra/clouds/aws/identity/load-balancer-policy.ts";
import {
  clientTrust,
  type Place,
  type PolicyDocument,
  policy,
  type Statement,
  serviceAccountTrust,
} from "../../../infra/clouds/aws/identity/policy.ts";
import { type BucketScope, tlsOnly } from "../../../infra/clouds/aws/identity/storage-policies.ts";
import { wildcardViolations } from "../support/wildcards.ts";

const place: Place = { partition: "aws", region: "eu-central-1", account: "111122223333", cluster: "lancedb" };
const ownArn = "arn:aws:iam::111122223333:role/geneva-client-role";
const scope: BucketScope = { bucket: "tables", prefix: "lance/prod" };
const scopes: fc.Arbitrary<BucketScope> = fc.record({
  bucket: fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/),
  prefix: fc.constantFrom("", "lance", "a/b/c"),
});
const documents = (at: Place, reach: BucketScope): PolicyDocument[] => [
  runtimePolicy(at, reach),
  tableServicePolicy(at, reach, false),
  tableServicePolicy(at, reach, true),
  vendingPolicy(at, reach, false),
  vendingPolicy(at, reach, true),
  clientPolicy(at, reach, `arn:${at.partition}:iam::${at.account}:role/geneva-client-role`),
  autoscalerPolicy(at),
  controlPlanePolicy(at),
  flowLogsPolicy(at, "/aws/vpc/lancedb/flow-logs"),
  loadBalancerControllerPolicy(at),
];
const actions = (document: PolicyDocument) => document.Statement.flatMap(({ Action }) => Action);
const statement = (document: PolicyDocument, sid: string): Statement | undefined =>
  document.Statement.find(({ Sid }) => Sid === sid);

describe("every document", () => {
  test("has only the listed wildcards, for any bucket and prefix", () => {
    fc.assert(
      fc.property(scopes, (reach) => {
        expect(documents(place, reach).flatMap(wildcardViolations)).toEqual([]);
      }),
    );
  });

  test("names only existing actions: s3:GetObject authorizes HeadObject", () => {
    for (const document of documents(place, scope)) expect(actions(document)).not.toContain("s3:HeadObject");
  });

  test("has statements with unique ids", () => {
    for (const { Statement } of documents(place, scope))
      expect(new Set(Statement.map(({ Sid }) => Sid)).size).toBe(Statement.length);
  });

  test("fits the 10 240 characters of a role's inline policy", () => {
    for (const document of documents(place, scope)) expect(JSON.stringify(document).length).toBeLessThan(10_240);
  });

  test("stays in its partition", () => {
    const china = { ...place, partition: partitionOf("cn-north-1"), region: "cn-north-1" };
    expect(JSON.stringify(documents(china, scope))).not.toContain("arn:aws:");
  });
});

describe("the wildcard rule finds", () => {
  const found = (own: Partial<Statement>) =>
    wildcardViolations(policy({ Sid: "X", Effect: "Allow", Action: ["s3:GetObject"], ...own }));
  test.each<[string, Partial<Statement>, string]>([
    ["an action", { Action: ["s3:*"], Resource: ["arn:aws:s3:::b/x"] }, "X: action s3:*"],
    ["every resource for a write", { Action: ["ec2:CreateTags"], Resource: ["*"] }, "X: ec2:CreateTags on *"],
    ["every bucket", { Resource: ["arn:aws:s3:::*"] }, "X: s3:GetObject on arn:aws:s3:::*"],
    ["every principal", { Principal: "*" }, "X: principal *"],
    ["buckets by a pattern", { Resource: ["arn:aws:s3:::b-*/x/*"] }, "X: s3:GetObject on arn:aws:s3:::b-*/x/*"],
  ])("%s", (_, own, violation) => {
    expect(found(own)).toEqual([violation]);
  });

  test("nothing in a Deny", () => {
    expect(wildcardViolations(policy(tlsOnly(place, "tables")))).toEqual([]);
  });
});

describe("access to the tables", () => {
  test("allows reads, writes and deletes only below the prefix", () => {
    fc.assert(
      fc.property(scopes, (reach) => {
        const objects = statement(runtimePolicy(place, reach), "ReadWriteTables");
        const path = reach.prefix === "" ? "" : `${reach.prefix}/`;
        expect(objects?.Resource).toEqual([`arn:aws:s3:::${reach.bucket}/${path}*`]);
      }),
    );
  });

  test("allows multipart uploads and the lookup of the region", () => {
    expect(actions(tableServicePolicy(place, scope, true)).sort()).toEqual([
      "s3:AbortMultipartUpload",
      "s3:DeleteObject",
      "s3:GetBucketLocation",
      "s3:GetObject",
      "s3:ListBucket",
      "s3:ListMultipartUploadParts",
      "s3:PutObject",
    ]);
  });

  test("lists only the prefix, or the whole bucket without one", () => {
    expect(statement(runtimePolicy(place, scope), "ListTables")?.Condition).toEqual({
      StringLike: { "s3:prefix": ["lance/prod", "lance/prod/*"] },
    });
    expect(statement(runtimePolicy(place, { ...scope, prefix: "" }), "ListTables")?.Condition).toBeUndefined();
  });

  test("uses the key with SSE-KMS, only through S3, and no key otherwise", () => {
    const kmsKeyArn = "arn:aws:kms:eu-central-1:111122223333:key/1";
    expect(statement(runtimePolicy(place, { ...scope, kmsKeyArn }), "UseKey")).toMatchObject({
      Action: ["kms:Decrypt", "kms:GenerateDataKey"],
      Resource: [kmsKeyArn],
      Condition: { StringEquals: { "kms:ViaService": "s3.eu-central-1.amazonaws.com" } },
    });
    expect(statement(runtimePolicy(place, scope), "UseKey")).toBeUndefined();
  });
});

describe("the table service", () => {
  /** Resources by action, of every statement about objects. */
  const objectRights = (reach: BucketScope, writes: boolean) =>
    tableServicePolicy(place, reach, writes).Statement.flatMap(({ Action, Resource = [] }) =>
      Action.filter((action) => /Object|Multipart/.test(action)).map((action) => [action, Resource] as const),
    );

  test("without writes reads the tables, and puts and deletes only objects of tags", () => {
    fc.assert(
      fc.property(scopes, (reach) => {
        const tables = `arn:aws:s3:::${reach.bucket}/${reach.prefix === "" ? "" : `${reach.prefix}/`}*`;
        const tags = [`${tables}/_refs/tags/*`];
        expect(objectRights(reach, false)).toEqual([
          ["s3:GetObject", [tables]],
          ["s3:PutObject", tags],
          ["s3:DeleteObject", tags],
        ]);
      }),
    );
  });

  test("with writes may put and delete below the prefix of the tables, and nothing else beside the rights to read", () => {
    fc.assert(
      fc.property(scopes, (reach) => {
        const tables = [`arn:aws:s3:::${reach.bucket}/${reach.prefix === "" ? "" : `${reach.prefix}/`}*`];
        expect(objectRights(reach, true)).toEqual([
          ["s3:GetObject", tables],
          ["s3:PutObject", tables],
          ["s3:DeleteObject", tables],
          ["s3:AbortMultipartUpload", tables],
          ["s3:ListMultipartUploadParts", tables],
        ]);
        const others = (writes: boolean) =>
          tableServicePolicy(place, reach, writes).Statement.filter(
            ({ Action }) => !/Object|Multipart/.test(Action.join()),
          );
        expect(others(true)).toEqual(others(false));
      }),
    );
  });
});

describe("the permissions of each identity", () => {
  test("the runtime and the client can describe this cluster; the table service reaches only the tables", () => {
    for (const document of [runtimePolicy(place, scope), clientPolicy(place, scope, ownArn)])
      expect(statement(document, "DescribeCluster")).toMatchObject({
        Action: ["eks:DescribeCluster"],
        Resource: ["arn:aws:eks:eu-central-1:111122223333:cluster/lancedb"],
      });
    for (const writes of [false, true])
      expect(actions(tableServicePolicy(place, scope, writes)).filter((action) => !action.startsWith("s3:"))).toEqual(
        [],
      );
  });

  test("a service account's trust policy names its subject, its audience and the issuer without a scheme", () => {
    const arn = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC";
    expect(serviceAccountTrust(arn, "lancedb", "geneva-service-account").Statement).toEqual([
      {
        Sid: "ServiceAccount",
        Effect: "Allow",
        Action: ["sts:AssumeRoleWithWebIdentity"],
        Principal: { Federated: arn },
        Condition: {
          StringEquals: {
            "oidc.eks.eu-central-1.amazonaws.com/id/ABC:aud": "sts.amazonaws.com",
            "oidc.eks.eu-central-1.amazonaws.com/id/ABC:sub": "system:serviceaccount:lancedb:geneva-service-account",
          },
        },
      },
    ]);
    expect(() => serviceAccountTrust("arn:aws:iam::1:role/x", "a", "b")).toThrow("is not the ARN of an OIDC provider");
  });

  test("the listed principals can assume the client role, each once, and an empty list is an error", () => {
    const [a, b] = ["arn:aws:iam::1:role/a", "arn:aws:iam::1:role/b"];
    expect(clientTrust([b, a, b], place, ownArn).Statement[0]?.Principal).toEqual({ AWS: [a, b] });
    expect(() => clientTrust([], place, ownArn)).toThrow("list at least one role or user");
  });

  test("the client role can assume itself: by its trust, which names no role that may not exist yet, and by its policy", () => {
    const trust = clientTrust(["arn:aws:iam::1:role/a"], place, ownArn);
    expect(statement(trust, "Itself")).toEqual({
      Sid: "Itself",
      Effect: "Allow",
      Action: ["sts:AssumeRole"],
      Principal: { AWS: "arn:aws:iam::111122223333:root" },
      Condition: { ArnEquals: { "aws:PrincipalArn": ownArn } },
    });
    expect(statement(clientPolicy(place, scope, ownArn), "Itself")).toMatchObject({
      Action: ["sts:AssumeRole"],
      Resource: [ownArn],
    });
  });

  test("the autoscaler can change only groups with this cluster's tag", () => {
    const scale = statement(autoscalerPolicy(place), "Scale");
    expect(scale?.Condition).toEqual({
      StringEquals: { "aws:ResourceTag/k8s.io/cluster-autoscaler/lancedb": "owned" },
    });
  });

  test("the load balancer controller has no permission for security groups, web firewalls and certificates", () => {
    const foreign = actions(loadBalancerControllerPolicy(place)).filter((action) =>
      /SecurityGroup(Ingress|Egress)|CreateSecurityGroup|DeleteSecurityGroup|^(waf|shield|acm|cognito)/.test(action),
    );
    expect(foreign).toEqual([]);
  });
});

test("partitions follow the region", () => {
  expect(["eu-central-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1"].map(partitionOf)).toEqual([
    "aws",
    "aws-cn",
    "aws-us-gov",
    "aws-iso",
    "aws-iso-b",
  ]);
  expect([dnsSuffixOf("eu-central-1"), dnsSuffixOf("cn-north-1")]).toEqual(["amazonaws.com", "amazonaws.com.cn"]);
});
