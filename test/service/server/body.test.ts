import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ApiRequest, readHeaders } from "../../../service/server/api-request.ts";
import { readBody } from "../../../service/server/body.ts";
import { openRaw } from "../../hostile/support/raw.ts";
import { testToken } from "../../support/request.ts";
import { useService } from "../../support/service.ts";

const service = useService();

const head = `POST /v1/table/docs/stats HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testToken}\r\n`;

test.each([
  ["declared-length", `${head}content-length: 100\r\n\r\n{"k":`],
  ["chunked", `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"k":\r\n`],
  ["malformed", `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"k":\r\nzz`],
])("a client that disconnects during its body is a failure of the client: %s", async (form, bytes) => {
  const requestId = `hung-up-${form}`;
  const socket = await openRaw(service.port);
  socket
    .on("error", () => {})
    .write(bytes.replace("\r\n", `\r\nx-request-id: ${requestId}\r\n`), () => socket.destroy());
  await expect.poll(() => service.log.find((entry) => entry.requestId === requestId)).toBeDefined();
  expect(service.log.find((entry) => entry.requestId === requestId)).toMatchObject({ status: 408, code: 13 });
  const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
  expect(metrics).not.toMatch(/status="500"/);
});

test("a client that disconnects before its body is read is a failure of the client", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const socket = await openRaw((server.address() as AddressInfo).port);
    socket.on("error", () => {}).write(`${head}content-length: 100\r\n\r\n{"k":`);
    const [incoming, outgoing] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    // As while its token is verified.
    const closed = once(incoming, "close");
    socket.destroy();
    await closed.catch(() => undefined);
    const headers = readHeaders(incoming);
    const request = new ApiRequest({ incoming, outgoing, headers, path: "/", query: "", parameters: {} });
    const limits = { maxBodyBytes: 1000, maxJsonDepth: 10, stallMs: 60_000 };
    const reading = readBody(request, limits);
    await expect(reading).rejects.toMatchObject({ status: 408 });
  } finally {
    server.close();
  }
});
