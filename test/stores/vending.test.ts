import { createHash } from "node:crypto";
import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Right, rights, scopesOf } from "../../service/catalog/rights.ts";
import { createApi } from "../../service/console/page/api.ts";
import { bucketName } from "../support/object-store.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { type Minio, rootKeys, startMinio } from "./minio.ts";
import { type SignedBy, signedTo } from "./signed.ts";

const minio = await startMinio((line) => process.stdout.write(`${line}\n`));
if (minio.base === undefined) process.stdout.write(`skipped: lent credentials, because ${minio.missing} is missing\n`);

const tokens = {
  read: "token-that-lends-to-a-reader",
  write: "token-that-lends-to-a-writer",
  other: "token-that-lends-to-another-reader",
  tags: "token-that-lends-to-a-reader-of-tags",
  unlent: "token-of-a-reader-without-files",
  filesOnly: "token-of-files-without-a-right",
  one: "token-for-the-table-docs-alone",
} as const;

/** Tables whose names begin alike, at the root and in namespaces, and one with a blank. */
const tables = ["docs", "docs2", "docs.lance", "a$docs", "a$docs2", "a b$docs", "a$b$docs"] as const;

/** Whose ids a policy could misread: as a pattern, or as a variable. */
const unsafe = ["h*x$t", "q?x$t", "{aws:username}$t", "é$t", "a'b$t"] as const;

describe.skipIf(minio.base === undefined)("lent credentials on MinIO", () => {
  const store = minio as Minio;
  const signed = signedTo(store.base ?? "http://skipped");
  let service: ServiceProcess;

  const pathOf = (id: string): string => id.split("$").map(encodeURIComponent).join("$");
  const describeAs = (token: string, id: string, body: object = {}, more: object = {}) =>
    service.call("describe", pathOf(id), body, { token, ...more });

  beforeAll(async () => {
    const connection = await connect(store.uri, { storageOptions: { ...store.storageOptions } });
    for (const namespace of [["a"], ["a b"], ["a", "b"], ["h*x"], ["q?x"], ["{aws:username}"], ["é"], ["a'b"]])
      await connection.createNamespace(namespace);
    for (const id of [...tables, ...unsafe]) {
      const parts = id.split("$");
      await connection.createTable(parts.at(-1) ?? "", [{ id: 1, text: id }], parts.slice(0, -1));
    }
    connection.close();
    service = await serveWith({ LAKEHEAD_WRITES: "on" });
  }, 180_000);

  const serveWith = (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
    startReadyServiceProcess({
      tokens: [
        staticToken("reader", tokens.read, scopesOf.read),
        staticToken("writer", tokens.write, scopesOf.write),
        staticToken("other", tokens.other, scopesOf.read),
        staticToken("tags", tokens.tags, [...scopesOf.read, "tags:read"]),
        staticToken("unlent", tokens.unlent, ["read", "write", "manage"]),
        staticToken("files-only", tokens.filesOnly, ["credentials"]),
        staticToken("one", tokens.one, scopesOf.write, ["docs"]),
      ],
      environment: {
        LAKEHEAD_DATABASE: store.uri,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(store.storageOptions),
        LAKEHEAD_QUEUE_SECONDS: "120",
        LAKEHEAD_VENDING: "assume-role",
        LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
        LAKEHEAD_VENDING_SECONDS: "900",
        ...environment,
      },
    });
  afterAll(async () => {
    await service?.stop();
    if (minio.base !== undefined) await minio.stop();
  });

  const lent = async (
    right: Right,
    id: string,
  ): Promise<{ keys: SignedBy; prefix: string; options: Record<string, string> }> => {
    const { status, body } = await describeAs(tokens[right], id);
    expect(status, JSON.stringify(body)).toBe(200);
    const options: Record<string, string> = body.storage_options;
    return {
      options,
      keys: {
        id: options.aws_access_key_id ?? "",
        secret: options.aws_secret_access_key ?? "",
        token: options.aws_session_token ?? "",
      },
      prefix: `${decodeURIComponent(body.location.slice(`s3://${bucketName}/`.length))}/`,
    };
  };

  /** Every object of the bucket with its tag. */
  const everything = async (): Promise<Map<string, string>> => {
    const { body } = await signed(rootKeys, "GET", bucketName, { query: { "list-type": "2", "max-keys": "1000" } });
    const entry = /<Key>(.*?)<\/Key>.*?<ETag>(.*?)<\/ETag>/gs;
    return new Map(
      [...body.toString().matchAll(entry)].map(([, key = "", tag = ""]) => [
        key.replaceAll("&#39;", "'").replaceAll("&amp;", "&"),
        tag,
      ]),
    );
  };

  type Attempt = (keys: SignedBy, key: string, own: string) => Promise<boolean>;

  const isDone = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;
  const at = (key: string): string => `${bucketName}/${key}`;

  /** What can be done to an object. Each tells whether the store let it happen. */
  const attempts: Readonly<Record<string, Attempt>> = {
    get: async (keys, key) => isDone(await signed(keys, "GET", at(key))),
    head: async (keys, key) => isDone(await signed(keys, "HEAD", at(key))),
    put: async (keys, key) => isDone(await signed(keys, "PUT", at(key), { body: "attack" })),
    "put beside": async (keys, key) => isDone(await signed(keys, "PUT", at(`${key}.new`), { body: "attack" })),
    "put by a path with dots": async (keys, key, own) => {
      const up = own
        .split("/")
        .slice(0, -1)
        .map(() => "..")
        .join("/");
      return isDone(await signed(keys, "PUT", at(`${own}${up}/${key}`), { body: "attack" }));
    },
    "upload in parts": async (keys, key) => isDone(await signed(keys, "POST", at(key), { query: { uploads: "" } })),
    "copy from it": async (keys, key, own) =>
      isDone(
        await signed(keys, "PUT", at(`${own}copied`), {
          headers: { "x-amz-copy-source": `/${at(key).split("/").map(encodeURIComponent).join("/")}` },
        }),
      ),
    delete: async (keys, key) => isDone(await signed(keys, "DELETE", at(key))),
    "delete in bulk": async (keys, key) => {
      const body = `<Delete><Object><Key>${key.replaceAll("&", "&amp;")}</Key></Object></Delete>`;
      const md5 = createHash("md5").update(body).digest("base64");
      const answer = await signed(keys, "POST", bucketName, {
        query: { delete: "" },
        headers: { "content-md5": md5 },
        body,
      });
      return isDone(answer) && answer.body.toString().includes("<Deleted>");
    },
    "list its folder": async (keys, key) =>
      isDone(await signed(keys, "GET", bucketName, { query: { "list-type": "2", prefix: key.replace(/[^/]*$/, "") } })),
    "list its beginning": async (keys, key) =>
      isDone(await signed(keys, "GET", bucketName, { query: { "list-type": "2", prefix: key.slice(0, -3) } })),
    "read its tags": async (keys, key) => isDone(await signed(keys, "GET", at(key), { query: { tagging: "" } })),
  };

  /** What can be done to the bucket and to sessions. */
  const bucketAttempts: Readonly<Record<string, (keys: SignedBy, prefix: string) => Promise<boolean>>> = {
    "list all": async (keys) => isDone(await signed(keys, "GET", bucketName, { query: { "list-type": "2" } })),
    "list all versions": async (keys) => isDone(await signed(keys, "GET", bucketName, { query: { versions: "" } })),
    "list the database": async (keys) =>
      isDone(await signed(keys, "GET", bucketName, { query: { "list-type": "2", prefix: "tables/" } })),
    "list without the slash": async (keys, prefix) =>
      isDone(await signed(keys, "GET", bucketName, { query: { "list-type": "2", prefix: prefix.slice(0, -1) } })),
    "list uploads": async (keys) => isDone(await signed(keys, "GET", bucketName, { query: { uploads: "" } })),
    "list buckets": async (keys) => {
      const answer = await signed(keys, "GET", "");
      return isDone(answer) && answer.body.toString().includes("<Bucket>");
    },
    "read the policy": async (keys) => isDone(await signed(keys, "GET", bucketName, { query: { policy: "" } })),
    "replace the policy": async (keys) =>
      isDone(
        await signed(keys, "PUT", bucketName, {
          query: { policy: "" },
          body: '{"Version":"2012-10-17","Statement":[]}',
        }),
      ),
    "put the table's own name": async (keys, prefix) =>
      isDone(await signed(keys, "PUT", at(prefix.slice(0, -1)), { body: "attack" })),
    "delete the bucket": async (keys) => isDone(await signed(keys, "DELETE", bucketName)),
  };

  test("reach no object of another table, by no operation", async () => {
    const before = await everything();
    const credentials = await Promise.all(
      rights.flatMap((right) => tables.map(async (id) => ({ id, right, ...(await lent(right, id)) }))),
    );
    const reached: string[] = [];
    let tried = 0;
    for (const { id, right, keys, prefix } of credentials) {
      const foreign = [...before.keys()].filter((key) => !key.startsWith(prefix));
      expect(foreign.length).toBeGreaterThan(20);
      // Of each other directory one file of each kind.
      const targets = Object.values(Object.groupBy(foreign, (key) => key.replace(/[^/]*$/, ""))).map(
        (keys) => keys?.[0] ?? "",
      );
      for (const key of targets)
        for (const [name, attempt] of Object.entries(attempts)) {
          tried++;
          if (await attempt(keys, key, prefix)) reached.push(`${right} of ${id}: ${name} ${key}`);
        }
      for (const [name, attempt] of Object.entries(bucketAttempts)) {
        tried++;
        if (await attempt(keys, prefix)) reached.push(`${right} of ${id}: ${name}`);
      }
    }
    process.stdout.write(
      `${tried} attacks with ${credentials.length} lent credentials, ${reached.length} reached something\n`,
    );
    expect(reached).toEqual([]);
    expect(tried).toBeGreaterThan(1000);
    expect(await everything()).toEqual(before);
  }, 600_000);

  const permitted: Readonly<Record<Right, readonly string[]>> = {
    read: ["get", "head", "list its folder", "list its beginning"],
    write: Object.keys(attempts).filter((name) => name !== "put by a path with dots" && name !== "read its tags"),
  };

  test.each(rights)("with the right to %s do on their own table what it says", async (right) => {
    const { keys, prefix } = await lent(right, "a b$docs");
    const own = `${prefix}_attack/own.txt`;
    const done: string[] = [];
    for (const [name, attempt] of Object.entries(attempts)) {
      await signed(rootKeys, "PUT", at(own), { body: "own" });
      if (await attempt(keys, own, prefix)) done.push(name);
    }
    for (const key of (await everything()).keys())
      if (key.startsWith(`${prefix}_attack/`) || key === `${prefix}copied`) await signed(rootKeys, "DELETE", at(key));
    expect(done).toEqual(permitted[right]);
  });

  test("of a service that takes no writes permit none", async () => {
    const reading = await serveWith({ LAKEHEAD_WRITES: "off" });
    try {
      const { body } = await reading.call("describe", "docs", {}, { token: tokens.write });
      const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = body.storage_options;
      const keys = { id, secret, token: session };
      const key = "tables/docs.lance/_attack.txt";
      expect((await signed(keys, "PUT", at(key), { body: "attack" })).status).toBe(403);
      expect((await signed(rootKeys, "HEAD", at(key))).status).toBe(404);
    } finally {
      await reading.stop();
    }
  });

  test("open no further session", async () => {
    const { STSClient, AssumeRoleCommand } = await import("@aws-sdk/client-sts");
    const { keys } = await lent("write", "docs");
    const client = new STSClient({
      region: "us-east-1",
      endpoint: store.base,
      credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret, sessionToken: keys.token ?? "" },
    });
    const command = new AssumeRoleCommand({ RoleArn: "arn:aws:iam::123456789012:role/any", RoleSessionName: "attack" });
    await expect(client.send(command)).rejects.toThrow();
    // With the root's keys, the same request is answered.
    const root = new STSClient({
      region: "us-east-1",
      endpoint: store.base,
      credentials: { accessKeyId: rootKeys.id, secretAccessKey: rootKeys.secret },
    });
    await expect(root.send(command)).resolves.toHaveProperty("Credentials");
  });

  test.each(unsafe)("are refused for %s, which is described without them", async (id) => {
    const refused = await describeAs(tokens.read, id);
    expect(refused).toMatchObject({
      status: 406,
      body: { code: 0, error: expect.stringContaining("vend_credentials: false") },
    });
    const described = await describeAs(tokens.read, id, { vend_credentials: false });
    expect(described).toMatchObject({ status: 200, body: { version: 1 } });
    expect(described.body).not.toHaveProperty("storage_options");
    expect(await describeAs(tokens.read, id, undefined, { trailingSlash: true, rawBody: "" })).toMatchObject({
      status: 200,
    });
  });

  test("have an end, the client's options, and nothing else of the operator's", async () => {
    const { options } = await lent("read", "docs");
    expect(Object.keys(options).toSorted()).toEqual([
      "allow_http",
      "aws_access_key_id",
      "aws_endpoint",
      "aws_region",
      "aws_secret_access_key",
      "aws_session_token",
      "expires_at_millis",
    ]);
    const seconds = (Number(options.expires_at_millis) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(400);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(JSON.stringify(options)).not.toContain(rootKeys.secret);
  });

  test.each([
    ["nobody without the scope, unless they ask", tokens.unlent, {}, 200],
    ["a caller without the scope who asks", tokens.unlent, { vend_credentials: true }, 403],
    ["a caller with the scope and no right", tokens.filesOnly, { vend_credentials: true }, 403],
    ["a caller whose tables are others", tokens.one, { vend_credentials: true }, 403],
    ["whoever sends vend_credentials: false", tokens.write, { vend_credentials: false }, 200],
  ])("are not lent to %s", async (_, token, body, status) => {
    const answer = await describeAs(token, "docs2", body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain("aws_access_key_id");
  });

  test("are lent in LanceDB's own dialect only when asked", async () => {
    const slash = { trailingSlash: true };
    expect((await describeAs(tokens.read, "docs", {}, slash)).body).not.toHaveProperty("storage_options");
    const asked = await describeAs(tokens.read, "docs", { vend_credentials: true }, slash);
    expect(asked.body).toHaveProperty("storage_options.aws_session_token");
  });

  test("are not lent to the console, which describes a table of any name", async () => {
    const before = await counts();
    const api = createApi(`${service.base}/`, tokens.read, () => undefined);
    for (const id of ["docs", ...unsafe]) expect(await api.describe(id)).toMatchObject({ version: 1 });
    expect(await counts()).toEqual(before);
  });

  const counts = async (): Promise<Record<string, number>> => {
    const text = await (await fetch(`${service.operationsBase}/metrics`)).text();
    const sample = /^lakehead_credentials_lent_total\{source="(\w+)"\} (\d+)/gm;
    return Object.fromEntries([...text.matchAll(sample)].map(([, source = "", count]) => [source, Number(count)]));
  };

  test("are kept for one caller, table and right, and for no other", async () => {
    const first = await describeAs(tokens.read, "a$b$docs");
    const before = await counts();
    const again = await Promise.all(
      Array.from({ length: 20 }, () => describeAs(tokens.read, "a$b$docs", { vend_credentials: true })),
    );
    expect(new Set(again.map(({ body }) => body.storage_options.aws_access_key_id))).toEqual(
      new Set([first.body.storage_options.aws_access_key_id]),
    );
    const after = await counts();
    expect([after.issued, (after.kept ?? 0) - (before.kept ?? 0)]).toEqual([before.issued, 20]);
    const others = await Promise.all([tokens.other, tokens.write].map((token) => describeAs(token, "a$b$docs")));
    const ids = [first, ...others].map(({ body }) => body.storage_options.aws_access_key_id);
    expect(new Set(ids).size).toBe(3);
  });

  test("come with a declaration, and with the description of what is only declared", async () => {
    const declared = await service.call("declare", "a$new", {}, { token: tokens.write });
    expect(declared).toMatchObject({ status: 200, body: { storage_options: { aws_region: "us-east-1" } } });
    const { location, storage_options: options } = declared.body;
    const refreshed = await describeAs(tokens.write, "a$new", { vend_credentials: true });
    expect(refreshed).toMatchObject({ status: 200, body: { location, storage_options: options } });
    const key = `${location.slice(`s3://${bucketName}/`.length)}/data/x`;
    const keys = {
      id: options.aws_access_key_id,
      secret: options.aws_secret_access_key,
      token: options.aws_session_token,
    };
    expect(await signed(keys, "PUT", at(key), { body: "x" })).toMatchObject({ status: 200 });
    expect(await service.call("drop", "a$new", {}, { token: testToken })).toMatchObject({ status: 200 });
  });

  describe("with a version, a tag or a branch", () => {
    beforeAll(async () => {
      for (const [operation, body] of [
        ["tags/create", { tag: "first", version: 1 }],
        ["branches/create", { name: "experiment" }],
        ["delete", { predicate: "id = 1" }],
      ] as const)
        expect(await service.call(operation, "a$docs", body, { token: testToken })).toMatchObject({ status: 200 });
    });

    test.each([
      ["a version", { version: 1 }, 1],
      ["a tag", { tag: "first" }, 1],
      ["a branch", { branch: "experiment" }, 1],
    ])("%s, are those of the whole table, with its location", async (_, pinned, version) => {
      const { keys, prefix, options } = await lent("read", "a$docs");
      const { status, body } = await describeAs(tokens.tags, "a$docs", pinned);
      expect({ status, version: body.version, location: `${decodeURIComponent(body.location)}/` }).toEqual({
        status: 200,
        version,
        location: `s3://${bucketName}/${prefix}`,
      });
      const own = body.storage_options;
      expect(Object.keys(own)).toEqual(Object.keys(options));
      const lentKeys = { id: own.aws_access_key_id, secret: own.aws_secret_access_key, token: own.aws_session_token };
      const objects = [...(await everything()).keys()];
      const reached = [];
      for (const key of objects) if (isDone(await signed(lentKeys, "GET", at(key)))) reached.push(key);
      expect(reached).toEqual(objects.filter((key) => key.startsWith(prefix)));
      expect(reached.some((key) => key.startsWith(`${prefix}tree/experiment/_versions/`))).toBe(true);
      expect(await signed(keys, "GET", at(reached[0] ?? ""))).toMatchObject({ status: 200 });
    });

    test.each([
      ["a version that does not exist", "tags", { version: 4711 }, 404],
      ["a tag that does not exist", "tags", { tag: "none" }, 404],
      ["a branch that does not exist", "tags", { branch: "none" }, 404],
      ["a tag, to a caller who may not read tags", "read", { tag: "first" }, 403],
      ["a tag and a version", "tags", { tag: "first", version: 1 }, 400],
    ] as const)("%s, are not lent", async (_, caller, pinned, status) => {
      const answer = await describeAs(tokens[caller], "a$docs", { ...pinned, vend_credentials: true });
      expect(answer.status).toBe(status);
      expect(JSON.stringify(answer.body)).not.toContain("aws_access_key_id");
    });
  });

  test("leave an audit line with who got what until when, and nothing of themselves", async () => {
    const { options, prefix } = await lent("write", "a$docs2");
    await expect.poll(() => service.output()).toContain("credentials lent");
    const lines = service
      .output()
      .split("\n")
      .filter((line) => line.includes('"credentials lent"'))
      .map((line) => JSON.parse(line));
    await expect
      .poll(() => service.output())
      .toContain(JSON.stringify(new Date(Number(options.expires_at_millis)).toISOString()));
    expect(lines.length).toBeGreaterThan(0);
    expect(service.output()).toContain(JSON.stringify(prefix));
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    for (const name of ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"] as const) {
      const secret = options[name] ?? "missing";
      expect(secret.length).toBeGreaterThan(15);
      expect(service.output()).not.toContain(secret);
      expect(metrics).not.toContain(secret);
    }
  });
});
