import packageFile from "../../package.json" with { type: "json" };
import type { Container } from "./container.ts";
import type { ContainerConfig } from "./dockerfile.ts";
import { readProjectFile } from "./perform.ts";

/** Input of a check. */
export interface Subject {
  readonly container: Container;
  readonly config: ContainerConfig;
  readonly token: string;
}

/** @throws Error with the fault. */
type Check = (subject: Subject) => Promise<void>;

const require = (condition: boolean, fault: string): void => {
  if (!condition) throw new Error(fault);
};

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 200));
};

/** Runs a short program inside the image; returns its output. */
const evaluate = async ({ container }: Subject, program: string): Promise<string> => {
  const { code, output } = await container.run(["node", "--eval", program]);
  require(code === 0, `a program in the image ended with ${code}: ${output}`);
  return output.trim();
};

const ask = async ({ container, token }: Subject, table: string, operation: string, body: object) => {
  const response = await fetch(`${container.api}/v1/table/${table}/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  require(response.status === 200, `${operation} returned ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
};

const lockEntries: Readonly<Record<string, { readonly dev?: boolean }>> = JSON.parse(
  await readProjectFile("package-lock.json"),
).packages;

const installedPackages = `const { readdirSync } = require("node:fs");
const names = (folder) => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
const packages = (folder) => names(folder).flatMap((name) => name.startsWith("@") ? names(folder + "/" + name).map((rest) => folder + "/" + name + "/" + rest) : [folder + "/" + name]);
console.log(packages("node_modules").join("\\n"));`;

/** In the order in which they run. */
export const checks: Readonly<Record<string, Check>> = {
  "its health check says healthy, and it becomes ready": async ({ container, config }) => {
    const { healthCheck = [] } = config;
    await until(async () => (await container.run(healthCheck)).code === 0);
    await until(async () => (await fetch(`${container.operations}/readyz`)).status === 200);
  },
  "it holds the service and nothing else of the repository": async (subject) => {
    const found = await evaluate(subject, 'console.log(fs.readdirSync(".").sort().join(" "))');
    require(found === "node_modules package.json service", `it holds ${found}`);
    const service = await evaluate(subject, 'console.log(fs.readdirSync("service").join(" "))');
    require(!service.includes("quickstart"), "it holds the quick start, which is for development");
  },
  "it has every dependency and nothing that is for development": async (subject) => {
    const installed = (await evaluate(subject, installedPackages)).split("\n");
    const surplus = installed.filter((path) => lockEntries[path]?.dev !== undefined || lockEntries[path] === undefined);
    require(surplus.length === 0, `it has ${surplus.join(", ")}`);
    const missing = Object.keys(packageFile.dependencies).filter((name) => !installed.includes(`node_modules/${name}`));
    require(missing.length === 0, `it lacks ${missing.join(", ")}`);
  },
  "it runs as the user of the Dockerfile, who is not root": async ({ container, config }) => {
    const user = await container.user();
    require(user !== 0 && (String(user) === config.user?.split(":")[0] || user === process.getuid?.()), `user ${user}`);
  },
  "its files cannot be written by it": async (subject) => {
    const outcome = await evaluate(
      subject,
      'try { fs.writeFileSync("service/written", ""); console.log("written"); } catch ({ code }) { console.log(code); }',
    );
    require(outcome === "EROFS" || outcome === "EACCES", outcome);
  },
  "it plans a query": async (subject) => {
    const plan = await ask(subject, "plain", "explain_plan", { query: { k: 3, filter: "id < 5" } });
    require(typeof plan === "string" && plan.includes("LanceRead"), String(plan));
  },
  "it runs one in a worker process": async (subject) => {
    const plan = await ask(subject, "plain", "analyze_plan", { k: 3, vector: [1, 2, 3, 4] });
    require(typeof plan === "string" && plan.includes("metrics="), String(plan));
    const metrics = await (await fetch(`${subject.container.operations}/metrics`)).text();
    require(/lakehead_workers\{pool="analyze",state="idle"\} [1-9]/.test(metrics), "there is no worker");
  },
  "it writes a tag to the volume": async (subject) => {
    await ask(subject, "plain", "tags/create", { tag: "image", version: 1 });
    const answer = await ask(subject, "plain", "tags/version", { tag: "image" });
    require(JSON.stringify(answer) === '{"version":1}', JSON.stringify(answer));
  },
  "it has no API page, which is for development": async ({ container }) => {
    const { status } = await fetch(`${container.api}/docs`);
    require(status === 404, `/docs returned ${status}`);
  },
  "it has written nothing outside the volume": async ({ container }) => {
    const written = await container.written();
    require(written.length === 0, written.slice(0, 10).join(", "));
  },
  "SIGTERM ends it with exit code 0, after the last request": async ({ container }) => {
    const code = await container.stop();
    require(code === 0, `exit code ${code}`);
  },
  "its log is JSON lines, to the last one": async ({ container }) => {
    const messages = (await container.log())
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
    require(messages[0] === "listening" && messages.at(-1) === "stopped", messages.join(", "));
  },
};
