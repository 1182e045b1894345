import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { testToken } from "../support/request.ts";
import { type ProcessOptions, type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { findChromium } from "./chromium.ts";

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium() ?? "chromium", args: ["--no-sandbox"] });

/** A page that fails the test for errors of its scripts and for whatever its policy blocks. */
export interface Watched {
  readonly page: Page;
  /** Errors so far. Refused requests are none: the page shows them. */
  readonly problems: string[];
}

export const openPage = async (browser: Browser, theme: "light" | "dark" = "light"): Promise<Watched> => {
  const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1360, height: 850 } });
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) problems.push(message.text());
  });
  return { page, problems };
};

/** @param view fragment of the address, for instance `/table/docs`. */
export const signIn = async (page: Page, base: string, token: string, view = "/tables"): Promise<void> => {
  await page.goto(`${base}/console/#${view}`);
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
};

/** A browser and a service with a console for the tests of a file. */
export const useConsole = (options: () => ProcessOptions | Promise<ProcessOptions>) => {
  let browser: Browser;
  let service: ServiceProcess;
  beforeAll(async () => {
    const { environment, ...others } = await options();
    [browser, service] = await Promise.all([
      launch(),
      startReadyServiceProcess({ ...others, environment: { LAKEHEAD_CONSOLE: "on", ...environment } }),
    ]);
  }, 180_000);
  afterAll(async () => {
    await Promise.all([browser?.close(), service?.stop()]);
  });
  return {
    service: (): ServiceProcess => service,
    /** A signed-in page at a view. */
    open: async (view: string, token = testToken, theme: "light" | "dark" = "light"): Promise<Watched> => {
      const watched = await openPage(browser, theme);
      await signIn(watched.page, service.base, token, view);
      return watched;
    },
  };
};

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds on the page, but what it calls minor. */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(`(() => { ${axe} })()`);
  const violations = await page.evaluate<Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  const found = violations.filter(({ impact }) => impact !== "minor");
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)).toEqual([]);
};
