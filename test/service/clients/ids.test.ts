import { request } from "node:http";
import { connect } from "@lancedb/lancedb";
import { beforeAll, describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";

const docsOnly = "token-for-docs-only";

const service = useService({ tokens: [staticToken("docs-only", docsOnly, ["stats"], ["docs"])] });
beforeAll(async () => {
  const connection = await connect(service.directory);
  for (const [index, namespace] of ["my space", "c++", "per%cent", "größe"].entries()) {
    await connection.createNamespace([namespace]);
    await connection.createTable(
      "t",
      Array.from({ length: index + 1 }, () => ({ id: 1 })),
      [namespace],
    );
  }
  connection.close();
});

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  readonly body: any;
}

/** Sends a path unchanged: `fetch` would resolve `..` and encode characters. */
const send = (path: string, body: unknown = {}, { token = service.token, host = "localhost" } = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.base);
    const headers = { host, authorization: `Bearer ${token}`, "content-type": "application/json" };
    const asking = request({ hostname, port, path, method: "POST", headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: text === "" ? undefined : JSON.parse(text) }),
      );
    });
    asking.on("error", reject);
    asking.end(JSON.stringify(body));
  });

/** Identifies the table of an id by its number of rows. */
const rowsAt = async (id: string, query = "", body: unknown = {}): Promise<unknown> => {
  const answer = await send(`/v1/table/${id}/stats${query}`, body);
  return answer.body.num_rows ?? answer.body;
};

const rootDocs = 1020;
const nestedDocs = 20;

/** Five characters, ten halves. */
const crabs = encodeURIComponent("🦀".repeat(5));

describe("an id selects its table", () => {
  test.each<[id: string, query: string, rows: number]>([
    ["docs", "", rootDocs],
    ["%64ocs", "", rootDocs],
    ["prod$vectors$docs", "", nestedDocs],
    ["prod%24vectors%24docs", "", nestedDocs],
    ["prod%24vectors$docs", "?delimiter=%24", nestedDocs],
    ["prod$vectors$docs", "?delimiter=$", nestedDocs],
    ["prod.vectors.docs", "?delimiter=.", nestedDocs],
    ["prod%2Evectors%2edocs", "?delimiter=.", nestedDocs],
    ["prod::vectors::docs", "?delimiter=::", nestedDocs],
    ["prod%2Fvectors%2Fdocs", "?delimiter=/", nestedDocs],
    ["prod+vectors+docs", "?delimiter=%2B", nestedDocs],
    [`prod${crabs}vectors${crabs}docs`, `?delimiter=${crabs}`, nestedDocs],
    ["my%20space$t", "", 1],
    ["c++$t", "", 2],
    ["c%2B%2B$t", "", 2],
    // As a form, which LanceDB's own client never writes: it does not send the default delimiter.
    ["my+space$t", "?delimiter=%24", 1],
    ["c%2B%2B$t", "?delimiter=%24", 2],
    ["c++::t", "?delimiter=::", 2],
    ["per%cent$t", "", 3],
    ["per%25cent$t", "", 3],
    ["gr%C3%B6%C3%9Fe$t", "", 4],
  ])("%s%s", async (id, query, rows) => {
    expect(await rowsAt(id, query)).toBe(rows);
  });
});

describe("the id of the body", () => {
  test.each<[id: string, body: readonly string[], rows: number]>([
    ["docs", ["docs"], rootDocs],
    ["prod$vectors$docs", ["prod", "vectors", "docs"], nestedDocs],
    ["prod$vectors$docs", ["prod$vectors$docs"], nestedDocs],
    ["my+space$t", ["my space", "t"], 1],
    ["my%20space$t", ["my space", "t"], 1],
    ["c++$t", ["c++", "t"], 2],
    ["c%2B%2B$t", ["c++", "t"], 2],
  ])("of %s may repeat the path: %j", async (id, body, rows) => {
    expect(await rowsAt(id, "", { id: body })).toBe(rows);
  });

  test.each<[id: string, body: unknown]>([
    ["docs", ["plain"]],
    ["docs", ["prod", "vectors", "docs"]],
    ["prod$vectors$docs", ["docs"]],
    ["prod$vectors$docs", ["prod$vectors$plain"]],
    ["prod$vectors$docs", ["prod$vectors", "docs"]],
    ["prod$vectors$docs", ["vectors", "prod", "docs"]],
    ["docs", ["docs", ""]],
    ["docs", ["DOCS"]],
  ])("of %s must match the path: %j", async (id, body) => {
    expect(await rowsAt(id, "", { id: body })).toMatchObject({
      code: 13,
      error: "id in the body differs from the id in the path: send the same, or leave it out of the body",
    });
  });

  test.each([["docs"], [[1]], [{ 0: "docs" }]])("is a list of strings, not %j", async (id) => {
    expect(await rowsAt("docs", "", { id })).toMatchObject({ code: 13, error: expect.stringMatching(/^id/) });
  });

  test("null is none", async () => {
    expect(await rowsAt("docs", "", { id: null })).toBe(rootDocs);
  });

  test("differs for every operation that has one", async () => {
    for (const operation of [
      "explain_plan",
      "analyze_plan",
      "tags/create",
      "tags/version",
      "tags/delete",
      "describe",
    ]) {
      const { status, body } = await send(`/v1/table/docs/${operation}`, { id: ["plain"] });
      expect([operation, status, body.code, body.error.slice(0, 27)]).toEqual([
        operation,
        400,
        13,
        "id in the body differs from",
      ]);
    }
  });
});

describe("a hostile id is refused", () => {
  test.each<[id: string, query: string, fault: string]>([
    ["$", "", "the table id is empty: the root namespace is not a table"],
    ["%24", "?delimiter=%24", "the table id is empty: the root namespace is not a table"],
    ["%2F", "?delimiter=/", "the table id is empty: the root namespace is not a table"],
    ["$docs", "", "the table id has an empty part"],
    ["docs$", "", "the table id has an empty part"],
    ["prod$$docs", "", "the table id has an empty part"],
    ["..$docs", "", 'the table id has the part ".."'],
    ["prod$..$docs", "", 'the table id has the part ".."'],
    ["prod$%2e%2e$docs", "", 'the table id has the part ".."'],
    [".$docs", "", 'the table id has the part "."'],
    ["%2e%2e%2fdocs", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    ["..%2Fdocs", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    ["a%2Fb$docs", "", "the table id has a namespace with a slash, a backslash, a $ or a control character"],
    ["a%5Cb$docs", "", "the table id has a namespace with a slash, a backslash, a $ or a control character"],
    ["a%00$docs", "", "the table id has a namespace with a slash, a backslash, a $ or a control character"],
    ["a%0Ab$docs", "", "the table id has a namespace with a slash, a backslash, a $ or a control character"],
    ["docs%00", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    ["docs%0a", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    ["do%20cs", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    ["docs.lance%2Fdata", "", "the table id has a table name with characters other than letters, digits, _ - and ."],
    [
      "prod$vectors$docs",
      "?delimiter=.",
      "the table id has a table name with characters other than letters, digits, _ - and .",
    ],
    [
      "prod$vectors.docs",
      "?delimiter=.",
      "the table id has a namespace with a slash, a backslash, a $ or a control character",
    ],
    ["x".repeat(300), "", "the table id has a part longer than 128 characters"],
    [`${"x".repeat(300)}$docs`, "", "the table id has a part longer than 128 characters"],
    [`${"a$".repeat(16)}docs`, "", "the table id has more than 16 parts"],
    ["docs", "?delimiter=", "delimiter must have 1 to 8 characters; leave it out for the default $"],
    ["docs", "?delimiter=123456789", "delimiter must have 1 to 8 characters; leave it out for the default $"],
  ])("%s%s", async (id, query, fault) => {
    const { status, body } = await send(`/v1/table/${id}/stats${query}`);
    expect([status, body.code]).toEqual([400, 13]);
    expect(body.error).toContain(fault);
  });

  test.each([["../docs"], ["%2e%2e/docs"], [""], ["docs//"], ["docs/..%2Fplain"], ["docs/x"]])(
    "/v1/table/%s/stats is not a route of a table",
    async (path) => {
      const { status, body } = await send(`/v1/table/${path}/stats`);
      expect(body).toEqual({ error: expect.any(String), code: expect.any(Number), instance: expect.any(String) });
      expect([400, 404, 406]).toContain(status);
    },
  );

  test("dot segments of a path are resolved before authorization", async () => {
    for (const path of ["docs/../plain", "docs/%2e%2e/plain"]) {
      expect((await send(`/v1/table/${path}/stats`)).body.num_rows).toBe(100);
      const { status, body } = await send(`/v1/table/${path}/stats`, {}, { token: docsOnly });
      expect([status, body.code]).toEqual([403, 15]);
    }
  });

  test("a Host header with a path is refused", async () => {
    const host = "x/v1/table/docs/stats?";
    const { status, body } = await send("/v1/table/plain/stats", {}, { token: docsOnly, host });
    expect(status).toBe(400);
    expect(body?.num_rows).toBeUndefined();
  });

  test.each([["%c0%ae%c0%ae$docs"], ["%ff$docs"], ["%$docs"], ["%zz$docs"]])(
    "%s, which cannot be decoded, is used literally and not found",
    async (id) => {
      const { status, body } = await send(`/v1/table/${id}/stats`);
      expect([status, body.code]).toEqual([404, 1]);
    },
  );
});

describe("missing objects have their own codes", () => {
  test.each([
    ["nope", 4],
    ["prod$nope", 4],
    ["nope$docs", 1],
    ["prod$nope$docs", 1],
    ["prod$vectors", 4],
    ["vectors$docs", 1],
  ])("%s: code %i", async (id, code) => {
    const { status, body } = await send(`/v1/table/${id}/stats`);
    expect([status, body.code]).toEqual([404, code]);
  });
});
