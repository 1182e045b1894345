import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeOperator, judgeRay, operatorFeatures } from "../../../infra/model/operator.ts";
import { compareVersions, isAtLeast } from "../../../infra/model/semver.ts";
import * as versions from "../../../infra/versions.ts";
import { modelOf } from "../config/minimal.ts";

const triple = fc.tuple(fc.nat(9), fc.nat(120), fc.nat(30));
const text = (parts: readonly number[]) => parts.join(".");

describe("versions", () => {
  test("are compared by number, not as text", () => {
    fc.assert(
      fc.property(triple, triple, (a, b) => {
        const byNumber = a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
        expect(Math.sign(compareVersions(text(a), text(b)))).toBe(Math.sign(byNumber));
      }),
    );
    expect(isAtLeast("2.100.0", "2.43.0")).toBe(true);
    expect(isAtLeast("1.10", "1.9.5")).toBe(true);
    expect(compareVersions("1.7", "1.7.0")).toBe(0);
  });

  test.each([
    ["an operator", judgeOperator, versions.kuberay],
    ["Ray", judgeRay, versions.ray],
  ] as const)(
    "of %s are an error below the minimum, a warning below the recommended one, accepted above",
    (_, judge, facts) => {
      fc.assert(
        fc.property(triple, (parts) => {
          const version = text(parts);
          const expected = !isAtLeast(version, facts.minimum)
            ? "error"
            : isAtLeast(version, facts.recommended)
              ? undefined
              : "warning";
          expect(judge(version)?.level).toBe(expected);
        }),
      );
      expect(judge(facts.minimum)?.level).not.toBe("error");
      expect(judge(facts.default)).toBeUndefined();
    },
  );

  test("that are pinned exist for every supported Kubernetes minor", () => {
    const minors = Object.keys(versions.eks.supported);
    expect(minors).toContain(versions.eks.default);
    expect(Object.keys(versions.gke.supported)).toContain(versions.gke.default);
    expect(Object.keys(versions.eksAddons)).toEqual(minors);
    expect(Object.keys(versions.clusterAutoscaler.tags)).toEqual(minors);
    for (const minor of minors) {
      expect(versions.eksAddons[minor]?.kubeProxy).toMatch(new RegExp(`^v${minor}\\.`));
      expect(versions.clusterAutoscaler.tags[minor]).toMatch(new RegExp(`^v${minor}\\.`));
    }
  });
});

describe("the operator that a stack runs with", () => {
  const version = (operator: Record<string, unknown>, more = {}) =>
    modelOf("gcp", { operator, ...more }).cluster.operatorVersion;

  test("has the version of the chart, of the existing operator, or of the paired add-on", () => {
    expect(version({})).toBe(versions.kuberay.default);
    expect(version({ version: "1.6.0" })).toBe("1.6.0");
    expect(version({ mode: "existing", version: "1.4.2" })).toBe("1.4.2");
    expect(version({ mode: "addon" }, { kubernetesVersion: "1.31" })).toBe("1.2");
    expect(version({ mode: "addon", version: "1.5.1" })).toBe("1.5.1");
  });

  test("gets no field that it does not know", () => {
    expect(operatorFeatures("1.3.2")).toEqual({ autoscalerVersion: false, authOptions: false, upgradeStrategy: false });
    expect(operatorFeatures("1.5.1")).toEqual({ autoscalerVersion: true, authOptions: true, upgradeStrategy: false });
    expect(operatorFeatures("1.7.1")).toEqual({ autoscalerVersion: true, authOptions: true, upgradeStrategy: true });
  });
});
