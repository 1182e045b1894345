import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import { getQueryParam, getQueryParams } from "hono/utils/url";
import type { HeaderSource } from "../auth/index.ts";
import { requestUrl } from "./request-url.ts";

/** A request for an operation, as the pipeline reads it. */
export interface ApiRequest {
  readonly method: string;
  readonly headers: HeaderSource;
  /** Address or target; the segment of its id is as the client sent it. */
  readonly url: string;
  /** Parameters of the path and the query string, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** All values of a parameter of the query string, decoded; undefined if it is absent. */
  listOf(name: string): readonly string[] | undefined;
  readonly body: IncomingMessage | AsyncIterable<Uint8Array>;
  /** Aborted when the client disconnects. Created when first read: most requests need none. */
  readonly signal: AbortSignal;
}

/** Headers by name in lower case. Values of a repeated header are joined, so that none is ignored. */
export const readHeaders = ({ rawHeaders }: IncomingMessage): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = rawHeaders[index + 1] ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
};

const none: Readonly<Record<string, string>> = Object.freeze({});

/** A request that Node has read. */
export class NodeRequest implements ApiRequest {
  readonly body: IncomingMessage;
  readonly headers: ReadonlyMap<string, string>;
  readonly method: string;
  readonly url: string;
  readonly #outgoing: ServerResponse;
  #controller: AbortController | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, headers: ReadonlyMap<string, string>) {
    this.body = incoming;
    this.headers = headers;
    this.method = incoming.method ?? "";
    this.url = incoming.url ?? "";
    this.#outgoing = outgoing;
  }

  get parameters(): Readonly<Record<string, string>> {
    // Without a key, it returns all.
    return this.url.includes("?") ? (getQueryParam(this.url) as Record<string, string>) : none;
  }

  listOf(name: string): readonly string[] | undefined {
    return getQueryParams(this.url, name) as string[] | undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      // Also emitted after a complete response.
      this.#outgoing.once("close", () => {
        if (!this.#outgoing.writableFinished) controller.abort();
      });
      this.#controller = controller;
    }
    return this.#controller.signal;
  }
}

/** A request that Hono's router has matched. */
export const fromContext = (context: Context): ApiRequest => {
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  return {
    method: context.req.method,
    headers: incoming === undefined ? context.req.raw.headers : readHeaders(incoming),
    url: requestUrl(context),
    parameters: { ...context.req.query(), ...context.req.param() },
    listOf: (name) => context.req.queries(name),
    body: incoming ?? ((context.req.raw.body ?? []) as AsyncIterable<Uint8Array>),
    get signal() {
      return context.req.raw.signal;
    },
  };
};
