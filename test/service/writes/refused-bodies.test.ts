import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { writesOn } from "./support.ts";

const service = useService({ environment: { ...writesOn, LAKEHEAD_MAX_WRITE_BYTES: String(2 ** 20) } });

const bytes = 16 * 2 ** 20;

/** Sends a body, and reads no response before it has been sent. */
const sendFirst = async (framing: string, body: Buffer): Promise<string> => {
  const { hostname, port } = new URL(service.base);
  // A connection that is reset is closed as well.
  const socket = connect({ host: hostname, port: Number(port) }).on("error", () => undefined);
  socket.pause();
  await once(socket, "connect");
  const head = ["POST /v1/table/plain/insert HTTP/1.1", "host: lakehead", `authorization: Bearer ${service.token}`];
  socket.write(`${[...head, framing].join("\r\n")}\r\n\r\n`);
  socket.write(body);
  await sleep(300);
  let response = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    response += text;
  });
  socket.resume();
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return response;
};

test.each([
  ["declared", `content-length: ${bytes}`, Buffer.alloc(bytes)],
  [
    "not declared",
    "transfer-encoding: chunked",
    Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), Buffer.alloc(bytes), Buffer.from("\r\n0\r\n\r\n")]),
  ],
])("a client gets the response after it has sent a refused body whose size is %s", async (_, framing, body) => {
  expect(await sendFirst(framing, body)).toMatch(/^HTTP\/1\.1 413 .*LAKEHEAD_MAX_WRITE_BYTES/s);
});
