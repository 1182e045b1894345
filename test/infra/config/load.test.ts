import { readdirSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, describe, expect, test, vi } from "vitest";
import { stackDefinition } from "../../../infra/clouds/schema.ts";
import { loadConfig } from "../../../infra/config/load.ts";
import { findPlaceholders } from "../../../infra/config/placeholders.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { withoutPlaceholders } from "../../e2e/support/placeholders.ts";
import { root } from "../../support/infra/stacks.ts";

const stacks = readdirSync(root).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []);

/** Foreign part: Pulumi's SDK, with the configuration that an engine hands to a program. */
function load(values: Readonly<Record<string, string>>): string {
  const mocks = { newResource: () => ({ id: "", state: {} }), call: () => ({}) };
  // The project and the mode are set at once; only what the test does not use is awaited.
  void pulumi.runtime.setMocks(mocks, "lakehead", "test", true);
  pulumi.runtime.setAllConfig({ ...values }, []);
  try {
    loadConfig(stackDefinition);
    return "accepted";
  } catch (cause) {
    if (pulumi.RunError.isInstance(cause)) return cause.message;
    throw cause;
  }
}

afterEach(() => {
  vi.unstubAllEnvs();
  pulumi.runtime.setAllConfig({}, []);
});

describe("an untouched example", () => {
  test.each(stacks)(
    "%s is refused by a preview and an up, and accepted once its placeholders are replaced",
    (stack) => {
      const { values } = readStackConfig(readProject(root), stack);
      const message = load(values);
      const keys = findPlaceholders(
        Object.fromEntries(
          Object.entries(values).map(([key, text]) => [
            key.split(":")[1],
            /^[[{]/.test(text) ? JSON.parse(text) : text,
          ]),
        ),
      ).map(({ key }) => key);
      expect(keys).toContain("tableService.auth.issuer");
      for (const key of keys) expect(message).toContain(`lakehead:${key} = `);
      const own = Object.entries(values).map(([key, text]) => [key, withoutPlaceholders(text)]);
      expect(load(Object.fromEntries(own))).toBe("accepted");
    },
  );
});

test("keys of other namespaces are refused together with the other errors", () => {
  const { values } = readStackConfig(readProject(root), "aws-dev");
  vi.stubEnv("LAKEHEAD_OFFLINE_PLAN", "1");
  expect(
    load({ ...values, "lakehaed:protect": "false", "aws:region": "eu-west-1", "lakehead:protect": "7" }),
  ).toBe(`The stack's configuration has 3 errors:
  lakehaed:protect = "false": no program reads the namespace lakehaed; write lakehead:protect
  aws:region = "eu-west-1": the stack's aws provider does not read this key; write lakehead:region and lakehead:account, and select credentials by AWS_PROFILE
  lakehead:protect = 7: the value is invalid; expected true or false`);
});
