import { describe, expect, test } from "vitest";
import { compileTablePatterns, type Principal, type Scope } from "../../../service/auth/index.ts";
import { placeOf } from "../../../service/catalog/place.ts";
import { rightOf, scopesOf } from "../../../service/catalog/rights.ts";
import { sessionPolicy } from "../../../service/catalog/session-policy.ts";
import { type Credential, unavailable, Vending } from "../../../service/catalog/vending.ts";
import type { TableId } from "../../../service/guard/table-id.ts";

const idOf = (...parts: string[]): TableId => ({
  namespace: parts.slice(0, -1),
  name: parts.at(-1) ?? "",
  parts,
  key: parts.join("$"),
});

const callerWith = (scopes: readonly Scope[], subject = "me"): Principal => ({
  subject,
  scopes: new Set(scopes),
  tables: compileTablePatterns(["**"]),
  method: "static-token",
});

describe("the place of a table", () => {
  test.each([
    ["s3://lake/t", "s3://lake/t/docs.lance", ["docs"], "t/docs.lance/"],
    ["s3://lake/t/", "s3://lake/t/docs.lance", ["docs"], "t/docs.lance/"],
    ["s3://lake", "s3://lake/docs.lance", ["docs"], "docs.lance/"],
    ["s3://lake/t", "s3://lake/t/0a1b2c3d_a%20b$c$docs", ["a b", "c", "docs"], "t/0a1b2c3d_a b$c$docs/"],
  ])("in %s, at %s", (uri, address, parts, prefix) => {
    expect(placeOf(uri, address, idOf(...parts))).toEqual({ bucket: "lake", prefix });
  });

  test.each([
    ["another directory", "s3://lake/t/docs2.lance", ["docs"]],
    ["the database itself", "s3://lake/t/", ["docs"]],
    ["a directory around it", "s3://lake/", ["docs"]],
    ["another bucket", "s3://other/t/docs.lance", ["docs"]],
    ["a bucket that begins alike", "s3://lake/tt/docs.lance", ["docs"]],
    ["a path beside", "s3://lake/t/../u/docs.lance", ["docs"]],
    ["a directory below", "s3://lake/t/x/docs.lance", ["docs"]],
    ["a directory without a number", "s3://lake/t/a$docs", ["a", "docs"]],
    ["the directory of another namespace", "s3://lake/t/0a1b2c3d_b$docs", ["a", "docs"]],
    ["an address that cannot be decoded", "s3://lake/t/0a1b2c3d_%ff$docs", ["a", "docs"]],
    ["a pattern", "s3://lake/t/0a1b2c3d_*$docs", ["*", "docs"]],
    ["a variable", "s3://lake/t/0a1b2c3d_a$%7Bx%7D$docs", ["a", "{x}", "docs"]],
    ["a quote", "s3://lake/t/0a1b2c3d_a'$docs", ["a'", "docs"]],
  ])("is refused for %s", (_, address, parts) => {
    expect(() => placeOf("s3://lake/t", address, idOf(...parts))).toThrow(/vend_credentials: false/);
  });

  test.each(["s3://lake/a*", "s3://lake/a/../b", "s3://lake/a%2A", "s3://lake/$" + "{aws:username}"])(
    "is refused in %s",
    (uri) => {
      expect(() => placeOf(uri, `${uri}/docs.lance`, idOf("docs"))).toThrow(/prefix of the database/);
    },
  );
});

describe("the policy of a session", () => {
  const place = { bucket: "lake", prefix: "t/docs.lance/" };

  test("uses the key of the bucket, and nothing more", () => {
    const key = "arn:aws:kms:eu-central-1:111122223333:key/0a1b";
    const { Statement } = JSON.parse(sessionPolicy(place, "read", { kmsKey: key })) as {
      Statement: { Action: string[] }[];
    };
    expect(Statement.map(({ Action }) => Action)).toEqual([
      ["s3:ListBucket"],
      ["s3:GetObject"],
      ["kms:Decrypt", "kms:GenerateDataKey"],
    ]);
    expect(Statement[2]).toMatchObject({ Resource: [key] });
    expect(sessionPolicy(place, "read")).not.toContain("kms");
  });

  test("stays in its partition", () => {
    expect(sessionPolicy(place, "write", { partition: "aws-cn" })).not.toContain("arn:aws:");
  });

  test("is refused where STS would refuse it", () => {
    expect(() => sessionPolicy({ bucket: "lake", prefix: `${"x".repeat(1000)}/` }, "read")).toThrow(/too long/);
  });
});

test.each<[readonly Scope[], string | undefined]>([
  [scopesOf.read, "read"],
  [scopesOf.write, "write"],
  [["credentials", "read", "write"], "read"],
  [["credentials", "read", "manage"], "read"],
  [["credentials", "write", "manage"], undefined],
  [["read", "write", "manage"], undefined],
  [["credentials"], undefined],
])("scopes %j give the right %s", (scopes, right) => {
  expect(rightOf(callerWith(scopes))).toBe(right);
});

describe("lent credentials", () => {
  const minute = 60_000;
  const docs = idOf("docs");
  const at = "s3://lake/t/docs.lance";

  /** Vending with a clock and an issuer whose answers are numbered. */
  const make = (lifeMs = 60 * minute) => {
    const state = { now: 1_800_000_000_000, issued: 0, away: false };
    const issue = async (): Promise<Credential> => {
      if (state.away) throw unavailable();
      return { options: { number: String(++state.issued) }, expiresAt: state.now + lifeMs };
    };
    const vending = new Vending("s3://lake/t", "write", issue, () => state.now);
    const lend = async (scopes: readonly Scope[], subject = "me") => {
      const caller = callerWith(scopes, subject);
      const right = vending.rightOf(caller);
      if (right === undefined) throw new Error("no right");
      return (await vending.lend(docs, at, right, caller)).storageOptions.number;
    };
    return { state, vending, lend };
  };

  test("are asked for once by callers at the same time", async () => {
    const { lend, vending } = make();
    expect(await Promise.all([1, 2, 3].map(() => lend(scopesOf.read)))).toEqual(["1", "1", "1"]);
    expect(vending.counts).toEqual({ issued: 1, kept: 2 });
  });

  test("are kept for half of their life", async () => {
    const { state, lend } = make();
    expect(await lend(scopesOf.read)).toBe("1");
    state.now += 29 * minute;
    expect(await lend(scopesOf.read)).toBe("1");
    state.now += 2 * minute;
    expect(await lend(scopesOf.read)).toBe("2");
  });

  test("are lent longer while the issuer is away, but not until their end", async () => {
    const { state, lend } = make();
    expect(await lend(scopesOf.read)).toBe("1");
    state.away = true;
    state.now += 50 * minute;
    expect(await lend(scopesOf.read)).toBe("1");
    state.now += 6 * minute;
    await expect(lend(scopesOf.read)).rejects.toMatchObject({ code: 17, headers: { "retry-after": "5" } });
    state.away = false;
    expect(await lend(scopesOf.read)).toBe("2");
  });

  test("are of another right as soon as the scopes of the caller change", async () => {
    const { lend } = make();
    expect(await lend(scopesOf.write)).toBe("1");
    expect(await lend(scopesOf.read)).toBe("2");
    await expect(lend(["read"])).rejects.toThrow("no right");
  });

  test("are each caller's own", async () => {
    const { lend } = make();
    expect(await lend(scopesOf.read, "me")).toBe("1");
    expect(await lend(scopesOf.read, "you")).toBe("2");
  });

  test("are not asked for where the issuer fails, and at the next call again", async () => {
    const { state, lend } = make();
    state.away = true;
    await expect(lend(scopesOf.read)).rejects.toMatchObject({ code: 17 });
    state.away = false;
    expect(await lend(scopesOf.read)).toBe("1");
  });

  test("say their end, and who got what", async () => {
    const { state, vending } = make();
    const caller = callerWith(scopesOf.write);
    expect(await vending.lend(docs, at, "write", caller)).toEqual({
      storageOptions: { number: "1", expires_at_millis: String(state.now + 60 * minute) },
      loan: {
        right: "write",
        bucket: "lake",
        prefix: "t/docs.lance/",
        until: new Date(state.now + 60 * minute).toISOString(),
      },
    });
  });
});
