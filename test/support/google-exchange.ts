import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { bucketName } from "./object-store.ts";

export interface GoogleExchange {
  readonly base: string;
  /** Rules of the tokens that were exchanged, in order. */
  readonly boundaries: {
    readonly availablePermissions: string[];
    readonly availabilityCondition: { readonly expression: string };
  }[];
  /** Life of the next tokens as the answer says it, in seconds; undefined: as the metadata server says it, an hour. */
  seconds: number | undefined;
  /** Tokens with which objects were put. */
  readonly wroteWith: () => number;
  /** Requests that came with a token past its end. */
  readonly late: () => number;
  close(): void;
}

type Objects = (
  method: string,
  address: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
) => Promise<{ readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: Buffer }>;

export interface ExchangeOptions {
  /** Whether keys and lists obey the prefix of a token's boundary. Google enforces the expression; no emulator does. */
  readonly enforces: boolean;
  /** Life of the tokens as the answer says it; absent: as the metadata server says it, an hour. */
  readonly seconds?: number;
  /** The metadata server does not say when its token ends. */
  readonly endless?: boolean;
  /** The objects of the bucket, for holders of a token that has not ended. */
  readonly objects?: Objects;
}

/** The service's own token, which reaches the whole bucket. */
export const ownToken = "own-token-of-the-service";

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** A stand-in of Google's metadata server, token exchange and lists, which takes the form that Google documents. */
export const startGoogleExchange = async ({
  enforces,
  seconds,
  endless,
  objects,
}: ExchangeOptions): Promise<GoogleExchange> => {
  const own = ownToken;
  const boundaries: GoogleExchange["boundaries"] = [];
  const lent = new Map<string, { readonly prefix: string; readonly until: number }>();
  const writers = new Set<string>();
  let late = 0;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://google");
    if (pathname === "/computeMetadata/v1/instance/service-accounts/default/token") {
      if (request.headers["metadata-flavor"] !== "Google") return send(response, 403, {});
      return send(response, 200, { access_token: own, token_type: "Bearer", ...(endless ? {} : { expires_in: 3599 }) });
    }
    if (pathname === "/v1/token") {
      const form = new URLSearchParams(await text(request));
      const [rule] = JSON.parse(form.get("options") ?? "{}").accessBoundary?.accessBoundaryRules ?? [];
      if (form.get("subject_token") !== own || rule === undefined) return send(response, 400, { error: own });
      const token = `bounded-token-${boundaries.push(rule)}`;
      const { expression } = rule.availabilityCondition;
      const prefix = /objectListPrefix', ''\)\.startsWith\('([^']*)'\)/.exec(expression)?.[1] ?? "";
      lent.set(token, { prefix, until: Date.now() + (exchange.seconds ?? 3599) * 1000 });
      return send(response, 200, {
        access_token: token,
        token_type: "Bearer",
        ...(exchange.seconds === undefined ? {} : { expires_in: exchange.seconds }),
      });
    }
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const token = lent.get(bearer);
    if (token !== undefined && Date.now() > token.until) late++;
    if (bearer !== own && !(token !== undefined && Date.now() <= token.until)) return send(response, 401, {});
    const { method = "GET", url = "", headers } = request;
    const key = decodeURIComponent(pathname).replace(`/${bucketName}`, "").replace(/^\//, "");
    const isList = key === "" || pathname.startsWith("/storage/");
    const named = isList ? (searchParams.get("prefix") ?? "") : key;
    if (enforces && token !== undefined && !named.startsWith(token.prefix)) return send(response, 403, {});
    if (objects === undefined || pathname.startsWith("/storage/")) return send(response, 200, {});
    if (token !== undefined && method === "PUT") writers.add(bearer);
    const answer = await objects(method, url, headers, await buffer(request));
    response.writeHead(answer.status, { "content-length": answer.body.byteLength, ...answer.headers });
    return response.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const exchange: GoogleExchange = {
    seconds,
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    boundaries,
    wroteWith: () => writers.size,
    late: () => late,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return exchange;
};
