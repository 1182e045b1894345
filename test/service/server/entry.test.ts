import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { openRaw, sendRaw } from "../../hostile/support/raw.ts";
import { testToken } from "../../support/request.ts";
import { useSharedService } from "../../support/service.ts";

const service = useSharedService();

const credentials = [`authorization: Bearer ${testToken}`];
const docs = "POST /v1/table/docs";

interface Sent {
  readonly line: string;
  readonly host?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

const send = async ({ line, host = "here", headers = [], body }: Sent) => {
  const length = body === undefined ? [] : [`content-length: ${body.length}`];
  const head = [
    `${line} HTTP/1.1`,
    `host: ${host}`,
    "connection: close",
    ...credentials,
    ...length,
    ...headers,
    "",
    "",
  ];
  const answer = await sendRaw(service.port, head.join("\r\n"), Buffer.from(body ?? ""));
  return { ...answer, json: answer.body === "" ? undefined : JSON.parse(answer.body) };
};

describe("an operation is served at each form of its address:", () => {
  test.each([
    ["an escaped name", "POST /v1/table/do%63s/stats"],
    ["an escaped operation", "POST /v1/table/docs/st%61ts"],
    ["a slash at the end", "POST /v1/table/docs/stats/"],
    ["a complete URL", "POST http://there/v1/table/docs/stats"],
    ["segments that lead nowhere", "POST /v1/table/other/../docs/./stats"],
    ["a query string", "POST /v1/table/docs/stats?delimiter=$"],
    ["a fragment", "POST /v1/table/docs/stats#here"],
    ["an escaped parameter", "GET /v1/table/docs/index/id%5Fidx/stats"],
  ])("%s", async (_, line) => {
    const { status, json } = await send({ line });
    expect(status).toBe(200);
    expect(json).toMatchObject(line.includes("/index/") ? { num_indexed_rows: 1000 } : { num_rows: 1020 });
  });

  test.each(["here", "HERE", "a.b-c_d", "127.0.0.1:1", "[::1]:80"])("the host %s", async (host) => {
    expect((await send({ line: `${docs}/stats`, host })).status).toBe(200);
  });

  test("HEAD of an operation that GET has", async () => {
    const { status, headers, body } = await send({ line: "HEAD /v1/table" });
    expect([status, body]).toEqual([200, ""]);
    expect(headers).toMatch(/^content-length: [1-9]/im);
  });
});

describe("a request that names no operation is refused:", () => {
  test.each([
    ["a host with a path", { line: `${docs}/stats`, host: "here/x" }, 400, 13],
    ["a host with a user", { line: `${docs}/stats`, host: "a@b" }, 400, 13],
    ["a host with a port of six digits", { line: `${docs}/stats`, host: "here:123456" }, 400, 13],
    ["no host", { line: `${docs}/stats`, host: "" }, 400, 13],
    ["a backslash", { line: "POST /v1\\table/docs/stats" }, 400, 13],
    ["no path", { line: "OPTIONS *" }, 400, 13],
    ["a segment too many", { line: `${docs}/stats/x` }, 406, 0],
    ["an escaped slash", { line: "POST /v1/table/docs%2Fstats" }, 406, 0],
    ["no operation", { line: "POST /v1" }, 406, 0],
    ["an operation that is not supported", { line: `${docs}/register` }, 406, 0],
    ["another method", { line: "GET /v1/table/docs/query" }, 405, 0],
    ["HEAD of an operation that only POST has", { line: "HEAD /v1/table/docs/query" }, 405, undefined],
    ["another path", { line: "POST /v2/table/docs/stats" }, 404, 0],
  ] as const)("%s", async (_, sent, status, code) => {
    const answer = await send(sent);
    expect([answer.status, answer.json?.code]).toEqual([status, code]);
    expect(answer.headers).toMatch(/^x-request-id: [\w-]{36}/im);
  });

  test("with the methods that the operation has", async () => {
    expect((await send({ line: "PUT /v1/table/docs/stats" })).headers).toMatch(/^allow: POST, GET\r?$/im);
  });
});

test("a body that arrives in parts is read whole", async () => {
  const { status } = await service.call("stats", "docs", { context: { long: "x".repeat(300_000) } });
  expect(status).toBe(200);
});

test("an unread body does not disturb the next request of its connection", async () => {
  const body = JSON.stringify({ context: { long: "x".repeat(200_000) } });
  const refused = [`${docs}/stats HTTP/1.1`, "host: here", `content-length: ${body.length}`, "", body].join("\r\n");
  const second = `GET /v1/table/docs/stats HTTP/1.1\r\nhost: here\r\nconnection: close\r\n${credentials[0]}\r\n\r\n`;
  const socket = await openRaw(service.port);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  const closed = once(socket, "close");
  socket.write(refused + second);
  await closed;
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
});
