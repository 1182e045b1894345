import { connect } from "@lancedb/lancedb";
import { beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";

/** Visible names and their pages. */
const tokens = {
  all: ["**"],
  production: ["prod$**"],
  one: ["prod$vectors$docs"],
  named: ["p*"],
  elsewhere: ["test$*"],
} as const;

const service = useService({
  tokens: Object.entries(tokens).map(([name, patterns]) => staticToken(name, name, scopes, [...patterns])),
});
beforeAll(async () => {
  const connection = await connect(service.directory);
  for (const namespace of [["test"], ["prod", "texts"], ["prod", "texts", "deep"]])
    await connection.createNamespace(namespace);
  for (const [name, namespace] of [
    ["one", ["test"]],
    ["two", ["prod", "texts"]],
    ["three", ["prod", "texts", "deep"]],
  ] as const)
    await connection.createTable(name, [{ id: 1 }], [...namespace]);
  connection.close();
});

const get = (path: string, token: string = "all", query = "") =>
  service.ask(`/v1/${path}`, undefined, { method: "GET", token, query });

const everything = ["docs", "plain", "prod$texts$deep$three", "prod$texts$two", "prod$vectors$docs", "test$one"];

describe("all tables", () => {
  test.each([
    ["all", everything],
    ["production", ["prod$texts$deep$three", "prod$texts$two", "prod$vectors$docs"]],
    ["one", ["prod$vectors$docs"]],
    ["named", ["plain"]],
    ["elsewhere", ["test$one"]],
  ])("visible to %s", async (token, tables) => {
    const { status, body, headers } = await get("table", token);
    expect({ status, body }).toEqual({ status: 200, body: { tables } });
    expect(headers.get("phalanx-version")).toBe("0.5.0");
  });

  test("with another delimiter, unless a name contains it", async () => {
    expect((await get("table", "one", "?delimiter=::")).body).toEqual({ tables: ["prod::vectors::docs"] });
    expect(await get("table", "all", "?delimiter=o")).toMatchObject({ status: 400, body: { code: 13 } });
  });

  test("with a trailing slash, as LanceDB's client sends, are those of the root", async () => {
    const own = await service.ask("/v1/table/", undefined, { method: "GET", token: "all" });
    expect(own.body).toEqual({ tables: ["docs", "plain"] });
  });
});

describe("names in a namespace", () => {
  test.each([
    ["all", "$", ["docs", "plain"], ["prod", "test"]],
    ["all", "prod", [], ["texts", "vectors"]],
    ["all", "prod$texts", ["two"], ["deep"]],
    ["production", "$", [], ["prod"]],
    ["production", "prod", [], ["texts", "vectors"]],
    ["one", "prod", [], ["vectors"]],
    ["one", "prod$vectors", ["docs"], []],
    ["named", "$", ["plain"], ["prod"]],
    ["elsewhere", "$", [], ["test"]],
  ])("%s asks for %s", async (token, id, tables, namespaces) => {
    expect((await get(`namespace/${id}/table/list`, token)).body).toEqual({ tables });
    expect((await get(`namespace/${id}/list`, token)).body).toEqual({ namespaces });
  });

  const addresses = ["list", "table/list", "describe", "exists"] as const;
  const ask = (address: string, id: string, token: string) =>
    service.ask(`/v1/namespace/${id}/${address}`, {}, { method: address.endsWith("list") ? "GET" : "POST", token });

  test.each(addresses)(
    "%s refuses a namespace that the caller may not see, whether or not it exists",
    async (address) => {
      const [real, missing] = await Promise.all([
        ask(address, "prod", "elsewhere"),
        ask(address, "nowhere", "elsewhere"),
      ]);
      expect(real).toMatchObject({ status: 403, body: { code: 15 } });
      expect({ ...missing.body, instance: "" }).toEqual({ ...real.body, instance: "" });
    },
  );

  test.each(addresses)("%s of a missing namespace is code 1 for callers that may see it", async (address) => {
    expect(await ask(address, "prod$nowhere", "production")).toMatchObject({ status: 404, body: { code: 1 } });
    expect(await ask(address, "prod$vectors", "one")).toMatchObject({ status: 200 });
    expect(await ask(address, "docs", "all")).toMatchObject({ status: 404, body: { code: 1 } });
  });
});

describe("pages", () => {
  const pagesOf = async (path: string, key: string, limit: number, more = "", method = "GET") => {
    const pages: unknown[] = [];
    let token: string | undefined;
    do {
      const query = `?limit=${limit}${more}${token === undefined ? "" : `&page_token=${encodeURIComponent(token)}`}`;
      const { status, body } = await service.ask(path, {}, { method, token: "all", query });
      expect(status).toBe(200);
      pages.push(body[key]);
      token = body.page_token;
    } while (token !== undefined);
    return pages;
  };

  test("of tables end with the list", async () => {
    expect(await pagesOf("/v1/table", "tables", 4)).toEqual([everything.slice(0, 4), everything.slice(4)]);
    expect(await pagesOf("/v1/table", "tables", 6)).toEqual([everything]);
    expect(await pagesOf("/v1/namespace/$/table/list", "tables", 1)).toEqual([["docs"], ["plain"]]);
    expect(await pagesOf("/v1/namespace/$/list", "namespaces", 1)).toEqual([["prod"], ["test"]]);
  });

  test("of versions, both ways", async () => {
    const numbers = (pages: unknown[]) =>
      pages.map((page) => (page as { version: number }[]).map(({ version }) => version));
    const path = "/v1/table/plain/version/list";
    expect(numbers(await pagesOf(path, "versions", 4, "", "POST"))).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10],
    ]);
    expect(numbers(await pagesOf(path, "versions", 6, "&descending=true", "POST"))).toEqual([
      [10, 9, 8, 7, 6, 5],
      [4, 3, 2, 1],
    ]);
  });

  test("of tags are in the order of their names", async () => {
    for (const tag of ["c", "a", "b"]) await service.call("tags/create", "plain", { tag, version: 1 });
    const pages = await pagesOf("/v1/table/plain/tags/list", "tags", 2, "", "POST");
    expect(pages.map((page) => Object.keys(page as object))).toEqual([["a", "b"], ["c"]]);
  });

  test("of indices, asked for in the body", async () => {
    const { body } = await service.call("index/list", "docs", { limit: 2, page_token: "id_idx" });
    expect(body.indexes.map((index: { index_name: string }) => index.index_name)).toEqual(["other_idx", "text_idx"]);
    expect(body.page_token).toBe("text_idx");
  });

  test("an empty token starts the first page; the token of a deleted name starts after that name", async () => {
    expect((await get("table", "all", "?page_token=&limit=1")).body.tables).toEqual(["docs"]);
    expect((await get("table", "all", "?page_token=docz&limit=1")).body.tables).toEqual(["plain"]);
  });

  test.each(["0", "-1", "1.5", "ten"])("limit=%s is refused", async (limit) => {
    const { status, body } = await get("table", "all", `?limit=${limit}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 13, error: expect.stringMatching(/^limit must be/) });
  });
});
