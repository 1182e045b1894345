/** Reads an image from its registry: the OCI Distribution Specification 1.1 with Docker's anonymous token flow. */

import { attempt, type Outcome } from "../check-line.ts";
import { type ImageFacts, manifestTypes, readManifest } from "../clouds/image-manifest.ts";
import { parseImage } from "../model/image-name.ts";

/** The parameters of `WWW-Authenticate: Bearer realm="…",service="…",scope="…"`. */
const challenge = (header: string): Readonly<Record<string, string>> | undefined =>
  /^Bearer /i.test(header)
    ? Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]))
    : undefined;

const get = (url: string | URL, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { headers, signal: AbortSignal.timeout(15_000) });

/**
 * The image's architectures; undefined when the registry does not have the image.
 * @param credentials value of an Authorization header for the token request, such as Google's
 */
export function readRegistryImage(image: string, credentials?: string): Promise<Outcome<ImageFacts | undefined>> {
  return attempt(async () => {
    const { registry, repository, reference } = parseImage(image);
    const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(registry) ? "http" : "https";
    const base = `${scheme}://${registry}/v2/${repository}`;
    const accept = { accept: manifestTypes.join(", ") };
    const basic = credentials === undefined ? {} : { authorization: credentials };
    let response = await get(`${base}/manifests/${reference}`, accept);
    let bearer = {};
    if (response.status === 401) {
      const { realm, service, scope } = challenge(response.headers.get("www-authenticate") ?? "") ?? {};
      if (realm === undefined) throw new Error(`${registry} requires credentials`);
      const url = new URL(realm);
      if (service !== undefined) url.searchParams.set("service", service);
      url.searchParams.set("scope", scope ?? `repository:${repository}:pull`);
      const answer = await get(url, basic);
      if (!answer.ok) throw new Error(`${registry} requires credentials: ${answer.status} of ${url.host}`);
      const { token, access_token } = (await answer.json()) as { token?: string; access_token?: string };
      bearer = { authorization: `Bearer ${token ?? access_token ?? ""}` };
      response = await get(`${base}/manifests/${reference}`, { ...accept, ...bearer });
    }
    if (response.status === 404) return undefined;
    if (response.status === 401 || response.status === 403) throw new Error(`${registry} requires credentials`);
    if (!response.ok) throw new Error(`${registry} responded with status ${response.status}`);
    const facts = readManifest((await response.json()) as Parameters<typeof readManifest>[0]);
    if (facts.architectures !== undefined || facts.configDigest === undefined) return facts;
    const blob = await get(`${base}/blobs/${facts.configDigest}`, bearer);
    if (!blob.ok) return facts;
    const { architecture } = (await blob.json()) as { architecture?: string };
    return architecture === undefined ? facts : { ...facts, architectures: [architecture] };
  });
}
