import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type LocalJWKSet } from "jose";
import { ServiceError } from "../errors.ts";
import { invalidToken } from "./challenge.ts";
import type { KeyKeeper } from "./keys.ts";
import type { AuthConfig } from "./types.ts";

const maxTokenBytes = 8 * 1024;

interface JwtVerifierOptions extends Pick<AuthConfig, "audience" | "algorithms" | "clockToleranceSeconds"> {
  readonly issuer: string;
  readonly keys: KeyKeeper;
  readonly now: () => number;
}

export interface VerifiedJwt {
  readonly claims: JWTPayload & { readonly sub: string; readonly exp: number };
  /** The key set with the signing key. */
  readonly keys: LocalJWKSet;
}

/** Whether a credential has the three parts of a JWT. */
export const looksLikeJwt = (token: string): boolean => token.split(".", 4).length === 3;

/** What a token says of its issuer, not verified: it selects the keys alone. */
export const issuerOf = (token: string): string | undefined => {
  if (token.length > maxTokenBytes) return undefined;
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
};

/**
 * Verifies signature and claims. The header is checked before keys are fetched. Keys come from the issuer only: `jwk`,
 * `jku`, `x5c` and `x5u` of the header are ignored.
 *
 * @throws ServiceError code 16, or code 17 when the issuer's JWKS is unavailable.
 */
export function createJwtVerifier(options: JwtVerifierOptions): (token: string) => Promise<VerifiedJwt> {
  const { issuer, now } = options;
  const verify = async (token: string, keys: LocalJWKSet): Promise<VerifiedJwt> => {
    const claims = await verifyWithAny(token, keys, {
      issuer,
      audience: [...options.audience],
      algorithms: [...options.algorithms],
      clockTolerance: options.clockToleranceSeconds,
      currentDate: new Date(now()),
      requiredClaims: ["exp", "iss", "aud", "sub"],
    });
    const { sub, exp } = claims;
    if (typeof sub !== "string" || sub === "") throw invalidToken("the sub claim is not a string");
    if (exp === undefined) throw invalidToken("the token has no exp claim");
    return { claims: { ...claims, sub, exp }, keys };
  };

  async function verifyWithNewest(token: string): Promise<VerifiedJwt> {
    try {
      return await verify(token, await options.keys.current());
    } catch (error) {
      if (!mayBeOfNewerKey(error)) throw error;
      const newer = await options.keys.newer();
      if (newer === undefined) throw error;
      return verify(token, newer);
    }
  }

  return async (token) => {
    checkHeader(token, options.algorithms);
    return verifyWithNewest(token).catch((error: unknown) => {
      throw error instanceof ServiceError ? error : invalidToken(describe(error));
    });
  };
}

/**
 * After a rotation the key id is unknown. If tokens have no key id, or the issuer reuses one, an old key fails to verify
 * the signature.
 */
const mayBeOfNewerKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;

/** Tries all keys that match a token without a key id. */
async function verifyWithAny(
  token: string,
  keys: LocalJWKSet,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function checkHeader(token: string, algorithms: readonly string[]): void {
  if (token.length > maxTokenBytes) throw invalidToken(`the token is longer than ${maxTokenBytes} bytes`);
  const { alg, typ, kid, crit } = headerOf(token);
  if (typeof alg !== "string" || !algorithms.includes(alg))
    throw invalidToken(`the token is not signed with an accepted algorithm (${algorithms.join(", ")})`);
  if (typ !== undefined && (typeof typ !== "string" || !/^(application\/)?(at\+)?jwt$/i.test(typ)))
    throw invalidToken("the token is not an access token: its typ is neither JWT nor at+jwt");
  if (kid !== undefined && typeof kid !== "string") throw invalidToken("the key id of the token is not a string");
  if (crit !== undefined) throw invalidToken("the token requires extensions that this service does not support");
}

function headerOf(token: string): Record<string, unknown> {
  try {
    return { ...decodeProtectedHeader(token) };
  } catch {
    throw invalidToken("the token is malformed");
  }
}

const descriptions: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "the token has expired",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "the signature does not verify",
  ERR_JWKS_NO_MATCHING_KEY: "no key of the trusted issuer matches the token",
};

const claimDescriptions: Readonly<Record<string, string>> = {
  iss: "the token is from another issuer",
  aud: "the token is for another audience",
  nbf: "the token is not valid yet",
};

function describe(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `the token has no ${error.claim} claim`;
    if (error.reason === "invalid") return `the ${error.claim} claim has the wrong type`;
    return claimDescriptions[error.claim] ?? "a claim is not valid";
  }
  const code = error instanceof errors.JOSEError ? error.code : "";
  return descriptions[code] ?? "the token cannot be verified";
}
