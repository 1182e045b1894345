import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestService, type TestService } from "../support/service.ts";
import { staticToken } from "../support/static-token.ts";
import { reads, writes } from "./deployed/checks.ts";

const reader = staticToken("reader", "token-of-a-reader", ["stats"]);
let service: TestService;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-acceptance-"));
  service = await startTestService({ environment: { LAKEHEAD_WRITES: "on" }, tokens: [reader] });
  await writeFile(join(home, "every"), `${service.token}\n`);
  await writeFile(join(home, "reader"), "token-of-a-reader");
});
afterAll(async () => {
  await service.stop();
  await rm(home, { recursive: true });
});

const accept = (url: string, token: string, ...options: string[]) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    const program = ["test/acceptance/deployed/main.ts", "--url", url, "--token-file", join(home, token), ...options];
    execFile(process.execPath, program, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });

describe("npm run acceptance", () => {
  test("reads a service, and writes nothing unless it is told to", async () => {
    const before = service.log.length;
    const { code, output } = await accept(service.base, "every", "--table", "docs");
    expect(output).toMatch(new RegExp(`\n${reads.length} passed, 0 failed, 0 skipped\n$`));
    expect(code).toBe(0);
    expect(service.log.slice(before).filter(({ msg }) => msg === "write")).toEqual([]);
  });

  test("with --writes leaves nothing behind", async () => {
    const { code, output } = await accept(service.base, "every", "--writes");
    expect(output).toMatch(new RegExp(`\n${reads.length + 1} passed, 0 failed, 0 skipped\n$`));
    expect(code).toBe(0);
    const { body } = await service.ask("/v1/namespace/$/list", undefined, { method: "GET" });
    expect(body.namespaces.filter((name: string) => name.startsWith("acceptance"))).toEqual([]);
  });

  test("skips what the token does not permit, by name", async () => {
    const { code, output } = await accept(service.base, "reader", "--table", "docs");
    expect(output).toMatch(/skipped {2}a query's plan is explained\n +the token does not permit it: .*scope plan/);
    expect(output).toContain(" 0 failed, ");
    expect(code).toBe(0);
  });

  test("fails on a server that says yes to everything, and on none", async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"tables":["t"],"versions":[1]}'),
    );
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const yes = await accept(base, "every", "--writes");
    expect(yes.code).toBe(1);
    for (const title of [reads[0], reads[1], writes].map((check) => check?.title))
      expect(yes.output).toContain(`failed   ${title}`);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const none = await accept(base, "every");
    expect([none.code, none.output]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
  });
});

test("its README lists every check", async () => {
  const text = await readFile(new URL("README.md", import.meta.url), "utf8");
  expect([...reads, writes].map(({ title }) => title).filter((title) => !text.includes(`| ${title} |`))).toEqual([]);
});
