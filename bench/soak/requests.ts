import type { Asked } from "../caller.ts";
import { token } from "../servers.ts";
import { knownTag, tables, vectorOf } from "../workloads.ts";

/** One kind of request of the mix. */
export interface Kind {
  readonly name: string;
  /** Its relative frequency. */
  readonly weight: number;
  /** The expected status. */
  readonly status: number;
  ask(index: number): Asked;
  /** Called for each response. */
  answered?(asked: Asked, status: number): void;
}

const variants = 16;

const post = (path: string, body: unknown): Asked => ({ path, token, body: JSON.stringify(body) });
const get = (path: string): Asked => ({ method: "GET", path, token });

/** The same request every time. */
const fixed = (name: string, weight: number, status: number, asked: Asked): Kind => ({
  name,
  weight,
  status,
  ask: () => asked,
});

/** A few requests in turn, built beforehand because building one costs more than sending it. */
const varied = (name: string, weight: number, status: number, make: (seed: number) => Asked): Kind => {
  const made = Array.from({ length: variants }, (_, seed) => make(seed));
  return { name, weight, status, ask: (index) => made[index % variants] as Asked };
};

const { narrow, wide } = tables;
const onTable = (operation: string, table: string = narrow.name): string => `/v1/table/${table}/${operation}`;
const search = (seed: number, { dimensions }: (typeof tables)["narrow" | "wide"], more: object = {}) => ({
  k: 10,
  vector: [...vectorOf(seed + 0.5, dimensions)],
  vector_column: "vector",
  ...more,
});

/** Creates and deletes tags, so that there are never many. The process id keeps tags of different runs apart. */
const tagWrites = (weight: number): Kind => {
  const created: string[] = [];
  let made = 0;
  const creation = onTable("tags/create");
  return {
    name: "tags/create, tags/delete",
    weight,
    status: 200,
    ask: () => {
      const tag = created.shift();
      if (tag !== undefined) return post(onTable("tags/delete"), { tag });
      return post(creation, { tag: `soak-${process.pid}-${++made}`, version: 1 });
    },
    answered: ({ path, body = "" }, status) => {
      if (path === creation && status === 200) created.push(JSON.parse(body).tag);
    },
  };
};

const good: readonly Kind[] = [
  varied("explain_plan", 16, 200, (seed) => post(onTable("explain_plan"), { query: search(seed, narrow) })),
  varied("explain_plan, wide", 6, 200, (seed) =>
    post(onTable("explain_plan", wide.name), { query: search(seed, wide), verbose: true }),
  ),
  varied("explain_plan, filter", 6, 200, (seed) =>
    post(onTable("explain_plan"), { query: search(seed, narrow, { filter: `id > ${seed} AND id % 7 = 1` }) }),
  ),
  varied("analyze_plan", 5, 200, (seed) => post(onTable("analyze_plan"), search(seed, narrow))),
  varied("analyze_plan, version", 2, 200, (seed) =>
    post(onTable("analyze_plan"), search(seed, narrow, { version: 2 })),
  ),
  varied("query", 3, 200, (seed) =>
    post(onTable("query"), search(seed, narrow, { columns: { column_names: ["id"] } })),
  ),
  fixed("stats", 8, 200, post(onTable("stats"), {})),
  fixed("stats, GET", 4, 200, get(onTable("stats"))),
  fixed("tags/version", 12, 200, post(onTable("tags/version"), { tag: knownTag })),
  tagWrites(6),
  fixed("tags/list", 2, 200, get(onTable("tags/list"))),
  fixed("describe", 4, 200, post(onTable("describe"), {})),
  fixed("exists", 2, 200, post(onTable("exists"), {})),
  fixed("count_rows", 2, 200, post(onTable("count_rows"), { predicate: "id > 100" })),
  fixed("version/list", 1, 200, post(onTable("version/list?limit=10"), {})),
  fixed("version/describe", 1, 200, post(onTable("version/describe"), { version: 1 })),
  fixed("index/list", 2, 200, post(onTable("index/list"), {})),
  fixed("index/stats", 1, 200, post(onTable("index/vector_idx/stats"), {})),
  fixed("branches/list", 1, 200, post(onTable("branches/list"), {})),
  fixed("table list", 1, 200, get("/v1/namespace/$/table/list")),
  fixed("namespace list", 1, 200, get("/v1/namespace/$/list")),
];

const deep = JSON.stringify({ query: { filter: "x" } }).replace('"x"', `${"[".repeat(40)}${"]".repeat(40)}`);

/** Invalid input. */
const bad: readonly Kind[] = [
  fixed("no credentials", 1, 401, { path: onTable("stats"), body: "{}" }),
  fixed("unknown token", 1, 401, { path: onTable("stats"), token: "nobody", body: "{}" }),
  fixed("unknown table", 1, 404, post(onTable("stats", "nothing"), {})),
  fixed("unknown tag", 1, 404, post(onTable("tags/version"), { tag: "nothing" })),
  fixed("tag that exists", 1, 409, post(onTable("tags/create"), { tag: knownTag, version: 1 })),
  fixed("unknown version", 1, 404, post(onTable("explain_plan"), { query: search(0, narrow, { version: 9999 }) })),
  fixed("no JSON", 1, 400, { path: onTable("explain_plan"), token, body: '{"query": ' }),
  fixed("nested too deeply", 1, 400, { path: onTable("explain_plan"), token, body: deep }),
  fixed("wrong dimensions", 1, 400, post(onTable("analyze_plan"), search(0, wide))),
  varied("filter that nests too deeply", 1, 400, (seed) =>
    post(onTable("explain_plan"), { query: { k: 1, filter: `id = ${"1+".repeat(900 + seed)}1` } }),
  ),
  fixed("invalid filter", 1, 400, post(onTable("analyze_plan"), { k: 1, filter: "id ==> 'x" })),
  fixed("unknown column", 1, 404, post(onTable("explain_plan"), { query: { k: 1, filter: "nothing = 1" } })),
  fixed("not a table id", 1, 400, post(onTable("stats", "..%2F..%2Fetc"), {})),
  fixed("unknown operation", 1, 406, post(onTable("no_such_operation"), {})),
  fixed("wrong method", 1, 405, { method: "DELETE", path: onTable("stats"), token }),
];

export const kinds: readonly Kind[] = [...good, ...bad];

/** A sequence of the kinds by weight, spread evenly and the same in every run. */
const deck = (of: readonly Kind[]): readonly Kind[] => {
  const total = of.reduce((sum, { weight }) => sum + weight, 0);
  const dealt = of.flatMap((kind, offset) =>
    Array.from({ length: kind.weight }, (_, turn) => ({
      kind,
      place: ((turn + offset / of.length) * total) / kind.weight,
    })),
  );
  return dealt.sort((a, b) => a.place - b.place).map(({ kind }) => kind);
};

const dealt = deck(kinds);

/** The kind of a request of the mix, by the request's number. */
export const kindOf = (index: number): Kind => dealt[index % dealt.length] as Kind;
