import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";

/** Runs the entry point as a container does; observes exit code and output. */
const run = (environment: Readonly<Record<string, string>>, ...rest: string[]) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? "", ...environment };
    execFile(process.execPath, ["service/main.ts", ...rest], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });

/** The port of a server whose liveness probe answers with a status. It ends with the test. */
const answerWith = async (status: number): Promise<string> => {
  const server = createServer((request, response) => response.writeHead(request.url === "/livez" ? status : 404).end());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return String((server.address() as AddressInfo).port);
};

test.each(["127.0.0.1", "0.0.0.0", ""])("--health finds a service that listens on %j", async (host) => {
  const environment = { LAKEHEAD_OPERATIONS_PORT: await answerWith(200), LAKEHEAD_HOST: host };
  expect(await run(environment, "--health")).toEqual({ code: 0, output: "" });
});

test("--health of a service that is not live: exit code 1 and the reason", async () => {
  const port = await answerWith(500);
  const { code, output } = await run({ LAKEHEAD_OPERATIONS_PORT: port }, "--health");
  expect({ code, output }).toEqual({ code: 1, output: `lakehead: http://127.0.0.1:${port}/livez answered 500\n` });
});

test("--health without a service: exit code 1 and the reason", async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const free = (gone.address() as AddressInfo).port;
  await new Promise((resolve) => gone.close(resolve));
  const { code, output } = await run({ LAKEHEAD_OPERATIONS_PORT: String(free) }, "--health");
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/\/livez did not answer: .*ECONNREFUSED/),
  });
});

test("a temporary directory that cannot be written is an error at the start", async () => {
  const { code, output } = await run({
    LAKEHEAD_DATABASE: "/nowhere",
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: `[{"name":"x","sha256":"${"0".repeat(64)}","scopes":["plan"]}]`,
    TMPDIR: "/nowhere/at/all",
  });
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/\/nowhere\/at\/all, is not writable \(ENOENT\): mount a writable one, or .* TMPDIR/),
  });
});
