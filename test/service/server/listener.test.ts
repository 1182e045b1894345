import { once } from "node:events";
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
