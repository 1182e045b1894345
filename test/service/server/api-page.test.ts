import { describe, expect, test } from "vitest";
import { operations } from "../../../service/operations/index.ts";
import { addressOf } from "../../../service/operations/operation.ts";
import { document } from "../../support/openapi.ts";
import { startTestService, useService } from "../../support/service.ts";

const service = useService({ environment: { LAKEHEAD_DOCS: "on", LAKEHEAD_CONSOLE: "on" } });

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(new URL(path, service.base), { headers });

describe("the API page", () => {
  test("is HTML whose policy allows only content of this server", async () => {
    const response = await get("/docs");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("x-request-id")).toMatch(/\S/);
  });

  test("has no inline script or style, which its policy would block", async () => {
    const html = await (await get("/docs")).text();
    expect(html).not.toMatch(/<style|style=|<script>|\son\w+=|javascript:/i);
  });

  test("loads only files of this server, each with its content type", async () => {
    const html = await (await get("/docs")).text();
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(loaded.filter((address) => /^(https?:)?\/\//.test(address))).toEqual([]);
    const types = new Map<string, string | null>();
    for (const address of loaded.filter((entry) => entry.startsWith("/"))) {
      const response = await get(address);
      expect(response.status, address).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
      types.set(address.slice(address.lastIndexOf(".")), response.headers.get("content-type"));
    }
    expect(Object.fromEntries(types)).toEqual({
      ".js": "text/javascript; charset=utf-8",
      ".css": "text/css; charset=utf-8",
      ".json": "application/json",
    });
  });

  test("is 304 for a client that has it", async () => {
    const etag = (await get("/docs/swagger-ui.css")).headers.get("etag") ?? "";
    const again = await get("/docs/swagger-ui.css", { "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("x-request-id")).toMatch(/\S/);
    expect(again.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  // RFC 9110, section 13.1.2: a list, weak comparison, and any entity.
  const conditions: readonly (readonly [name: string, header: (etag: string) => string, status: number])[] = [
    ["the tag", (etag) => etag, 304],
    ["a list with the tag", (etag) => `"other", ${etag}`, 304],
    ["the tag made weak by a proxy that compresses", (etag) => `W/${etag}`, 304],
    ["any tag", () => "*", 304],
    ["another tag", () => '"other"', 200],
    ["the tag as a part of another", (etag) => etag.replace(/^"/, '"x'), 200],
  ];
  test.each(
    ["/docs", "/docs/swagger-ui.css", "/openapi.json", "/console/"].flatMap((path) =>
      conditions.map(([name, header, status]) => ({ path, name, header, status })),
    ),
  )("$path with if-none-match of $name is $status", async ({ path, header, status }) => {
    const etag = (await get(path)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const response = await get(path, { "if-none-match": header(etag) });
    expect([response.status, (await response.text()) === ""]).toEqual([status, status === 304]);
    expect(response.headers.get("etag")).toBe(etag);
  });

  test("responds to missing files like any other path", async () => {
    const response = await get("/docs/../package.json");
    expect(response.status).toBe(404);
    expect((await get("/docs/absent.js")).status).toBe(404);
    expect(await (await get("/docs/swagger-ui.css.map")).json()).toMatchObject({ code: 0 });
  });
});

describe("the OpenAPI document of the page", () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))("has %s", (_, operation) => {
    const item = document.paths[addressOf(operation)];
    expect(Object.keys(item).sort()).toEqual(operation.methods.map((method) => method.toLowerCase()).sort());
    for (const entry of Object.values<Record<string, unknown>>(item)) expect(entry.summary).toBe(operation.summary);
  });

  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "has a valid example body for %s",
    (_, operation) => {
      expect(operation.body.safeParse(operation.example ?? {})).toMatchObject({ success: true });
    },
  );
});

test("without LAKEHEAD_DOCS=on there is no page", async () => {
  const plain = await startTestService();
  try {
    const response = await fetch(`${plain.base}/docs`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 0, error: expect.stringContaining("/openapi.json") });
    expect((await fetch(`${plain.base}/docs/swagger-ui-bundle.js`)).status).toBe(404);
  } finally {
    await plain.stop();
  }
});
