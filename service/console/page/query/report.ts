import { render } from "preact";
import type { PlanNode } from "../../../plan-doctor/types.ts";
import { formatTime } from "../format.ts";
import { html } from "../html.ts";
import { NodeDetails } from "../plan/details.ts";
import { Findings } from "../plan/findings.ts";
import { PlanGrid } from "../plan/grid.ts";
import { listNodes } from "../plan/nodes.ts";
import { Totals } from "../plan/plan-view.ts";
import { PlanDrawingView } from "../plan/tree.ts";
import type { Run } from "./runs.ts";

const none: ReadonlySet<number> = new Set();
const ignore = (): void => {};

const Plan = ({ run: { plan } }: { run: Run }) => {
  if (plan?.tree === undefined) return html`<pre>${plan?.plan}</pre>`;
  const { tree, findings, facts } = plan;
  return html`<${Totals} tree=${tree} />
    <${Findings} findings=${findings} facts=${facts} select=${ignore} />
    <${PlanDrawingView} tree=${tree} selected=${undefined} select=${ignore} marked=${none} whole />
    <${PlanGrid} tree=${tree} selected=${undefined} select=${ignore} whole />
    <h2>Nodes</h2>
    ${listNodes(tree).map(({ node }: { node: PlanNode }) => html`<details key=${node.id}><summary>${node.id + 1}. ${node.name}</summary><${NodeDetails} node=${node} /></details>`)}
    <h2>Text</h2>
    <pre>${plan.plan}</pre>`;
};

const Report = ({ run }: { run: Run }) => html`<main class="report">
  <h1>${run.kind} of ${run.table}</h1>
  <p class="muted">${formatTime(run.at)}</p>
  <pre>${JSON.stringify(run.query)}</pre>
  <${Plan} run=${run} />
</main>`;

/** A page without scripts and without addresses, for a reader without the service. */
const page = (title: string, style: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
${style}
.report button { pointer-events: none; }
</style>
</head>
<body>
${body}
</body>
</html>
`;

/** What the browser wrote as text or as an attribute is escaped; the title is made from letters that need no escape. */
const titleOf = ({ kind, table }: Run): string => `${kind} ${table.replace(/[^\p{L}\p{N}$._-]/gu, "_")}`;

const styleText = (): string =>
  [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map(({ cssText }) => cssText)).join("\n");

/** A run as one HTML file. It has the query and the plan, and nothing of the credentials. */
export const reportOf = (run: Run): string => {
  const box = document.createElement("div");
  render(html`<${Report} run=${run} />`, box);
  const body = box.innerHTML;
  render(null, box);
  return page(titleOf(run), styleText(), body);
};

export const saveReport = (run: Run): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([reportOf(run)], { type: "text/html" }));
  link.download = `${titleOf(run).replaceAll(" ", "-")}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&amp;": "&",
  "&nbsp;": "\u00a0",
};

/** The plan in a saved page, in a JSON string as the service returns it, or the text itself. */
export const planTextOf = (text: string): string => {
  const [, saved] = /<h2>Text<\/h2>\s*<pre>([^<]*)<\/pre>/.exec(text) ?? [];
  if (saved !== undefined)
    return saved.replaceAll(/&(?:lt|gt|quot|amp|nbsp);/g, (entity) => entities[entity] ?? entity);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
    const { plan } = value as { plan?: unknown };
    return typeof plan === "string" ? plan : text;
  } catch {
    return text;
  }
};
