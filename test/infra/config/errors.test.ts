import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { stackDefinition } from "../../../infra/clouds/schema.ts";
import { parseConfig } from "../../../infra/config/parse.ts";
import { ConfigError } from "../../../infra/config/report.ts";
import { configOf, findingsFor, judge, minimal, raw, someDay } from "./minimal.ts";

const message = (value: unknown): string => {
  try {
    parseConfig(stackDefinition, value, { today: someDay });
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.message;
    throw cause;
  }
  return "accepted";
};

describe("an invalid configuration", () => {
  test("reports every error at once: each key, its value and what to write", () => {
    expect(
      message({
        ...minimal.aws,
        region: "frankfurt",
        account: 111122223333,
        deployerArn: undefined,
        nodes: { head: { min: 0, spot: true }, cpu: { maximum: 3 } },
        ray: { head: { memory: 8 } },
      }),
    ).toBe(`The stack's configuration has 7 errors:
  lakehead:region = "frankfurt": the value is invalid; expected an AWS region such as eu-central-1
  lakehead:account = 111122223333: the value is invalid; expected the account's id in quotes, such as "111122223333"
  lakehead:deployerArn is missing: the key is required; expected an ARN such as arn:aws:iam::111122223333:role/team/deployer
  lakehead:nodes.head.min = 0: the value is invalid; expected at least 1
  lakehead:nodes.head.spot = true: the value is invalid; expected false: losing this node ends every job
  lakehead:nodes.cpu.maximum = 3: the key does not exist; remove it, or find its name in docs/stack-configuration.md
  lakehead:ray.head.memory = 8: the value is invalid; expected a quantity with its unit, such as "8Gi"`);
  });

  test("reports errors between keys together with schema errors", () => {
    const findings = judge(raw("aws", { region: "frankfurt", nodes: { cpu: { min: 50 } } }));
    expect(findings.map(({ key }) => key)).toEqual(["region", "nodes.cpu.min"]);
  });

  test("without a required key still has its pods checked, and no finding names a placeholder", () => {
    const { bucket: _, ...rest } = raw("aws", {
      region: "frankfurt",
      nodes: { head: { instanceTypes: ["m7i.xlarge"] } },
    });
    expect(judge(rest).map(({ key }) => key)).toEqual(["region", "bucket", "ray.head"]);
    const china = { deployerArn: "arn:aws-cn:iam::111122223333:role/deployer" };
    expect(judge(raw("aws", { ...china, region: "peking" })).map(({ key }) => key)).toEqual(["region"]);
  });

  test("without a cloud lists the three", () => {
    expect(message({})).toContain(
      "lakehead:cloud is missing: the key is required; expected one of aws, gcp, kubeconfig",
    );
    expect(message({ cloud: "azure" })).toContain('lakehead:cloud = "azure"');
  });

  test("shortens a long value", () => {
    expect(message({ ...minimal.aws, region: "x".repeat(500) }).length).toBeLessThan(400);
  });

  test("is rejected with a key of another cloud: GKE installs its own device plugin", () => {
    expect(findingsFor("gcp", { devicePlugin: { mode: "install" } })[0]).toContain("devicePlugin");
    expect(findingsFor("gcp", { devicePlugin: {} })[0]).toContain("the key does not exist");
  });
});

type Cloud = keyof typeof minimal;
type Overrides = Readonly<Record<string, unknown>>;
/** Overrides of a minimal configuration, null for a key that is left out, and a part of the finding that they cause. */
type Row = [name: string, cloud: Cloud, overrides: Overrides, says: string];

const written: Record<string, Partial<Record<Cloud, Overrides>> & { readonly says: string }> = parse(
  readFileSync(new URL("findings.yaml", import.meta.url), "utf8"),
);

const rows: Row[] = [
  ...Object.entries(written).flatMap(([name, { says, ...overrides }]) =>
    Object.entries(overrides).map(([cloud, of]): Row => [name, cloud as Cloud, of, says]),
  ),
  [
    "more tags than AWS accepts",
    "aws",
    { tags: Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`k${index}`, "v"])) },
    "at most 40 tags: AWS accepts 50",
  ],
  ...["table-service", "maintenance", "orphan-cleanup", "default"].map(
    (serviceAccount): Row => [
      `the service account ${serviceAccount}`,
      "aws",
      { serviceAccount },
      `error lakehead:serviceAccount = "${serviceAccount}": the namespace has another service account of this name; write another name, such as geneva-service-account`,
    ],
  ),
  ...Object.entries({
    aws: ["xn--tables", "sthree-tables", "amzn-s3-demo-tables", "tables-s3alias", "t--ol-s3", "t--x-s3", "t--table-s3"],
    gcp: ["goog-tables", "my-google-tables", "g00gle-tables"],
  }).flatMap(([cloud, names]) =>
    names.map(
      (name): Row => [
        `the reserved bucket name ${name}`,
        cloud as Cloud,
        { bucket: { name } },
        `error lakehead:bucket.name = "${name}": the cloud reserves names that match`,
      ],
    ),
  ),
  ...(["aws", "gcp"] as const).map(
    (cloud): Row => [
      `a private network with access from the internet, on ${cloud}`,
      cloud,
      { endpoint: { publicCidrs: ["10.0.0.0/8"] } },
      'error lakehead:endpoint.publicCidrs = "10.0.0.0/8": no client on the internet has an address in 10.0.0.0/8; write the public address from which you connect',
    ],
  ),
];

describe("a finding for", () => {
  test.each(rows)("%s (%s)", (_, cloud, overrides, says) => {
    const found = findingsFor(cloud, overrides);
    expect(found.find((line) => line.includes(says)) ?? found.join("\n")).toContain(says);
  });
});

describe("no error for", () => {
  test.each(["aws", "gcp", "kubeconfig"] as const)("the required keys of %s, nor a warning", (cloud) => {
    expect(findingsFor(cloud)).toEqual([]);
    expect(configOf(cloud).cloud).toBe(cloud);
  });

  test.each(["aws", "gcp"] as const)("a table service without an image on %s, where the stack builds it", (cloud) => {
    expect(findingsFor(cloud, { tableService: { image: undefined } })).toEqual([]);
  });

  test("a cache of Docker Hub with its account, and on Google Cloud without one", () => {
    const dockerHub = { cache: true, username: "lakehead" };
    expect(findingsFor("aws", { dockerHub }, { secrets: new Set(["dockerHubToken"]) })).toEqual([]);
    expect(findingsFor("gcp", { dockerHub: { cache: true } })).toEqual([]);
  });

  test("a public host with a zone or a certificate", () => {
    const exposure = { mode: "public", host: "tables.example.com" };
    const certificateArn = "arn:aws:acm:eu-central-1:111122223333:certificate/1";
    for (const more of [{ zone: "Z0123456789ABC" }, { certificateArn }])
      expect(findingsFor("aws", { tableService: { exposure: { ...exposure, ...more } } })).toEqual([]);
  });

  test("an unknown machine type with a size, which pods are checked against", () => {
    const head = (memory: string) => ({
      nodes: { head: { instanceTypes: ["zz9.large"], size: { cpus: 8, memory } } },
    });
    expect(findingsFor("aws", head("32Gi"))).toEqual([]);
    expect(findingsFor("aws", head("8Gi"))[0]).toContain("lakehead:ray.head");
  });

  test("one head node, when it holds two heads or the stack creates no RayCluster", () => {
    expect(findingsFor("gcp", { nodes: { head: { machineType: "n2-standard-16", max: 1 } } })).toEqual([]);
    expect(findingsFor("gcp", { nodes: { head: { max: 1 } }, ray: { create: false } })).toEqual([]);
  });

  test("static tokens in place of an issuer", () => {
    const overrides = { tableService: { auth: { issuer: undefined, audience: undefined } } };
    expect(findingsFor("aws", overrides, { secrets: new Set(["staticTokens"]) })).toEqual([]);
  });

  test("the published pairings of GKE and its add-on after the end of standard support", () => {
    for (const kubernetesVersion of ["1.30", "1.31"]) {
      const found = judge(raw("gcp", { kubernetesVersion, operator: { mode: "addon" } }));
      expect(found.every(({ level }) => level === "warning")).toBe(true);
    }
  });

  test("a version whose support ends soon, but a warning", () => {
    const found = findingsFor("aws", { kubernetesVersion: "1.34" }, { today: new Date("2026-11-20") });
    expect(found).toEqual([
      'warning lakehead:kubernetesVersion = "1.34": its standard support ends on 2026-12-02; upgrade to 1.36',
    ]);
  });
});

describe("a configuration is accepted with", () => {
  test.each<[string, "aws" | "gcp", Record<string, unknown>]>([
    ["an Arm cluster on AWS", "aws", { nodes: { system: { instanceTypes: ["m7g.large"] } } }],
    [
      "C4 nodes on Hyperdisk",
      "gcp",
      { nodes: { head: { machineType: "c4-standard-8", diskType: "hyperdisk-balanced" } } },
    ],
    [
      "G4 nodes, whose GPU has a name",
      "gcp",
      { nodes: { gpu: { machineType: "g4-standard-48", diskType: "hyperdisk-balanced" } } },
    ],
    [
      "A4 nodes, whose GPU has a name",
      "gcp",
      { nodes: { gpu: { machineType: "a4-highgpu-8g", diskType: "hyperdisk-balanced" } } },
    ],
    ["P5en nodes", "aws", { nodes: { gpu: { instanceTypes: ["p5en.48xlarge"] } } }],
    ["G7e nodes", "aws", { nodes: { gpu: { instanceTypes: ["g7e.4xlarge"] } } }],
    [
      "GPUs attached to N1 machines",
      "gcp",
      { nodes: { gpu: { machineType: "n1-standard-16", accelerator: { type: "nvidia-tesla-t4", count: 1 } } } },
    ],
    [
      "a schedule with names, ranges, lists and steps",
      "aws",
      { orphanCleanup: { schedule: "*/5,7 0-6/2 1,15 JAN-MAR mon" } },
    ],
    [
      "a certificate of its own account and region",
      "aws",
      {
        tableService: {
          exposure: {
            mode: "public",
            host: "tables.lakehead.dev",
            certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
          },
        },
      },
    ],
    ["a public address with access", "aws", { endpoint: { publicCidrs: ["8.8.8.8/32"] } }],
  ])("%s", (_name, cloud, overrides) => {
    expect(findingsFor(cloud, overrides)).toEqual([]);
  });
});
