import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writeTables } from "../../tools/lance-tables.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { launch, openPage, signIn } from "./browser.ts";

/** Markup that would run a script if it were parsed anywhere. Lance allows no dot in a column name. */
const script = `<img src=x onerror="document['title']='owned'"><script>document['title']='owned'</script>`;
const breakout = `"'></td></style><svg onload=document['title']='owned'>\${7*7}&lt;b&gt;`;

let browser: Browser;
let service: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-hostile-"));
  const database = join(home, "data");
  await writeTables(database, [
    {
      namespace: [],
      name: "hostile",
      columns: { id: "integer", [script]: "text", [breakout]: "text", __proto__x: "text", vector: { vector: 4 } },
      batches: [
        Array.from({ length: 300 }, (_, row) => ({
          id: BigInt(row),
          [script]: breakout,
          [breakout]: script,
          __proto__x: script,
          vector: [row, 0, 1, 2],
        })),
      ],
      indices: [],
    },
  ]);
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({ copyOf: database, environment: { LAKEHEAD_CONSOLE: "on" } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

/** No element of the hostile text exists, and no script changed the title. */
const expectText = async (page: Page): Promise<void> => {
  expect(await page.locator("img, script:not([src]), [onerror], [onload]").count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
};

describe("hostile names and values stay text", () => {
  let page: Page;
  let problems: string[];
  beforeEach(async () => {
    ({ page, problems } = await openPage(browser));
  });

  test("in column names and rows", async () => {
    await signIn(page, service.base, testToken, "/table/hostile");
    // Hidden in the picker of columns, too.
    const rows = page.getByRole("region", { name: "Rows", exact: true });
    await rows.getByText(breakout).first().waitFor();
    await rows.getByText(script).first().waitFor();
    await expectText(page);
    expect(problems).toEqual([]);
  });

  test("in the literals of a plan, its text, its drawing and its comparison", async () => {
    await signIn(page, service.base, testToken, "/query/hostile");
    const analyze = async (literal: string, shown: string): Promise<void> => {
      await page.getByLabel("Filter", { exact: true }).fill(`__proto__x != '${literal.replaceAll("'", "''")}'`);
      await page.getByRole("button", { name: "Analyze", exact: true }).click();
      await page.locator(".plan-text").getByText(shown).waitFor();
      await page.getByRole("button", { name: "Analyze", exact: true, disabled: false }).waitFor();
      await expectText(page);
    };
    await analyze(script, "<img src=x");
    await analyze(breakout, "</td></style>");
    await page.getByRole("link", { name: "Compare with the run before" }).click();
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    await expectText(page);
    expect(problems).toEqual([]);
  });

  test("in names of tables, tags and subjects that another server could send", async () => {
    await page.route("**/v1/table?*", (route) =>
      route.fulfill({ json: { tables: [script, `${breakout}$${script}`] } }),
    );
    await page.route("**/tags/list", (route) => route.fulfill({ json: { tags: { [script]: { version: 1 } } } }));
    await page.route("**/console/me", (route) =>
      route.fulfill({
        json: { subject: script, scopes: ["stats", "tags:read", "tags:write", script], tables: [breakout] },
      }),
    );
    await signIn(page, service.base, testToken);
    await page.getByRole("link", { name: script }).first().waitFor();
    await expectText(page);
    await page.goto(`${service.base}/console/#/table/hostile`);
    await page.locator(".flag", { hasText: script }).waitFor();
    await expectText(page);
    expect(problems).toEqual([]);
  });

  test("in an address, which names no table", async () => {
    await signIn(page, service.base, testToken, `/table/${encodeURIComponent(script)}`);
    await page.getByRole("alert").first().waitFor();
    await expectText(page);
  });

  test("in errors, findings and nodes of a plan that another server could send", async () => {
    const node = {
      id: 0,
      name: script,
      text: script,
      attributes: [{ key: breakout, value: script }],
      metrics: [{ name: script, text: breakout, value: null, unit: "text", rounded: true }],
      elapsed_ns: 5,
      own_ns: 5,
      share: 1,
      rows_in: null,
      rows_out: 1,
      children: [],
    };
    const fix = { summary: script, python: script, typescript: breakout, rest: script };
    const finding = {
      code: script,
      severity: "warning",
      title: script,
      node: 0,
      evidence: [{ name: script, value: breakout }],
      why: breakout,
      fix,
    };
    const facts = {
      version: 1,
      statistics: null,
      columns: null,
      indices: null,
      missing: [{ fact: "statistics", reason: script }],
    };
    const document = {
      plan: script,
      tree: { measured: true, elapsed_ns: 5, roots: [node] },
      findings: [finding],
      facts,
    };
    await page.route("**/analyze_plan", (route) => route.fulfill({ json: document }));
    await page.route("**/explain_plan", (route) =>
      route.fulfill({ status: 400, json: { error: script, code: 13, detail: breakout } }),
    );
    await signIn(page, service.base, testToken, "/query/hostile");
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByRole("treeitem").click();
    await page.locator("details.finding summary").click();
    await page.locator(".attributes").getByText(script).waitFor();
    await expectText(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as HTML" }).click(),
    ]);
    const saved = await openPage(browser);
    await saved.page.setContent(await readFile(await download.path(), "utf8"));
    await saved.page.getByRole("treeitem").waitFor();
    await expectText(saved.page);
    expect(saved.problems).toEqual([]);
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await page.getByRole("alert").getByText(breakout).waitFor();
    await expectText(page);
    expect(problems).toEqual([]);
  });

  test("even where a script of the page tries: its policy refuses markup and inline code", async () => {
    await signIn(page, service.base, testToken);
    const refused = await page.evaluate(`(async () => {
      const attempts = {
        markup: () => { document.body.innerHTML = "<b>x</b>"; },
        inline: () => new Promise((resolve, reject) => {
          addEventListener("securitypolicyviolation", () => reject(new Error("blocked")), { once: true });
          document.body.setAttribute("onclick", "1");
          setTimeout(resolve, 500);
        }),
        elsewhere: () => fetch("http://localhost:9/"),
      };
      const names = [];
      for (const [name, attempt] of Object.entries(attempts))
        try { await attempt(); } catch { names.push(name); }
      return names;
    })()`);
    expect(refused).toEqual(["markup", "inline", "elsewhere"]);
  });
});

test("a lost server is named, the view stays, and a retry continues when the server is back", async () => {
  const { page } = await openPage(browser);
  await signIn(page, service.base, testToken, "/query/hostile");
  await page.getByLabel("Filter", { exact: true }).fill("id > 5");
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Analyze", exact: true }).click();
  await page.getByRole("alert").getByText("the service does not answer").waitFor();
  expect(await page.getByLabel("Filter", { exact: true }).inputValue()).toBe("id > 5");
  await page.goto(`${service.base}/console/#/tables`);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "hostile" }).waitFor();
});

test("a service that stops is named in the page that was open", async () => {
  const other = await startReadyServiceProcess({ copyOf: join(home, "data"), environment: { LAKEHEAD_CONSOLE: "on" } });
  const { page } = await openPage(browser);
  await signIn(page, other.base, testToken);
  await page.getByRole("link", { name: "hostile" }).waitFor();
  await other.kill();
  await page.getByRole("link", { name: "hostile" }).click();
  await page.getByRole("alert").first().getByText("the service does not answer").waitFor();
});
