import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { ServiceError, type transportStatuses } from "../errors.ts";
import { errorBody } from "./request.ts";

type Fetch = Parameters<typeof getRequestListener>[0];

export interface Listener {
  readonly server: Server;
  readonly address: string;
  readonly port: number;
  /** From now on every answer asks its client to connect anew, and so to reach another replica. */
  retire(): void;
  /** Stops accepting, lets answers under way finish, and ends what is still open after `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

/** A load balancer must never reuse a connection that we are just closing: ours stay open longer than its 60 s. */
const keepAliveMs = 65_000;
const headersMs = 10_000;
const requestMs = 30_000;
const maxHeaderBytes = 16 * 1024;
const sweepMs = 25;
/** Time in which a moment without a new connection is waited for, before the door is shut nevertheless. */
const quietMs = 500;
/** Time that a connection which was let in has to say its first request, when the door is shut already. */
const firstRequestMs = 1000;

/** What Node refuses before there is a request: it would answer without a body, and clients parse our bodies. */
const clientFaults: Readonly<
  Record<string, { readonly transport?: keyof typeof transportStatuses; readonly message: string }>
> = {
  ERR_HTTP_REQUEST_TIMEOUT: { transport: "requestTimeout", message: "the request did not arrive in time" },
  HPE_HEADER_OVERFLOW: { transport: "headersTooLarge", message: `the headers are larger than ${maxHeaderBytes} bytes` },
};

const onClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { message, transport } = clientFaults[error.code ?? ""] ?? { message: "the request is not HTTP" };
  const failure = new ServiceError(13, transport === undefined ? { message } : { message, transport });
  const id = randomUUID();
  const body = JSON.stringify(errorBody(failure, id));
  socket.end(
    `HTTP/1.1 ${failure.status} Error\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
};

/** What cannot even be made a request: an address or Host header that is no URL. */
const refuseAddress = (error: unknown): Response => {
  const id = randomUUID();
  const failure = new ServiceError(13, { message: "the request's path or Host header is not valid", cause: error });
  return Response.json(errorBody(failure, id), { status: failure.status, headers: { "x-request-id": id } });
};

const listening = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new Error(`port ${port} on ${host} is taken: stop what listens there, or choose another port`, {
              cause: error,
            })
          : error,
      );
    });
    server.listen(port, host, resolve);
  });

/**
 * Serves an application on a port.
 * @throws Error that says what to do when the port is taken.
 */
export const listen = async (fetch: Fetch, port: number, host: string): Promise<Listener> => {
  const server = createServer(
    // Node would refuse a request without a Host header by itself, and without a body.
    { maxHeaderSize: maxHeaderBytes, requestTimeout: requestMs, headersTimeout: headersMs, requireHostHeader: false },
    getRequestListener(fetch, { hostname: host, errorHandler: refuseAddress }),
  );
  server.keepAliveTimeout = keepAliveMs;
  server.on("clientError", onClientError);
  // Node would answer 417 without a body to an expectation that it does not know.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  let closing = false;
  /** Connections that were let in and have said nothing yet. */
  const silent = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  // A connection that is kept alive would send its next request into a closed door. First, because an answer may be sent at once.
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket);
    if (closing) response.setHeader("connection", "close");
  });
  await listening(server, port, host);
  const address = server.address() as AddressInfo;
  return {
    server,
    address: address.address,
    port: address.port,
    retire: () => {
      closing = true;
    },
    close: (milliseconds) =>
      new Promise((resolve) => {
        closing = true;
        const closedAt = performance.now();
        const force = setTimeout(() => server.closeAllConnections(), milliseconds);
        // A connection whose last answer was under way becomes idle only now, and would stay open for its keep-alive time.
        const sweep = setInterval(() => {
          if (silent.size === 0 || performance.now() - closedAt > firstRequestMs) server.closeIdleConnections();
        }, sweepMs);
        const done = (): void => {
          clearTimeout(force);
          clearInterval(sweep);
          resolve();
        };
        // Node's own `close` would also end connections whose first request is on its way: this shuts the door and no more.
        const shut = (): unknown => NetServer.prototype.close.call(server, done);
        // Whoever stands before the door when it is shut gets a reset: it is shut after a turn in which nobody came.
        const shutWhenQuiet = (before: number): void => {
          if (before === connections || performance.now() - closedAt > quietMs) shut();
          else setImmediate(shutWhenQuiet, connections);
        };
        setImmediate(shutWhenQuiet, connections);
      }),
  };
};
