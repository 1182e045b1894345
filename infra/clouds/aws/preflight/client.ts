/** How `preflight` asks AWS: the endpoint and the credentials are the SDK's defaults. */

import { STSClient } from "@aws-sdk/client-sts";
import { hostSuffixOf } from "../identity/arn.ts";

export const settings = (region: string) => ({ region, maxAttempts: 2 });

/** The response, or undefined for the error that means that the object does not exist. */
export async function unlessMissing<Value>(name: string, read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as Error).name === name) return undefined;
    throw error;
  }
}

export interface SignedGet {
  readonly service: "s3" | "elasticloadbalancing";
  readonly region: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A GET to a service whose client is no package of this project, with the signature of one that is. */
export async function signedGet({ service, region, path, query }: SignedGet) {
  const { config } = new STSClient(settings(region));
  // As AWS's clients do.
  const { AWS_ENDPOINT_URL: own } = process.env;
  const url = new URL(path, own ?? `https://${service}.${region}.${hostSuffixOf(region)}`);
  const signer = await config.signer({
    name: "sigv4",
    signingName: service,
    signingRegion: region,
    properties: {},
  });
  const {
    headers: { host: _, ...headers },
  } = await signer.sign({
    method: "GET",
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: { ...query },
    headers: { host: url.host, ...(service === "s3" ? { "x-amz-content-sha256": emptyDigest } : {}) },
  });
  url.search = new URLSearchParams(query).toString();
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(15_000) });
  const text = await response.text();
  return { status: response.status, text, code: /<Code>(\w+)<\/Code>/.exec(text)?.[1] };
}

/** SHA-256 of an empty body. */
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
