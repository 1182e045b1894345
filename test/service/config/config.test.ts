import { describe, expect, test } from "vitest";
import { readConfig } from "../../../service/config/config.ts";
import { SettingsError } from "../../../service/config/settings.ts";
import { settings } from "../../../service/config/variables.ts";
import { environment } from "../../../service/contract.ts";

const token = JSON.stringify([{ name: "ci", sha256: "0".repeat(64), scopes: ["plan"] }]);
const minimal = { LAKEHEAD_DATABASE: "/data", LAKEHEAD_AUTH_STATIC_TOKENS: token };

const faultsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
};

test("a database and a way to authenticate are enough, and everything else has a default", () => {
  const config = readConfig(minimal);
  expect(config.database).toMatchObject({ uri: "/data", consistencySeconds: 1, storageOptions: {} });
  expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, operationsPort: 9090, guard: "on" });
});

test("all faults are reported together, each with variable, value and way out", () => {
  const faults = faultsOf({
    LAKEHEAD_PORT: "80a",
    LAKEHEAD_LOG_LEVEL: "loud",
    LAKEHEAD_MAX_K: "0",
    LAKEHEAD_QUEUE_SECONDS: "-1",
    LAKEHEAD_PROT: "8080",
    LAKEHEAD_AUTH_STATIC_TOKENS: token,
  });
  expect(faults).toHaveLength(6);
  const text = faults.join("\n");
  expect(text).toMatch(/LAKEHEAD_DATABASE must be set/);
  expect(text).toMatch(/LAKEHEAD_PORT="80a" must be a whole number from 0 to 65535/);
  expect(text).toMatch(/LAKEHEAD_LOG_LEVEL="loud" must be one of debug, info, warn, error/);
  expect(text).toMatch(/LAKEHEAD_MAX_K="0" must be a whole number from 1 to/);
  expect(text).toMatch(/LAKEHEAD_PROT is not a variable of this service/);
});

describe("authentication", () => {
  test("without any way to authenticate there is no service", () => {
    expect(faultsOf({ LAKEHEAD_DATABASE: "/data" }).join()).toMatch(
      /LAKEHEAD_AUTH_ISSUER is missing and there is no static token/,
    );
  });

  test("an issuer needs an audience and https", () => {
    const faults = faultsOf({ LAKEHEAD_DATABASE: "/data", LAKEHEAD_AUTH_ISSUER: "http://issuer.example.com" }).join(
      "\n",
    );
    expect(faults).toMatch(/LAKEHEAD_AUTH_ISSUER.*https/);
    expect(faults).toMatch(/LAKEHEAD_AUTH_AUDIENCE/);
  });

  test("a secret is never repeated", () => {
    const faults = faultsOf({ ...minimal, LAKEHEAD_AUTH_STATIC_TOKENS: '[{"token": "hunter2"}]' }).join("\n");
    expect(faults).toMatch(/LAKEHEAD_AUTH_STATIC_TOKENS=\(hidden\) must be JSON/);
    expect(faults).not.toContain("hunter2");
  });
});

test.each(["LAKEHEAD_STORAGE_OPTIONS", "LAKEHEAD_AUTH_SCOPE_MAP"])("%s takes JSON only", (name) => {
  expect(faultsOf({ ...minimal, [name]: "{" }).join()).toContain(name);
});

test("an object store is not asked without end, unless the operator says so", () => {
  const options = (database: string, own = "{}") =>
    readConfig({ ...minimal, LAKEHEAD_DATABASE: database, LAKEHEAD_STORAGE_OPTIONS: own }).database.storageOptions;
  expect(options("s3://bucket/prefix")).toMatchObject({ read_timeout: "4s", client_max_retries: "2" });
  expect(options("gs://bucket", '{"timeout": "60s"}')).toMatchObject({ timeout: "60s", client_max_retries: "2" });
  expect(options("/data")).toEqual({});
});

describe("storage options", () => {
  const faults = (options: object) =>
    faultsOf({
      ...minimal,
      LAKEHEAD_DATABASE: "s3://bucket",
      LAKEHEAD_STORAGE_OPTIONS: JSON.stringify({ aws_secret_access_key: "hunter2", ...options }),
    });

  test.each([
    [{ aws_endpoint: "minio:9000" }, /LAKEHEAD_STORAGE_OPTIONS: aws_endpoint must be an address with https/],
    [{ endpoint_url: "http://" }, /endpoint_url must be an address/],
    [{ google_base_url: "http://127.0.0.1:4443" }, /google_base_url is an address without TLS.*allow_http/],
    [{ aws_endpoint: "http://127.0.0.1:9000", allow_http: "false" }, /aws_endpoint is an address without TLS/],
    [{ aws_conditional_put: "disabled" }, /aws_conditional_put must be "etag".*two clients/],
  ])("%j is refused before the SDK meets it", (options, fault) => {
    expect(faults(options)).toEqual([expect.stringMatching(fault)]);
    expect(faults(options).join()).not.toMatch(/hunter2|9000|disabled/);
  });

  test.each([
    { aws_endpoint: "https://s3.example.com", aws_region: "eu-central-1" },
    { aws_endpoint: "http://127.0.0.1:9000", allow_http: "true", aws_conditional_put: "etag" },
  ])("%j is taken", (options) => {
    expect(faults(options)).toEqual([]);
  });
});

test("what a deployment sets are variables of the service", () => {
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.values(environment)));
});
