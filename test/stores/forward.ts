import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Reply } from "../support/object-store-protocol.ts";

export interface Forwarded extends Reply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Headers of a connection, not of a message. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "host", "content-length"]);

const ofMessage = (headers: IncomingHttpHeaders, method: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === "string" &&
        (!hopByHop.has(entry[0]) || (method === "HEAD" && entry[0] === "content-length")),
    ),
  );

export type Send = (
  method: string,
  address: string,
  headers?: IncomingHttpHeaders,
  body?: Buffer,
) => Promise<Forwarded>;

/** @returns a function that forwards a request to a server. @param base its address without a trailing slash. */
export const sendTo = (base: string): Send => {
  const agent = new Agent({ keepAlive: true });
  return (method, address, headers = {}, body = Buffer.alloc(0)) =>
    new Promise((resolve, reject) => {
      const sent = { ...ofMessage(headers, ""), "content-length": body.byteLength };
      request(`${base}${address}`, { method, agent, headers: sent }, (response) => {
        buffer(response).then(
          (answer) =>
            resolve({
              status: response.statusCode ?? 502,
              headers: ofMessage(response.headers, method),
              body: answer,
            }),
          reject,
        );
      })
        .on("error", reject)
        .end(body);
    });
};
