import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonWith } from "../../tools/parts/python.ts";
import { bucketName } from "../support/object-store.ts";

const run = promisify(execFile);
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export interface Keys {
  readonly id: string;
  readonly secret: string;
}

const reply = (response: ServerResponse, status: number, body: string): void => {
  response
    .writeHead(status, { "content-type": "application/xml", "content-length": Buffer.byteLength(body) })
    .end(body);
};

const resultOf = ([key, code]: readonly [string, string | null]): string =>
  code === null
    ? `<Deleted><Key>${key}</Key></Deleted>`
    : `<Error><Key>${key}</Key><Code>${code}</Code><Message>${code}</Message></Error>`;

/**
 * Sends the deletions of a bulk request one by one, with the keys of a user: S3 permits each object of a bulk request by
 * itself, moto permits the request by the bucket. Everything else passes as it was signed.
 */
export const singleDeletes = async (base: string, { id, secret }: Keys) => {
  const { python } = await pythonWith(here("requirements.txt"), () => undefined);
  const { hostname, port } = new URL(base);
  const pass = (incoming: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const { method, url: path, rawHeaders: headers } = incoming;
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    sent.end(body);
  };
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const isBulk = incoming.method === "POST" && /[?&]delete\b/.test(incoming.url ?? "");
    if (!isBulk || python === undefined) {
      pass(incoming, response, body);
      return;
    }
    const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => key);
    const { stdout } = await run(python, [here("s3_delete.py"), base, id, secret, bucketName, ...keys]);
    const results = Object.entries(JSON.parse(stdout) as Record<string, string | null>).map(resultOf);
    reply(response, 200, `<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult>${results.join("")}</DeleteResult>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};
