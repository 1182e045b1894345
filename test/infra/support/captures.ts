/** Hand-made captures: with them every check of the whole program is seen to fail where it should. */

import { type Capture, noOptions, type PlannedResource, urnOf } from "../../../infra/offline-plan/capture.ts";

export const stackUrn = "urn:pulumi:test::lakehead::pulumi:pulumi:Stack::lakehead-test";

export function resource(type: string, name: string, more: Partial<PlannedResource> = {}): PlannedResource {
  const parent = more.parent ?? stackUrn;
  return {
    urn: urnOf("lakehead", "test", type, name, parent),
    type,
    name,
    parent,
    kind: "custom",
    inputs: {},
    dependsOn: [],
    ...noOptions,
    ...more,
  };
}

export const captureOf = (
  resources: readonly PlannedResource[],
  outputs: PlannedResource["outputs"] = {},
): Capture => ({
  project: "lakehead",
  stack: "test",
  mode: "preview",
  resources: [
    ...resources,
    resource("pulumi:pulumi:Stack", "lakehead-test", { urn: stackUrn, kind: "stack", outputs }),
  ],
  invocations: [],
  diagnostics: [],
  milliseconds: 0,
  peakBytes: 0,
});
