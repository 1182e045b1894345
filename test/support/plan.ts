import { nodesOf, parsePlan, renderPlan } from "../../service/plan-doctor/parse.ts";

/** A name of the engine's. Names in the tests' own literals are shorter. */
const nodeName = /^[A-Z][A-Za-z]{6,}$/;

/** Every string of a request's body, and every literal inside these strings. */
const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string")
    return [value, ...[...value.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = ""]) => text.replaceAll("''", "'"))];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => [key, ...stringsIn(entry)]);
};

/**
 * Parses a plan that a suite received, in either form: the tree must have all of its text, nodes with names and
 * metrics of known forms.
 */
export const checkPlan = (answer: unknown, body: unknown): void => {
  const plan = typeof answer === "string" ? answer : (answer as { plan: string }).plan;
  const tree = parsePlan(plan, stringsIn(typeof body === "string" ? JSON.parse(body) : body));
  if (renderPlan(tree) !== plan.replace(/\n$/, "")) throw new Error(`the tree lacks text of the plan: ${plan}`);
  for (const { name, metrics } of nodesOf(tree)) {
    if (!nodeName.test(name)) throw new Error(`not a node: ${name} in ${plan}`);
    const unknown = metrics.find(({ unit }) => unit === "text");
    if (unknown !== undefined) throw new Error(`unknown form of the metric ${unknown.name}=${unknown.text} in ${plan}`);
  }
};
