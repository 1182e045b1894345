import { describe, expect, test } from "vitest";
import { readConfig } from "../../../service/config/config.ts";
import { variables } from "../../../service/config/schema.ts";
import { environment } from "../../../service/contract.ts";
import { defaultExpressionLimits } from "../../../service/guard/expression/index.ts";
import { faultsOf } from "./support.ts";

const token = JSON.stringify([{ name: "ci", sha256: "0".repeat(64), scopes: ["plan"] }]);
const minimal = { LAKEHEAD_DATABASE: "/data", LAKEHEAD_AUTH_STATIC_TOKENS: token };

test("a database and a way to authenticate suffice: everything else has a default", () => {
  const config = readConfig(minimal);
  expect(config.database).toMatchObject({
    uri: "/data",
    consistencySeconds: 1,
    storageOptions: {},
    showLocations: true,
  });
  expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, healthPort: 9090, guard: "on" });
});

test("the default bounds of expressions are those that the guard was measured with", () => {
  expect(defaultExpressionLimits).toMatchObject(readConfig(minimal).limits.expression);
});

test("an empty variable counts as not set", () => {
  expect(readConfig({ ...minimal, LAKEHEAD_PORT: "", LAKEHEAD_OTLP_ENDPOINT: "" })).toEqual(readConfig(minimal));
});

test("all faults are reported together, each with variable, value and remedy", () => {
  const faults = faultsOf({
    LAKEHEAD_PORT: "80a",
    LAKEHEAD_LOG_LEVEL: "loud",
    LAKEHEAD_MAX_K: "0",
    LAKEHEAD_QUEUE_SECONDS: "-1",
    LAKEHEAD_PROT: "8080",
    LAKEHEAD_AUTH_STATIC_TOKENS: token,
    LAKEHEAD_AUTH_ISSUER: "issuer.example",
  });
  expect(faults).toHaveLength(8);
  const text = faults.join("\n");
  expect(text).toMatch(/LAKEHEAD_DATABASE must be set \(Location of the tables/);
  expect(text).toMatch(/LAKEHEAD_PORT="80a" must be a whole number from 0 to 65535/);
  expect(text).toMatch(/LAKEHEAD_LOG_LEVEL="loud" must be one of debug, info, warn, error/);
  expect(text).toMatch(/LAKEHEAD_MAX_K="0" must be a whole number from 1 to/);
  expect(text).toMatch(/LAKEHEAD_QUEUE_SECONDS="-1" must be a number from 0.01 to 600/);
  expect(text).toMatch(/LAKEHEAD_AUTH_ISSUER="issuer.example" must be an absolute URL/);
  expect(text).toMatch(/LAKEHEAD_AUTH_AUDIENCE must be set/);
  expect(text).toMatch(/LAKEHEAD_PROT is not a variable of this service/);
});

test("variables that users of a service set for its address and token are accepted, and have no effect", () => {
  const set = { LAKEHEAD_URL: "http://127.0.0.1:8080", LAKEHEAD_TOKEN: "text" };
  expect(readConfig({ ...minimal, ...set })).toEqual(readConfig(minimal));
});

test("flags, lists and decimals are read from their text", () => {
  const config = readConfig({
    ...minimal,
    LAKEHEAD_AUTH_API_KEY: "true",
    LAKEHEAD_TABLE_LOCATIONS: "off",
    LAKEHEAD_AUTH_AUDIENCE: "a, b",
    LAKEHEAD_DRAIN_SECONDS: "0.5",
  });
  expect(config.auth).toMatchObject({ allowApiKeyHeader: true, audience: ["a", "b"] });
  expect(config.database.showLocations).toBe(false);
  expect(config.drainSeconds).toBe(0.5);
});

test.each(["LAKEHEAD_STORAGE_OPTIONS", "LAKEHEAD_AUTH_SCOPE_MAP"])("%s takes JSON only", (name) => {
  expect(faultsOf({ ...minimal, [name]: "{" })).toEqual([
    expect.stringMatching(`^${name}.* must be JSON, for instance`),
  ]);
});

test("requests to an object store have bounded time and retries, unless the operator sets others", () => {
  const options = (database: string, own = "{}") =>
    readConfig({ ...minimal, LAKEHEAD_DATABASE: database, LAKEHEAD_STORAGE_OPTIONS: own }).database.storageOptions;
  expect(options("s3://bucket/prefix")).toMatchObject({ read_timeout: "4s", client_max_retries: "2" });
  expect(options("gs://bucket", '{"timeout": "60s"}')).toMatchObject({ timeout: "60s", client_max_retries: "2" });
  expect(options("/data")).toEqual({});
});

test.each([
  { memory: "1 GiB", concurrency: 4, workers: 1, calls: 1, apart: 1 },
  { memory: "2 GiB", concurrency: 4, workers: 1, calls: 2, apart: 2 },
  { memory: "4 GiB", concurrency: 4, workers: 1, calls: 4, apart: 2 },
  { memory: "4 GiB", concurrency: 1, workers: 1, calls: 1, apart: 1 },
  { memory: "4 GiB", concurrency: 64, workers: 3, calls: 2, apart: 6 },
  { memory: "64 GiB", concurrency: 64, workers: 16, calls: 4, apart: 32 },
  { memory: "64 GiB", concurrency: 10, workers: 2, calls: 5, apart: 5 },
])(
  "$concurrency analyses at a time in $memory: $workers workers with $calls calls each, or $apart with one, and 512 MiB for each call",
  ({ memory, concurrency, workers, calls, apart }) => {
    const bytes = Number.parseInt(memory, 10) * 2 ** 30;
    const { isolation, admission } = readConfig({
      ...minimal,
      LAKEHEAD_MEMORY_LIMIT_BYTES: String(bytes),
      LAKEHEAD_ANALYZE_CONCURRENCY: String(concurrency),
    });
    expect(isolation?.analyze).toMatchObject({ workers, callsPerWorker: calls, workersApart: apart });
    expect(isolation?.analyze.memoryBytes).toBeGreaterThanOrEqual(calls * 512 * 2 ** 20);
    expect(workers * (isolation?.analyze.memoryBytes ?? 0)).toBeLessThanOrEqual(0.75 * bytes);
    expect(admission.analyze.concurrency).toBe(workers * calls);
  },
);

test.each([
  ["2 GiB", {}, 2],
  ["4 GiB", {}, 3],
  ["4 GiB", { LAKEHEAD_WRITE_CONCURRENCY: "1" }, 1],
  ["4 GiB", { LAKEHEAD_WRITE_CONCURRENCY: "100" }, 5],
])("in %s with %o, %i writes run beside two appends, with 512 MiB each", (memory, environment, writes) => {
  const { isolation, admission, uploads } = readConfig({
    ...minimal,
    ...environment,
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(Number.parseInt(memory, 10) * 2 ** 30),
    LAKEHEAD_MAX_UPLOAD_BYTES: "1024",
  });
  const memoryBytes = 512 * 2 ** 20;
  expect(isolation?.writes).toMatchObject({
    write: { workers: writes, callsPerWorker: 1, memoryBytes: expect.toSatisfy((bytes) => bytes >= memoryBytes) },
    append: { workers: 2, callsPerWorker: 1, memoryBytes: expect.toSatisfy((bytes) => bytes >= memoryBytes) },
  });
  expect(admission.write.concurrency).toBe(writes);
  expect(uploads.maxUploadBytes).toBe(4 * uploads.maxWriteBytes);
});

describe("storage options", () => {
  const faults = (options: object) =>
    faultsOf({
      ...minimal,
      LAKEHEAD_DATABASE: "s3://bucket",
      LAKEHEAD_STORAGE_OPTIONS: JSON.stringify({ aws_secret_access_key: "hunter2", ...options }),
    });

  test.each([
    [{ aws_endpoint: "minio:9000" }, /LAKEHEAD_STORAGE_OPTIONS=\(hidden\) aws_endpoint must be an address with https/],
    [{ endpoint_url: "http://" }, /endpoint_url must be an address/],
    [{ google_base_url: "http://127.0.0.1:4443" }, /google_base_url is an address without TLS.*allow_http/],
    [{ aws_endpoint: "http://127.0.0.1:9000", allow_http: "false" }, /aws_endpoint is an address without TLS/],
    [{ aws_conditional_put: "disabled" }, /aws_conditional_put must be "etag".*create the same tag/],
  ])("%j is refused before the SDK reads it", (options, fault) => {
    expect(faults(options)).toEqual([expect.stringMatching(fault)]);
    expect(faults(options).join()).not.toMatch(/hunter2|9000|disabled/);
  });

  test.each([
    { aws_endpoint: "https://s3.example.com", aws_region: "eu-central-1" },
    { aws_endpoint: "http://127.0.0.1:9000", allow_http: "true", aws_conditional_put: "etag" },
  ])("%j is accepted", (options) => {
    expect(faults(options)).toEqual([]);
  });
});

test("the variables that a deployment sets exist", () => {
  expect(variables.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.values(environment)));
});
