import { createLocalJWKSet } from "jose";
import { describe, expect, test } from "vitest";
import { compileTablePatterns } from "../../../service/auth/index.ts";
import { createVerifiedTokens, type Verified } from "../../../service/auth/verified.ts";

const verified = (subject: string): Verified => ({
  keys: createLocalJWKSet({ keys: [] }),
  principal: { subject, scopes: new Set(), tables: compileTablePatterns([]), method: "jwt" },
  expiresAt: 0,
});

describe("the cache of verified tokens", () => {
  test("evicts the least recently used token", () => {
    const tokens = createVerifiedTokens();
    for (let index = 0; index < 1000; index += 1) tokens.keep(`token-${index}`, verified(String(index)));
    tokens.keep("token-0", verified("again"));
    expect(tokens.find("token-1")?.principal.subject).toBe("1");
    tokens.keep("one more", verified("one more"));
    expect(tokens.find("token-2")).toBeUndefined();
    expect(tokens.find("token-0")?.principal.subject).toBe("again");
    expect(tokens.find("token-1")?.principal.subject).toBe("1");
  });
});
