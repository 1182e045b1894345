/** Kubernetes objects against schemas: the built-in kinds' own, and a strict one for what is used of RayCluster. */

import { Ajv } from "ajv";
import type { Manifest } from "../../kubernetes/manifests.ts";

const string = { type: "string", minLength: 1 };
const count = { type: "integer", minimum: 0 };
const strings = { type: "object", additionalProperties: { type: "string" } };
const closed = (properties: Record<string, unknown>, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
// The pod template is judged by the built-in PodTemplate's schema.
const template = { type: "object", required: ["spec"] };
const resources = closed({ requests: strings, limits: strings }, ["requests", "limits"]);

/**
 * The part of ray.io/v1 RayCluster that the stacks use, closed, so that a misspelt field is an error. Field names and types:
 * ray-operator/config/crd/bases/ray.io_rayclusters.yaml of KubeRay 1.7.
 */
export const rayClusterSchema = closed(
  {
    apiVersion: { const: "ray.io/v1" },
    kind: { const: "RayCluster" },
    metadata: closed(
      {
        name: { type: "string", pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$", maxLength: 53 },
        namespace: string,
        labels: strings,
        annotations: strings,
      },
      ["name", "namespace"],
    ),
    spec: closed(
      {
        rayVersion: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+$" },
        enableInTreeAutoscaling: { const: true },
        autoscalerOptions: closed(
          {
            version: { const: "v2" },
            idleTimeoutSeconds: count,
            upscalingMode: { enum: ["Default", "Aggressive", "Conservative"] },
            resources,
            securityContext: { type: "object" },
            volumeMounts: { type: "array", items: { type: "object" } },
            image: string,
            imagePullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
          },
          ["version", "resources"],
        ),
        upgradeStrategy: closed({ type: { enum: ["Recreate", "None"] } }, ["type"]),
        authOptions: { type: "object" },
        headGroupSpec: closed(
          {
            serviceType: { const: "ClusterIP" },
            // Every value is text: KubeRay hands them to `ray start` as they are.
            rayStartParams: strings,
            template,
          },
          ["rayStartParams", "template"],
        ),
        workerGroupSpecs: {
          type: "array",
          minItems: 1,
          items: closed(
            {
              groupName: { type: "string", pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$", maxLength: 53 },
              // `replicas` is left to the autoscaler: a value here is set back on every update (kuberay#1120).
              minReplicas: count,
              maxReplicas: { type: "integer", minimum: 1 },
              idleTimeoutSeconds: count,
              rayStartParams: strings,
              template,
            },
            ["groupName", "minReplicas", "maxReplicas", "rayStartParams", "template"],
          ),
        },
      },
      ["rayVersion", "enableInTreeAutoscaling", "autoscalerOptions", "headGroupSpec", "workerGroupSpecs"],
    ),
  },
  ["apiVersion", "kind", "metadata", "spec"],
);

const ajv = new Ajv({ allErrors: true });
const rayCluster = ajv.compile(rayClusterSchema);
const fits = (body: unknown): boolean => rayCluster(body);

type Model = new (data: unknown) => { validate(): void };

async function builtIn(apiVersion: string, kind: string, body: unknown): Promise<string[]> {
  const module = `kubernetes-models/${apiVersion}`;
  const models = (await import(module)) as Record<string, Model | undefined>;
  const Model = models[kind];
  if (Model === undefined) return [`${apiVersion} ${kind}: there is no schema`];
  try {
    new Model(body).validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the schema above has judged it
async function rayClusterErrors(body: any): Promise<string[]> {
  if (!fits(body)) return [ajv.errorsText(rayCluster.errors, { dataVar: "" })];
  const groups = [body.spec.headGroupSpec, ...body.spec.workerGroupSpecs];
  const templates = groups.map((group) =>
    builtIn("v1", "PodTemplate", { metadata: { name: "x" }, template: group.template }),
  );
  return (await Promise.all(templates)).flat();
}

// Kinds of Google's own controllers, for which no schema is published on npm; those of a Prometheus operator, which npm run
// test:monitoring judges; and Kueue's, which the API server of npm run test:e2e -- queue does.
const withoutSchema =
  /^(networking\.gke\.io|cloud\.google\.com|kueue\.x-k8s\.io|monitoring\.(googleapis|coreos)\.com)\//;

export async function schemaErrors({ apiVersion, kind, metadata, body }: Manifest): Promise<string[]> {
  if (withoutSchema.test(apiVersion)) return [];
  const errors = kind === "RayCluster" ? await rayClusterErrors(body) : await builtIn(apiVersion, kind, body);
  return errors.map((error) => `${kind} ${metadata.name}: ${error}`);
}
