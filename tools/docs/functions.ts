/** What the guard accepts in a filter or column alias, as Markdown made from the guard's own tables. Pure. */

import { castTypesDescribed } from "../../service/guard/expression/cast-type.ts";
import { alternatives, type FunctionRule, functionGroups } from "../../service/guard/expression/functions.ts";
import { comparisons, typedLiterals } from "../../service/guard/expression/words.ts";
import { inlineCode, markdownTable } from "../markdown-table.ts";

const repeatedArguments = { first: "argument 1", "all-but-last": "every argument but the last" } as const;

const conditions = ({ document, literals = [], pattern, constants, cost, repeats, growth }: FunctionRule): string =>
  [
    document ? "argument 1 is a column, or `json_get` of one" : "",
    pattern === undefined ? "" : "argument 1 is a column, or a text function or cast of one",
    ...literals.map(({ index, described }) => `argument ${index + 1} is ${described}`),
    pattern !== undefined && pattern.maxGroups < 100 ? `at most ${pattern.maxGroups} groups` : "",
    constants === "refused" ? "an argument is not constant" : "",
    cost === undefined ? "" : `counts as ${cost} operators`,
    repeats === undefined ? "" : `operators in ${repeatedArguments[repeats]} count four times`,
    growth === undefined ? "" : `growth factor ${growth}`,
  ]
    .filter((text) => text !== "")
    .join("; ");

/** One table for each title, one row for all functions that share a rule. */
const functionTables = (): string[] =>
  [...Map.groupBy(functionGroups, ({ title }) => title)].flatMap(([title, groups]) => [
    `### ${title}`,
    markdownTable(
      ["functions", "arguments", "conditions"],
      groups.map(({ names, form, rule }) => [names.map(inlineCode).join(" "), form || "none", conditions(rule)]),
    ),
  ]);

/** Constructs other than calls, each with an expression that the guard accepts: a test sends every one through it. */
export const constructs: readonly (readonly [construct: string, example: string])[] = [
  [[...comparisons].map(inlineCode).join(" "), "price >= 10"],
  ["`+` `-` `*` `/` `%`: each counts one more for every 12 operators of its operands", "(price - 1) * 2 % 3 > 0"],
  ["`||`: concatenation, counts as four operators", "city || country = 'RomeItaly'"],
  ["`AND` `OR` `NOT`", "NOT (a = 1 OR b = 2) AND c = 3"],
  ["`IS [NOT] NULL`, `IS [NOT] TRUE`, `IS [NOT] FALSE`", "city IS NOT NULL"],
  ["`[NOT] BETWEEN … AND …`", "price NOT BETWEEN 1 AND 5"],
  ["`[NOT] IN (…)`: counts one more for every 40 values", "city IN ('Rome', 'Oslo')"],
  ["`[NOT] LIKE`, `[NOT] ILIKE` of a column, with a literal pattern of at most 1000 characters", "city LIKE 'R%'"],
  ["`LIKE … ESCAPE`, with a backslash only", "city LIKE '100\\%' ESCAPE '\\'"],
  ["fields and elements", "address.city = 'Rome' AND tags[1] = 'new'"],
  [
    "lists: count one more for every 12 items and for each item that differs from row to row",
    "array_has([1, 2, 3], size)",
  ],
  [
    `\`CAST\`, \`TRY_CAST\` and \`::\`: ${castTypesDescribed.replace(/^use /, "")}`,
    "CAST(price AS int) = 5 AND size::string = '3'",
  ],
  [
    `typed literals: ${[...typedLiterals].map((word) => inlineCode(word.toUpperCase())).join(" ")}`,
    "day >= DATE '2020-01-01'",
  ],
  ["hexadecimal bytes", "hash = x'00ff'"],
  ["backquotes or double quotes around a column's name", '`table` = 1 AND "Größe" > 2'],
];

/** All that the guard accepts, and what to write in place of some of what it refuses. */
export const allowList = (): string =>
  [
    "### Operators and constructs",
    markdownTable(
      ["construct", "example"],
      constructs.map(([construct, example]) => [construct, `\`\` ${example} \`\``]),
    ),
    ...functionTables(),
    "### Replacements",
    markdownTable(
      ["refused", "instead"],
      [...alternatives].map(([name, instead]) => [inlineCode(name), instead]),
    ),
  ].join("\n\n");
