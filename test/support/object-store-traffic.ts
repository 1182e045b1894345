import type { Socket } from "node:net";

export type RequestKind = "LIST" | "GET" | "HEAD" | "PUT" | "DELETE" | "OTHER";

/** A request that reached the store, in the order of arrival. */
export interface StoreRequest {
  readonly kind: RequestKind;
  /** Of an object, or for LIST the prefix. */
  readonly key: string;
}

/** Latency and faults of the store; a test may change them at any time. */
export interface Weather {
  /** Milliseconds before each response. */
  latencyMs: number;
  /** The same for requests that write; absent, as for others. */
  writeLatencyMs: number | undefined;
  /** Share of requests answered 503 SlowDown, 0 to 1; spread evenly, so that a run repeats. */
  unavailable: number;
  /** Share of requests whose connection is cut instead of answered, 0 to 1; spread evenly. */
  dropped: number;
  /** Share of requests that take effect and whose connection is cut before the answer, 0 to 1; spread evenly. */
  unanswered: number;
  /** The shares are of requests of this kind; absent, of all. */
  only: RequestKind | undefined;
  /** `away` resets every connection, `silent` accepts requests and never responds. */
  presence: "here" | "away" | "silent";
}

export const fairWeather: Readonly<Weather> = {
  latencyMs: 0,
  writeLatencyMs: undefined,
  unavailable: 0,
  dropped: 0,
  unanswered: 0,
  only: undefined,
  presence: "here",
};

/** True for every n-th call, such that `share` of all calls are true. */
export const spread = (): ((share: number) => boolean) => {
  let due = 0;
  return (share) => {
    due += share;
    if (due < 1) return false;
    due -= 1;
    return true;
  };
};

/** Counts the requests before any fault, because a client pays for them in any case. */
export class Traffic {
  #requests: StoreRequest[] = [];

  add(request: StoreRequest): void {
    this.#requests.push(request);
  }

  /** Everything since the last call. */
  take(): StoreRequest[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }
}

/** Sockets that are open, so that going away can end them. */
export class Sockets {
  readonly #open = new Set<Socket>();

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }

  reset(): void {
    for (const socket of this.#open) socket.resetAndDestroy();
  }
}
