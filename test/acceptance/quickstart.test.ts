import { cp } from "node:fs/promises";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkPlan } from "../support/plan.ts";
import type { Running } from "../support/process.ts";
import { Workplace } from "./workplace.ts";

/** The last line that a start prints, and its comment. */
const tagLine = /# a tag[^\n]*\n[^\n]+\n/;

const workplace = new Workplace();
let first: Running;
let base: string;
let token: string;

beforeAll(async () => {
  await workplace.open();
  first = workplace.start();
  [, base = ""] = await first.printed(/table service\s+(http:\/\/\S+)/);
  [, token = ""] = await first.printed(/token for local use\s+(\S+)/);
  await first.printed(tagLine);
});
afterAll(() => workplace.close());

/** The printed lines as a shell would read them: an address, headers and a body between single quotes. */
const curlLines = (output: string) =>
  output
    .split("\n")
    .filter((line) => line.startsWith("curl "))
    .map((line) => {
      const [, url = ""] = /^curl -s (\S+)/.exec(line) ?? [];
      const headers = [...line.matchAll(/-H '([^:']+): ([^']+)'/g)].map(([, name = "", value = ""]) => [name, value]);
      const [, body = ""] = /-d '([^']+)'/.exec(line) ?? [];
      return { url, headers: Object.fromEntries(headers) as Record<string, string>, body };
    });

const run = async ({ url, headers, body }: ReturnType<typeof curlLines>[number]) => {
  const response = await fetch(url, body === "" ? { headers } : { method: "POST", headers, body });
  const text = await response.text();
  const isJson = /^application\/(.+\+)?json/.test(response.headers.get("content-type") ?? "");
  const answer = { status: response.status, body: isJson ? JSON.parse(text) : text };
  if (url.endsWith("_plan") && answer.status === 200) checkPlan(answer.body, body);
  return answer;
};

describe("npm start", () => {
  test("prints three lines that work as printed: a plan, the statistics, a tag", async () => {
    const [plan, statistics, tag, ...others] = await Promise.all(curlLines(first.output()).map(run));
    expect(others).toEqual([]);
    expect(plan?.body).toMatch(/ANNSubIndex: name=vector_idx/);
    expect(statistics?.body).toMatchObject({ num_rows: 344, num_indices: 1 });
    expect(tag).toEqual({ status: 200, body: {} });
  });

  test("has the documented tables", async () => {
    const ask = async (table: string, operation: string, body: object) => {
      const response = await fetch(`${base}/v1/table/${table}/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      if (operation.endsWith("_plan")) checkPlan(answer, body);
      return answer;
    };
    expect(await ask("earthquakes", "stats", {})).toMatchObject({ num_rows: 1707, num_indices: 3 });
    expect(await ask("weather", "describe", {})).toMatchObject({ version: expect.any(Number) });
    expect(await ask("weather", "explain_plan", { query: { k: 1, version: 2 } })).toMatch(/num_fragments=2/);
    const text = { string_query: { query: "Alaska" } };
    expect(await ask("earthquakes", "analyze_plan", { k: 3, full_text_query: text })).toMatch(/output_rows=3/);
  });

  test("a port in use is an error that names it", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const second = workplace.start({ LAKEHEAD_PORT: String(port) });
    expect(await second.exited()).toBe(1);
    expect(second.output()).toContain(
      `port ${port} on 127.0.0.1 is in use: stop the process that listens there, or choose another port`,
    );
    taken.close();
  });

  test("an invalid environment: all errors and exit code 2", async () => {
    const second = workplace.start({ LAKEHEAD_PORT: "http", LAKEHEAD_LOG_LEVEL: "chatty" });
    expect(await second.exited()).toBe(2);
    expect(second.output()).toMatch(/LAKEHEAD_PORT="http" must be a whole number/);
    expect(second.output()).toMatch(/LAKEHEAD_LOG_LEVEL="chatty" must be one of/);
  });

  test("a second start keeps data, tags and token", async () => {
    const own = new Workplace();
    await own.open();
    onTestFinished(() => own.close());
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const post = (address: string, operation: string, body: object) =>
      fetch(`${address}/v1/table/weather/tags/${operation}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await post(base, "create", { tag: "kept", version: 1 })).status).toBe(200);
    await cp(workplace.home, own.home, { recursive: true });
    const again = own.start();
    const [, address = ""] = await again.printed(/table service\s+(http:\/\/\S+)/);
    expect(again.output()).not.toContain("creating the sample tables");
    expect(await (await post(address, "version", { tag: "kept" })).json()).toEqual({ version: 1 });
  });
});
