import { describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";

const service = useSharedService();

describe("a branch", () => {
  const inside = (branch: unknown) => ({ query: { k: 5, branch } });
  test.each<[string, unknown]>([
    ["inside the query", inside("experiment")],
    ["beside it", { query: { k: 5 }, branch: "experiment" }],
    ["in both places", { ...inside("experiment"), branch: "experiment" }],
    ["beside it, null inside", { ...inside(null), branch: "experiment" }],
  ])("%s", async (_, body) => {
    for (const operation of ["explain_plan", "analyze_plan"])
      expect((await service.call(operation, "docs", body)).body).toContain("tree/experiment/");
  });

  test("sent flat to analyze, and to the other operations", async () => {
    const branch = "experiment";
    expect((await service.call("analyze_plan", "docs", { k: 5, branch })).body).toContain("tree/experiment/");
    expect((await service.call("stats", "docs", { branch })).body).toMatchObject({ num_rows: 900 });
    expect((await service.call("stats", "docs", { branch: "main" })).body).toMatchObject({ num_rows: 1020 });
    expect((await service.call("describe", "docs", { branch })).status).toBe(200);
  });

  test("that differs inside and outside is refused", async () => {
    const { body } = await service.call("explain_plan", "docs", { ...inside("experiment"), branch: "other" });
    expect(body).toMatchObject({ code: 13, error: "branch differs from query.branch: send one of them" });
  });
});

describe("a request without a body", () => {
  const bare = (operation: string, init: RequestInit) =>
    fetch(`${service.base}/v1/table/docs/${operation}/`, {
      ...init,
      headers: { authorization: `Bearer ${service.token}`, ...init.headers },
    });

  test.each<[string, RequestInit]>([
    ["POST with neither body nor content-type", { method: "POST" }],
    ["POST with an empty JSON body", { method: "POST", body: "", headers: { "content-type": "application/json" } }],
    ["POST with white space", { method: "POST", body: " \n", headers: { "content-type": "text/plain" } }],
    ["POST with null", { method: "POST", body: "null", headers: { "content-type": "application/json" } }],
    ["POST with {}", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }],
    ["POST in chunks", { method: "POST", body: new Blob(["{}"]).stream(), duplex: "half" } as RequestInit],
    ["GET", { method: "GET" }],
  ])("%s is answered with the statistics", async (_, init) => {
    const response = await bare("stats", init);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({ num_rows: 1020 });
  });

  test("opens a table: describe", async () => {
    const response = await bare("describe", { method: "POST" });
    expect(response.headers.get("phalanx-version")).toBe("0.5.0");
    expect(await response.json()).toMatchObject({ version: 7, schema: { fields: expect.any(Array) } });
  });

  test.each([
    ["explain_plan", "query must be an object"],
    ["analyze_plan", "k must be a whole number"],
    ["tags/create", "tag is missing: send a value of type string"],
    ["tags/version", "tag is missing: send a value of type string"],
    ["tags/delete", "tag is missing: send a value of type string"],
  ])("is refused by %s, which needs one", async (operation, error) => {
    const response = await bare(operation, { method: "POST" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 13, error: expect.stringContaining(error) });
  });

  test.each([["[]"], ['"text"'], ["5"], ["true"]])("%s is no body", async (rawBody) => {
    const { status, body } = await service.call("stats", "docs", undefined, { rawBody });
    expect([status, body.code, body.error]).toEqual([400, 13, "the body must be a JSON object"]);
  });
});

describe("identity and context", () => {
  const identity = (token: string) => ({ identity: { api_key: token, auth_token: token } });

  test("a credential in the body alone never authenticates", async () => {
    const { status, body } = await service.call("stats", "docs", identity(service.token), { token: null });
    expect([status, body.code]).toEqual([401, 16]);
  });

  test("the header's credentials apply, not the body's", async () => {
    expect((await service.call("stats", "docs", identity("wrong"))).status).toBe(200);
    const { status } = await service.call("stats", "docs", identity(service.token), { token: "wrong" });
    expect(status).toBe(401);
  });
});

test("2^63-1 on the wire is no limit", async () => {
  const rawBody = '{"query":{"k":9223372036854775807,"prefilter":true,"vector":[],"version":null},"verbose":false}';
  const { body } = await service.call("explain_plan", "docs", undefined, { rawBody });
  expect(body).toContain("range_before=None");
});

test("a plan is a JSON string with a JSON content type", async () => {
  const { headers, body } = await service.call("explain_plan", "docs", { query: { k: 1 } });
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  expect(body).toEqual(expect.any(String));
});
