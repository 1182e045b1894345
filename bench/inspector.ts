/** Flags of a Node process that can be inspected on a port of loopback. */
export const inspectable = (port: number): readonly string[] => [
  `--inspect=127.0.0.1:${port}`,
  "--inspect-publish-uid=http",
];

/** A client of Node's inspector, by the DevTools protocol. */
export class Inspector {
  readonly #socket: WebSocket;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async connect(port: number): Promise<Inspector> {
    const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    const [{ webSocketDebuggerUrl }] = targets as [{ readonly webSocketDebuggerUrl: string }];
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new Inspector(socket);
  }

  ask<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#socket.addEventListener("message", function onMessage({ data }) {
        const message = JSON.parse(String(data));
        if (message.id !== id) return;
        this.removeEventListener("message", onMessage);
        resolve(message.result);
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }
}
