import { createStsIssuer } from "./aws.ts";
import { createGoogleIssuer, proveBoundary } from "./google.ts";
import { rootOf } from "./place.ts";
import type { Right } from "./rights.ts";
import { publicOptions, Vending } from "./vending.ts";

export interface VendingConfig {
  readonly mode: "off" | "assume-role" | "web-identity" | "google";
  readonly role?: string;
  readonly seconds: number;
  readonly region?: string;
  readonly stsUrl?: string;
  readonly tokenFile: string;
  readonly kmsKey?: string;
  readonly metadataUrl: string;
}

interface Store {
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
}

/** Options of Google's store that a client needs besides its token, for instance behind a private endpoint. */
const googleOptions = { google_base_url: /^(google_)?base_url$/i, allow_http: /^(google_)?allow_http$/i };

/** What lends credentials, as configured; undefined where it is off. @param most greatest right of any caller. */
export const openVending = async (
  { mode, role, region, tokenFile, metadataUrl, ...config }: VendingConfig,
  { uri, storageOptions }: Store,
  most: Right,
): Promise<Vending | undefined> => {
  const root = rootOf(uri);
  if (mode === "google" && root !== undefined) {
    const stsUrl = config.stsUrl ?? "https://sts.googleapis.com/v1/token";
    const shared = publicOptions(storageOptions, googleOptions);
    const storageUrl = shared.google_base_url?.replace(/\/+$/, "") ?? "https://storage.googleapis.com";
    const google = { stsUrl, metadataUrl, storageUrl };
    await proveBoundary(google, root).catch((error: unknown) => {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error ? cause.message : message;
      throw new Error(`LAKEHEAD_VENDING=google: cannot show that lent tokens are bounded: ${reason}`);
    });
    return new Vending(uri, most, createGoogleIssuer(google, shared));
  }
  if (mode === "off" || role === undefined) return undefined;
  const options = { ...storageOptions, ...(region === undefined ? {} : { aws_region: region }) };
  const identity = mode === "web-identity" ? { tokenFile } : {};
  return new Vending(uri, most, await createStsIssuer({ ...config, role, ...identity }, options));
};
