import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MaintenanceRecord } from "../../service/lance/maintenance/maintenance-record.ts";
import { writeTables } from "../../tools/lance-tables.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";

const viewer = "token-of-a-viewer";
const ofTeam = "token-of-a-team";
const reads = ["plan", "analyze", "stats", "read", "tags:read"];
const tokens = [staticToken("viewer", viewer, reads), staticToken("team", ofTeam, [...reads, "manage"], ["team$**"])];

/** Of the run that works on the table `held`. */
const owner = "elsewhere/7/abcdef01";
const fragments = 24;

const row = (id: number) => ({ id: BigInt(id), vector: [id, 0, 0, 1] });
const large = [Array.from({ length: 12_000 }, (_, id) => row(id))];
const slow = Array.from({ length: fragments }, (_, id) => [row(id)]);

const tableOf = (name: string, batches: readonly (readonly ReturnType<typeof row>[])[], namespace: string[] = []) => ({
  namespace,
  name,
  columns: { id: "integer", vector: { vector: 4 } } as const,
  batches,
  indices: [],
});

let browser: Browser;
let service: ServiceProcess;
let readOnly: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-changes-"));
  const database = join(home, "data");
  await writeTables(database, [
    ...["large", "doomed", "lost"].map((name) => tableOf(name, large)),
    ...["slow", "held", "other"].map((name) => tableOf(name, slow)),
    tableOf("own", slow, ["team"]),
  ]);
  const record = new MaintenanceRecord({ uri: database, storageOptions: {} }, { indexBytes: 0, metadataBytes: 0 });
  expect(await record.acquire("held", owner, 3_600_000)).toBe(true);
  await record.close();
  const environment = { LAKEHEAD_CONSOLE: "on" };
  [browser, service, readOnly] = await Promise.all([
    launch(),
    startReadyServiceProcess({ copyOf: database, tokens, environment: { ...environment, LAKEHEAD_WRITES: "on" } }),
    startReadyServiceProcess({ copyOf: database, tokens, environment }),
  ]);
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await Promise.all([service?.stop(), readOnly?.stop()]);
  await rm(home, { recursive: true, force: true });
});

type Theme = "light" | "dark";
const open = async (view: string, { to = service, token = testToken, theme = "light" as Theme } = {}) => {
  const watched = await openPage(browser, theme);
  const sent: Request[] = [];
  watched.page.on("request", (request) => {
    if (/\/(create_\w*index|maintain)$/.test(request.url())) sent.push(request);
  });
  await signIn(watched.page, to.base, token, view);
  return { ...watched, sent };
};

test("a table that is only declared says so", async () => {
  const declared = await fetch(new URL("v1/table/promised/declare", `${service.base}/`), {
    method: "POST",
    headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(declared.status).toBe(200);
  const { page } = await open("/table/promised");
  await page.getByText("declared and has no data yet").first().waitFor();
  expect(await page.getByText("Cannot read").count()).toBe(0);
});

/** The first finding is open already. */
const openFinding = async (page: Page, title: string): Promise<void> => {
  const finding = page.locator("details.finding", { hasText: title });
  await finding.first().waitFor();
  if ((await finding.first().getAttribute("open")) === null) await finding.first().locator("summary").click();
};

/** Analyzes a query that a scalar index would answer, and opens the finding. */
const findMissingIndex = async (page: Page): Promise<void> => {
  await page.getByLabel("Filter", { exact: true }).fill("id = 5");
  await page.getByRole("button", { name: "Analyze", exact: true }).click();
  await openFinding(page, "A scalar index would answer the filter");
};

const findSmallFragments = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Analyze", exact: true }).click();
  await openFinding(page, "Many small fragments");
};

const applyButton = (page: Page) => page.getByRole("button", { name: /^Apply the fix/ });
const changes = (page: Page) => page.getByRole("region", { name: "Changes of tables" });
const confirm = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Send" }).click();

describe("no fix can be applied", () => {
  test("without the scope manage: one line says so, and no button is there", async () => {
    const { page, problems } = await open("/query/large", { token: viewer });
    await findMissingIndex(page);
    await page.locator(".finding").getByText("Requires the scope manage").waitFor();
    expect(await applyButton(page).count()).toBe(0);
    await page.goto(`${service.base}/console/#/maintenance`);
    await page.getByText("Requires the scope manage").waitFor();
    expect(await page.getByRole("button", { name: /^Maintain/ }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("where writes are off: one line says so, and no button is there", async () => {
    const { page, problems } = await open("/query/large", { to: readOnly });
    await findMissingIndex(page);
    await page.locator(".finding").getByText("This service takes no writes").waitFor();
    expect(await applyButton(page).count()).toBe(0);
    await page.goto(`${readOnly.base}/console/#/maintenance`);
    await page.getByText("This service takes no writes").waitFor();
    expect(await page.getByRole("button", { name: /^Maintain/ }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("without a click on Send: Escape and Cancel send nothing, and Enter alone does not confirm", async () => {
    const { page, sent, problems } = await open("/query/large");
    await findMissingIndex(page);
    await applyButton(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Cancel");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Apply");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(sent).toEqual([]);
    expect(await changes(page).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe("a change that fails", () => {
  test("shows the service's error whole: another run holds the lease of the table", async () => {
    const { page, problems } = await open("/query/held");
    await findSmallFragments(page);
    await applyButton(page).click();
    await confirm(page);
    await changes(page).getByText(`another run works on the table: ${owner}`).waitFor();
    await changes(page)
      .getByText(/^Status 409, request [\w-]+\.$/)
      .waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: /^Remove from the list/ }).click();
    expect(await changes(page).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("shows that an index cannot be built, and the fix can be sent again", async () => {
    const { page, problems } = await open("/query/doomed");
    await findMissingIndex(page);
    const renamed = await service.call("alter_columns", "doomed", { alterations: [{ path: "id", rename: "number" }] });
    expect(renamed.status).toBe(200);
    await applyButton(page).click();
    await confirm(page);
    await changes(page).getByRole("alert").waitFor();
    expect(await changes(page).getByRole("alert").textContent()).toContain("column not found");
    await changes(page)
      .getByText(/^failed after/)
      .waitFor();
    expect(await applyButton(page).isEnabled()).toBe(true);
    expect(problems).toEqual([]);
  });

  test("says that the outcome is not known when the service is lost", async () => {
    const { page, problems } = await open("/query/lost");
    await findMissingIndex(page);
    await page.route("**/create_scalar_index", (route) => route.abort());
    await applyButton(page).click();
    await confirm(page);
    await changes(page).getByText("Whether the change was committed is not known").waitFor();
    expect(problems).toEqual([]);
  });
});

describe("a fix", () => {
  test("is sent as it is shown, runs while other views are open, and is compared with the run before", async () => {
    const { page, sent, problems } = await open("/query/large");
    await findMissingIndex(page);
    const held = Promise.withResolvers<void>();
    await page.route("**/create_scalar_index", async (route) => {
      await held.promise;
      await route.continue();
    });
    await applyButton(page).click();
    const shown = await page.getByRole("dialog").locator("pre").textContent();
    await confirm(page);
    await changes(page).getByText("running").waitFor();
    expect(await applyButton(page).isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Tables" }).click();
    await page.getByRole("link", { name: "other" }).waitFor();
    held.resolve();
    await changes(page)
      .getByText(/^done in [\d.,]+ s, version 2$/)
      .waitFor();
    const [request] = sent;
    expect(sent).toHaveLength(1);
    expect(shown).toBe(`${request?.method()} ${new URL(request?.url() ?? "").pathname}\n${request?.postData()}`);
    expect(shown).toBe('POST /v1/table/large/create_scalar_index\n{"column":"id","index_type":"BTREE"}');
    await expectAccessible(page);
    await page.getByRole("button", { name: "Analyze again and compare" }).click();
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    const only = await page.locator("tr.single td:last-child").allTextContents();
    expect(only.map((text) => text.trim())).toContain("only after");
    await page.getByText("ScalarIndexQuery").first().waitFor();
    expect(problems).toEqual([]);
  });

  test("for small fragments maintains the table, and shows the figures before and after", async () => {
    const { page, problems } = await open("/query/other");
    await findSmallFragments(page);
    await applyButton(page).click();
    expect(await page.getByRole("dialog").locator("pre").textContent()).toBe("POST /v1/table/other/maintain\n{}");
    await confirm(page);
    const figures = changes(page).getByRole("row", { name: /^fragments/ });
    await figures.waitFor();
    expect(await figures.getByRole("cell").allTextContents()).toEqual([String(fragments), "1"]);
    await page.getByRole("button", { name: "Analyze again and compare" }).click();
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe.each(["light", "dark"] as const)("the maintenance page in %s colours", (theme) => {
  test("has what is due and why, and who works on a table", async () => {
    const { page, problems } = await open("/maintenance", { theme });
    await page.getByText(`${fragments} fragments of fewer than 100,000 rows (due from 20)`).first().waitFor();
    await page.getByRole("row", { name: /^held/ }).getByText(owner).waitFor();
    expect(await page.getByRole("button", { name: "Maintain held" }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Maintain team$own" }).click();
    await page.getByRole("dialog").getByText("POST /v1/table/team%24own/maintain").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(problems).toEqual([]);
  });
});

describe("the maintenance page", () => {
  test("maintains a table, shows what was done, and then has nothing due for it", async () => {
    const { page, problems } = await open("/maintenance");
    await page.getByRole("button", { name: "Maintain slow" }).click();
    await confirm(page);
    await changes(page)
      .getByRole("row", { name: /^fragments/ })
      .waitFor();
    await page.getByRole("button", { name: "Maintain slow" }).waitFor({ state: "detached" });
    await page.getByText(/tables with nothing due/).click();
    await page.getByRole("row", { name: /^slow nothing .*\d{4}-\d\d-\d\d/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test("has only tables that the credentials permit", async () => {
    const { page, problems } = await open("/maintenance", { token: ofTeam });
    await page.getByRole("link", { name: "team$own" }).waitFor();
    expect(await page.getByRole("main").getByRole("link").allTextContents()).toEqual(["Jobs", "team$own"]);
    expect(problems).toEqual([]);
  });

  test("says how many tables it judged where there are more", async () => {
    const { page } = await openPage(browser);
    const state = { id: "a", has_rule: true, due: [], notes: [] };
    await page.route("**/v1/maintenance?*", (route) => route.fulfill({ json: { tables: [state], total: 900 } }));
    await signIn(page, service.base, testToken, "/maintenance");
    await page.getByText("Only the first 1 of 900 tables were judged").waitFor();
  });
});

describe("hostile text", () => {
  const markup = `"'></dialog><img src=x onerror="document['title']='owned'">`;
  const node = {
    id: 0,
    name: "LanceRead",
    text: "LanceRead",
    attributes: [],
    metrics: [],
    elapsed_ns: 5,
    own_ns: 5,
    share: 1,
    rows_in: null,
    rows_out: 1,
    children: [],
  };
  const finding = (title: string, write: unknown) => ({
    code: "any",
    severity: "warning",
    title,
    node: null,
    evidence: [],
    why: "",
    fix: { summary: "", python: "", typescript: "", rest: "", write },
  });
  const facts = { version: 1, statistics: null, columns: null, indices: null, missing: [] };
  const tree = { measured: true, elapsed_ns: 5, roots: [node] };

  test("in a fix stays text, and a fix that is no change that the console knows has no button", async () => {
    const { page, sent, problems } = await open("/query/large");
    const findings = [
      finding(markup, { operation: "create_index", body: { column: markup } }),
      finding("drops", { operation: "drop", body: {} }),
      finding("elsewhere", { operation: "../../other/maintain", body: {} }),
    ];
    await page.route("**/analyze_plan", (route) => route.fulfill({ json: { plan: "", tree, findings, facts } }));
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    const summaries = page.locator(".finding summary");
    await summaries.nth(findings.length - 1).waitFor();
    const closed = page.locator("details.finding:not([open]) > summary");
    while ((await closed.count()) > 0) await closed.first().click();
    await applyButton(page).waitFor();
    expect(await applyButton(page).count()).toBe(1);
    await applyButton(page).click();
    await page.getByRole("dialog").getByText(JSON.stringify(markup)).waitFor();
    await confirm(page);
    await changes(page).getByRole("alert").waitFor();
    expect(sent[0]?.postDataJSON()).toEqual({ column: markup });
    expect(await page.locator("img, [onerror]").count()).toBe(0);
    expect(await page.title()).not.toBe("owned");
    expect(problems).toEqual([]);
  });

  test("in the maintenance page stays text", async () => {
    const { page, problems } = await openPage(browser);
    const state = {
      id: markup,
      has_rule: true,
      due: [markup],
      notes: [markup],
      problem: markup,
      left: markup,
      holder: { owner: markup, expires_at_millis: 1 },
    };
    await page.route("**/v1/maintenance?*", (route) => route.fulfill({ json: { tables: [state], total: 1 } }));
    await signIn(page, service.base, testToken, "/maintenance");
    await page.getByRole("link", { name: markup }).waitFor();
    expect(await page.locator("img, [onerror]").count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
