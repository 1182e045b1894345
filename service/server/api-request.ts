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
  /**
   * Aborted when the client disconnects. Created when first read: most requests need none. A getter in an object literal would
   * keep each request in V8's hidden classes until the next full garbage collection, so requests are objects of a class.
   */
  readonly signal: AbortSignal;
  /** Calls back once a response of so many bytes is with the system, or its connection is closed. */
  whenSent(bytes: number, done: () => void): void;
  /** Calls back once the response is sent, or its connection is closed. */
  whenClosed(done: () => void): void;
  /** Ends the connection of a client that does not take its response. */
  disconnect(): void;
}

/** A response must be taken at this rate, after some time to begin: until then, it occupies memory. */
const bytesPerMs = 256;
const beginMs = 30_000;

/** Milliseconds in which a client must take so many bytes. */
export const takenWithinMs = (bytes: number): number => beginMs + bytes / bytesPerMs;

const whenClosed = (outgoing: ServerResponse, done: () => void): void => {
  if (outgoing.destroyed || outgoing.closed) done();
  else outgoing.once("close", done);
};

const whenSent = (outgoing: ServerResponse, bytes: number, done: () => void): void => {
  const late = setTimeout(() => outgoing.destroy(), takenWithinMs(bytes));
  whenClosed(outgoing, () => {
    clearTimeout(late);
    done();
  });
};

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

  whenSent(bytes: number, done: () => void): void {
    whenSent(this.#outgoing, bytes, done);
  }

  whenClosed(done: () => void): void {
    whenClosed(this.#outgoing, done);
  }

  disconnect(): void {
    this.#outgoing.destroy();
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
export class RoutedRequest implements ApiRequest {
  readonly method: string;
  readonly headers: HeaderSource;
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: IncomingMessage | AsyncIterable<Uint8Array>;
  readonly #context: Context;

  constructor(context: Context) {
    const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
    const { req } = context;
    this.method = req.method;
    this.headers = incoming === undefined ? req.raw.headers : readHeaders(incoming);
    this.url = requestUrl(context);
    this.parameters = { ...req.query(), ...req.param() };
    this.body = incoming ?? ((req.raw.body ?? []) as AsyncIterable<Uint8Array>);
    this.#context = context;
  }

  listOf(name: string): readonly string[] | undefined {
    return this.#context.req.queries(name);
  }

  get #outgoing(): ServerResponse | undefined {
    return ((this.#context.env ?? {}) as { readonly outgoing?: ServerResponse }).outgoing;
  }

  whenSent(bytes: number, done: () => void): void {
    if (this.#outgoing === undefined) done();
    else whenSent(this.#outgoing, bytes, done);
  }

  whenClosed(done: () => void): void {
    if (this.#outgoing !== undefined) whenClosed(this.#outgoing, done);
  }

  disconnect(): void {
    this.#outgoing?.destroy();
  }

  get signal(): AbortSignal {
    return this.#context.req.raw.signal;
  }
}
