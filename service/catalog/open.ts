import { createStsIssuer } from "./aws.ts";
import type { Right } from "./rights.ts";
import { Vending } from "./vending.ts";

export interface VendingConfig {
  readonly mode: "off" | "assume-role" | "web-identity";
  readonly role?: string;
  readonly seconds: number;
  readonly region?: string;
  readonly stsUrl?: string;
  readonly tokenFile: string;
  readonly kmsKey?: string;
}

interface Store {
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
}

/** What lends credentials, as configured; undefined where it is off. @param most greatest right of any caller. */
export const openVending = async (
  { mode, role, region, tokenFile, ...config }: VendingConfig,
  { uri, storageOptions }: Store,
  most: Right,
): Promise<Vending | undefined> => {
  if (mode === "off" || role === undefined) return undefined;
  const options = { ...storageOptions, ...(region === undefined ? {} : { aws_region: region }) };
  const identity = mode === "web-identity" ? { tokenFile } : {};
  return new Vending(uri, most, await createStsIssuer({ ...config, role, ...identity }, options));
};
