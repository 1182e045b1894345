import { beforeAll, describe, expect, test } from "vitest";
import { catalogModule } from "../../../infra/model/catalog.ts";
import type { RayClusterSpec } from "../../../infra/model/ray-cluster.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { scopesOf } from "../../../service/catalog/rights.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { findingsFor } from "../config/minimal.ts";
import { manifests, revealed } from "../kubernetes/manifests.ts";
import { parametersOf, unknownToStack } from "./checks/client.ts";
import { configured } from "./suite.ts";

/** Example stacks where the table service opens the tables for Ray's pods and the client. */
let captures: Readonly<Record<"aws-dev" | "gcp-dev" | "behind TLS", Capture>>;
beforeAll(async () => {
  const exposure = {
    mode: "internal",
    host: "tables.corp.example.com",
    certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
  };
  const [aws, gcp, tls] = await Promise.all([
    withCatalog("aws-dev"),
    withCatalog("gcp-dev"),
    withCatalog("aws-dev", { exposure }),
  ]);
  captures = { "aws-dev": aws, "gcp-dev": gcp, "behind TLS": tls };
}, 180_000);

async function withCatalog(stack: "aws-dev" | "gcp-dev", more: object = {}): Promise<Capture> {
  const tableService = { ...configured(stack, "tableService"), writes: true, vending: true, catalog: true, ...more };
  const capture = await runStack(stack, "update", { "lakehead:tableService": tableService });
  if (capture.failure !== undefined) throw new Error(capture.failure);
  return capture;
}

const outputsOf = ({ resources }: Capture) => {
  const stack = resources.find(({ kind }) => kind === "stack");
  if (stack === undefined) throw new Error("no stack");
  return revealed({ ...stack, inputs: stack.outputs ?? {} });
};

const documentsOf = ({ resources }: Capture, role: string): string =>
  resources
    .filter(({ type, name }) => type === "aws:iam/rolePolicy:RolePolicy" && name.startsWith(`identities-${role}-`))
    .map(({ inputs }) => String(inputs.policy))
    .join();

describe("on AWS", () => {
  test("the roles of Ray's pods and of the client say nothing of the bucket", () => {
    const capture = captures["aws-dev"];
    expect(documentsOf(capture, "runtime")).toContain("eks:DescribeCluster");
    expect(documentsOf(capture, "client")).toContain("sts:AssumeRole");
    for (const role of ["runtime", "client"]) expect(documentsOf(capture, role)).not.toMatch(/s3:|kms:/);
    for (const role of ["table-service", "vending", "maintenance"])
      expect(documentsOf(capture, role)).toContain("s3:PutObject");
  });
});

describe("on Google Cloud", () => {
  test("only the table service and the maintenance have a role on the bucket", () => {
    const { resources } = captures["gcp-dev"];
    const members = resources
      .filter(({ type }) => /(BucketIAMMember|ManagedFolderIamMember)$/.test(type))
      .map(({ name }) => name);
    expect(members.toSorted()).toEqual(["maintenance-identity-bucket", "table-service-identity-bucket"]);
  });
});

const issuers = {
  "aws-dev": /^https:\/\/oidc\.eks\./,
  "gcp-dev": /^https:\/\/container\.googleapis\.com\/v1\/projects\/[\w-]+\/locations\/[\w-]+\/clusters\/lancedb$/,
};

describe.each(["aws-dev", "gcp-dev"] as const)("in %s", (stack) => {
  test("the table service knows the cluster's issuer and the account of Ray's pods, by the scopes that lend writes", () => {
    const capture = captures[stack];
    const data = manifests(capture).find(
      ({ kind, metadata }) => kind === "ConfigMap" && metadata.name?.startsWith("table-service-"),
    )?.body.data;
    expect(data).toMatchObject({ LAKEHEAD_AUTH_CLUSTER_ISSUER: expect.stringMatching(issuers[stack]) });
    expect(JSON.parse(String(data?.LAKEHEAD_AUTH_SERVICE_ACCOUNTS))).toEqual([
      { name: "lancedb/geneva-service-account", scopes: scopesOf.write },
    ]);
  });

  test("Ray's pods, the stack's own and the client's, mount a token for the service's audience and the module that sends it", () => {
    const capture = captures[stack];
    const audience = manifests(capture).find(({ body }) => body.data?.LAKEHEAD_AUTH_AUDIENCE !== undefined)?.body.data
      .LAKEHEAD_AUTH_AUDIENCE;
    const sources = [
      { serviceAccountToken: { path: "token", audience, expirationSeconds: 3600 } },
      { configMap: { name: catalogModule.configMap } },
    ];
    const env = { PYTHONPATH: "/var/run/lakehead", LAKEHEAD_TOKEN_FILE: "/var/run/lakehead/token" };
    const own = manifests(capture)
      .filter(({ kind }) => kind === "RayCluster")
      .map(({ body }) => body.spec as RayClusterSpec)
      .flatMap(({ headGroupSpec, workerGroupSpecs }) => [headGroupSpec, ...workerGroupSpecs]);
    expect(own.length).toBeGreaterThan(1);
    for (const { spec } of own.map(({ template }) => template)) {
      expect(spec.volumes).toContainEqual({ name: "lakehead", projected: { sources } });
      const [ray] = spec.containers;
      expect(ray?.volumeMounts).toEqual([{ name: "lakehead", mountPath: "/var/run/lakehead", readOnly: true }]);
      expect(Object.fromEntries(ray?.env?.map(({ name, value }) => [name, value]) ?? [])).toMatchObject(env);
    }
    const parameters = parametersOf(capture);
    expect(unknownToStack(capture, parameters)).toEqual([]);
    for (const group of [parameters.head_group, ...parameters.worker_groups])
      expect(group).toMatchObject({
        volumes: { lakehead: { projected: { sources } } },
        mounts: [["lakehead", "/var/run/lakehead"]],
        env_vars: env,
      });
    const modules = manifests(capture).filter(({ metadata }) => metadata.name === catalogModule.configMap);
    expect(modules.map(({ body }) => body.data)).toEqual([catalogModule.data]);
  });

  test("the program and lance-ray's arguments name the table service, and nothing of the bucket", () => {
    const { clientSnippet, clientCredentials, catalogParameters } = outputsOf(captures[stack]);
    const uri = "http://table-service.lancedb.svc.cluster.local:80";
    expect(clientSnippet).toContain(`"worker_uri": "${uri}"`);
    expect(clientSnippet).not.toMatch(/s3:|gs:|storage_options/);
    expect(clientCredentials).toMatch(/^# .*export LAKEHEAD_URL=/m);
    expect(clientCredentials).not.toContain("application-default");
    expect(catalogParameters).toEqual({
      namespace_impl: "rest",
      namespace_properties: { uri, "dynamic_context_provider.impl": "lakehead_catalog.Token" },
    });
  });

  test("the maintenance gives Ray nothing", () => {
    const objects = JSON.stringify(manifests(captures[stack]));
    expect(objects).toContain("LAKEHEAD_MAINTENANCE_RUN_SECONDS");
    expect(objects).not.toContain("LAKEHEAD_MAINTENANCE_RAY");
  });
});

test("behind a load balancer with TLS, Ray's pods use the port of the Service", () => {
  const { clientSnippet } = outputsOf(captures["behind TLS"]);
  expect(clientSnippet).toContain("http://table-service.lancedb.svc.cluster.local:443");
});

describe("the key", () => {
  const complete = { writes: true, vending: true, catalog: true };
  test.each([
    ["without vending", { ...complete, vending: false }, "tableService.catalog"],
    ["without writes", { ...complete, writes: false }, "tableService.catalog"],
    [
      "with Functions on the same RayCluster",
      { ...complete, functions: { enabled: true, cluster: "shared" } },
      "tableService.functions.cluster",
    ],
  ])("is refused %s, with the remedy", (_, tableService, key) => {
    const findings = findingsFor("gcp", { tableService }).filter((finding) => finding.startsWith("error"));
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain(key);
    expect(findings[0]).toContain("tableService.catalog: false");
  });
});
