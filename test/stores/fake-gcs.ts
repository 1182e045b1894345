import { freePort } from "../../tools/parts/free-port.ts";
import { goProgram } from "../../tools/parts/go.ts";
import { bucketName } from "../support/object-store.ts";
import {
  type Ask,
  listingReply,
  partsOfUploads,
  type Reply,
  type Responder,
} from "../support/object-store-protocol.ts";
import { type Running, startProcess } from "../support/process.ts";
import { type Send, sendTo } from "./forward.ts";
import type { StoreServer } from "./store-server.ts";

const module = "github.com/fsouza/fake-gcs-server";
const version = "v1.55.1";

const objects = `/storage/v1/b/${bucketName}/o`;
const addressOf = (key: string): string => `${objects}/${encodeURIComponent(key)}`;

const boundary = "part-of-an-upload";

interface StoredObject {
  readonly name: string;
  readonly size: string;
  readonly etag: string;
  readonly generation: string;
  readonly updated: string;
}

/** Metadata and content in one request: the only upload of fake-gcs-server that honours a condition. */
const uploadOf = (key: string, content: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify({ name: key })}\r\n`),
    Buffer.from(`--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`),
    content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);

/** The content of a put: its body, or the object that it copies, whose conditions fake-gcs-server's own copy ignores. */
const contentOf = async (send: Send, { headers, body }: Ask): Promise<Reply> => {
  const source = headers["x-goog-copy-source"];
  if (typeof source !== "string") return { status: 200, body };
  const key = decodeURIComponent(source).replace(/^\/?[^/]+\//, "");
  return send("GET", `${addressOf(key)}?alt=media`);
};

const upload = async (send: Send, ask: Ask): Promise<Reply> => {
  const { key, headers } = ask;
  const content = await contentOf(send, ask);
  if (content.status !== 200) return content;
  const condition = headers["x-goog-if-generation-match"];
  const parameters = new URLSearchParams({ uploadType: "multipart" });
  if (typeof condition === "string") parameters.set("ifGenerationMatch", condition);
  const type = { "content-type": `multipart/related; boundary=${boundary}` };
  const answer = await send("POST", `/upload${objects}?${parameters}`, type, uploadOf(key, content.body));
  if (answer.status !== 200) return answer;
  const stored: StoredObject = JSON.parse(answer.body.toString());
  return { status: 200, headers: { etag: `"${stored.etag}"`, "x-goog-generation": stored.generation } };
};

const list = async (send: Send, { query }: Ask): Promise<Reply> => {
  const after = query.get("start-after") ?? "";
  const parameters = new URLSearchParams({
    prefix: query.get("prefix") ?? "",
    delimiter: query.get("delimiter") ?? "",
    startOffset: after,
    pageToken: query.get("continuation-token") ?? "",
    maxResults: query.get("max-keys") ?? "1000",
  });
  const answer = await send("GET", `${objects}?${parameters}`);
  if (answer.status !== 200) return answer;
  const page: { items?: StoredObject[]; prefixes?: string[]; nextPageToken?: string } = JSON.parse(
    answer.body.toString(),
  );
  const listed = (page.items ?? [])
    // The XML interface starts after the key, the JSON interface at it.
    .filter(({ name }) => name !== after)
    .map(({ name, size, etag, updated }) => ({ key: name, size: Number(size), etag: `"${etag}"`, modified: updated }));
  return listingReply(parameters.get("prefix") ?? "", listed, page.prefixes ?? [], page.nextPageToken);
};

/**
 * Google's XML interface in front of fake-gcs-server's JSON interface. Lance writes, lists and sets conditions by the XML
 * interface. fake-gcs-server implements only its downloads and a listing without pages: it rejects uploads with 400 and ignores
 * conditions. Objects, generations, conditions and pages are those of fake-gcs-server. Parts of an upload wait here for its end.
 */
const xmlInFront = (send: Send): Responder => {
  const uploads = partsOfUploads((ask) => upload(send, ask));
  return (ask) => {
    const { method, key, query, headers, body } = ask;
    if (query.has("uploadId") || query.has("uploads")) return uploads(ask);
    if (method === "GET" && query.has("list-type")) return list(send, ask);
    if (method === "GET" || method === "HEAD") return send(method, `${addressOf(key)}?alt=media`, headers);
    if (method === "PUT") return upload(send, ask);
    if (method === "DELETE") return send(method, addressOf(key), headers, body);
    return { status: 501 };
  };
};

const start = async (
  program: string,
  attempts: number,
): Promise<{ readonly port: number; readonly running: Running }> => {
  const port = await freePort();
  const args = ["-scheme=http", "-host=127.0.0.1", `-port=${port}`, "-backend=memory"];
  const running = startProcess(program, args, {});
  try {
    await running.printed(/server started at/);
    return { port, running };
  } catch (error) {
    // Another process may have taken the port meanwhile.
    if (attempts <= 1) throw error;
    return start(program, attempts - 1);
  }
};

/** fake-gcs-server with an empty bucket. */
export const startFakeGcs = async (log: (line: string) => void): Promise<StoreServer & { readonly base?: string }> => {
  const { program, missing } = await goProgram(module, version, log);
  if (program === undefined) return { missing: `fake-gcs-server, ${missing}` };
  const { port, running } = await start(program, 3);
  const send = sendTo(`http://127.0.0.1:${port}`);
  const body = Buffer.from(JSON.stringify({ name: bucketName }));
  await send("POST", "/storage/v1/b?project=lakehead", { "content-type": "application/json" }, body);
  return {
    name: "fake-gcs-server",
    base: `http://127.0.0.1:${port}`,
    behind: xmlInFront(send),
    stop: async () => {
      running.child.kill("SIGKILL");
      await running.exited();
    },
  };
};
