/** What must hold of every example stack, judged from one preview and one update of the real program. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { sampleRegistryToken } from "../../../infra/offline-plan/answers.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { costOf } from "../../../infra/offline-plan/cost.ts";
import { renderGolden } from "../../../infra/offline-plan/golden.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { parsePrices } from "../../../infra/offline-plan/prices.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { knownTypes } from "../../../infra/offline-plan/replacements.ts";
import { longestPath, reversed } from "../../support/infra/critical-path.ts";
import { judge, rules } from "../../support/infra/order-rules.ts";
import { captureStack, type ExampleStack, root, type StackCaptures } from "../../support/infra/stacks.ts";
import { type StateResource, shortMinutes, tasksOf, unavoidable } from "../../support/infra/tasks.ts";
import { manifests } from "../kubernetes/manifests.ts";
import { parametersOf, unannotated, unknownToStack } from "./checks/client.ts";
import { broadGoogleRoles, broadManagedPolicies, documents, looseTrust, notActions, wildcards } from "./checks/iam.ts";
import { nodePools, placement, podsOf, poolFaults } from "./checks/pods.ts";
import { cloudProtection, notRetained, strayMarks, unprotected } from "./checks/protection.ts";
import { schemaErrors } from "./checks/schemas.ts";
import { kubeconfigTokens, leaks, openSecrets } from "./checks/secrets.ts";
import { components, kubernetesProviders, names, parents, parity, providers } from "./checks/structure.ts";
import { textFaults } from "./checks/texts.ts";
import { unknownValues } from "./checks/values.ts";
import { unsharedWaits, waitsOf } from "./checks/waits.ts";

/** How long a stack takes from nothing to ready and back, by its dependencies and the clouds' typical durations. */

/** How much longer than what no order could avoid. */
const allowance = 1.1;

/** A sentence with the chain when a stack takes longer than it may. */
function delays({ resources }: Pick<Capture, "resources">, cloud: "aws" | "gcp"): string[] {
  const known = resources.map(
    (resource): StateResource => ({
      urn: resource.urn,
      type: resource.type,
      custom: resource.kind === "custom",
      inputs: resource.inputs,
      dependencies: resource.dependsOn,
      retainOnDelete: resource.retainOnDelete,
      ...(resource.parent === undefined ? {} : { parent: resource.parent }),
      ...(resource.provider === undefined ? {} : { provider: resource.provider }),
    }),
  );
  return (["create", "delete"] as const).flatMap((operation) => {
    const tasks = tasksOf(known, operation);
    const { minutes, steps } = longestPath(operation === "create" ? tasks : reversed(tasks));
    const least = unavoidable(cloud, operation);
    const chain = steps.map((step) => `${step.urn.split("::").at(-1)} ${shortMinutes(step.minutes)}`).join(" → ");
    return minutes <= least.minutes * allowance
      ? []
      : [
          `${operation}: ${shortMinutes(minutes)} min (${chain}), unavoidable ${shortMinutes(least.minutes)} (${least.text})`,
        ];
  });
}

/** One key of a stack's file, for a variant of it. */
export function configured(stack: ExampleStack, key: string): Record<string, Record<string, unknown>> {
  return JSON.parse(readStackConfig(readProject(root), stack).values[`lakehead:${key}`] ?? "{}");
}

/** @returns the captures, once the tests run */
export function describeStack(stack: ExampleStack): () => StackCaptures {
  const cloud = stack.split("-")[0] as "aws" | "gcp" | "local";
  let captures: StackCaptures;
  beforeAll(async () => {
    captures = await captureStack(stack);
  });

  describe("structure", () => {
    test("has the same resources in an update as in a preview", () => {
      expect(parity(captures)).toEqual([]);
      expect(captures.preview.resources.length).toBeGreaterThan(30);
    });
    test("keeps every resource inside a component", () => expect(parents(captures.update)).toEqual([]));
    test("has components that name their kind and register their outputs", () =>
      expect(components(captures.update)).toEqual([]));
    test("uses no default provider", () => expect(providers(captures.update)).toEqual([]));
    test("identifies the cluster of its Kubernetes providers", () =>
      expect(kubernetesProviders(captures.update)).toEqual([]));
    test("gives each resource a unique name", () => expect(names(captures.update)).toEqual([]));
    test("calls no provider function, but for AWS's newest machine image", () =>
      expect(captures.preview.invocations.filter(({ token }) => token !== "aws:ssm/getParameter:getParameter")).toEqual(
        [],
      ));
  });

  describe("order of creation and, reversed, of deletion", () => {
    test.each(rules.map((rule) => [rule.why, rule] as const))("%s", (_why, rule) => {
      for (const capture of [captures.preview, captures.update]) {
        const outcome = judge(rule, capture);
        expect(outcome.findings).toEqual([]);
        if (rule.in.includes(cloud) || rule.in.includes(stack))
          expect(Math.min(outcome.later, outcome.earlier)).toBeGreaterThan(0);
      }
    });
  });

  if (cloud !== "local")
    test("creates and deletes the stack in nearly the minimum time of the cloud", () =>
      expect(delays(captures.update, cloud)).toEqual([]));

  describe("protection", () => {
    test("is on the resources with data, only with protect", () => {
      const { values } = readStackConfig(readProject(root), stack);
      const { update } = captures;
      if (values["lakehead:protect"] === "false")
        expect(update.resources.filter(({ protect }) => protect).map(({ urn }) => urn)).toEqual([]);
      else expect(unprotected(update)).toEqual([]);
      expect(strayMarks(update)).toEqual([]);
      expect(cloudProtection(update)).toEqual([]);
    });
    test("keeps the resource definitions", () => expect(notRetained(captures.update)).toEqual([]));
  });

  describe("secrets", () => {
    test("are encrypted everywhere", () => {
      for (const capture of [captures.preview, captures.update]) {
        expect(leaks(capture, ["certificate of", sampleRegistryToken])).toEqual([]);
        expect(openSecrets(capture)).toEqual([]);
        expect(kubeconfigTokens(capture)).toEqual([]);
      }
    });
  });

  describe("identities", () => {
    test("have only the listed wildcards", () => expect(documents(captures.update).flatMap(wildcards)).toEqual([]));
    test("trust one subject and audience each", () =>
      expect(documents(captures.update).flatMap(looseTrust)).toEqual([]));
    test("name only existing actions", () => expect(documents(captures.update).flatMap(notActions)).toEqual([]));
    test("have none of AWS's broad policies", () => expect(broadManagedPolicies(captures.update)).toEqual([]));
    test("have no broad role on Google Cloud", () => expect(broadGoogleRoles(captures.update)).toEqual([]));
  });

  describe("values", () => {
    test("are in the enumerations of the clouds' SDKs", () => {
      const { findings, compared } = unknownValues(captures.update);
      expect(findings).toEqual([]);
      if (cloud !== "local") expect(compared).toBeGreaterThan(10);
    });
    test("that are texts are accepted by the cloud: names, descriptions, tags and labels", () => {
      const { findings, compared } = textFaults(captures.update);
      expect(findings).toEqual([]);
      if (cloud !== "local") expect(compared).toBeGreaterThan(10);
    });
    test("that the Kubernetes provider waits for are in the syntax that it shares with kubectl", () => {
      expect(unsharedWaits(captures.update)).toEqual([]);
      expect(waitsOf(captures.update).map(({ name }) => name)).toContain(
        "kubernetes:core/v1:ResourceQuota ray-cluster-quota",
      );
    });
    test("of Kubernetes objects match their schemas", async () => {
      const objects = manifests(captures.update);
      expect(objects.length).toBeGreaterThan(15);
      expect((await Promise.all(objects.map(schemaErrors))).flat()).toEqual([]);
    });
  });

  describe("pods and nodes", () => {
    test("fit each other: selectors, taints and sizes", () => {
      const pools = nodePools(captures.update);
      const pods = podsOf(captures.update);
      expect(pods.length).toBeGreaterThanOrEqual(4);
      if (cloud === "local") return;
      expect(poolFaults(pools)).toEqual([]);
      expect(pods.flatMap((pod) => placement(pod, pools))).toEqual([]);
    });
  });

  describe("the client's parameters", () => {
    test("name only objects of the stack", () => {
      for (const capture of [captures.preview, captures.update]) {
        const parameters = parametersOf(capture);
        expect(unknownToStack(capture, parameters)).toEqual([]);
        if (cloud !== "local" && capture.mode === "update")
          expect(unannotated(capture, parameters.head_group.service_account)).toEqual([]);
      }
    });
  });

  describe("the plan", () => {
    if (!stack.endsWith("-dev"))
      test("equals the golden plan", async () => {
        await expect(
          renderGolden(planOf(captures.preview)),
          `the golden plan of ${stack} is stale; if the change is intended: npx vitest run test/infra/program --update`,
        ).toMatchFileSnapshot(join(root, `test/infra/golden/${stack}.yaml`));
      });
    test.runIf(cloud !== "local")("has a price for all that runs", () => {
      const prices = parsePrices(readFileSync(join(root, "infra/offline-plan/prices.json"), "utf8"), "prices.json");
      const { lines, missing } = costOf(planOf(captures.preview), prices);
      expect(lines.length).toBeGreaterThan(5);
      expect(missing).toEqual([]);
    });
    test("has a replacement table for each type of cloud resource", () => {
      const types = captures.preview.resources.map(({ type }) => type).filter((type) => /^(aws|gcp):/.test(type));
      expect([...new Set(types)].filter((type) => !knownTypes.has(type))).toEqual([]);
    });
  });
  return () => captures;
}
