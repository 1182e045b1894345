import fc from "fast-check";
import { expect, test } from "vitest";
import { clientClusterName } from "../../../infra/model/client-parameters.ts";
import { rayGroups } from "../../../infra/model/ray-groups.ts";
import { configOf, findingsFor, modelOf } from "./minimal.ts";

const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const dns1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const attempt = fc.string({ unit: fc.constantFrom("a", "z", "0", "-", "A", "_", "."), minLength: 1, maxLength: 60 });

/** Every name is either refused, or keeps its promise with all that is made from it. */
test("an accepted RayCluster name, with the suffixes of the client and the head Service, is within KubeRay's limits", () => {
  let accepted = 0;
  fc.assert(
    fc.property(attempt, (name) => {
      if (findingsFor("aws", { ray: { name } }).length > 0) return;
      accepted += 1;
      const config = configOf("aws", { ray: { name } });
      for (const derived of [config.ray.name, clientClusterName(config)]) {
        expect(derived).toMatch(dns1035);
        expect(derived.length).toBeLessThanOrEqual(53);
        expect(`${derived}-head-svc`.length).toBeLessThanOrEqual(63);
      }
    }),
    { numRuns: 500 },
  );
  expect(accepted).toBeGreaterThan(0);
});

test("accepted namespaces, accounts and group names are valid in Kubernetes", () => {
  fc.assert(
    fc.property(attempt, (name) => {
      const overrides = { namespace: name, serviceAccount: name, ray: { cpuWorkers: { name } } };
      if (findingsFor("gcp", overrides).length > 0) return;
      const { config, cluster } = modelOf("gcp", overrides);
      expect(config.namespace).toMatch(dns1123);
      expect(config.serviceAccount).toMatch(dns1123);
      for (const { name: group } of rayGroups(config, cluster).workers) expect(group).toMatch(dns1035);
    }),
    { numRuns: 300 },
  );
});
