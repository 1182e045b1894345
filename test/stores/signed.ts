import { createHash, createHmac } from "node:crypto";
import { type Forwarded, sendTo } from "./forward.ts";

/** Keys of a user, or of a session with its token. */
export interface SignedBy {
  readonly id: string;
  readonly secret: string;
  readonly token?: string;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

export type SignedSend = (
  by: SignedBy,
  method: string,
  /** Bucket and key, not encoded. */
  path: string,
  more?: {
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
) => Promise<Forwarded>;

/** Sends requests to an S3 server as signed by given keys (Signature Version 4): what a client never sends can be sent. */
export const signedTo = (base: string, region = "us-east-1"): SignedSend => {
  const send = sendTo(base);
  const { host } = new URL(base);
  return ({ id, secret, token }, method, path, { query = {}, headers: more = {}, body = "" } = {}) => {
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const digest = sha256(body);
    const headers: Record<string, string> = {
      host,
      "x-amz-content-sha256": digest,
      "x-amz-date": time,
      ...(token === undefined ? {} : { "x-amz-security-token": token }),
      ...more,
    };
    const names = Object.keys(headers).sort();
    const search = Object.entries(query)
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join("&");
    const address = `/${path.split("/").map(encode).join("/")}`;
    const canonical = [
      method,
      address,
      search,
      ...names.map((name) => `${name}:${headers[name]}`),
      "",
      names.join(";"),
      digest,
    ].join("\n");
    const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
    const key = scope.split("/").reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
    const signature = hmac(key, text).toString("hex");
    const authorization = `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
    return send(
      method,
      search === "" ? address : `${address}?${search}`,
      { ...headers, authorization },
      Buffer.from(body),
    );
  };
};
