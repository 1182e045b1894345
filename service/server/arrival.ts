import type { Readable } from "node:stream";
import { ServiceError } from "../errors.ts";

/** Bytes of a body that must arrive in each second, on average over the time of a stall. */
const bytesPerSecond = 16 * 1024;

/** Milliseconds after its response in which the connection of a stalled body closes by itself. */
const closeMs = 1000;

const stalled = (bytes: number, stallMs: number): ServiceError =>
  new ServiceError(13, {
    transport: "requestTimeout",
    message: `less than ${bytes} bytes of the body arrived in ${stallMs / 1000} s: send it faster or in several requests, or ask the operator to raise LAKEHEAD_BODY_STALL_SECONDS`,
    headers: { connection: "close" },
  });

/** A client that no longer sends may no longer read either: its connection does not wait for that. */
const closeSoon = (body: Readable): void => {
  setTimeout(() => body.destroy(), closeMs).unref();
};

/** Ends the wait for a body of which too little arrives. Time in which the service does not read is not counted. */
export class Arrival {
  readonly #body: Readable;
  readonly #stallMs: number;
  readonly #minBytes: number;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #waitedMs = 0;
  #from = 0;

  constructor(body: Readable, stallMs: number) {
    this.#body = body;
    this.#stallMs = stallMs;
    this.#minBytes = Math.ceil((bytesPerSecond * stallMs) / 1000);
  }

  /** The service waits for the client from now on. */
  wait(onStall: (error: ServiceError) => void): void {
    this.#from = performance.now();
    this.#timer = setTimeout(() => {
      closeSoon(this.#body);
      onStall(stalled(this.#minBytes, this.#stallMs));
    }, this.#stallMs - this.#waitedMs);
  }

  /** A wait has ended, with so many bytes. */
  arrived(bytes: number): void {
    clearTimeout(this.#timer);
    this.#bytes += bytes;
    this.#waitedMs += performance.now() - this.#from;
    if (this.#bytes < this.#minBytes) return;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }
}

/**
 * The chunks of a body as they arrive. The connection stays open when reading stops early: the response is sent on it.
 * @throws ServiceError 408 if the body stalls.
 */
export async function* arriving(body: Readable, stallMs: number): AsyncGenerator<Uint8Array, void> {
  const chunks = body.iterator({ destroyOnReturn: false });
  const arrival = new Arrival(body, stallMs);
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        arrival.wait(reject);
        chunks.next().then(resolve, (error: unknown) => {
          arrival.arrived(0);
          reject(error);
        });
      });
      isWaiting = false;
      arrival.arrived(done === true ? 0 : value.byteLength);
      if (done === true) return;
      yield value;
    }
  } finally {
    // After a stall, it would wait for the next chunk.
    if (!isWaiting) await chunks.return?.();
  }
}
