import type { IncomingMessage, ServerResponse } from "node:http";
import { getQueryParam, getQueryParams } from "hono/utils/url";
import type { HeaderSource } from "../auth/index.ts";

/** A response must be taken at this rate, after some time to begin: until then, it occupies memory. */
const bytesPerMs = 256;
const beginMs = 30_000;

/** Milliseconds in which a client must take so many bytes. */
export const takenWithinMs = (bytes: number): number => beginMs + bytes / bytesPerMs;

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

/** What a request consists of. */
interface RequestParts {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly headers: ReadonlyMap<string, string>;
  /** As the client sent it, but escaped as a URL has it. */
  readonly path: string;
  readonly query: string;
  /** Parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A request for an operation, as the pipeline reads it. */
export class ApiRequest {
  readonly body: IncomingMessage;
  readonly headers: HeaderSource;
  readonly method: string;
  readonly path: string;
  /** Parameters of the path and the query string, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly #address: string;
  readonly #outgoing: ServerResponse;
  #controller: AbortController | undefined;

  constructor({ incoming, outgoing, headers, path, query, parameters }: RequestParts) {
    this.body = incoming;
    this.headers = headers;
    this.method = incoming.method ?? "";
    this.path = path;
    // The library looks for the query string behind what could be a scheme. Without a key, it returns all.
    this.#address = path + query;
    this.parameters =
      query === "" ? parameters : { ...(getQueryParam(this.#address) as Record<string, string>), ...parameters };
    this.#outgoing = outgoing;
  }

  /** All values of a parameter of the query string, decoded; undefined if it is absent. */
  listOf(name: string): readonly string[] | undefined {
    return getQueryParams(this.#address, name) as string[] | undefined;
  }

  /** Calls back once a response of so many bytes is with the system, or its connection is closed. */
  whenSent(bytes: number, done: () => void): void {
    const late = setTimeout(() => this.disconnect(), takenWithinMs(bytes));
    this.whenClosed(() => {
      clearTimeout(late);
      done();
    });
  }

  /** Calls back once the response is sent, or its connection is closed. */
  whenClosed(done: () => void): void {
    if (this.#outgoing.destroyed || this.#outgoing.closed) done();
    else this.#outgoing.once("close", done);
  }

  /** Ends the connection of a client that does not take its response. */
  disconnect(): void {
    this.#outgoing.destroy();
  }

  /** Aborted when the client disconnects. Created when first read: most requests need none. */
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
