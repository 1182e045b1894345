/** Random SQL expressions as trees, which a search can change in parts. The same seed gives the same expressions. */

/** A seeded generator of numbers from 0 to 1 (mulberry32). */
export const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export type Random = () => number;

const types = ["boolean", "number", "text", "time", "numbers", "texts"] as const;
export type Type = (typeof types)[number];

/** A form is a text with typed placeholders, such as `<number>`; each child replaces one, in order. */
export interface Tree {
  readonly type: Type;
  readonly form: string;
  readonly children: readonly Tree[];
}

const placeholder = new RegExp(`<(${types.join("|")})>`, "g");

const each = (names: string, form: (name: string) => string): string[] => names.split(" ").map(form);

const forms: Readonly<Record<Type, readonly string[]>> = {
  boolean: [
    "<boolean> AND <boolean>",
    "(<boolean> or <boolean>)",
    "(<boolean>) and not <boolean>",
    "NOT (<boolean>)",
    "(<number> = <number>)",
    "(<number>) < (<number>)",
    "(<time> > <time>)",
    "((<number>) BETWEEN <number> AND <number>)",
    "((<number>) not between (<number>) and (<number>))",
    "((<number>) NOT IN (<number>, <number>, <number>))",
    "((<text>) IN (<text>, <text>))",
    "((<boolean>) IN (true, false))",
    "((<boolean>) = (<boolean>))",
    "((<boolean>) is not true)",
    "((<number>) IS NULL)",
    "((<texts>) IS NULL)",
    "((<text>) LIKE '%a%_b%')",
    "((<text>) NOT ILIKE 'a%')",
    "((<text>) <> <text>)",
    "coalesce(<boolean>, <boolean>)",
    "nvl((<boolean>), b)",
    "nullif(<boolean>, <boolean>)",
    "nvl2(<number>, <boolean>, <boolean>)",
    "starts_with(<text>, <text>)",
    "ends_with(<text>, <text>)",
    "contains(<text>, <text>)",
    "contains_tokens(<text>, <text>)",
    ...each("array_has array_contains list_has list_contains", (name) => `${name}(<numbers>, <number>)`),
    ...each(
      "array_has_all array_has_any arrays_overlap list_has_all list_has_any",
      (name) => `${name}(<texts>, <texts>)`,
    ),
    ...each("empty array_empty list_empty", (name) => `${name}(<texts>)`),
    ...each("isnan iszero", (name) => `${name}(<number>)`),
    "is_valid(<number>)",
    "regexp_like(<text>, 'a.*b')",
    "(regexp_match(<text>, '(a)b') is null)",
    "json_exists(json, '$.a')",
    "json_get_bool(json, 't')",
    "json_array_contains(json, '$.b', <text>)",
    "(json_get(json, 'a') is null)",
    "(decode(<text>, 'hex') = X'00')",
    "(<boolean>)::int::boolean",
  ],
  number: [
    "(<number> + <number>)",
    "<number> - (<number>)",
    "<number> + <number>",
    "(<number> * 3)",
    "<number> * <number>",
    "(<number> / 7)",
    "(<number> % 5)",
    "- (<number>)",
    "(<number>)::bigint",
    "(<number>)::double",
    "(<number>)::decimal(38, 10)",
    "cast(<number> as int)",
    "try_cast(<text> as int)",
    "safe_cast(<text> as double)",
    "coalesce(<number>, <number>)",
    "coalesce(<number>, <number>, <number>, <number>)",
    "ifnull(<number>, <number>)",
    "nvl2(<text>, <number>, <number>)",
    "nullif(<number>, <number>)",
    "greatest(<number>, <number>, <number>)",
    "least(<number>, <number>)",
    ...each(
      "abs acos acosh asin asinh atan atanh cbrt cos cosh cot degrees exp factorial ln log10 log2 radians signum sin sinh sqrt tan tanh log round trunc",
      (name) => `${name}(<number>)`,
    ),
    ...each("atan2 gcd lcm nanvl pow power", (name) => `${name}(<number>, <number>)`),
    "pi()",
    ...each("ascii bit_length char_length character_length length octet_length", (name) => `${name}(<text>)`),
    ...each("strpos instr find_in_set", (name) => `${name}(<text>, <text>)`),
    "regexp_count(<text>, 'a', 1, 'i')",
    ...each("date_part datepart", (name) => `${name}('year', <time>)`),
    "to_unixtime(<time>)",
    ...each(
      "array_length list_length cardinality array_ndims array_max list_max array_min",
      (name) => `${name}(<numbers>)`,
    ),
    ...each("array_element array_extract list_element list_extract", (name) => `${name}(<numbers>, <number>)`),
    ...each("array_position list_position array_indexof list_indexof", (name) => `${name}(<numbers>, <number>)`),
    "<numbers>[1]",
    ...each("array_distance list_distance cosine_distance inner_product", (name) => `${name}(vector, <numbers>)`),
    "array_distance(<numbers>, <numbers>)",
    "json_get_int(json, 'a')",
    "json_get_float(json, 'a')",
    "json_array_length(json, '$.b')",
    "get_field(meta, 'n')",
    "arrow_try_cast(<text>, 'Int32')",
    "(<boolean>)::int",
  ],
  text: [
    ...each("lower upper reverse initcap btrim ltrim rtrim", (name) => `${name}(<text>)`),
    "btrim(<text>, <text>)",
    "(<text> || <text>)",
    "concat(<text>, <text>)",
    "concat(<text>, <number>, <text>, <text>)",
    "concat_ws('-', <text>, <text>)",
    "concat(<texts>)",
    ...each("split_part substr_index substring_index", (name) => `${name}(<text>, <text>, 1)`),
    "translate(<text>, <text>, <text>)",
    "left(<text>, <number>)",
    "right(<text>, 5)",
    "coalesce(<text>, <text>)",
    "nvl(<text>, <text>)",
    "ifnull(<text>, <text>)",
    "nullif(<text>, <text>)",
    "chr(<number>)",
    "to_hex(<number>)",
    "encode(<text>, 'hex')",
    ...each("md5 sha224 sha256 sha384 sha512", (name) => `encode(${name}(<text>), 'hex')`),
    "(<number>)::string",
    "(<time>)::string",
    "cast(<boolean> as string)",
    "arrow_cast(<text>, 'Utf8')",
    "arrow_typeof(<text>)",
    "json_extract(json, '$.b[0]')",
    "json_get_string(json, 's')",
    "<texts>[1]",
    "array_element(<texts>, 1)",
    "get_field(meta, 'lang')",
  ],
  time: [
    "(<text>)::timestamp",
    "cast(<number> as timestamp(3))",
    "to_timestamp(<text>)",
    "to_timestamp(<text>, '%Y-%m-%d %H:%M:%S')",
    "to_date(<text>)",
    ...each(
      "to_timestamp_micros to_timestamp_millis to_timestamp_nanos to_timestamp_seconds",
      (name) => `${name}(<number>)`,
    ),
    "from_unixtime(<number>)",
    "make_date(<number>, 1, 31)",
    ...each("date_trunc datetrunc", (name) => `${name}('day', <time>)`),
    "coalesce(<time>, <time>)",
  ],
  numbers: [
    "[<number>, <number>]",
    "make_array(<number>, <number>, <number>)",
    "make_list(<number>)",
    "coalesce(<numbers>, nums)",
  ],
  texts: [
    "[<text>, <text>]",
    "make_array(<text>, <text>)",
    "regexp_match(<text>, '(a)(b)')",
    "coalesce(tags, <texts>)",
  ],
};

const leaves: Readonly<Record<Type, readonly string[]>> = {
  boolean: ["b", "true", "id = 1", "x > 0.5"],
  number: ["id", "x", "1", "0", "-1.5e3", "9223372036854775807", "meta.n", "_rowid"],
  text: ["s", "`Name With`", "'a'", "'it''s'", "''", "meta['lang']", "'%_\\'", "'2020-01-01 00:00:00'"],
  time: [
    "ts",
    "d",
    "now()",
    "today()",
    ...each("current_date current_time current_timestamp", (name) => `${name}()`),
    "date '2020-01-01'",
  ],
  numbers: ["nums", "[1, 2]"],
  texts: ["tags", "['a', 'b']"],
};

const numbersTo = (count: number): string => Array.from({ length: count }, (_, index) => index * 7).join(",");
const copies = (count: number, text: string): string => Array<string>(Math.floor(count)).fill(text).join(",");
const textsTo = (count: number): string => Array.from({ length: count }, (_, index) => `'v${index}'`).join(",");

/** As much of a construct as the guard's limits allow; `size` is from 0 to 1. */
const large: Readonly<Record<Type, readonly ((size: number) => string)[]>> = {
  boolean: [
    (size) => `id in (${numbersTo(1 + size * 1000)})`,
    (size) => `x not in (${numbersTo(1 + size * 1000)})`,
    (size) => `s in (${textsTo(1 + size * 900)})`,
    (size) => `b${" or b".repeat(size * 128)}`,
    (size) => `(b${" and id = 1".repeat(size * 64)})`,
    (size) => `b${" is true".repeat(size * 128)}`,
    (size) => `(s like '${"%a_".repeat(size * 64)}')`,
    (size) => `(s ilike '${"k".repeat(size * 990)}%')`,
    (size) => `regexp_like(s, '(?:.{${1 + Math.floor(size * 49)}}){${1 + Math.floor(size * 49)}}')`,
    (size) => `regexp_like(lower(s), '(?i)${"[^\\w]".repeat(size * 4)}')`,
    (size) => `regexp_like(s, '(?i)${"[^\\d]".repeat(size * 160)}')`,
    (size) => `regexp_like(s, '${"(?:a|b)".repeat(size * 140)}', 'i')`,
    (size) => `regexp_like(s, '${"[a-\\x{ffff}]".repeat(size * 80)}')`,
    (size) => `regexp_like(s, '(?i)${"[a-\\x{5FFF}]".repeat(size * 4)}')`,
    (size) => `regexp_like(s, '(?i)${"[\\d]".repeat(size * 200)}')`,
    (size) => `regexp_like(s, '(?i)${"\\pL".repeat(size * 2)}')`,
    (size) => `regexp_like(s, '${"\\P{Greek}".repeat(size * 28)}')`,
    (size) => `regexp_like(s, '(?i)${"[^\\w]".repeat(size * 4)}')`,
    (size) => `regexp_like(s, '${"a|".repeat(size * 490)}b')`,
    (size) => `regexp_like(s, '${"(".repeat(size * 50)}a${")".repeat(size * 50)}')`,
    (size) => `regexp_like(s, '\\w{${1 + Math.floor(size * 27)}}')`,
  ],
  number: [
    (size) => `(id${" + id".repeat(size * 40)})`,
    (size) => `(id${" * x".repeat(size * 40)})`,
    (size) => `(1${" + 1".repeat(size * 40)})`,
    (size) => `id${"::bigint".repeat(size * 128)}`,
    (size) => `greatest(${numbersTo(1 + size * 31)})`,
    (size) => `'${"1".repeat(1 + size * 8000)}'::double`,
  ],
  text: [
    (size) => `'${"a".repeat(size * 8000)}'`,
    (size) => `'${"ß".repeat(size * 4000)}'`,
    (size) => `'${"a ".repeat(size * 4000)}'`,
    (size) => `s${" || s".repeat(size * 31)}`,
    (size) =>
      `concat(${Array(1 + Math.floor(size * 31))
        .fill("s")
        .join(", ")})`,
  ],
  time: [(size) => `'${"2".repeat(size * 8000)}'::timestamp`],
  numbers: [
    (size) => `[${numbersTo(1 + size * 1000)}]`,
    (size) => `[id, ${copies(1 + size * 998, "1")}]`,
    (size) => `[[id], ${copies(1 + size * 100, "[1]")}][1]`,
    (size) =>
      `make_array(${Array(1 + Math.floor(size * 120))
        .fill("id")
        .join(", ")})`,
  ],
  texts: [(size) => `[${textsTo(1 + size * 900)}]`, (size) => `[s, ${copies(1 + size * 998, "''")}]`],
};

const pick = <T>(random: Random, choices: readonly T[]): T => {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new Error("nothing to choose from");
  return chosen;
};

const leaf = (random: Random, type: Type): Tree => ({ type, form: pick(random, leaves[type]), children: [] });

/** A part of the greatest size that the guard accepts, or nearly. */
const largeLeaf = (random: Random, type: Type): Tree => ({
  type,
  form: pick(random, large[type])(random() < 0.5 ? 1 : random()),
  children: [],
});

const holesOf = (form: string): Type[] => [...form.matchAll(placeholder)].map(([, type]) => type as Type);

export const render = ({ form, children }: Tree): string => {
  let next = 0;
  return form.replace(placeholder, (hole) => {
    const child = children[next++];
    return child === undefined ? hole : render(child);
  });
};

/** An expression of the type with about `size` forms, nested at most `depth` deep. */
export const randomTree = (random: Random, type: Type, size: number, depth: number): Tree => {
  let left = size;
  const grow = (wanted: Type, room: number): Tree => {
    if (left <= 0 || room <= 0) return leaf(random, wanted);
    left--;
    const form = pick(random, forms[wanted]);
    return { type: wanted, form, children: holesOf(form).map((hole) => grow(hole, room - 1)) };
  };
  return grow(type, depth);
};

const nodesOf = (tree: Tree): Tree[] => [tree, ...tree.children.flatMap(nodesOf)];

const replaced = (tree: Tree, from: Tree, to: Tree): Tree =>
  tree === from ? to : { ...tree, children: tree.children.map((child) => replaced(child, from, to)) };

/** Puts the part into a form that has a place for it; the other places are filled with leaves. */
const wrapped = (random: Random, part: Tree): Tree => {
  const fitting = types.flatMap((type) =>
    forms[type].filter((form) => holesOf(form).includes(part.type)).map((form) => ({ type, form })),
  );
  const { type, form } = pick(
    random,
    fitting.filter((one) => one.type === part.type),
  );
  const holes = holesOf(form);
  const place = holes.indexOf(part.type);
  return { type, form, children: holes.map((hole, index) => (index === place ? part : leaf(random, hole))) };
};

/** A neighbour of the expression: a part is replaced, wrapped once or often, hoisted, copied or made large. */
export const mutated = (random: Random, tree: Tree): Tree => {
  const part = pick(random, nodesOf(tree));
  switch (Math.floor(random() * 6)) {
    case 0:
      return replaced(
        tree,
        part,
        randomTree(random, part.type, 1 + Math.floor(random() * 10), 1 + Math.floor(random() * 8)),
      );
    case 1: {
      let wrap = part;
      for (let times = 1 + Math.floor(random() * 8); times > 0; times--) wrap = wrapped(random, wrap);
      return replaced(tree, part, wrap);
    }
    case 2: {
      const one = wrapped(random, part);
      const again = one.children.find(({ type }) => type === part.type);
      let wrap = one;
      for (let times = Math.floor(random() * 14); times > 0 && again !== undefined; times--)
        wrap = { ...one, children: one.children.map((child) => (child === again ? wrap : child)) };
      return replaced(tree, part, wrap);
    }
    case 3:
      return replaced(
        tree,
        part,
        pick(
          random,
          nodesOf(part).filter(({ type }) => type === part.type),
        ),
      );
    case 4:
      return replaced(
        tree,
        part,
        pick(
          random,
          nodesOf(tree).filter(({ type }) => type === part.type),
        ),
      );
    default:
      return replaced(tree, part, largeLeaf(random, part.type));
  }
};

/** Every form and leaf, for a check that all allowed functions occur. */
export const allForms: readonly string[] = [...Object.values(forms).flat(), ...Object.values(leaves).flat()];
