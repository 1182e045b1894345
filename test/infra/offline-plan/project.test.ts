import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  flattenConfig,
  ProjectError,
  readProject,
  readStackConfig,
  secretPlaceholder,
} from "../../../infra/offline-plan/project.ts";

const project = { name: "lakehead", defaults: {} };
const fixtures = join(import.meta.dirname, "fixtures/project");

describe("a stack's configuration", () => {
  test("has the form that the CLI passes to a program", () => {
    expect(
      flattenConfig(project, {
        "lakehead:cloud": "aws",
        plain: 3,
        "aws:region": "eu-west-1",
        nodes: { gpu: { max: 2 } },
        list: ["a"],
      }),
    ).toEqual({
      values: {
        "lakehead:cloud": "aws",
        "lakehead:plain": "3",
        "aws:region": "eu-west-1",
        "lakehead:nodes": '{"gpu":{"max":2}}',
        "lakehead:list": '["a"]',
      },
      secretKeys: [],
    });
  });

  test("hides encrypted values at any depth", () => {
    const { values, secretKeys } = flattenConfig(project, {
      token: { secure: "v1:abc" },
      database: { user: "lake", password: { secure: "v1:def" } },
      keys: [{ secure: "v1:ghi" }],
    });
    expect(values["lakehead:database"]).toBe(`{"user":"lake","password":"${secretPlaceholder}"}`);
    expect(secretKeys).toEqual(["lakehead:token", "lakehead:database", "lakehead:keys"]);
    expect(JSON.stringify(values)).not.toContain("v1:");
  });

  test("starts from the project's defaults", () => {
    const defaults = { region: { default: "eu-west-1" }, size: { value: 2 }, name: "x", required: { type: "string" } };
    expect(flattenConfig({ name: "p", defaults }, { size: 3 }).values).toEqual({
      "p:region": "eu-west-1",
      "p:size": "3",
      "p:name": "x",
    });
  });

  test("of an unknown stack: the error lists the known stacks", () => {
    expect(() => readStackConfig(readProject(fixtures), "prd")).toThrow(
      new ProjectError('stack "prd" does not exist: no file Pulumi.prd.yaml; choose one of dev'),
    );
  });
});

test("a folder without a project is refused", () => {
  expect(() => readProject(join(fixtures, ".."))).toThrow(/has no Pulumi\.yaml/);
});
