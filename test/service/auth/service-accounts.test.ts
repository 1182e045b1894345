import type { JwtTransform } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthConfig } from "../../../service/auth/index.ts";
import {
  audience,
  bench,
  challengeOf,
  configFor,
  expectNoTrace,
  refusal,
  startIssuer,
  type TestIssuer,
} from "./support.ts";

let people: TestIssuer;
let cluster: TestIssuer;
beforeAll(async () => {
  [people, cluster] = await Promise.all([startIssuer(), startIssuer()]);
});
afterAll(() => Promise.all([people.stop(), cluster.stop()]));

const account = "system:serviceaccount:lancedb:geneva";

/** As the API server makes it: without type and scopes. */
const projected =
  (sub: string, claims: object = {}): JwtTransform =>
  (header, payload) => {
    delete (header as { typ?: string }).typ;
    delete payload.scope;
    Object.assign(payload, { sub, aud: [audience], "kubernetes.io": { namespace: "lancedb" }, ...claims });
  };

const both = (changes: Partial<AuthConfig> = {}): AuthConfig =>
  configFor(people, {
    clusterIssuer: cluster.url,
    serviceAccounts: [{ name: "lancedb/geneva", scopes: ["credentials", "read"], tables: ["prod$**"] }],
    ...changes,
  });

describe("the token of a service account", () => {
  test("has the scopes and tables of the configuration, beside JWTs of the other issuer", async () => {
    const { authenticator } = bench(both());
    const principal = await authenticator.authenticate({ bearer: await cluster.token(projected(account)) });
    expect(principal).toMatchObject({ subject: "lancedb/geneva", method: "service-account" });
    expect([...principal.scopes]).toEqual(["credentials", "read"]);
    expect(principal.tables.permits(["prod", "docs"])).toBe(true);
    expect(principal.tables.permits(["docs"])).toBe(false);
    expect(await authenticator.authenticate({ bearer: await people.token() })).toMatchObject({ method: "jwt" });
  });

  test("is accepted without another issuer", async () => {
    const { issuer: _, ...alone } = both();
    const { authenticator } = bench(alone);
    const bearer = await cluster.token(projected(account));
    expect((await authenticator.authenticate({ bearer })).subject).toBe("lancedb/geneva");
    const error = await refusal(authenticator.authenticate({ bearer: await people.token() }));
    expect(error.code).toBe(16);
  });

  test("grants itself nothing by claims", async () => {
    const { authenticator } = bench(both({ tablesClaim: "tables" }));
    const bearer = await cluster.token(projected(account, { scope: "manage", tables: ["**"] }));
    const principal = await authenticator.authenticate({ bearer });
    expect([...principal.scopes]).toEqual(["credentials", "read"]);
    expect(principal.tables.permits(["docs"])).toBe(false);
  });

  test.each<[string, JwtTransform, string]>([
    ["of an account that is not listed", projected("system:serviceaccount:lancedb:other"), "not in the configuration"],
    ["of an account of another namespace", projected("system:serviceaccount:other:geneva"), "not in the configuration"],
    ["whose subject is the bare name", projected("lancedb/geneva"), "not in the configuration"],
    ["for the API server", projected(account, { aud: ["https://kubernetes.default.svc"] }), "another audience"],
    ["that has expired", projected(account, { exp: 1 }), "has expired"],
  ])("%s is refused", async (_, change, reason) => {
    const { authenticator, logged } = bench(both());
    const token = await cluster.token(change);
    const error = await refusal(authenticator.authenticate({ bearer: token }));
    expect(error.code).toBe(16);
    expect(challengeOf(error)).toContain(reason);
    expectNoTrace(token, error, logged);
  });

  test("is no service account when the other issuer says so, and the other way round", async () => {
    const { authenticator } = bench(both());
    const posing = await people.token(projected(account));
    expect(await authenticator.authenticate({ bearer: posing })).toMatchObject({ method: "jwt", subject: account });
    for (const [signer, other] of [
      [people, cluster],
      [cluster, people],
    ] as const) {
      const forged = await signer.token(projected(account, { iss: other.url }));
      const error = await refusal(authenticator.authenticate({ bearer: forged }));
      expect(challengeOf(error)).toMatch(/signature|no key of the trusted issuer/);
    }
  });
});

test("the service is ready once the keys of both issuers are loaded, and one of them may fail alone", async () => {
  const { authenticator } = bench(both());
  await cluster.stop();
  expect(authenticator.ready()).toBe(false);
  expect(await authenticator.authenticate({ bearer: await people.token() })).toMatchObject({ method: "jwt" });
  expect(authenticator.ready()).toBe(false);
  await cluster.start();
  const again = bench(both()).authenticator;
  await expect.poll(() => again.ready()).toBe(true);
  authenticator.close();
});
