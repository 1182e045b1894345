/** The comment of a pull request: the changes of each stack, dangerous ones first. Pure. */

import { markdownTable } from "../../tools/markdown-table.ts";
import { shortType } from "../offline-plan/tree.ts";
import { type Danger, dangers, type Step, type ValueChange } from "./guard.ts";

export interface StackSteps {
  readonly stack: string;
  readonly steps: readonly Step[];
  /** The origin of the steps. */
  readonly source: "preview" | "offline plan";
}

/** The first line of the comment, by which the workflow finds the comment to update. */
export const commentMarker = "<!-- lakehead-preview -->";
export const allowLabel = "allow-replacement";

// GitHub refuses a comment of more than 65 536 characters.
const lengthLimit = 60_000;
const signs: Readonly<Record<Step["op"], string>> = { create: "+", update: "~", replace: "±", delete: "-" };

const plain = (text: string): string => text.replaceAll("\n", " ").replaceAll("`", "'");

function dangerLines(stack: string, found: readonly Danger[]): string[] {
  return found.map(
    ({ step, action }) =>
      `- **${stack}** ${action}: \`${plain(shortType(step.type))}\` ` +
      `\`${plain(step.name)}\`${step.protect ? " (protected)" : ""}` +
      `${step.inputs.length === 0 ? "" : `, because of \`${plain(step.inputs.slice(0, 5).join(", "))}\``}`,
  );
}

/** Changed values as code, because a value such as `<computed>` is otherwise HTML, then the names of other inputs. */
function inputCell(inputs: readonly string[], values: readonly ValueChange[]): string {
  const known = values.map(
    ({ path, before = "(none)", after = "(none)" }) => `\`${plain(`${path}: ${before} → ${after}`)}\``,
  );
  const others = inputs.filter((input) => !values.some(({ path }) => path === input));
  const names = others.slice(0, 8).map((input) => (values.length === 0 ? plain(input) : `\`${plain(input)}\``));
  return [...known, ...(names.length === 0 ? [] : [`${names.join(", ")}${others.length > 8 ? ", …" : ""}`])].join(
    "<br>",
  );
}

function stackSection({ stack, steps, source }: StackSteps): string[] {
  const counts = (Object.keys(signs) as Step["op"][]).map(
    (op) => `${steps.filter((step) => step.op === op).length} ${op}`,
  );
  const title = `${stack}: ${steps.length === 0 ? "no change" : counts.join(", ")}${source === "preview" ? "" : ` (${source})`}`;
  if (steps.length === 0) return [`**${title}**`, ""];
  return [
    `<details><summary>${title}</summary>`,
    "",
    markdownTable(
      ["", "type", "name", "inputs"],
      steps.map(({ op, type, name, inputs, values = [], protect }) => [
        signs[op],
        plain(shortType(type)),
        `${plain(name)}${protect ? " (protected)" : ""}`,
        inputCell(inputs, values),
      ]),
    ),
    "",
    "</details>",
    "",
  ];
}

/** The comment, with values of inputs that are no secret, and whether the check passes. */
export function renderComment(stacks: readonly StackSteps[], allowed: boolean): { text: string; passes: boolean } {
  const found = stacks.map(({ stack, steps }) => ({ stack, found: dangers(steps) }));
  const dangerous = found.some((item) => item.found.length > 0);
  const decision = !dangerous
    ? []
    : [
        allowed
          ? `Allowed by the label \`${allowLabel}\`:`
          : `**Stopped.** Set the label \`${allowLabel}\` to allow this:`,
        "",
        ...found.flatMap((item) => dangerLines(item.stack, item.found)),
        "",
      ];
  const lines = [commentMarker, "### Infrastructure", "", ...decision, ...stacks.flatMap(stackSection)];
  const text = lines.join("\n");
  const note = "\n\n… The comment is too long; the run's artifacts have the rest.";
  return {
    text: text.length <= lengthLimit ? text : `${text.slice(0, text.lastIndexOf("\n", lengthLimit))}${note}`,
    passes: !dangerous || allowed,
  };
}
