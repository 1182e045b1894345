import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { freePorts } from "../../tools/parts/free-port.ts";
import { type Running, startProcess } from "../support/process.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { expectAccessible, launch, openPage } from "./browser.ts";

const audience = "https://tables.example.com";

let browser: Browser;
let provider: Running;
let service: ServiceProcess;
beforeAll(async () => {
  const [issuerPort = 0, port = 0] = await freePorts(2);
  const program = fileURLToPath(new URL("provider.ts", import.meta.url));
  const redirectUri = `http://127.0.0.1:${port}/console/`;
  provider = startProcess(process.execPath, [program, String(issuerPort), redirectUri, audience], {});
  await provider.printed(/provider listens/);
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({
      copyOf: inject("tables"),
      environment: {
        LAKEHEAD_PORT: String(port),
        LAKEHEAD_CONSOLE: "on",
        LAKEHEAD_CONSOLE_CLIENT_ID: "console",
        LAKEHEAD_CONSOLE_SCOPE: "openid plan analyze stats read tags:read",
        LAKEHEAD_AUTH_ISSUER: `http://127.0.0.1:${issuerPort}`,
        LAKEHEAD_AUTH_AUDIENCE: audience,
      },
    }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  provider?.child.kill();
});

test("the issuer's code becomes a session with the scopes that it granted, at the view that was asked for", async () => {
  const { page, problems } = await openPage(browser);
  await page.goto(`${service.base}/console/#/table/docs`);
  await expectAccessible(page);
  await page.getByRole("button", { name: /^Sign in with 127\.0\.0\.1/ }).click();
  await page.locator("input[name=login]").fill("ada");
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "docs", level: 1 }).waitFor();
  await page.getByText("20 rows not indexed").first().waitFor();
  expect(page.url()).toBe(`${service.base}/console/#/table/docs`);
  expect(await page.locator(".who").textContent()).toBe("ada");
  await page.getByText("you need the scope tags:write").waitFor();
  expect(problems).toEqual([]);
});

test("a code that the page did not ask for is refused", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${service.base}/console/?code=stolen&state=other`);
  await page.getByRole("alert").getByText("started in another tab").waitFor();
  expect(page.url()).toBe(`${service.base}/console/`);
});

test("the issuer's refusal is shown with its reason, and the address is cleaned", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${service.base}/console/`);
  await page.getByRole("button", { name: /^Sign in with/ }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("alert").getByText("the issuer refused").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("an issuer that does not answer is named", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${service.base}/console/`);
  await page.route(/openid-configuration/, (route) => route.abort());
  await page.getByRole("button", { name: /^Sign in with/ }).click();
  await page.getByRole("alert").getByText("does not answer").waitFor();
});
