import { afterEach, expect, test } from "vitest";
import { compileTablePatterns, type Principal } from "../../../service/auth/index.ts";
import { openVending, type VendingConfig } from "../../../service/catalog/open.ts";
import { scopesOf } from "../../../service/catalog/rights.ts";
import type { TableId } from "../../../service/guard/table-id.ts";
import { type ExchangeOptions, type GoogleExchange, startGoogleExchange } from "../../support/google-exchange.ts";

const uri = "gs://lake/tables";
const docs: TableId = { namespace: [], name: "docs", parts: ["docs"], key: "docs" };
const writer: Principal = {
  subject: "me",
  scopes: new Set(scopesOf.write),
  tables: compileTablePatterns(["**"]),
  method: "static-token",
};

const open: GoogleExchange[] = [];
afterEach(() => {
  for (const exchange of open.splice(0)) exchange.close();
});

const start = async (options: ExchangeOptions, changes: Partial<VendingConfig> = {}) => {
  const exchange = await startGoogleExchange(options);
  open.push(exchange);
  const config: VendingConfig = {
    mode: "google",
    seconds: 3600,
    tokenFile: "",
    metadataUrl: exchange.base,
    stsUrl: `${exchange.base}/v1/token`,
    ...changes,
  };
  return {
    exchange,
    vending: openVending(config, { uri, storageOptions: { google_base_url: exchange.base, timeout: "9s" } }, "write"),
  };
};

test("a token is for one table and right, and has an end", async () => {
  const { exchange, vending } = await start({ enforces: true, seconds: 1800 });
  const lent = await (await vending)?.lend(docs, `${uri}/docs.lance`, "write", writer);
  // The address of the store, as the operator set it, and nothing else of the operator's.
  expect(lent?.storageOptions).toEqual({
    google_base_url: exchange.base,
    google_storage_token: expect.any(String),
    expires_at_millis: expect.any(String),
  });
  expect(lent?.storageOptions.google_storage_token).toMatch(/^bounded-token-/);
  expect(exchange.boundaries.at(-1)).toEqual({
    availableResource: "//storage.googleapis.com/projects/_/buckets/lake",
    availablePermissions: ["inRole:roles/storage.objectUser"],
    availabilityCondition: { expression: expect.stringContaining("objects/tables/docs.lance/')") },
  });
  const seconds = (Number(lent?.storageOptions.expires_at_millis) - Date.now()) / 1000;
  expect(seconds).toBeGreaterThan(1700);
  expect(seconds).toBeLessThanOrEqual(1800);
});

test("a token ends with its source, where the answer does not say when", async () => {
  const { vending } = await start({ enforces: true });
  const lent = await (await vending)?.lend(docs, `${uri}/docs.lance`, "read", writer);
  const seconds = (Number(lent?.storageOptions.expires_at_millis) - Date.now()) / 1000;
  expect(seconds).toBeGreaterThan(3500);
  expect(seconds).toBeLessThanOrEqual(3599);
});

test("the service does not start where the boundary is ignored", async () => {
  const { vending } = await start({ enforces: false });
  await expect(vending).rejects.toThrow(/LAKEHEAD_VENDING=google: .*not enforced/);
});

test.each<[string, Partial<VendingConfig>]>([
  ["the metadata server", { metadataUrl: "http://127.0.0.1:1" }],
  ["the token exchange", { stsUrl: "http://127.0.0.1:1/v1/token" }],
])("the service does not start where %s cannot be asked, and says nothing of a token", async (name, changes) => {
  const { vending } = await start({ enforces: true }, changes);
  const failure = await vending.catch((error: Error) => error);
  expect(failure).toMatchObject({ message: expect.stringContaining(name) });
  expect(String((failure as Error).stack)).not.toContain("own-token");
});

test("a token without an end is not lent", async () => {
  const { vending } = await start({ enforces: true, endless: true });
  await expect(vending).rejects.toThrow(/no end/);
});
