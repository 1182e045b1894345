/** An HTTPS proxy in front of a double of Google's API, with a certificate authority of its own. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { record } from "../providers/cloud.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type Respond = (method: string, url: URL, body: Readonly<Record<string, unknown>>) => Promise<Answer>;

export interface Proxy {
  /** For the one process that is to see Google here: the proxy and the authority that signed Google's certificate. */
  readonly env: Readonly<Record<"HTTPS_PROXY" | "SSL_CERT_FILE", string>>;
  /** Hosts outside of Google's API that were asked for. */
  readonly strangers: ReadonlySet<string>;
  close(): void;
}

/** Key and certificate of Google's hosts, and the authority's certificate. */
async function certify(folder: string): Promise<{ readonly key: Buffer; readonly cert: Buffer; readonly ca: string }> {
  const file = (name: string) => join(folder, `google-${name}`);
  const make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const openssl = (args: readonly string[]) => promisify(execFile)("openssl", args);
  await openssl([...make, "-subj", "/CN=google-double", "-keyout", file("ca.key"), "-out", file("ca.pem")]);
  const names = ["-subj", "/CN=googleapis.com", "-addext", "subjectAltName=DNS:*.googleapis.com"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", file("ca.pem"), "-CAkey", file("ca.key")];
  await openssl([...make, ...names, ...leaf, "-keyout", file("key.pem"), "-out", file("cert.pem")]);
  return { key: await readFile(file("key.pem")), cert: await readFile(file("cert.pem")), ca: file("ca.pem") };
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) return {};
  return request.headers["content-length"] === "0" ? {} : record(await json(request));
}

/** @param folder - For keys and certificates. */
export async function startProxy(folder: string, respond: Respond): Promise<Proxy> {
  const { ca, ...own } = await certify(folder);
  const strangers = new Set<string>();
  const sockets = new Set<Socket>();
  const google = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", `https://${request.headers.host ?? ""}`);
    const { status, body } = await respond(request.method ?? "GET", url, await bodyOf(request).catch(() => ({})));
    response.writeHead(status, { "content-type": "application/json; charset=UTF-8" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  });
  const tls = createTlsServer(own, (socket) => google.emit("connection", socket));
  const proxy = createServer((_request, response) => response.writeHead(405).end());
  proxy.on("connect", (request, socket: Socket) => {
    const host = (request.url ?? "").replace(/:443$/, "");
    if (!/^[a-z]+\.googleapis\.com$/.test(host)) {
      strangers.add(host);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    tls.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: ca },
    strangers,
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
