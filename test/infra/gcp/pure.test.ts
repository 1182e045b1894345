import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { gkeKubeconfig } from "../../../infra/clouds/gcp/cluster/kubeconfig.ts";
import { allowRules } from "../../../infra/clouds/gcp/exposure/public-endpoint.ts";
import { labelValue } from "../../../infra/clouds/gcp/labels.ts";
import { nodeAccountId } from "../../../infra/clouds/gcp/nodes/node-identity.ts";
import { initialNodesPerZone, poolAccelerator } from "../../../infra/clouds/gcp/nodes/node-pool.ts";
import { repeats } from "../../../infra/clouds/gcp/services.ts";
import type { Pool } from "../../../infra/model/cluster.ts";
import { configOf } from "../config/minimal.ts";

const gcpConfig = (gpu: object) =>
  configOf("gcp", { nodes: { gpu: { enabled: true, ...gpu } }, ray: { gpuWorkers: { cpus: 4, memory: "8Gi" } } });

describe("GPUs of a machine type", () => {
  test.each([
    ["g2-standard-12", { type: "nvidia-l4", count: 1 }],
    ["g2-standard-24", { type: "nvidia-l4", count: 2 }],
    ["a2-highgpu-1g", { type: "nvidia-tesla-a100", count: 1 }],
  ])("%s brings %j", (machineType, expected) => {
    expect(poolAccelerator(gcpConfig({ machineType }).nodes.gpu)).toEqual(expected);
  });

  test("a configured accelerator overrides the built-in one", () => {
    const accelerator = { type: "nvidia-tesla-t4", count: 2 };
    expect(poolAccelerator(gcpConfig({ machineType: "n1-standard-16", accelerator }).nodes.gpu)).toEqual(accelerator);
  });
});

describe("an operation that Google refuses", () => {
  const disabled =
    "Error 403: Compute Engine API has not been used in project 12 before or it is disabled. Enable it by …";

  test.each([disabled, '403: … "reason": "SERVICE_DISABLED"', "Error 403: …, accessNotConfigured"])(
    "is repeated while the API was enabled just now: %s",
    (error) => expect(repeats([error])).toBe(true),
  );

  test.each(["Error 403: Permission 'iam.serviceAccounts.create' denied", "Error 409: already exists"])(
    "is not repeated for another reason: %s",
    (error) => expect(repeats([error, disabled])).toBe(false),
  );

  test("is not repeated for longer than five minutes", () => {
    expect(repeats(Array(60).fill(disabled))).toBe(true);
    expect(repeats(Array(61).fill(disabled))).toBe(false);
  });
});

test("a stack of any name gets a valid label", () => {
  expect(labelValue("Prod.EU")).toBe("prod_eu");
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (name) => {
      expect(labelValue(name)).toMatch(/^[a-z0-9_-]{0,63}$/);
    }),
  );
});

test("initial nodes in all zones are at least the minimum, and zero for a minimum of zero", () => {
  fc.assert(
    fc.property(
      fc.nat(100),
      fc.option(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { nil: undefined }),
      (min, zones) => {
        const perZone = initialNodesPerZone({ min, zones } as unknown as Pool);
        const count = zones?.length ?? 3;
        expect(perZone * count).toBeGreaterThanOrEqual(min);
        expect(perZone * count).toBeLessThan(min + count);
      },
    ),
  );
});

test("account ids are valid, and different for each cluster name", () => {
  const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/);
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(nodeAccountId(a)).toMatch(/^[a-z]([a-z0-9-]{4,28}[a-z0-9])$/);
      fc.pre(a !== b);
      expect(nodeAccountId(a)).not.toBe(nodeAccountId(b));
    }),
  );
});

describe("the kubeconfig", () => {
  const read = (certificate?: string) =>
    parse(gkeKubeconfig({ context: "lancedb", host: "gke-1.example.goog", certificate }));

  test("has Google's credential plugin and no credentials", () => {
    const [user] = read().users;
    expect(user.user.exec.command).toBe("gke-gcloud-auth-plugin");
    expect(JSON.stringify(read())).not.toMatch(/token|password|client-key/);
  });

  test("has the cluster's certificate authority for an IP address, and none for a DNS name", () => {
    expect(read("Q0E=").clusters[0].cluster).toEqual({
      server: "https://gke-1.example.goog",
      "certificate-authority-data": "Q0E=",
    });
    expect(read().clusters[0].cluster).toEqual({ server: "https://gke-1.example.goog" });
  });
});

test("each rule has at most ten networks, no network is lost, and the last rule denies", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.ipV4(), { minLength: 1, maxLength: 45 }), (addresses) => {
      const cidrs = addresses.map((address) => `${address}/32`);
      const rules = allowRules(cidrs);
      const allowed = rules.filter(({ action }) => action === "allow").map(({ match }) => match.config.srcIpRanges);
      expect(allowed.flat()).toEqual(cidrs);
      expect(allowed.every((group) => group.length <= 10)).toBe(true);
      expect(new Set(rules.map(({ priority }) => priority)).size).toBe(rules.length);
      expect(rules.at(-1)).toMatchObject({ action: "deny(403)", priority: 2_147_483_647 });
    }),
  );
});
