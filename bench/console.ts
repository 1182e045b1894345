/**
 * Time that the console takes to draw a plan of 500 nodes, and to filter 1,000 tables: from the input, or from the
 * arrival of the plan, to the frame that shows the result.
 * Needs Chromium; the service's responses are made here.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePlan } from "../service/plan-doctor/parse.ts";
import { launch, openPage, signIn } from "../test/console/browser.ts";
import { testToken } from "../test/support/request.ts";
import { startReadyServiceProcess } from "../test/support/service-process.ts";
import { plain } from "../test/support/tables.ts";
import { writeTables } from "../tools/lance-tables.ts";

const rounds = 5;

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

/** When the response with the plan had arrived. */
const arrival =
  "performance.getEntriesByType('resource').findLast(({ name }) => name.endsWith('explain_plan')).responseEnd";

const home = await mkdtemp(join(tmpdir(), "lakehead-console-bench-"));
await writeTables(join(home, "data"), [plain]);
const service = await startReadyServiceProcess({
  copyOf: join(home, "data"),
  environment: { LAKEHEAD_CONSOLE: "on" },
});
const browser = await launch();
try {
  const { page } = await openPage(browser);
  const tables = Array.from({ length: 1000 }, (_, index) => `space${index % 20}$table${index}`);
  await page.route("**/v1/table?*", (route) => route.fulfill({ json: { tables } }));
  await page.route("**/explain_plan", (route) => route.fulfill({ json: document }));
  await signIn(page, service.base, testToken);
  await page.getByText("1000 tables").waitFor();
  const results: Record<string, number[]> = { "filter 1,000 tables": [], "draw a plan of 500 nodes": [] };
  const type = (text: string): string =>
    `(() => { const box = document.querySelector('input[type=search]'); box.value = '${text}'; box.dispatchEvent(new Event('input', { bubbles: true })); })()`;
  for (let round = 0; round < rounds; round++) {
    await page.evaluate(type(""));
    await page.getByText("1000 tables").waitFor();
    results["filter 1,000 tables"]?.push(
      await page.evaluate<number>(timed(type("table10"), "document.querySelectorAll('.namespaces li').length === 11")),
    );
  }
  for (let round = 0; round < rounds; round++) {
    await page.goto(`${service.base}/console/#/tables`);
    await page.goto(`${service.base}/console/#/query/plain`);
    await page.getByRole("button", { name: "Explain", exact: true }).waitFor();
    results["draw a plan of 500 nodes"]?.push(
      await page.evaluate<number>(
        timed(
          "[...document.querySelectorAll('.run-buttons button')].find((b) => b.textContent.trim() === 'Explain').click()",
          "document.querySelectorAll('.card').length === 500",
          arrival,
        ),
      ),
    );
  }
  for (const [name, values] of Object.entries(results)) {
    const sorted = values.toSorted((left, right) => left - right);
    process.stdout.write(
      `${name.padEnd(28)} median ${Math.round(sorted[Math.floor(rounds / 2)] ?? 0)} ms, least ${Math.round(sorted[0] ?? 0)} ms\n`,
    );
  }
} finally {
  await browser.close();
  await service.stop();
  await rm(home, { recursive: true, force: true });
}
