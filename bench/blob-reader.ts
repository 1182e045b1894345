/** Reads one response of the service to its end, in a process of its own: a store and a client on one thread slow each other. */
import { Agent, request } from "node:http";
import { serveTasks } from "./task-process.ts";

export interface Reading {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a POST. */
  readonly body?: string;
  /** As many times at once. */
  readonly times: number;
}

export interface ReadBytes {
  readonly bytes: number;
  readonly seconds: number;
  /** Milliseconds until the first byte of the body, of all readings. */
  readonly firstBytes: readonly number[];
}

const agent = new Agent({ keepAlive: true });

const readOne = ({ url, headers, body }: Reading): Promise<{ bytes: number; firstByte: number }> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    const asked = request(url, { agent, headers, method: body === undefined ? "GET" : "POST" }, (response) => {
      let bytes = 0;
      let firstByte = 0;
      response.on("data", (chunk: Buffer) => {
        if (bytes === 0) firstByte = performance.now() - begun;
        bytes += chunk.byteLength;
      });
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200
          ? resolve({ bytes, firstByte })
          : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    asked.on("error", reject);
    asked.end(body);
  });

serveTasks(async (reading: Reading): Promise<ReadBytes> => {
  const begun = performance.now();
  const all = await Promise.all(Array.from({ length: reading.times }, () => readOne(reading)));
  return {
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    seconds: (performance.now() - begun) / 1000,
    firstBytes: all.map(({ firstByte }) => firstByte),
  };
});
