import { describe, expect, test } from "vitest";
import type { Line, Outcome } from "../../../infra/check-line.ts";
import { checkCaller, checkCertificate, covers } from "../../../infra/clouds/aws/preflight/checks.ts";
import { vcpuQuota } from "../../../infra/clouds/aws/preflight/quotas.ts";
import {
  checkAdoptedNetwork,
  checkMember,
  checkPermissions,
  checkServices,
  checkZone,
  checkZones,
  memberAccounts,
  requiredPermissions,
} from "../../../infra/clouds/gcp/preflight/checks.ts";
import { checkQuota, countedDemands, quotaDemands } from "../../../infra/clouds/gcp/preflight/quotas.ts";
import { requiredServices } from "../../../infra/clouds/gcp/required-services.ts";
import { type AwsConfig, clusterModel, type GcpConfig, stackDefinition } from "../../../infra/clouds/schema.ts";
import { parseConfig, rawConfig } from "../../../infra/config/parse.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { checkAddress, checkBuilder, checkDns, checkImage, requiredImages } from "../../../infra/preflight/checks.ts";
import { listedPlatforms } from "../../../infra/preflight/docker.ts";
import { root } from "../../support/infra/stacks.ts";
import { configOf } from "../config/minimal.ts";

function example<Config>(stack: string): Config {
  const { values } = readStackConfig(readProject(root), stack);
  return parseConfig(stackDefinition, rawConfig(stackDefinition, values, "lakehead")).config as Config;
}
const result = ({ result }: Line) => result;
const failure: Outcome<never> = { failure: "connect ETIMEDOUT" };

describe("AWS", () => {
  const config = example<AwsConfig>("aws-prod");
  const arn = `arn:aws:acm:${config.region}:${config.account}:certificate/1`;
  const host = "tables.example.com";
  const issued = { value: { status: "ISSUED", domains: [host] } };

  test("a certificate must be issued, and of the stack's region and account", () => {
    expect(checkCertificate(config, { arn, host }, issued).result).toBe("ok");
    const pending = checkCertificate(
      config,
      { arn, host },
      { value: { ...issued.value, status: "PENDING_VALIDATION" } },
    );
    expect(pending).toMatchObject({ result: "wrong", remedy: expect.stringContaining("CNAME") });
    const elsewhere = arn.replace(config.region, "us-east-1");
    expect(checkCertificate(config, { arn: elsewhere, host }, issued)).toMatchObject({
      result: "wrong",
      text: expect.stringContaining("is in us-east-1"),
    });
    const other = arn.replace(config.account, "210987654321");
    expect(checkCertificate(config, { arn: other, host }, issued).result).toBe("wrong");
    expect(checkCertificate(config, { arn, host }, failure).result).toBe("unknown");
  });

  test("a wildcard covers one label", () => {
    expect(covers("*.example.com", "tables.example.com")).toBe(true);
    expect(covers("*.example.com", "a.tables.example.com")).toBe(false);
    expect(covers("*.example.com", "example.com")).toBe(false);
  });

  test("credentials that do not exist are wrong, a network without STS is unknown", () => {
    expect(checkCaller(config, { failure: "ExpiredToken: The security token is expired" }).result).toBe("wrong");
    expect(checkCaller(config, failure).result).toBe("unknown");
  });

  test.each([
    ["m7i-flex.large", false, "L-1216C47A"],
    ["c7a.4xlarge", true, "L-34B43A08"],
    ["g6e.4xlarge", false, "L-DB2E81BA"],
    ["g4dn.xlarge", true, "L-3819A6DF"],
    ["p4d.24xlarge", false, "L-417A185B"],
    ["p4d.24xlarge", true, "L-7212CCBC"],
    ["p5.48xlarge", true, "L-C4BD4855"],
    ["inf2.xlarge", false, undefined],
    ["trn1.2xlarge", false, undefined],
  ])("%s (spot: %s) counts against the quota %s", (type, spot, code) => {
    expect(vcpuQuota(type, spot)?.code).toBe(code);
  });
});

describe("Google Cloud", () => {
  const config = example<GcpConfig>("gcp-prod");
  const cluster = clusterModel(config);
  const { demands, unknownPools } = quotaDemands(config, cluster);

  test("every pool is counted, or listed as unknown", () => {
    expect(demands).toEqual([
      { metric: "CPUS", amount: 24, terms: ["system 6 × 4"] },
      { metric: "N2_CPUS", amount: 32, terms: ["head 4 × 8"] },
      { metric: "NVIDIA_L4_GPUS", amount: 8, terms: ["gpu 8 × 1"] },
      { metric: "GPUS_ALL_REGIONS", amount: 8, terms: ["gpu 8 × 1"] },
    ]);
    expect(unknownPools).toEqual(["cpu (n2-standard-16, Spot)"]);
  });

  test("a quota is compared with the pools' maximum (documentation of compute.regions.get: quotas[])", () => {
    const demand = { metric: "NVIDIA_L4_GPUS", amount: 8, terms: ["gpu 8 × 1"] };
    const quotas = (limit: number, usage = 0) => ({ value: [{ metric: "NVIDIA_L4_GPUS", limit, usage }] });
    expect(
      [quotas(8), quotas(1), quotas(8, 1), { value: [] }, failure].map((found) =>
        result(checkQuota(config, demand, found)),
      ),
    ).toEqual(["ok", "wrong", "wrong", "unknown", "unknown"]);
    // What is in use is the stack's own.
    expect(checkQuota(config, demand, quotas(8, 8), true).result).toBe("ok");
  });

  test("networks, addresses, the load balancer and disks are counted", () => {
    const counted = Object.fromEntries(countedDemands(config, cluster).map(({ metric, amount }) => [metric, amount]));
    expect(counted).toEqual({
      NETWORKS: 1,
      SUBNETWORKS: 1,
      ROUTERS: 1,
      IN_USE_ADDRESSES: 1,
      STATIC_ADDRESSES: 1,
      FORWARDING_RULES: 1,
      FIREWALLS: 1,
      INSTANCES: 58,
      SSD_TOTAL_GB: 7100,
    });
  });

  test("an adopted network has the ranges, reaches Google's APIs and has Cloud NAT (documentation of subnetworks.get, routers.list)", () => {
    const network = {
      mode: "adopt" as const,
      network: "projects/host/global/networks/shared",
      subnetwork: "projects/host/regions/europe-west4/subnetworks/nodes",
      podRange: "pods",
      serviceRange: "services",
      controlPlaneCidr: "172.16.0.0/28",
    };
    const found = {
      network: "https://www.googleapis.com/compute/v1/projects/host/global/networks/shared",
      privateIpGoogleAccess: true,
      secondaryIpRanges: [{ rangeName: "pods" }, { rangeName: "services" }],
    };
    const routers = { items: [{ network: found.network, nats: [{}] }] };
    const check = (change: object, ways: object = routers) =>
      checkAdoptedNetwork(config, network, { value: { ...found, ...change } }, { value: ways });
    expect(check({}).map(result)).toEqual(["ok", "ok", "ok"]);
    expect(check({ network: "…/networks/other" })[0]?.text).toContain("in the network other, not in shared");
    expect(check({ privateIpGoogleAccess: false })[1]?.remedy).toContain("--enable-private-ip-google-access");
    expect(check({ secondaryIpRanges: [] }).filter(({ result }) => result === "wrong")).toHaveLength(2);
    expect(check({}, {}).at(-1)?.result).toBe("unknown");
    const missing = { failure: "status 404: not found" };
    expect(checkAdoptedNetwork(config, network, missing, failure).map(result)).toEqual(["wrong"]);
    expect(checkAdoptedNetwork(config, network, failure, failure).map(result)).toEqual(["unknown"]);
  });

  test("a disabled API is wrong only if the stack cannot enable it (documentation of services.batchGet: state)", () => {
    const states = (disabled: string) => ({
      value: {
        services: requiredServices.map((service) => ({
          name: `projects/1/services/${service}`,
          state: service === disabled ? "DISABLED" : "ENABLED",
        })),
      },
    });
    expect(checkServices(config, states(""))).toMatchObject({
      result: "ok",
      text: expect.stringContaining("all are enabled"),
    });
    expect(checkServices(config, states("compute.googleapis.com"))).toMatchObject({
      result: "ok",
      text: expect.stringContaining("pulumi up enables compute.googleapis.com"),
    });
    expect(checkServices(config, states("cloudresourcemanager.googleapis.com")).result).toBe("wrong");
    expect(checkServices(config, { failure: "status 403: SERVICE_DISABLED: …" }).result).toBe("wrong");
    expect(checkServices(config, failure).result).toBe("unknown");
  });

  test("service accounts that are members exist", () => {
    const email = "pipelines@example-project.iam.gserviceaccount.com";
    const members = [`serviceAccount:${email}`, "group:data@example.com", "user:a@example.com"];
    expect(memberAccounts(configOf("gcp", { client: { members } }))).toEqual([email]);
    expect(checkMember(email, { value: {} })).toMatchObject({ result: "ok" });
    expect(checkMember(email, { failure: "status 404: NOT_FOUND" })).toMatchObject({
      result: "wrong",
      text: `client.members: the service account ${email} does not exist`,
    });
    expect(checkMember(email, { failure: "status 403: SERVICE_DISABLED" }).result).toBe("unknown");
  });

  test("missing permissions are named (documentation of projects.testIamPermissions)", () => {
    expect(checkPermissions(config, { value: { permissions: requiredPermissions } }).result).toBe("ok");
    // The response has no list where nothing is granted.
    expect(checkPermissions(config, { value: {} })).toMatchObject({
      result: "wrong",
      text: expect.stringContaining("storage.buckets.create"),
    });
  });

  test("a zone must be public and the host's (documentation of managedZones.get: dnsName ends with a dot)", () => {
    const zone = { project: "p", name: "z" };
    const check = (found: Parameters<typeof checkZone>[2]) => checkZone("tables.lake.dev", zone, found);
    expect(check({ value: { dnsName: "lake.dev.", visibility: "public" } }).result).toBe("ok");
    expect(check({ value: { dnsName: "tables.lake.dev.", visibility: "public" } }).result).toBe("ok");
    expect(check({ value: { dnsName: "ake.dev.", visibility: "public" } })).toMatchObject({
      result: "wrong",
      text: expect.stringContaining("it is for ake.dev."),
    });
    expect(check({ value: { dnsName: "lake.dev.", visibility: "private" } }).result).toBe("wrong");
    expect(check({ failure: "status 404: notFound" }).result).toBe("wrong");
    expect(check(failure).result).toBe("unknown");
  });

  test("zones of the pools must be the region's (documentation of compute.regions.get: zones[] are URLs)", () => {
    const zones = (letters: string) => ({
      value: [...letters].map(
        (letter) => `https://www.googleapis.com/compute/v1/projects/p/zones/europe-west4-${letter}`,
      ),
    });
    expect(checkZones(config, cluster, zones("abc")).result).toBe("ok");
    expect(checkZones(config, cluster, zones("ab"))).toMatchObject({
      result: "wrong",
      text: expect.stringContaining("does not have europe-west4-c"),
    });
  });
});

describe("every cloud", () => {
  test("an address is compared with the networks", () => {
    expect(checkAddress(["100.64.7.0/24"], { value: "100.64.7.255" }).result).toBe("ok");
    expect(checkAddress(["100.64.7.0/24"], { value: "100.64.8.0" }).result).toBe("wrong");
    expect(checkAddress(["100.64.7.0/24"], { value: "2001:db8::1" }).result).toBe("unknown");
    expect(checkAddress(["100.64.7.0/24"], failure).result).toBe("unknown");
    expect(checkAddress([], { value: "100.64.7.1" }).result).toBe("unknown");
  });

  test("images of the table service and of Ray are required once each, with their nodes' architecture", () => {
    const config = example<AwsConfig>("aws-prod");
    const uses = (image?: string) => {
      const tableService = { ...config.tableService, image };
      const images = requiredImages({ ...config, tableService }, clusterModel(config));
      return images.map(({ use, architecture }) => [use, architecture]);
    };
    const ray = [
      ["Ray", "x86_64"],
      ["Ray", "x86_64"],
    ];
    expect(uses("registry.lake.dev/lakehead:1")).toEqual([["table service", "x86_64"], ...ray]);
    expect(uses()).toEqual(ray);
  });

  test("an image of another architecture is wrong, an unreadable one unknown", () => {
    const image = { image: "lakehead:1", use: "table service", architecture: "x86_64" } as const;
    const facts = (...architectures: string[]) => ({ value: { architectures, configDigest: undefined } });
    expect(checkImage(image, facts("amd64", "arm64")).result).toBe("ok");
    expect(checkImage(image, facts("arm64"))).toMatchObject({
      result: "wrong",
      remedy: expect.stringContaining("--platform linux/amd64"),
    });
    expect(checkImage(image, { value: undefined }).result).toBe("wrong");
    expect(checkImage(image, failure).result).toBe("unknown");
  });

  test("an image that the stack builds needs a Docker that builds for its nodes", () => {
    // The output of docker buildx inspect, v0.30.
    const printed =
      "Name:   default\nDriver: docker\n\nNodes:\nPlatforms:        linux/amd64*, linux/amd64/v2, linux/arm64\n";
    expect(listedPlatforms(printed)).toEqual(["linux/amd64", "linux/amd64/v2", "linux/arm64"]);
    expect(listedPlatforms("Status: inactive\n")).toEqual([]);
    expect(checkBuilder("linux/arm64", { value: listedPlatforms(printed) }).result).toBe("ok");
    expect(checkBuilder("linux/arm64", { value: ["linux/amd64"] })).toMatchObject({
      result: "wrong",
      remedy: expect.stringContaining("--install arm64"),
    });
    expect(checkBuilder("linux/amd64", failure)).toMatchObject({
      result: "wrong",
      remedy: expect.stringContaining("tableService.image"),
    });
  });

  test("a host needs a zone before the first up, not a record", () => {
    const host = "tables.lake.dev";
    expect(checkDns(host, { value: { addresses: [], zone: "lake.dev" } }).result).toBe("ok");
    expect(checkDns(host, { value: { addresses: [], zone: "lake.dev" } }, true).text).toContain("pulumi up points");
    expect(checkDns(host, { value: { addresses: ["192.0.2.1"], zone: undefined } }).result).toBe("ok");
    expect(checkDns(host, { value: { addresses: [], zone: undefined } }).result).toBe("wrong");
    expect(checkDns(host, failure).result).toBe("unknown");
  });
});
