import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type LocalJWKSet } from "jose";
import { ServiceError } from "../errors.ts";
import { invalidToken } from "./challenge.ts";
import type { KeyKeeper } from "./keys.ts";
import type { AuthConfig } from "./types.ts";

const largestTokenBytes = 8 * 1024;

interface JwtVerifierOptions extends Pick<AuthConfig, "audience" | "algorithms" | "clockToleranceSeconds"> {
  readonly issuer: string;
  readonly keys: KeyKeeper;
  readonly now: () => number;
}

export interface VerifiedJwt {
  readonly claims: JWTPayload & { readonly sub: string; readonly exp: number };
  /** The key set that holds the signing key. */
  readonly keys: LocalJWKSet;
}

/** Whether a credential has a JWT's form (three parts); anything else can be a static token only. */
export const looksLikeJwt = (token: string): boolean => token.split(".", 4).length === 3;

/**
 * Verifies signature and claims. What can be refused by the token alone is refused before any key is asked for; keys
 * come from the issuer only, whatever `jwk`, `jku`, `x5c` or `x5u` the header holds.
 *
 * @throws ServiceError code 16, or code 17 when the issuer's keys cannot be had.
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
    if (typeof sub !== "string" || sub === "") throw invalidToken("the sub claim is not a text");
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
 * After a rotation a key id is missing, or, where tokens carry none or an issuer uses one again, an old key is tried that
 * did not sign.
 */
const mayBeOfNewerKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;

/** A key set may hold several keys that fit a token without a key id: each is tried. */
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
  if (token.length > largestTokenBytes) throw invalidToken(`the token is longer than ${largestTokenBytes} bytes`);
  const { alg, typ, kid, crit } = headerOf(token);
  if (typeof alg !== "string" || !algorithms.includes(alg))
    throw invalidToken(`the token is not signed with an accepted algorithm (${algorithms.join(", ")})`);
  if (typ !== undefined && (typeof typ !== "string" || !/^(application\/)?(at\+)?jwt$/i.test(typ)))
    throw invalidToken("the token is of a type other than JWT or at+jwt, so it is no access token");
  if (kid !== undefined && typeof kid !== "string") throw invalidToken("the key id in the token is not a text");
  if (crit !== undefined) throw invalidToken("the token demands extensions that this service does not have");
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
  ERR_JWKS_NO_MATCHING_KEY: "no key of the trusted issuer fits the token",
};

const claimDescriptions: Readonly<Record<string, string>> = {
  iss: "the token comes from another issuer",
  aud: "the token is meant for another audience",
  nbf: "the token is not valid yet",
};

function describe(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `the token has no ${error.claim} claim`;
    if (error.reason === "invalid") return `the ${error.claim} claim is not of the right type`;
    return claimDescriptions[error.claim] ?? "a claim does not hold";
  }
  const code = error instanceof errors.JOSEError ? error.code : "";
  return descriptions[code] ?? "the token cannot be verified";
}
