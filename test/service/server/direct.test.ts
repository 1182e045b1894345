import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRaw, sendRaw } from "../../hostile/support/raw.ts";
import { testToken } from "../../support/request.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
let port: number;
beforeAll(async () => {
  service = await startTestService();
  port = Number(new URL(service.base).port);
});
afterAll(() => service.stop());

interface Sent {
  readonly host: string;
  readonly line: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

const send = async ({ host, line, headers = [], body }: Sent) => {
  const own = body === undefined ? [] : ["content-type: application/json", `content-length: ${body.length}`];
  const id = "x-request-id: same\r\nconnection: close";
  const head = [`${line} HTTP/1.1`, `host: ${host}`, id, ...own, ...headers, "", ""].join("\r\n");
  const answer = await sendRaw(port, head, Buffer.from(body ?? ""));
  const name = /^[\w-]+/;
  const sent = answer.headers.split("\r\n").slice(1);
  return {
    status: answer.status,
    body: answer.body.replace(/^0\r\n\r\n$/, ""),
    headers: sent
      .filter((header) => !/^(?:date|transfer-encoding|content-length):/i.test(header))
      .map((header) => header.replace(name, (text) => text.toLowerCase()))
      .sort(),
  };
};

const credentials = [`authorization: Bearer ${testToken}`];
const docs = "POST /v1/table/docs";

/** An upper-case host is left to the router. */
describe("the same request, served directly and by the router, has the same response:", () => {
  test.each([
    ["a success", { line: `${docs}/stats`, headers: credentials, body: "{}" }],
    ["LanceDB's dialect", { line: `${docs}/describe/`, headers: credentials, body: "{}" }],
    ["a list with parameters", { line: "GET /v1/namespace/%24/table/list?limit=1", headers: credentials }],
    ["another delimiter", { line: "GET /v1/namespace/prod.vectors/table/list?delimiter=.", headers: credentials }],
    ["no content", { line: `${docs}/exists`, headers: credentials, body: "" }],
    ["no credentials", { line: `${docs}/stats`, body: '{"a":1}' }],
    ["two credentials", { line: `${docs}/stats`, headers: [...credentials, ...credentials], body: "{}" }],
    ["no table", { line: "POST /v1/table/nope/stats", headers: credentials, body: "{}" }],
    ["invalid JSON", { line: `${docs}/stats`, headers: credentials, body: "{" }],
    ["a misspelled field", { line: `${docs}/count_rows`, headers: credentials, body: '{"pedicate":"a"}' }],
    ["another method", { line: "GET /v1/table/docs/describe", headers: credentials }],
    ["an escaped name", { line: "POST /v1/table/do%63s/stats", headers: credentials, body: "{}" }],
    ["an encoding", { line: `${docs}/stats`, headers: [...credentials, "content-encoding: gzip"], body: "{}" }],
  ])("%s", async (_, sent) => {
    const direct = await send({ host: "here", ...sent });
    expect(await send({ host: "HERE", ...sent })).toEqual(direct);
    expect(direct.status).toBeGreaterThanOrEqual(200);
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
  const socket = await openRaw(port);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  const closed = once(socket, "close");
  socket.write(refused + second);
  await closed;
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
});
