import { hash, timingSafeEqual } from "node:crypto";
import { compileTablePatterns } from "./tables.ts";
import type { Principal, StaticToken } from "./types.ts";

/**
 * Finds a token by its hash. All entries are compared in constant time, so that the time reveals neither digits of a hash
 * nor the position of an entry.
 */
export function createStaticTokens(tokens: readonly StaticToken[]): (token: string) => Principal | undefined {
  const entries = tokens.map(({ name, sha256, scopes, tables }) => ({
    digest: Buffer.from(sha256, "hex"),
    principal: {
      subject: name,
      scopes: new Set(scopes),
      tables: compileTablePatterns(tables),
      method: "static-token",
    } satisfies Principal,
  }));
  return (token) => {
    const digest = hash("sha256", token, "buffer");
    let found: Principal | undefined;
    for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry.principal;
    return found;
  };
}
