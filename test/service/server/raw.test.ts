import { describe, expect, test } from "vitest";
import { openRaw, sendRaw } from "../../hostile/support/raw.ts";
import { testToken } from "../../support/request.ts";
import { useSharedService } from "../../support/service.ts";

const service = useSharedService();

const head = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, "host: x", `authorization: Bearer ${testToken}`, ...headers, "", ""].join("\r\n");

const get = async (target: string) => {
  const { status, body } = await sendRaw(service.port, head(`GET ${target}`));
  return { status, body: JSON.parse(body) };
};

describe("the root namespace beside the delimiter .", () => {
  test.each([".", "%2E", "%2e"])("as %s", async (id) => {
    const namespaces = await get(`/v1/namespace/${id}/list?delimiter=.`);
    expect(namespaces).toEqual({ status: 200, body: { namespaces: ["prod"] } });
    const tables = await get(`/v1/namespace/${id}/table/list?delimiter=.`);
    expect(tables.body.tables).toEqual((await get("/v1/namespace/$/table/list")).body.tables);
  });

  test("with a slash at the end, and beside the delimiter ..", async () => {
    expect((await get("/v1/namespace/./list/?delimiter=.")).status).toBe(200);
    expect((await get("/v1/namespace/../list?delimiter=..")).body).toEqual({ namespaces: ["prod"] });
  });

  test.each([
    ["/v1/namespace/./list", 400],
    ["/v1/table/./stats?delimiter=.", 400],
    ["/v1/namespace/./../list?delimiter=.", 406],
    ["/v1/namespace/./%2e%2E/list?delimiter=.", 406],
    ["/v1/./namespace/$/list", 200],
  ])("%s is %i", async (target, status) => {
    expect((await get(target)).status).toBe(status);
  });
});

describe("a body of invalid UTF-8 is refused", () => {
  const bytes = Buffer.concat([Buffer.from('{"context":{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}}')]);
  const line = "POST /v1/table/docs/stats";
  const type = "content-type: application/json";

  test("of a declared length", async () => {
    const { status, body } = await sendRaw(service.port, head(line, type, `content-length: ${bytes.length}`), bytes);
    expect([status, JSON.parse(body).error]).toEqual([400, "the body is not valid UTF-8"]);
  });

  test("in chunks", async () => {
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
    const { status, body } = await sendRaw(service.port, head(line, type, "transfer-encoding: chunked"), chunk);
    expect([status, JSON.parse(body).error]).toEqual([400, "the body is not valid UTF-8"]);
  });
});

test("two Host headers are refused", async () => {
  const { status, headers, body } = await sendRaw(service.port, head("GET /v1/table", "Host: y"));
  expect([status, JSON.parse(body)]).toEqual([
    400,
    expect.objectContaining({ code: 13, error: "the request has more than one Host header: send one" }),
  ]);
  expect(headers).toMatch(/connection: close/i);
});

test("headers that are sent slowly end after 10 s", { timeout: 20_000 }, async () => {
  const socket = await openRaw(service.port);
  const startedAt = performance.now();
  socket.write("GET /v1/table HTTP/1.1\r\n");
  const drip = setInterval(() => socket.write("x-a: b\r\n"), 500);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
  clearInterval(drip);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - startedAt).toBeGreaterThan(9000);
  expect(performance.now() - startedAt).toBeLessThan(13_000);
});
