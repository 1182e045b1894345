import { connect, type Socket } from "node:net";

/** Sends raw bytes, which no HTTP client would send. @returns status and body, once the server has closed the connection. */
export const sendRaw = async (port: number, ...chunks: readonly (string | Buffer)[]): Promise<RawAnswer> => {
  const socket = await openRaw(port);
  for (const chunk of chunks) socket.write(chunk);
  return readRaw(socket);
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

export const openRaw = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });

const readRaw = (socket: Socket): Promise<RawAnswer> =>
  new Promise((resolve) => {
    let text = "";
    const settle = () => {
      socket.destroy();
      const end = text.indexOf("\r\n\r\n");
      resolve({ status: Number(text.slice(9, 12)), headers: text.slice(0, end), body: text.slice(end + 4) });
    };
    // Our answers are small: one that has its length is whole when it is that long.
    socket.on("data", (chunk) => {
      text += chunk.toString();
      const length = /^content-length: (\d+)/im.exec(text)?.[1];
      const end = text.indexOf("\r\n\r\n");
      if (length !== undefined && end !== -1 && text.length >= end + 4 + Number(length)) settle();
    });
    socket.on("error", () => {});
    socket.on("close", settle);
  });
