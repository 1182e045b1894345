import { request as httpRequest } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { type CallOptions, testToken } from "../support/request.ts";
import { callOperation } from "../support/service.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { openRaw, sendRaw } from "./support/raw.ts";

let service: ServiceProcess;
beforeAll(async () => {
  service = await startReadyServiceProcess({ copyOf: inject("tables") });
});
afterAll(() => service?.kill());

afterEach(async () => {
  expect(service.ended()).toBeNull();
  expect(await service.readiness()).toBe(200);
});

const ask = (operation: string, table: string, options: CallOptions & { readonly body?: unknown } = {}) =>
  callOperation(service.base, operation, table, options.body ?? {}, options);

const contractError = (code: number) => ({ error: expect.any(String), code, instance: expect.any(String) });

const scan = '{"k":5,"vector":null}';

describe("bodies", () => {
  const bodies: Readonly<Record<string, readonly [body: string, status: number]>> = {
    "half a JSON text": ['{"k":5,', 400],
    "a megabyte of opening brackets": ["[".repeat(1_000_000), 400],
    "a megabyte of objects in objects": ['{"a":'.repeat(200_000), 400],
    "a depth of 33 in an unused field": [`{"k":5,"vector":null,"x":${"[".repeat(33)}${"]".repeat(33)}}`, 400],
    "60,000 unknown keys": [`{${Array.from({ length: 60_000 }, (_, index) => `"x${index}":1`).join(",")}}`, 400],
    "a list": ["[]", 400],
    "a string": ['"x"', 400],
    "a number": ["1e400", 400],
    "a prototype": ['{"__proto__":{"k":5,"vector":null},"constructor":1}', 400],
    "a prototype in the query's vector": ['{"k":5,"vector":{"__proto__":{"single_vector":[1]}}}', 400],
    "an unpaired surrogate in the filter": ['{"k":5,"vector":null,"filter":"text = \'\\ud800\'"}', 400],
    "a NUL in the filter": ['{"k":5,"vector":null,"filter":"id = 1\\u0000"}', 400],
    "a byte more than is allowed": [`${scan}${" ".repeat(1_048_576 - scan.length + 1)}`, 413],
  };

  test.each(Object.entries(bodies))("%s", async (_, [rawBody, status]) => {
    const answer = await ask("analyze_plan", "docs", { rawBody });
    expect(answer).toMatchObject({ status, body: contractError(13) });
    expect(JSON.stringify(answer.body).length).toBeLessThan(4000);
  });

  test("accepts a body of exactly the maximum size", async () => {
    const rawBody = `${scan}${" ".repeat(1_048_576 - scan.length)}`;
    expect(await ask("analyze_plan", "docs", { rawBody })).toMatchObject({ status: 200 });
  });

  test.each(["gzip", "deflate", "br", "x"])(
    "a content-encoding of %s, which could unpack to anything",
    async (encoding) => {
      const answer = await ask("stats", "docs", { headers: { "content-encoding": encoding } });
      expect(answer).toMatchObject({ status: 415, body: contractError(13) });
    },
  );

  test("without an end and without a length: refused once it is too long", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${testToken}`, "content-type": "application/json" };
      const options = { port: service.port, method: "POST", path: "/v1/table/docs/stats", headers };
      const request = httpRequest(options, (response) => {
        resolve(response.statusCode);
        request.destroy();
      });
      request.on("error", reject);
      // One byte too many and then nothing: more would meet a closed connection, and the answer be lost with it.
      for (let piece = 0; piece < 16; piece++) request.write(Buffer.alloc(65_536, " "));
      request.write(" ");
    });
    expect(status).toBe(413);
  });

  test("that never come do not delay other requests", async () => {
    const head = `POST /v1/table/docs/analyze_plan HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testToken}\r\n`;
    const slow = await Promise.all(Array.from({ length: 200 }, () => openRaw(service.port)));
    try {
      for (const socket of slow) socket.on("error", () => {}).write(`${head}content-length: 1000\r\n\r\n{"k":`);
      const answer = await ask("analyze_plan", "docs", { body: { k: 5, vector: null } });
      expect(answer.status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
  });

  test("cut off in the middle leave no slot of an admission limit taken", async () => {
    for (let round = 0; round < 100; round++) {
      const abort = new AbortController();
      const answer = fetch(`${service.base}/v1/table/docs/analyze_plan`, {
        method: "POST",
        headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
        body: scan,
        signal: abort.signal,
      });
      setTimeout(() => abort.abort(), round % 5);
      await answer.then((response) => response.text()).catch(() => {});
    }
    expect((await ask("analyze_plan", "docs", { body: { k: 5, vector: null } })).status).toBe(200);
  });
});

describe("paths and ids", () => {
  const ids: readonly string[] = [
    "..",
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "..%5c..%5cetc",
    "%00",
    "docs%00",
    "docs%0a",
    "%ff%fe",
    "%",
    "%zz",
    "%24",
    "$",
    "$$",
    "docs$",
    "$docs",
    "prod$$docs",
    "a".repeat(300),
    Array(17).fill("a").join("$"),
    Array(4000).fill("a").join("$"),
    "file:%2f%2f%2fetc",
    "s3:%2f%2fbucket%2ftable",
    "docs.lance",
    "__proto__",
    "constructor",
    "%f0%9f%92%a9",
    "docs%20",
    "%252e%252e",
    "-",
    "CON",
    "*",
    "docs;drop",
  ];

  test.each(ids.map((id) => [id.slice(0, 40), id]))("%s", async (_, id) => {
    const raw = await sendRaw(
      service.port,
      `POST /v1/table/${id}/stats HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testToken}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    );
    // The dot segments of a path are resolved before it is routed, and then it names no operation.
    expect([400, 404, 406]).toContain(raw.status);
    expect(raw.headers).toMatch(/^x-request-id: /im);
    const body = JSON.parse(raw.body);
    expect([0, 1, 4, 13]).toContain(body.code);
    expect(raw.body).not.toMatch(/lakehead-hostile|\.rs\b|lance error|\/tmp\//);
  });

  test.each(["", "%00", "a".repeat(9), "%ff", "docs", "/", "%2f"])("the delimiter %j", async (delimiter) => {
    const { status } = await ask("stats", "docs", { query: `?delimiter=${delimiter}` });
    expect([200, 400, 404]).toContain(status);
  });

  test.each<readonly [what: string, id: unknown]>([
    ["a parent directory", ["..", "docs"]],
    ["an empty part", ["docs", ""]],
    ["a string", "docs"],
    ["a number in it", [1]],
    ["an object", {}],
    ["100,000 parts", Array(100_000).fill("a")],
    ["500,000 numbers", Array(500_000).fill(1)],
    ["an unpaired surrogate", ["\ud800"]],
    ["another table", ["plain"]],
  ])("an id in the body that is %s", async (_, id) => {
    expect(await ask("stats", "docs", { body: { id } })).toMatchObject({ status: 400, body: contractError(13) });
  });

  test("tags that no file could be named", async () => {
    for (const tag of ["", ".", "..", "../x", "a/b", "a\\b", "a\u0000", "a".repeat(300), "\ud800", "a b", 1, null, {}])
      for (const operation of ["tags/create", "tags/version", "tags/delete"])
        expect(
          await ask(operation, "docs", { body: { tag, version: 1 } }),
          `${operation} ${JSON.stringify(tag)}`,
        ).toMatchObject({
          status: 400,
          body: contractError(13),
        });
  });

  test("versions that would be taken for others", async () => {
    for (const version of ["4294967297", "-1", "1.5", "9007199254740993", "1e400", '"1"', "null"]) {
      const { status, body } = await ask("tags/create", "docs", { rawBody: `{"tag":"t","version":${version}}` });
      expect({ status, code: body.code }, version).toEqual(
        version === "4294967297" ? { status: 404, code: 11 } : { status: 400, code: 13 },
      );
    }
    expect(await ask("tags/version", "docs", { body: { tag: "t" } })).toMatchObject({
      status: 404,
      body: contractError(8),
    });
  });
});

describe("headers", () => {
  test.each<readonly [what: string, headers: Readonly<Record<string, string>>]>([
    ["a token of 8 kB", { authorization: `Bearer ${"a".repeat(8000)}` }],
    ["a token of a thousand dots", { authorization: `Bearer ${".".repeat(1000)}` }],
    ["a token without its scheme", { authorization: testToken }],
    ["another scheme", { authorization: `Basic ${btoa(`x:${testToken}`)}` }],
    ["a JWT of none", { authorization: `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"sub":"x"}')}.` }],
  ])("%s is refused", async (_, headers) => {
    const { status, body } = await ask("stats", "docs", { headers, token: null });
    expect({ status, code: body.code }).toEqual({ status: 401, code: 16 });
  });

  test("a thousand context entries in the body, and long ones in headers, do not stop a request", async () => {
    const context = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key-${index}\n`, "x".repeat(500)]));
    const headers = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`x-lance-ctx-k${index}`, "y".repeat(100)]),
    );
    expect((await ask("stats", "docs", { body: { context }, headers })).status).toBe(200);
  });

  const head = "POST /v1/table/docs/stats HTTP/1.1\r\nhost: x\r\n";
  test.each<readonly [what: string, status: number, bytes: string]>([
    ["headers of 20 kB", 431, `${head}x-filler: ${"a".repeat(20_000)}\r\n\r\n`],
    ["a length and chunks at once", 400, `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["two lengths", 400, `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{}`],
    ["a negative length", 400, `${head}content-length: -1\r\n\r\n{}`],
    ["a header with NUL", 400, `${head}x-a: a\u0000b\r\n\r\n`],
    ["no HTTP at all", 400, "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n"],
    ["another version of HTTP", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("%s", async (_, status, bytes) => {
    const answer = await sendRaw(service.port, bytes);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject(contractError(13));
  });
});

test("nothing of all that has reached the log but by the allow-list", () => {
  for (const secret of [testToken, "x".repeat(400), "passwd'", "single_vector"])
    expect(service.output()).not.toContain(secret);
});
