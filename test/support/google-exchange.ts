import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface GoogleExchange {
  readonly base: string;
  /** Rules of the tokens that were exchanged, in order. */
  readonly boundaries: {
    readonly availablePermissions: string[];
    readonly availabilityCondition: { readonly expression: string };
  }[];
  close(): void;
}

export interface ExchangeOptions {
  /** Whether lists obey the prefix of a token's boundary. Google enforces the expression; no emulator does. */
  readonly enforces: boolean;
  /** Life of the tokens as the answer says it; absent: as the metadata server says it, an hour. */
  readonly seconds?: number;
  /** The metadata server does not say when its token ends. */
  readonly endless?: boolean;
}

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** A stand-in of Google's metadata server, token exchange and lists, which takes the form that Google documents. */
export const startGoogleExchange = async ({ enforces, seconds, endless }: ExchangeOptions): Promise<GoogleExchange> => {
  const own = "own-token-of-the-service";
  const boundaries: GoogleExchange["boundaries"] = [];
  const prefixes = new Map<string, string>();
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
      prefixes.set(
        token,
        /objectListPrefix', ''\)\.startsWith\('([^']*)'\)/.exec(rule.availabilityCondition.expression)?.[1] ?? "",
      );
      return send(response, 200, {
        access_token: token,
        token_type: "Bearer",
        ...(seconds === undefined ? {} : { expires_in: seconds }),
      });
    }
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const prefix = prefixes.get(bearer);
    if (bearer !== own && prefix === undefined) return send(response, 401, {});
    const isRefused = enforces && prefix !== undefined && !(searchParams.get("prefix") ?? "").startsWith(prefix);
    return send(response, isRefused ? 403 : 200, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    boundaries,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
