import type { Query } from "../query/wire.ts";
import { caseOf, evidenceOf, type Rule } from "./case.ts";
import { filterRules } from "./filter-rules.ts";
import { parsePlan } from "./parse.ts";
import { readRules } from "./read-rules.ts";
import type { Facts, Finding, PlanDocument, PlanTree } from "./types.ts";
import { vectorRules } from "./vector-rules.ts";

/** All findings, by code. */
export const rules: readonly Rule[] = [...vectorRules, ...filterRules, ...readRules];

/** The findings of a plan: warnings first, each kind by the share of time of its node. */
export const findings = (tree: PlanTree, facts: Facts, query: Query, table: string): readonly Finding[] => {
  const examined = caseOf(tree, query, facts, table);
  const found = rules.flatMap(({ find, code, severity, title }) => {
    const result = find(examined);
    return result === undefined ? [] : [{ code, severity, title, ...result }];
  });
  return found
    .toSorted(
      (left, right) =>
        Number(right.severity === "warning") - Number(left.severity === "warning") ||
        (right.node?.share ?? 0) - (left.node?.share ?? 0),
    )
    .map(({ node, evidence, ...finding }) => ({ ...finding, node: node?.id ?? null, evidence: evidenceOf(evidence) }));
};

const unquote = (quoted: string): string =>
  quoted.slice(1, -1).replaceAll(quoted.charAt(0).repeat(2), quoted.charAt(0));

/** Literals and quoted names of an expression. */
const stringsOf = (expression: string): readonly string[] =>
  [...expression.matchAll(/'[^']*(?:''[^']*)*'|`[^`]+`|"[^"]*(?:""[^"]*)*"/g)].map(([quoted]) => unquote(quoted));

/** What the engine prints of a request without quotation marks. */
const printedStrings = ({ filter, columns, fullText }: Query, facts: Facts): readonly string[] => [
  ...(filter === undefined ? [] : stringsOf(filter)),
  ...(columns?.kind === "expressions"
    ? columns.expressions.flatMap(([alias, expression]) => [alias, ...stringsOf(expression)])
    : []),
  ...(fullText?.kind === "string" ? [fullText.query] : []),
  ...(facts.columns ?? []).map(({ name }) => name),
];

/** @param table the table's id in a path. @returns all of a plan's document but what was given. */
export const diagnose = (
  plan: string,
  query: Query,
  facts: Facts,
  table: string,
): Pick<PlanDocument, "tree" | "findings"> => {
  const tree = parsePlan(plan, printedStrings(query, facts));
  return { tree, findings: findings(tree, facts, query, table) };
};
