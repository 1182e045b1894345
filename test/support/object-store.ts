import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Bucket } from "./object-store-content.ts";
import { type Reply, type Responder, respond } from "./object-store-protocol.ts";
import {
  fairWeather,
  type RequestKind,
  Sockets,
  type StoreRequest,
  spread,
  Traffic,
  type Weather,
} from "./object-store-traffic.ts";

export type { StoreRequest, Weather } from "./object-store-traffic.ts";

export interface ObjectStoreOptions {
  /** Protocol, `s3` by default. Google's XML interface is S3's with different headers. */
  readonly cloud?: "s3" | "gs";
  /** A local directory whose files become the objects below `prefix`. */
  readonly seed?: string;
  /** The keys' common beginning, as in `s3://lake/<prefix>`. */
  readonly prefix?: string;
  readonly weather?: Partial<Weather>;
  /** A real server behind this one's count and faults, instead of objects in memory. */
  readonly behind?: Responder;
}

/**
 * An object store that speaks enough of S3, and of Google's XML interface, for LanceDB, over HTTP on loopback: list, ranged get, head, conditional put,
 * multipart upload, copy, delete. It counts the requests that arrive, and adds latency and faults. Its speed says nothing
 * about a real store, and it accepts every signature.
 */
export interface ObjectStore {
  /** Address of a database in it, for `LAKEHEAD_DATABASE`. */
  readonly uri: string;
  /** Its HTTP address, without a slash. */
  readonly endpoint: string;
  /** Storage options for the SDK. */
  readonly storageOptions: Readonly<Record<string, string>>;
  /** The requests since the last call. */
  take(): StoreRequest[];
  /** Changes how the store behaves from now on. */
  set(weather: Partial<Weather>): void;
  close(): Promise<void>;
}

/** The one bucket of the store. */
export const bucketName = "lake";

const optionsOf = {
  s3: (endpoint: string) => ({
    aws_endpoint: endpoint,
    allow_http: "true",
    aws_access_key_id: "test",
    aws_secret_access_key: "test",
    aws_region: "us-east-1",
  }),
  gs: (endpoint: string) => ({
    google_service_account_key: JSON.stringify({
      gcs_base_url: endpoint,
      disable_oauth: true,
      client_email: "",
      private_key: "",
      private_key_id: "",
    }),
    allow_http: "true",
  }),
};

const kindOf = (method: string, query: URLSearchParams): RequestKind => {
  if (method === "GET" && query.has("list-type")) return "LIST";
  if (method === "POST" && query.has("delete")) return "DELETE";
  return method === "GET" || method === "HEAD" || method === "PUT" || method === "DELETE" ? method : "OTHER";
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const send = (response: ServerResponse, { status, headers, body }: Reply): void => {
  response.writeHead(status, { "content-length": body?.byteLength ?? 0, ...headers });
  response.end(body);
};

/** Starts a store on a port of its own. */
export const startObjectStore = async (options: ObjectStoreOptions = {}): Promise<ObjectStore> => {
  const prefix = options.prefix ?? "tables";
  const bucket = new Bucket();
  if (options.seed !== undefined) bucket.seed(options.seed, prefix);
  const weather: Weather = { ...fairWeather, ...options.weather };
  const traffic = new Traffic();
  const sockets = new Sockets();
  const [isUnavailable, isDropped, isUnanswered] = [spread(), spread(), spread()];
  const answer = options.behind ?? respond(bucket);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://store");
    const method = request.method ?? "GET";
    const key = decodeURIComponent(pathname).replace(`/${bucketName}`, "").replace(/^\//, "");
    const kind = kindOf(method, query);
    traffic.add({ kind, key: kind === "LIST" ? (query.get("prefix") ?? "") : key });
    const body = await readBody(request);
    const { latencyMs, writeLatencyMs = latencyMs } = weather;
    const waitMs = kind === "LIST" || kind === "GET" || kind === "HEAD" ? latencyMs : writeLatencyMs;
    if (waitMs > 0) await sleep(waitMs);
    if (weather.presence === "silent") return;
    const spared = weather.only !== undefined && weather.only !== kind;
    const happens = (due: (share: number) => boolean, share: number): boolean => !spared && due(share);
    if (happens(isDropped, weather.dropped)) request.socket.resetAndDestroy();
    else if (happens(isUnavailable, weather.unavailable)) send(response, { status: 503 });
    else {
      const reply = await answer({ method, address: request.url ?? "/", key, query, headers: request.headers, body });
      if (happens(isUnanswered, weather.unanswered)) request.socket.resetAndDestroy();
      else send(response, reply);
    }
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    if (weather.presence === "away") socket.resetAndDestroy();
    else sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const uri = `${options.cloud ?? "s3"}://${bucketName}/${prefix}`;
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const storageOptions = optionsOf[options.cloud ?? "s3"](endpoint);
  return {
    uri,
    endpoint,
    storageOptions,
    take: () => traffic.take(),
    set: (change) => {
      Object.assign(weather, change);
      if (weather.presence === "away") sockets.reset();
    },
    close: async () => {
      server.close();
      sockets.reset();
    },
  };
};
