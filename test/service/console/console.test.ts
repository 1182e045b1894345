import { describe, expect, test } from "vitest";
import { readConfig } from "../../../service/config/config.ts";
import { readPageFiles } from "../../../service/console/page-files.ts";
import { consoleSettings } from "../../../service/console/settings.ts";
import { startTestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";

const limited = staticToken("reader", "token-of-a-reader", ["stats"], ["prod$**"]);

const service = useService({ environment: { LAKEHEAD_CONSOLE: "on" }, tokens: [limited] });

const get = (path: string, headers: Readonly<Record<string, string>> = {}, redirect: "manual" | "follow" = "manual") =>
  fetch(new URL(path, service.base), { headers, redirect });

const pathsOf = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path).filter((path) => path !== "data:,");

describe("the console's page", () => {
  test("is at a folder, so that its relative addresses also work behind a path prefix", async () => {
    const response = await get("/console?code=1");
    expect([response.status, response.headers.get("location")]).toEqual([308, "console/?code=1"]);
    expect((await get("/console/")).status).toBe(200);
  });

  test("has a policy that allows only files and the API of this server", async () => {
    const policy = (await get("/console/")).headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  test("has no inline script or style, and only relative addresses", async () => {
    const html = await (await get("/console/")).text();
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=|javascript:/i);
    const paths = pathsOf(html);
    expect(paths.length).toBe(2);
    expect(paths.filter((path) => !/^[\w-]{16}\/[\w./-]+$/.test(path))).toEqual([]);
  });

  test("is not stored without a question to the server, unlike its files, which are kept for good", async () => {
    const page = await get("/console/");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect((await get("/console/", { "if-none-match": page.headers.get("etag") ?? "" })).status).toBe(304);
    const [style = ""] = pathsOf(await page.text());
    const file = await get(`/console/${style}`);
    expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(file.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect((await get(`/console/${style}`, { "if-none-match": file.headers.get("etag") ?? "" })).status).toBe(304);
  });

  test("begins with less than 80 kB compressed, and takes less than 190 kB with everything that it can load", async () => {
    const { version, files } = await readPageFiles();
    const sizes = await Promise.all(
      [...files.keys()].map(async (name) => {
        const response = await get(`/console/${version}/${name}`, { "accept-encoding": "gzip" });
        expect([name, response.status, response.headers.get("content-encoding")]).toEqual([name, 200, "gzip"]);
        return [name, Number(response.headers.get("content-length"))] as const;
      }),
    );
    const sum = (names: readonly string[]): number =>
      sizes.reduce((total, [name, size]) => total + (names.includes(name) ? size : 0), 0);
    expect(sum(["main.js", "style.css"])).toBeGreaterThan(30_000);
    expect(sum(["main.js", "style.css"])).toBeLessThan(80_000);
    expect(sum([...files.keys()])).toBeLessThan(190_000);
    expect(files.size).toBeLessThan(16);
  });

  test("sends files as they are to a client that takes no gzip", async () => {
    const [style = ""] = pathsOf(await (await get("/console/")).text());
    const response = await get(`/console/${style}`, { "accept-encoding": "gzip;q=0" });
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
    expect(await response.text()).toContain(":root");
  });

  test("responds to missing files like any other path", async () => {
    expect((await get("/console/absent.js")).status).toBe(404);
    expect((await get("/console/../package.json")).status).toBe(404);
  });
});

describe("what the credentials permit", () => {
  test("is known to their bearer only", async () => {
    const response = await get("/console/me", { authorization: "Bearer token-of-a-reader" });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await response.json()).toEqual({ subject: "reader", scopes: ["stats"], tables: ["prod$**"], writes: false });
    const refused = await get("/console/me", { authorization: "Bearer unknown" });
    expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ code: 16 })]);
    expect((await get("/console/me")).status).toBe(401);
  });
});

describe("sign-in at the issuer", () => {
  const issuer = { issuer: "https://id.example.com/realm", audience: ["lakehead", "other"], scopePrefix: "lake:" };

  test("requests the service's scopes with their prefix, unless others are set", () => {
    const settings = consoleSettings({ auth: issuer, consoleClientId: "console" }, "1.0.0");
    expect(settings.signIn).toMatchObject({ clientId: "console", audience: "lakehead" });
    expect(settings.signIn?.scope).toMatch(/^openid lake:plan lake:analyze /);
    expect(consoleSettings({ auth: issuer, consoleClientId: "c", consoleScope: "openid api" }, "1").signIn?.scope).toBe(
      "openid api",
    );
    expect(consoleSettings({ auth: issuer }, "1")).toEqual({ version: "1" });
  });

  test("allows the page to connect to the issuer, and to nothing else", async () => {
    const other = await startTestService({
      environment: {
        LAKEHEAD_CONSOLE: "on",
        LAKEHEAD_CONSOLE_CLIENT_ID: "console",
        LAKEHEAD_AUTH_ISSUER: "http://127.0.0.1:1/realm",
        LAKEHEAD_AUTH_AUDIENCE: "lakehead",
      },
    });
    try {
      const response = await fetch(`${other.base}/console/`);
      expect(response.headers.get("content-security-policy")).toContain("connect-src 'self' http://127.0.0.1:1;");
      expect(await response.text()).toContain("&quot;issuer&quot;:&quot;http://127.0.0.1:1/realm&quot;");
    } finally {
      await other.stop();
    }
  });

  test("a client id without an issuer is refused with the remedy", () => {
    const environment = {
      LAKEHEAD_DATABASE: "/tmp/x",
      LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([limited]),
      LAKEHEAD_CONSOLE_CLIENT_ID: "c",
    };
    expect(() => readConfig(environment)).toThrow(/LAKEHEAD_CONSOLE_CLIENT_ID.*requires LAKEHEAD_AUTH_ISSUER/);
  });
});

test("without LAKEHEAD_CONSOLE=on there is no console", async () => {
  const plain = await startTestService();
  try {
    const statuses = await Promise.all(
      ["/console", "/console/", "/console/me"].map(async (path) => (await fetch(`${plain.base}${path}`)).status),
    );
    expect(statuses).toEqual([404, 404, 404]);
  } finally {
    await plain.stop();
  }
});
