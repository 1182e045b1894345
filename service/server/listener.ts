import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { ServiceError, type transportStatuses } from "../errors.ts";
import { errorBody } from "./request.ts";

export interface Listener {
  readonly server: Server;
  readonly address: string;
  readonly port: number;
  /** From now on responses close their connection, so that clients reconnect to another replica. */
  retire(): void;
  /** Stops accepting, lets requests in flight finish, and closes the remaining connections after `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

/** Longer than the 60 s of a load balancer, which must not reuse a connection that the service is closing. */
const keepAliveMs = 65_000;
const headersMs = 10_000;
const defaultRequestMs = 30_000;
/** Node looks for connections past these times at this interval. */
const timeoutCheckMs = 1000;
const maxHeaderBytes = 16 * 1024;
/** Time in which a client takes a refusal and closes its end; then its descriptor is freed. */
const refusedMs = 1000;
const sweepMs = 25;
/** Maximum wait for an event-loop turn without a new connection before the listening socket closes. */
const quietMs = 500;
/** Time that an accepted connection has for its first request after the listening socket has closed. */
const firstRequestMs = 1000;

/** Requests that Node refuses before the application sees them. Node would answer without the JSON body that clients parse. */
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
  const { message, transport } = clientFaults[error.code ?? ""] ?? { message: "the request is not valid HTTP" };
  const failure = new ServiceError(13, transport === undefined ? { message } : { message, transport });
  const id = randomUUID();
  const body = JSON.stringify(errorBody(failure, id));
  socket.end(
    `HTTP/1.1 ${failure.status} Error\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  const late = setTimeout(() => socket.destroy(), refusedMs);
  socket.once("close", () => clearTimeout(late));
};

/** Requests of one connection that wait for the response to the one before; more close the connection. */
const maxPipelined = 100;

/**
 * Begins a request of a connection when the response to the one before is with the system. A client that sends many and reads
 * no response would otherwise fill the memory with responses.
 */
const inTurn = (serve: RequestListener): RequestListener => {
  const busy = new WeakMap<Socket, (() => void)[]>();
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once("close", () => {
      const next = socket.destroyed ? undefined : busy.get(socket)?.shift();
      if (next === undefined) busy.delete(socket);
      // In the next turn of the event loop, so that requests of other connections are begun between those of this one.
      else setImmediate(next);
    });
    serve(request, response);
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const waiting = busy.get(socket);
    if (waiting === undefined) {
      busy.set(socket, []);
      begin(request, response);
      return;
    }
    waiting.push(() => {
      // The rest of its body, and further requests.
      if (waiting.length === 0) socket.resume();
      begin(request, response);
    });
    if (waiting.length > maxPipelined) socket.destroy();
    else socket.pause();
  };
};

const hostForm = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const targetForm = /^(?:https?:\/)?\/[^?\\]*(?:\?|$)/i;

/** Why a request has no address that every proxy reads alike. Two may read another one of several Host headers (RFC 9112, 3.2). */
const faultOf = ({ rawHeaders, headers, url = "" }: IncomingMessage): string | undefined => {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === "host") hosts++;
  if (hosts > 1) return "the request has more than one Host header: send one";
  const isAddress = targetForm.test(url) && (headers.host === undefined || hostForm.test(headers.host));
  return isAddress ? undefined : "the request's path or Host header is not valid";
};

const refuse = (response: ServerResponse, message: string): void => {
  const id = randomUUID();
  const failure = new ServiceError(13, { message });
  const body = JSON.stringify(errorBody(failure, id));
  const headers = {
    "content-type": "application/json",
    "x-request-id": id,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  response.writeHead(failure.status, headers).end(body);
};

const listening = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new Error(
              `port ${port} on ${host} is in use: stop the process that listens there, or choose another port`,
              {
                cause: error,
              },
            )
          : error,
      );
    });
    server.listen(port, host, resolve);
  });

/** Serves an application of web requests, such as one of hono. */
export const webListener = (fetch: Parameters<typeof getRequestListener>[0], hostname: string): RequestListener => {
  const handle = getRequestListener(fetch, { hostname });
  return (request, response) => void handle(request, response);
};

/**
 * Serves requests on a port.
 * @param requestMs time in which a request must arrive, in milliseconds.
 * @throws Error with a remedy when the port is in use.
 */
export const listen = async (
  serve: RequestListener,
  port: number,
  host: string,
  requestMs: number = defaultRequestMs,
): Promise<Listener> => {
  const server = createServer(
    // Node would refuse a request without a Host header with an empty body.
    {
      maxHeaderSize: maxHeaderBytes,
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      connectionsCheckingInterval: timeoutCheckMs,
      requireHostHeader: false,
    },
    inTurn((request, response) => {
      const fault = faultOf(request);
      if (fault === undefined) serve(request, response);
      else refuse(response, fault);
    }),
  );
  server.keepAliveTimeout = keepAliveMs;
  server.on("clientError", onClientError);
  // Node would answer an unknown expectation with 417 and an empty body.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  let closing = false;
  /** Accepted connections without a request yet. */
  const silent = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  // A client must not reuse a connection of a closing server. Prepended, because another listener may respond at once.
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
        // A connection becomes idle after its last response, and would stay open for its keep-alive time.
        const sweep = setInterval(() => {
          if (silent.size === 0 || performance.now() - closedAt > firstRequestMs) server.closeIdleConnections();
        }, sweepMs);
        const done = (): void => {
          clearTimeout(force);
          clearInterval(sweep);
          resolve();
        };
        // `Server.close` of node:http would also end connections whose first request is on its way.
        const stopAccepting = (): unknown => NetServer.prototype.close.call(server, done);
        // Connections pending at close are reset, so the socket closes after a turn without a new connection.
        const stopWhenQuiet = (before: number): void => {
          if (before === connections || performance.now() - closedAt > quietMs) stopAccepting();
          else setImmediate(stopWhenQuiet, connections);
        };
        setImmediate(stopWhenQuiet, connections);
      }),
  };
};
