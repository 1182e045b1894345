import { generateKeyPair, SignJWT } from "jose";
import type { JwtTransform } from "oauth2-mock-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKeySource } from "../../../service/auth/issuer.ts";
import {
  audience,
  bench,
  canary,
  challengeOf,
  configFor,
  discoveryPath,
  refusal,
  startIssuer,
  type TestIssuer,
} from "./support.ts";

let issuer: TestIssuer;
beforeEach(async () => {
  issuer = await startIssuer();
});
afterEach(() => issuer.stop());

const times = { keyCacheSeconds: 600, staleKeySeconds: 1200, cooldownSeconds: 30 };
const fetches = (path = "/jwks"): number => issuer.requests.filter((asked) => asked === path).length;
const garbage = async (count: number, kidOf = (index: number): object => ({ kid: `unknown-${index}` })) => {
  const { privateKey } = await generateKeyPair("ES256");
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      new SignJWT({ iss: issuer.url, aud: audience, sub: "s" })
        .setProtectedHeader({ alg: "ES256", ...kidOf(index) })
        .setExpirationTime("1h")
        .sign(privateKey),
    ),
  );
};

describe("fetching keys", () => {
  test("happens once for concurrent first requests, and not again within the cache time", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const tokens = [await issuer.token(), await issuer.token(), await issuer.token()];
    await Promise.all([...tokens, ...tokens, ...tokens].map((bearer) => authenticator.authenticate({ bearer })));
    advance(400);
    await Promise.all(tokens.map((bearer) => authenticator.authenticate({ bearer })));
    expect(issuer.requests).toEqual([discoveryPath, "/jwks"]);
  });

  test("requests only the JWKS when its address is configured", async () => {
    const config = configFor(issuer, { ...times, jwksUrl: `${issuer.url}/jwks` });
    const { authenticator } = bench(config);
    await authenticator.authenticate({ bearer: await issuer.token() });
    expect(issuer.requests).toEqual(["/jwks"]);
  });

  test("happens before the cache time ends", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await authenticator.authenticate({ bearer });
    advance(481);
    await authenticator.authenticate({ bearer });
    await expect.poll(() => issuer.requests).toEqual([discoveryPath, "/jwks", "/jwks"]);
  });

  test("happens at most once per cooldown for 100 unknown key ids", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    await authenticator.authenticate({ bearer: await issuer.token() });
    const tokens = await garbage(100);
    const send = () => Promise.all(tokens.map((bearer) => refusal(authenticator.authenticate({ bearer }))));
    for (const error of await send()) expect(challengeOf(error)).toContain("no key of the trusted issuer");
    expect(fetches()).toBe(1);
    advance(31);
    for (const error of await send()) expect(error.code).toBe(16);
    expect(fetches()).toBe(2);
  });

  test("happens at most once per cooldown for 100 invalid signatures, with a known key id or without one", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    await authenticator.authenticate({ bearer: await issuer.token() });
    const [known = {}] = issuer.publicKeys() as { kid?: string }[];
    const tokens = await garbage(100, (index) => (index % 2 === 0 ? { kid: known.kid } : {}));
    const send = () => Promise.all(tokens.map((bearer) => refusal(authenticator.authenticate({ bearer }))));
    for (const fetched of [1, 2, 3]) {
      for (const error of [...(await send()), ...(await send())])
        expect(challengeOf(error)).toContain("the signature does not verify");
      expect(fetches()).toBe(fetched);
      advance(31);
    }
  });

  test("is not caused by 100 malformed tokens", async () => {
    const { authenticator } = bench(configFor(issuer, times));
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        refusal(authenticator.authenticate({ bearer: `garbage.${index}.${canary}` })),
      ),
    );
    expect(issuer.requests).toEqual([]);
  });

  test("starts with the first readiness probe", async () => {
    const { authenticator } = bench(configFor(issuer, times));
    expect(authenticator.ready()).toBe(false);
    await expect.poll(() => authenticator.ready()).toBe(true);
    expect(issuer.requests).toEqual([discoveryPath, "/jwks"]);
  });

  test("is cancelled by close, and waiting requests are refused", async () => {
    const { authenticator } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    issuer.intercept = () => true;
    const waiting = refusal(authenticator.authenticate({ bearer }));
    await expect.poll(() => issuer.requests.length).toBe(1);
    authenticator.close();
    expect(await waiting).toMatchObject({ code: 17, status: 503 });
  });
});

describe("rotation", () => {
  test("takes effect without a restart: tokens of the new key are accepted, those of the removed key are not", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const old = await issuer.token();
    await authenticator.authenticate({ bearer: old });
    await issuer.rotate();
    const fresh = await issuer.token();
    await authenticator.authenticate({ bearer: old });
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: fresh })))).toContain("no key");
    advance(31);
    expect((await authenticator.authenticate({ bearer: fresh })).subject).toBe(canary);
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: old })))).toContain("no key");
    expect(fetches()).toBe(2);
  });

  const rotations: Record<string, [kid: string | undefined, change: JwtTransform | undefined]> = {
    "whose tokens carry no key id": [undefined, (header) => Object.assign(header, { kid: undefined })],
    "that uses a key id again": ["the-one", undefined],
  };
  test.each(Object.entries(rotations))("is followed for an issuer %s", async (_, [kid, change]) => {
    await issuer.rotate("ES256", kid);
    const { authenticator, advance } = bench(configFor(issuer, times));
    const old = await issuer.token(change);
    await authenticator.authenticate({ bearer: old });
    await issuer.rotate("ES256", kid);
    const fresh = await issuer.token(change);
    advance(31);
    expect((await authenticator.authenticate({ bearer: fresh })).subject).toBe(canary);
    expect(challengeOf(await refusal(authenticator.authenticate({ bearer: old })))).toContain("signature");
    expect(fetches()).toBe(2);
  });

  test("refuses tokens of a removed key when the cache time ends, without any token of a new key", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const old = await issuer.token();
    await authenticator.authenticate({ bearer: old });
    await issuer.rotate();
    advance(601);
    expect(await refusal(authenticator.authenticate({ bearer: old }))).toMatchObject({ code: 16 });
  });
});

describe("an unavailable issuer", () => {
  test("uses cached keys for the bounded time, then responds 503, and recovers", async () => {
    const { authenticator, advance, logged } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await authenticator.authenticate({ bearer });
    await issuer.stop();

    advance(601);
    expect((await authenticator.authenticate({ bearer })).subject).toBe(canary);
    advance(1100);
    expect((await authenticator.authenticate({ bearer })).subject).toBe(canary);
    await expect.poll(() => logged.filter(({ level }) => level === "warn").length).toBe(2);
    expect(logged[0]).toMatchObject({
      fields: { lastGoodKeys: true, reason: expect.stringContaining("cannot be reached") },
    });

    advance(100);
    const error = await refusal(authenticator.authenticate({ bearer }));
    expect(error).toMatchObject({ code: 17, status: 503 });
    expect(Number(error.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(authenticator.ready()).toBe(true);

    await issuer.start();
    advance(30);
    expect((await authenticator.authenticate({ bearer })).subject).toBe(canary);
    expect(logged.at(-1)).toMatchObject({ level: "info" });
  });

  test("and then hangs does not delay tokens with a known key", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await authenticator.authenticate({ bearer });
    await issuer.stop();
    advance(601);
    await authenticator.authenticate({ bearer });
    await issuer.start();
    const ended: string[] = [];
    issuer.intercept = (request) => request.socket.once("close", () => ended.push(request.url ?? "")) !== undefined;
    advance(2);
    await authenticator.authenticate({ bearer });
    await expect.poll(() => issuer.requests.length).toBe(3);
    expect(ended).toEqual([]);
    authenticator.close();
  });

  test("makes a token of unknown key 503, not 401, since a rotation may have taken place", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await authenticator.authenticate({ bearer });
    await issuer.rotate();
    const fresh = await issuer.token();
    await issuer.stop();
    advance(31);
    expect(await refusal(authenticator.authenticate({ bearer: fresh }))).toMatchObject({ code: 17 });
    expect((await authenticator.authenticate({ bearer })).subject).toBe(canary);
  });

  test("from the start is 503 and not ready; attempts are 1, 2, 4 … seconds apart up to the cooldown, under any load", async () => {
    const { authenticator, advance, logged } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await issuer.stop();
    const waits: (string | undefined)[] = [];
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const refused = await Promise.all(
        Array.from({ length: 20 }, () => refusal(authenticator.authenticate({ bearer }))),
      );
      expect(new Set(refused.map(({ code }) => code))).toEqual(new Set([17]));
      expect(authenticator.ready()).toBe(false);
      expect(logged.length).toBe(attempt);
      waits.push(refused[0]?.headers["retry-after"]);
      advance(Number(waits.at(-1)));
    }
    expect(waits).toEqual(["1", "2", "4", "8", "16", "30", "30"]);
    await issuer.start();
    expect((await authenticator.authenticate({ bearer })).subject).toBe(canary);
    expect(authenticator.ready()).toBe(true);
  });
});

describe("an issuer with a malformed response", () => {
  const json = (body: unknown, status = 200) => ({ status, body: JSON.stringify(body) });
  const wrong: Record<
    string,
    [path: string, answer: { status: number; body: string; location?: string }, reason: string]
  > = {
    "a discovery document of a foreign issuer": [
      discoveryPath,
      json({ issuer: "https://evil.example", jwks_uri: "https://evil.example/jwks" }),
      "another issuer",
    ],
    "a discovery document without key set": [discoveryPath, json({}), "must be a string"],
    "a discovery document that is no JSON": [discoveryPath, { status: 200, body: `<html>${canary}</html>` }, "as JSON"],
    "no JSON": ["/jwks", { status: 200, body: `<html>${canary}</html>` }, "as JSON"],
    "a list": ["/jwks", json(null), "malformed"],
    "no keys": ["/jwks", json({ error: canary }), "malformed"],
    "keys that are no objects": ["/jwks", json({ keys: [canary] }), "malformed"],
    "too many keys": [
      "/jwks",
      json({ keys: Array.from({ length: 101 }, () => ({ kty: "RSA" })) }),
      "more than 100 keys",
    ],
    "an oversized answer": [
      "/jwks",
      { status: 200, body: `{"keys":[],"x":"${"x".repeat(300_000)}"}` },
      "more than 262144 bytes",
    ],
    "an error": ["/jwks", json({ keys: [] }, 500), "answered 500"],
    "a redirect": ["/jwks", { status: 302, body: "", location: "/elsewhere" }, "redirects are not followed"],
  };
  test.each(Object.entries(wrong))(
    "%s: 503, with the reason in the log",
    async (_, [path, { status, body, location }, reason]) => {
      issuer.intercept = (request, response) => {
        if (request.url !== path) return false;
        response.writeHead(status, location === undefined ? {} : { location }).end(body);
        return true;
      };
      const { authenticator, logged } = bench(configFor(issuer, times));
      const error = await refusal(authenticator.authenticate({ bearer: await issuer.token() }));
      expect(error).toMatchObject({ code: 17, status: 503 });
      expect(JSON.stringify(logged)).toContain(reason);
      expect(JSON.stringify(logged)).not.toContain(canary);
      expect(issuer.requests).not.toContain("/elsewhere");
    },
  );

  test("a discovery document whose issuer differs by a trailing slash is 503, and the log says so", async () => {
    issuer.intercept = (request, response) => {
      if (request.url !== discoveryPath) return false;
      response.end(JSON.stringify({ issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/jwks` }));
      return true;
    };
    const { authenticator, logged } = bench(configFor(issuer, times));
    expect(await refusal(authenticator.authenticate({ bearer: await issuer.token() }))).toMatchObject({ code: 17 });
    expect(JSON.stringify(logged)).toContain("including a trailing slash");
  });

  test("a discovery document with a plain http JWKS is 503, without a request to that address", async () => {
    issuer.intercept = (request, response) => {
      if (request.url !== discoveryPath) return false;
      response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: "http://keys.example/jwks" }));
      return true;
    };
    const { authenticator, logged } = bench(configFor(issuer, times));
    await refusal(authenticator.authenticate({ bearer: await issuer.token() }));
    expect(JSON.stringify(logged)).toContain("has no https jwks_uri");
  });

  test("is 503 after a bounded wait", async () => {
    issuer.intercept = () => true;
    const load = createKeySource({ issuer: issuer.url, fetch, timeoutMilliseconds: 30 });
    await expect(load(new AbortController().signal)).rejects.toThrow("did not answer in time");
  });

  test("with keys moved to another address: discovery finds them after one failure", async () => {
    const { authenticator, advance } = bench(configFor(issuer, times));
    const bearer = await issuer.token();
    await authenticator.authenticate({ bearer });
    const keys = JSON.stringify({ keys: issuer.publicKeys() });
    issuer.intercept = ({ url }, response) => {
      if (url === "/jwks") response.writeHead(404).end();
      else if (url === "/moved") response.end(keys);
      else response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/moved` }));
      return true;
    };
    advance(601);
    await authenticator.authenticate({ bearer });
    advance(2);
    await authenticator.authenticate({ bearer });
    await expect.poll(() => issuer.requests.at(-1)).toBe("/moved");
  });
});
