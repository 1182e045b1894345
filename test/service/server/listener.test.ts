import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { listen } from "../../../service/server/listener.ts";

const request = "GET / HTTP/1.1\r\nhost: here\r\n\r\n";

/** An accepted connection, and the text received on it. */
const accepted = async (listener: Awaited<ReturnType<typeof listen>>) => {
  const connected = once(listener.server, "connection");
  const socket = connect(listener.port, listener.address);
  await connected;
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  return { socket, ended: once(socket, "close"), answer: () => text };
};

test("a connection accepted before close gets a response to its first request", async () => {
  const listener = await listen((_, response) => response.end("here"), 0, "127.0.0.1");
  const { socket, ended, answer } = await accepted(listener);
  const closed = listener.close(60_000);
  socket.write(request);
  await ended;
  await closed;
  expect(answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*here$/i);
});

test("an idle connection does not delay close", async () => {
  const listener = await listen((_, response) => response.end("here"), 0, "127.0.0.1");
  const { socket, ended, answer } = await accepted(listener);
  socket.write(request);
  await expect.poll(answer).toContain("here");
  await listener.close(60_000);
  await ended;
});

test("a connection is answered between the requests that another one sent at once", async () => {
  const served: (number | undefined)[] = [];
  const serve: RequestListener = ({ socket }, response) => {
    served.push(socket.remotePort);
    response.end("here");
  };
  const listener = await listen(serve, 0, "127.0.0.1");
  const [first, other] = [await accepted(listener), await accepted(listener)];
  first.socket.write(request.repeat(100));
  other.socket.write(request);
  await expect.poll(() => served.length).toBe(101);
  expect(served.indexOf(other.socket.localPort)).toBeLessThan(50);
  await listener.close(0);
});
