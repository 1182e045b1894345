import { createHmac } from "node:crypto";
import {
  CompactSign,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";
import type { JwtTransform } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  audience,
  bench,
  canary,
  challengeOf,
  configFor,
  expectNoTrace,
  refusal,
  startIssuer,
  type TestIssuer,
} from "./support.ts";

const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

describe("a token of the issuer", () => {
  const accepted: Record<string, JwtTransform | undefined> = {
    "as issued": undefined,
    "of type at+jwt": (header) => Object.assign(header, { typ: "at+jwt" }),
    "of type application/at+jwt in capitals": (header) => Object.assign(header, { typ: "application/AT+JWT" }),
    "without type": (header) => Object.assign(header, { typ: undefined }),
    "without key id": (header) => Object.assign(header, { kid: undefined }),
    "for several audiences": (_, payload) => Object.assign(payload, { aud: ["other", audience] }),
    "expired within the tolerance": (_, payload) => Object.assign(payload, { exp: seconds(-20) }),
    "valid from within the tolerance": (_, payload) => Object.assign(payload, { nbf: seconds(20) }),
    "with a chain of certificates it says are its key's": (header) => Object.assign(header, { x5c: ["AAAA"] }),
  };
  test.each(Object.entries(accepted))("%s is accepted", async (_, change) => {
    const { authenticator } = bench(configFor(issuer));
    const principal = await authenticator.authenticate({ bearer: await issuer.token(change) });
    expect(principal).toMatchObject({ subject: canary, method: "jwt" });
    expect([...principal.scopes]).toEqual(["plan", "stats"]);
    expect(principal.tables.permits(["any", "table"])).toBe(true);
  });

  test.each(["RS256", "PS256", "ES384", "EdDSA", "Ed25519"])("signed with %s is accepted", async (algorithm) => {
    const other = await startIssuer();
    await other.rotate(algorithm);
    const { authenticator } = bench(configFor(other));
    expect((await authenticator.authenticate({ bearer: await other.token() })).subject).toBe(canary);
    await other.stop();
  });

  test("without a key id is verified with each matching key", async () => {
    const other = await startIssuer();
    await other.addKey("ES256");
    const { authenticator } = bench(configFor(other));
    const withoutKid: JwtTransform = (header) => Object.assign(header, { kid: undefined });
    for (const token of [await other.token(withoutKid), await other.token(withoutKid)])
      expect((await authenticator.authenticate({ bearer: token })).subject).toBe(canary);
    const { privateKey } = await generateKeyPair("ES256");
    const forged = await forge({ alg: "ES256" }, privateKey, other.url);
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: forged })))).toContain("signature");
    await other.stop();
  });

  test("has its signature verified once", async () => {
    const { authenticator } = bench(configFor(issuer));
    const token = await issuer.token();
    const verify = vi.spyOn(crypto.subtle, "verify");
    for (let times = 0; times < 5; times += 1) await authenticator.authenticate({ bearer: token });
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
  });

  test("does not use the cached verification of another token", async () => {
    const { authenticator } = bench(configFor(issuer));
    const narrow = await issuer.token(undefined, "stats");
    const wide = await issuer.token(undefined, "plan tags:write");
    for (const [token, scopes] of [
      [narrow, ["stats"]],
      [wide, ["plan", "tags:write"]],
      [narrow, ["stats"]],
    ] as const)
      expect([...(await authenticator.authenticate({ bearer: token })).scopes]).toEqual(scopes);
  });

  test("is refused from the second it expires, though it was accepted before", async () => {
    const { authenticator, advance } = bench(configFor(issuer));
    const token = await issuer.token((_, payload) => Object.assign(payload, { exp: seconds(100) }));
    await authenticator.authenticate({ bearer: token });
    advance(128);
    await authenticator.authenticate({ bearer: token });
    advance(3);
    const error = await refusal(authenticator.authenticate({ bearer: token }));
    expect(challengeOf(error)).toContain("the token has expired");
  });
});

describe("a token that the issuer signed, with wrong claims", () => {
  const refused: Record<string, [change: JwtTransform, description: string]> = {
    expired: [(_, payload) => Object.assign(payload, { exp: seconds(-60) }), "the token has expired"],
    "not valid yet": [(_, payload) => Object.assign(payload, { nbf: seconds(60) }), "the token is not valid yet"],
    "for another audience": [(_, payload) => Object.assign(payload, { aud: canary }), "another audience"],
    "for an audience that begins like ours": [
      (_, payload) => Object.assign(payload, { aud: `${audience}2` }),
      "another audience",
    ],
    "from another issuer": [(_, payload) => Object.assign(payload, { iss: `https://${canary}/` }), "another issuer"],
    "from our issuer with a slash too many": [
      (_, payload) => Object.assign(payload, { iss: `${issuer.url}/` }),
      "another issuer",
    ],
    "without exp": [(_, payload) => Object.assign(payload, { exp: undefined }), "no exp claim"],
    "without iss": [(_, payload) => Object.assign(payload, { iss: undefined }), "no iss claim"],
    "without aud": [(_, payload) => Object.assign(payload, { aud: undefined }), "no aud claim"],
    "without sub": [(_, payload) => Object.assign(payload, { sub: undefined }), "no sub claim"],
    "with an empty sub": [(_, payload) => Object.assign(payload, { sub: "" }), "sub claim is not a string"],
    "with a number as sub": [(_, payload) => Object.assign(payload, { sub: 7 }), "sub claim is not a string"],
    "with a text as exp": [(_, payload) => Object.assign(payload, { exp: canary }), "exp claim has the wrong type"],
    "of another type": [(header) => Object.assign(header, { typ: "logout+jwt" }), "its typ is neither JWT nor at+jwt"],
    "with a critical extension": [
      (header) => Object.assign(header, { crit: ["b64"], b64: true }),
      "requires extensions",
    ],
  };
  test.each(Object.entries(refused))("%s: 401", async (_, [change, description]) => {
    const { authenticator, logged } = bench(configFor(issuer));
    const token = await issuer.token(change);
    const error = await refusal(authenticator.authenticate({ bearer: token }));
    expect(error).toMatchObject({ code: 16, status: 401 });
    expect(error.message).toContain(description);
    expect(challengeOf(error)).toMatch(
      new RegExp(
        `^Bearer realm="lakehead", error="invalid_token", error_description="[^"\\\\]*${description.replace("+", "\\+")}[^"\\\\]*"$`,
      ),
    );
    expectNoTrace(token, error, logged);
  });
});

describe("a forged token", () => {
  test("with alg none is refused, in any spelling", async () => {
    const { authenticator } = bench(configFor(issuer));
    for (const alg of ["none", "None", "NONE", "nOnE"])
      for (const signature of ["", "AAAA"]) {
        const error = await refusal(
          authenticator.authenticate({ bearer: `${part({ alg })}.${claims(issuer.url)}.${signature}` }),
        );
        expect(challengeOf(error)).toContain("accepted algorithm");
      }
  });

  test("signed by HS256 with the issuer's public key is refused, in each form of that key", async () => {
    const { authenticator, logged } = bench(configFor(issuer, { algorithms: ["ES256", "RS256"] }));
    const [jwk = {}] = issuer.publicKeys() as JWK[];
    const key = await importJWK(jwk, "ES256", { extractable: true });
    if (key instanceof Uint8Array) throw new Error("not a public key");
    for (const secret of [await exportSPKI(key), (await exportSPKI(key)).trim(), JSON.stringify(jwk), jwk.x ?? ""]) {
      const signed = `${part({ alg: "HS256", kid: jwk.kid })}.${claims(issuer.url)}`;
      const token = `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
      const error = await refusal(authenticator.authenticate({ bearer: token }));
      expect(challengeOf(error)).toContain("accepted algorithm");
      expectNoTrace(token, error, logged);
    }
  });

  test("signed with an algorithm that is not in the list is refused before any key is fetched", async () => {
    const { authenticator } = bench(configFor(issuer, { algorithms: ["RS256"] }));
    const token = await issuer.token();
    const before = issuer.requests.length;
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: token })))).toContain("(RS256)");
    expect(issuer.requests.length).toBe(before);
  });

  test("with an embedded or linked key is verified by the issuer's keys only", async () => {
    const attacker = await startIssuer();
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwk = await exportJWK(publicKey);
    const [known = {}] = issuer.publicKeys() as JWK[];
    const { authenticator } = bench(configFor(issuer));
    for (const extra of [
      { jwk },
      { jwk, kid: known.kid ?? "" },
      { jku: `${attacker.url}/jwks` },
      { jku: `${attacker.url}/jwks`, kid: known.kid ?? "" },
      { x5u: `${attacker.url}/chain.pem` },
      { kid: `${attacker.url}/jwks` },
      { kid: "../../../../dev/null" },
      {},
    ]) {
      const token = await forge({ alg: "ES256", ...extra }, privateKey, issuer.url);
      const error = await refusal(authenticator.authenticate({ bearer: token }));
      expect(error).toMatchObject({ code: 16, status: 401 });
      expectNoTrace(token, error);
    }
    expect(attacker.requests).toEqual([]);
    await attacker.stop();
  });

  test("with claims changed after it was signed is refused", async () => {
    const { authenticator } = bench(configFor(issuer));
    const [header, payload = "", signature] = (await issuer.token()).split(".");
    const body = JSON.parse(Buffer.from(payload, "base64url").toString());
    const token = `${header}.${part({ ...body, scope: "tags:write" })}.${signature}`;
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: token })))).toContain(
      "signature does not verify",
    );
  });

  test("that is malformed or too large is refused without a fetch", async () => {
    const { authenticator, logged } = bench(configFor(issuer));
    const before = issuer.requests.length;
    const body = claims(issuer.url);
    for (const token of [
      "..",
      "a.b.c",
      `${Buffer.from(`{"alg":"ES256",${canary}`).toString("base64url")}.${body}.AAAA`,
      `${part([])}.${body}.AAAA`,
      `${part({})}.${body}.AAAA`,
      `${part({ alg: ["ES256"] })}.${body}.AAAA`,
      `${part({ alg: "ES256", kid: 7 })}.${body}.AAAA`,
      `${part({ alg: "ES256", typ: {} })}.${body}.AAAA`,
      `${part({ alg: "ES256" })}.${"A".repeat(8192)}.AAAA`,
      `${part({ alg: "RSA-OAEP", enc: "A256GCM" })}.AAAA.AAAA.AAAA.AAAA`,
    ]) {
      const error = await refusal(authenticator.authenticate({ bearer: token }));
      expect(error).toMatchObject({ code: 16, status: 401 });
      expectNoTrace(token, error, logged);
    }
    expect(issuer.requests.length).toBe(before);
  });
});

describe("the payload of a token", () => {
  test("that is not a JSON object is refused without quoting it", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const other = await startIssuer();
    other.intercept = (request, response) => {
      if (request.url !== "/jwks") return false;
      void exportJWK(publicKey).then((jwk) => response.end(JSON.stringify({ keys: [jwk] })));
      return true;
    };
    const { authenticator } = bench(configFor(other));
    for (const body of [`${canary} is no JSON`, "[]", "null"]) {
      const token = await new CompactSign(Buffer.from(body)).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
      const error = await refusal(authenticator.authenticate({ bearer: token }));
      expect(challengeOf(error)).toContain("the token cannot be verified");
      expectNoTrace(token, error);
    }
    await other.stop();
  });
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const payloadOf = (url: string) => ({ iss: url, aud: audience, sub: canary, exp: seconds(600), scope: "plan" });

const claims = (url: string): string => part(payloadOf(url));

const forge = (header: JWTHeaderParameters, key: CryptoKey, url: string): Promise<string> =>
  new SignJWT(payloadOf(url)).setProtectedHeader(header).sign(key);
