import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configSchema, stackDefinition } from "../../../infra/clouds/schema.ts";
import { parseConfig, rawConfig } from "../../../infra/config/parse.ts";
import { someDay } from "./minimal.ts";

const root = new URL("../../../", import.meta.url);
const stacks = readdirSync(root).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []);

function example(stack: string): Record<string, unknown> {
  const { config } = parse(readFileSync(new URL(`Pulumi.${stack}.yaml`, root), "utf8")) as {
    config: Record<string, unknown>;
  };
  const asEngineHandsItOver = Object.entries(config).map(([key, value]): [string, string] => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return rawConfig(stackDefinition, Object.fromEntries(asEngineHandsItOver), "lakehead");
}

describe("the example stacks", () => {
  test("include the five of the documentation", () => {
    expect(stacks).toEqual(expect.arrayContaining(["aws-dev", "aws-prod", "gcp-dev", "gcp-prod", "local"]));
  });

  test.each(stacks)("%s has neither error nor warning", (stack) => {
    expect(parseConfig(stackDefinition, example(stack), { today: someDay }).warnings).toEqual([]);
  });

  test.each(["aws-prod", "gcp-prod"])(
    "%s is protected, and its Kubernetes API is not open to the internet",
    (stack) => {
      const { config } = parseConfig(stackDefinition, example(stack), { today: someDay });
      expect(config.protect).toBe(true);
      expect(config.cloud === "kubeconfig" ? [] : config.endpoint.publicCidrs).not.toContain("0.0.0.0/0");
    },
  );
});

describe("the schema", () => {
  test("describes every key, for docs/stack-configuration.md", () => {
    const undescribed: string[] = [];
    visit(z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema, "");
    expect(undescribed).toEqual([]);

    function visit(schema: JsonSchema, path: string): void {
      for (const [key, field] of Object.entries(schema.properties ?? {})) {
        const name = path === "" ? key : `${path}.${key}`;
        if (field.description === undefined) undescribed.push(name);
        visit(field, name);
      }
      for (const option of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) visit(option, path);
    }
  });

  test("rejects unknown keys at every depth", () => {
    const json = JSON.stringify(z.toJSONSchema(configSchema, { io: "input" }));
    const objects = json.match(/"type":"object","properties"/g)?.length ?? 0;
    expect(objects).toBeGreaterThan(50);
    expect(json.match(/"additionalProperties":false/g)?.length).toBe(objects);
  });
});

interface JsonSchema {
  readonly description?: string;
  readonly properties?: Record<string, JsonSchema>;
  readonly oneOf?: JsonSchema[];
  readonly anyOf?: JsonSchema[];
}

describe("the engine's values", () => {
  test("are decoded, except keys whose type is text", () => {
    expect(
      rawConfig(
        stackDefinition,
        {
          "lakehead:account": "111122223333",
          "lakehead:kubernetesVersion": "1.35",
          "lakehead:clusterName": "42",
          "lakehead:protect": "false",
          "lakehead:logRetentionDays": "7",
          "lakehead:tags": '{"a":"1"}',
          "aws:region": "eu-central-1",
        },
        "lakehead",
      ),
    ).toEqual({
      account: "111122223333",
      kubernetesVersion: "1.35",
      clusterName: "42",
      protect: false,
      logRetentionDays: 7,
      tags: { a: "1" },
    });
  });

  test("never pass a secret to the schema, and keep invalid JSON as text", () => {
    expect(
      rawConfig(stackDefinition, { "lakehead:staticTokens": "s3cret", "lakehead:nodes": "{" }, "lakehead"),
    ).toEqual({ nodes: "{" });
  });
});
