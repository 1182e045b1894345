import { connect, type Socket } from "node:net";

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  /** JSON, in ASCII. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  /** Status line and headers. */
  readonly head: string;
  readonly text: string;
}

interface Waiting {
  resolve(answer: Answered): void;
  reject(error: Error): void;
}

const headOf = ({ method = "POST", path, token, body, headers = {} }: Asked): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${body.length}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");

/** A response with this status has no body and no content-length. */
const noContent = 204;

/**
 * A client with one connection and one request at a time. It uses a plain socket, because a full HTTP client costs more CPU
 * than the service. It reconnects after the server has closed the connection.
 */
export class Caller {
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #settle: Waiting | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** @throws the connection's error; a response of any status is no error. */
  ask(asked: Asked): Promise<Answered> {
    this.#socket ??= this.#connect();
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      socket.write(`${headOf(asked)}\r\n\r\n${asked.body ?? ""}`);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect(this.#port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    const fail = (error: Error): void => {
      // "close" follows "error", when the next request may already use another socket.
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#take()?.reject(error);
    };
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the server closed the connection")));
    return socket;
  }

  #take(): Waiting | undefined {
    const settle = this.#settle;
    this.#settle = undefined;
    return settle;
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.byteLength === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#received.toString("latin1", 0, end);
    const status = Number(head.slice(9, 12));
    const length = status === noContent ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
    if (this.#received.byteLength < end + 4 + length) return;
    const text = this.#received.toString("utf8", end + 4);
    this.#received = Buffer.alloc(0);
    if (/^connection: *close/im.test(head)) {
      // Drop the socket before its "close" event, or the next request would be written to it.
      this.#socket?.removeAllListeners("close").destroy();
      this.#socket = undefined;
    }
    this.#take()?.resolve({ status, head, text });
  }
}
