/**
 * `npm run bench:console`: time that the console takes to draw a plan of 500 nodes, to select a node of it, and to list and
 * filter 1,000 tables: from the input, or from the arrival of the response, to the frame that shows the result; and the CPU
 * time of the page's thread meanwhile, which other programs do not change.
 * Needs Chromium; the service's responses are made here.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { parsePlan } from "../service/plan-doctor/parse.ts";
import { launch, openPage, signIn } from "../test/console/browser.ts";
import { testToken } from "../test/support/request.ts";
import { startReadyServiceProcess } from "../test/support/service-process.ts";
import { plain } from "../test/support/tables.ts";
import { writeTables } from "../tools/lance-tables.ts";
import { figureTable, print } from "./report.ts";

const rounds = 7;

/** Unions of pairs, seven levels deep, each leaf with a chain of nodes. */
const planOf = (nodes: number): string => {
  const line = (depth: number, name: string) =>
    `${"  ".repeat(depth)}${name}: elapsed=${1000 - depth}µs, expr=[a@0 as a], metrics=[output_rows=10, bytes_read=1.20 K]`;
  const lines = ["AnalyzeExec verbose=true, elapsed=1ms, metrics=[]"];
  const add = (depth: number): void => {
    if (lines.length >= nodes) return;
    lines.push(line(depth, depth < 7 ? "UnionExec" : "FilterExec"));
    if (depth < 7) for (let child = 0; child < 2; child++) add(depth + 1);
    else for (let more = 1; more < 4 && lines.length < nodes; more++) lines.push(line(depth + more, "LanceRead"));
  };
  while (lines.length < nodes) add(1);
  return `${lines.join("\n")}\n`;
};

const plan = planOf(500);
const facts = { version: 1, statistics: null, columns: null, indices: null, missing: [] };
const document = { plan, tree: parsePlan(plan), findings: [], facts };

/** Runs in the page: milliseconds from an action, or from `start`, to the frame after the expected elements exist. */
const timed = (act: string, done: string, start = "acted"): string => `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const acted = performance.now();
  ${act};
  while (!(${done})) await frame();
  await frame();
  return performance.now() - ${start};
})()`;

/** When the last response of an operation had arrived. */
const arrival = (operation: string): string =>
  `performance.getEntriesByType('resource').findLast(({ name }) => name.includes('${operation}')).responseEnd`;

const type = (text: string): string =>
  `(() => { const box = document.querySelector('input[type=search]'); box.value = '${text}'; box.dispatchEvent(new Event('input', { bubbles: true })); })()`;

const shownTables = "document.querySelectorAll('tr[data-table]').length";

const click = (selector: string, text: string): string =>
  `[...document.querySelectorAll('${selector}')].find((element) => element.textContent.trim() === '${text}').click()`;

interface Step {
  readonly name: string;
  /** Brings the page where the step begins. */
  readonly prepare: (page: Page) => Promise<unknown>;
  /** What is measured, as a program of the page. */
  readonly program: string;
}

const steps = (base: string): readonly Step[] => [
  {
    name: "list 1,000 tables",
    prepare: (page) => page.goto(`${base}/console/#/history`),
    program: timed("location.hash = '#/tables'", `${shownTables} === 25`, arrival("v1/table")),
  },
  {
    name: "filter 1,000 tables to 11",
    prepare: (page) => page.getByText("1000 tables").waitFor(),
    program: timed(type("table10"), `${shownTables} === 11`),
  },
  {
    name: "show all 1,000 tables again",
    prepare: (page) => page.getByText("11 of 1000 tables").waitFor(),
    program: timed(type(""), `${shownTables} === 25`),
  },
  {
    name: "draw a plan of 500 nodes",
    prepare: async (page) => {
      await page.goto(`${base}/console/#/query/plain`);
      await page.getByRole("button", { name: "Explain", exact: true }).waitFor();
    },
    program: timed(
      click(".run-buttons button", "Explain"),
      "document.querySelectorAll('.card').length === 500 && document.querySelectorAll('.card strong').length > 5",
      arrival("explain_plan"),
    ),
  },
  {
    name: "select a node of it",
    prepare: (page) => page.locator(".card").nth(2).waitFor(),
    program: timed(
      "document.querySelectorAll('.card')[2].click()",
      "document.querySelector('.card[aria-selected=true]')",
    ),
  },
  {
    name: "sort its nodes",
    prepare: (page) => page.locator(".card[aria-selected=true]").waitFor(),
    program: timed(click(".grid thead button", "Own"), "document.querySelector('th[aria-sort=descending]')"),
  },
];

/** CPU time of the page's thread since its start, in milliseconds. */
type Cpu = Readonly<Record<"task" | "script" | "style" | "layout", number>>;

const cpuOf = async (session: CDPSession): Promise<Cpu> => {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name: string): number => (metrics.find((metric) => metric.name === name)?.value ?? Number.NaN) * 1000;
  return {
    task: of("TaskDuration"),
    script: of("ScriptDuration"),
    style: of("RecalcStyleDuration"),
    layout: of("LayoutDuration"),
  };
};

const median = (values: readonly number[]): number =>
  Math.round(values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0);

const home = await mkdtemp(join(tmpdir(), "lakehead-console-bench-"));
await writeTables(join(home, "data"), [plain]);
const service = await startReadyServiceProcess({
  copyOf: join(home, "data"),
  environment: { LAKEHEAD_CONSOLE: "on" },
});
const browser = await launch();
try {
  const { page } = await openPage(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const tables = Array.from({ length: 1000 }, (_, index) => `space${index % 20}$table${index}`);
  await page.route("**/v1/table?*", (route) => route.fulfill({ json: { tables } }));
  await page.route("**/explain_plan", (route) => route.fulfill({ json: document }));
  await signIn(page, service.base, testToken);
  const measured = new Map<string, { readonly ms: number; readonly cpu: Cpu }[]>();
  for (let round = 0; round < rounds; round++)
    for (const { name, prepare, program } of steps(service.base)) {
      await prepare(page);
      const before = await cpuOf(session);
      const ms = await page.evaluate<number>(program);
      const after = await cpuOf(session);
      const cpu = {
        task: after.task - before.task,
        script: after.script - before.script,
        style: after.style - before.style,
        layout: after.layout - before.layout,
      };
      measured.set(name, [...(measured.get(name) ?? []), { ms, cpu }]);
    }
  const parts = ["task", "script", "style", "layout"] as const;
  const rows = [...measured].map(([name, runs]) => [
    name,
    String(median(runs.map(({ ms }) => ms))),
    String(Math.round(Math.min(...runs.map(({ ms }) => ms)))),
    ...parts.map((part) => String(median(runs.map(({ cpu }) => cpu[part])))),
  ]);
  const head = ["step", "median ms", "fastest ms", "CPU ms", "script", "style", "layout"];
  print(figureTable(head, rows));
} finally {
  await browser.close();
  await service.stop();
  await rm(home, { recursive: true, force: true });
}
