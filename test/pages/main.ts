/**
 * `npm run test:pages [-- page…]`: runs the fenced blocks of the pages as they are printed, in order, each page in a shell, a home
 * folder and a copy of the repository of its own. What a page says is printed must be printed. `blocks.ts` says how a page marks
 * what cannot run.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { goPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import { freePorts } from "../../tools/parts/free-port.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { Report } from "../e2e/support/report.ts";
import { minioProgram } from "../stores/minio.ts";
import { commandsOf, countOf, isSilent, prints, type Step, sectionOf, stepsOf } from "./blocks.ts";
import { deploymentPages, paths, servicePages } from "./pages.ts";
import { Terminal } from "./terminal.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const report = new Report();

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** The ports of the pages, or others where another program has them. */
const documentedPorts = [8080, 9090, 9000];
const [port = 0, operationsPort = 0, storePort = 0] = (await Promise.all(documentedPorts.map(isFree))).every(Boolean)
  ? documentedPorts
  : await freePorts(3);
if (port !== 8080) report.log(`port 8080, 9090 or 9000 is taken: the blocks run with ${port} and ${storePort} instead`);
const here = (code: string): string =>
  code
    .replaceAll(/\b(127\.0\.0\.1|localhost):8080\b/g, `$1:${port}`)
    .replaceAll(/\b127\.0\.0\.1:9000\b/g, `127.0.0.1:${storePort}`);

const python = await pythonWith(join(root, "test/clients/python/requirements.txt"), report.log);

/** Pulumi's CLI, which npm's package downloads elsewhere; undefined where it is not built. */
const engine = unbuilt(["pulumi"]).length > 0 ? undefined : await goPart("pulumi", report.log);

const hasAws = await promisify(execFile)("aws", ["--version"]).then(
  () => true,
  () => false,
);

/** The reader's own programs come first, not those of `npm run`. */
const pathWith = (folders: readonly string[]): string =>
  [
    ...folders,
    ...(python.python === undefined ? [] : [dirname(python.python)]),
    ...(process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules")),
  ].join(delimiter);

/** A reader's clone: what is in the repository, and links to what `npm ci` installs, which a block can remove without harm. */
const makeClone = async (clone: string): Promise<void> => {
  const left = new Set([".git", ".lakehead", "node_modules"]);
  await mkdir(clone);
  for (const name of await readdir(root))
    if (!left.has(name)) await cp(join(root, name), join(clone, name), { recursive: true });
  await mkdir(join(clone, "node_modules"));
  await mkdir(join(clone, "node_modules/.bin"));
  const inPackages = (await readdir(join(root, "node_modules"))).filter((name) => name !== ".bin");
  const commands = (await readdir(join(root, "node_modules/.bin"))).map((name) => join(".bin", name));
  for (const name of [...inPackages, ...commands])
    await symlink(
      name === ".bin/pulumi" && engine !== undefined ? join(engine, "pulumi") : join(root, "node_modules", name),
      join(clone, "node_modules", name),
    );
};

const lastLines = (output: string): string => output.trimEnd().split("\n").slice(-40).join("\n");

const runPage = async (page: string): Promise<void> => {
  const steps = stepsOf(await readFile(join(root, page), "utf8"));
  const store = steps.some((step) => step.kind === "run" && step.code.includes("minio server"))
    ? await minioProgram(report.log)
    : undefined;
  if (store?.missing !== undefined) {
    report.skip(page, store.missing);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "lakehead-page-"));
  const [clone, home, scratch] = ["clone", "home", "scratch"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await makeClone(clone);
  await mkdir(home);
  await mkdir(scratch);
  // A response that is an error is no success of curl.
  await writeFile(join(home, ".curlrc"), "fail-with-body\n");
  const environment = {
    PATH: pathWith(store === undefined ? [] : [dirname(store.program)]),
    HOME: home,
    TERM: "dumb",
    LAKEHEAD_PORT: String(port),
    LAKEHEAD_OPERATIONS_PORT: String(operationsPort),
    // It takes the home folder from the system's list of users, not from HOME.
    PULUMI_HOME: join(home, ".pulumi"),
    // What Pulumi's CLI asks a reader.
    PULUMI_CONFIG_PASSPHRASE: "planted",
    PULUMI_SKIP_CONFIRMATIONS: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const terminals: Terminal[] = [];
  const open = (): Terminal => {
    const terminal = new Terminal(clone, environment, scratch);
    terminals.push(terminal);
    return terminal;
  };
  let terminal = open();
  /** What the last block printed; undefined if it did not run. */
  let printed: string | undefined;

  const execute = async (code: string): Promise<string | undefined> => {
    printed = undefined;
    const { output, failures } = await terminal.run(here(code), 300);
    printed = output;
    if (failures.length > 0) throw new Error(`${failures.join("\n")}\n${lastLines(output)}`);
    if (output.trim() === "" && !isSilent(code)) throw new Error("it prints nothing");
    const { length } = commandsOf(code);
    return length === 1 ? undefined : `${length} commands`;
  };
  const needsPython = (step: Step): boolean =>
    python.python === undefined &&
    /\b(python3?|ray)\b/.test(step.kind === "run" ? step.code : step.kind === "save" ? (step.run ?? "") : "");

  /** @returns whether the reader can go on */
  const follow = async (step: Step): Promise<boolean> => {
    const title = `${page}:${step.line}`;
    if (engine === undefined && step.kind === "run" && step.code.includes("npx pulumi")) {
      printed = undefined;
      report.skip(title, "Pulumi's engine is not built: run npm run build:e2e");
      return true;
    }
    if (!hasAws && /^ *aws /m.test(step.kind === "run" ? step.code : step.kind === "save" ? (step.run ?? "") : "")) {
      printed = undefined;
      report.skip(title, "AWS's CLI is not on PATH");
      return true;
    }
    if (needsPython(step)) {
      printed = undefined;
      report.skip(title, python.missing ?? "");
      return true;
    }
    switch (step.kind) {
      case "not run":
        printed = undefined;
        report.skip(title, step.reason);
        return true;
      case "fault":
        return report.check(title, () => Promise.reject(new Error(step.fault)));
      case "printed":
        if (printed === undefined) return true;
        return report.check(`${title} is printed`, () => {
          if (!prints(printed ?? "", here(step.text)))
            throw new Error(`the block before it prints:\n${lastLines(printed ?? "")}`);
          return undefined;
        });
      case "save":
        return report.check(`${title} ${step.path}`, async () => {
          await mkdir(dirname(join(clone, step.path)), { recursive: true });
          await writeFile(join(clone, step.path), here(step.text));
          return step.run === undefined ? undefined : execute(step.run);
        });
      case "run": {
        const { code, stays } = step;
        if (stays === undefined) return report.check(title, () => execute(code));
        const stayed = await report.check(`${title} stays`, async () => {
          const { output, failures } = await terminal.leave(here(code), stays, 120);
          if (failures.length > 0) throw new Error(`${failures.join("\n")}\n${lastLines(output)}`);
          return undefined;
        });
        terminal = open();
        return stayed;
      }
    }
  };

  try {
    if (steps.length === 0) throw new Error(`${page} has no fenced block`);
    for (const step of steps) {
      if (await follow(step)) continue;
      report.skip(page, `what follows line ${step.line} depends on it`);
      break;
    }
  } finally {
    for (const one of terminals) one.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

const { positionals } = parseArgs({ allowPositionals: true });
const pages = [...servicePages, ...deploymentPages];
const unknown = positionals.filter((page) => !pages.includes(page));
if (unknown.length > 0) {
  process.stderr.write(`no such page: ${unknown.join(", ")}; choose from ${pages.join(", ")}\n`);
  process.exit(2);
}
for (const page of positionals.length > 0 ? positionals : pages) await runPage(page);
for (const [from, sections] of Object.entries(paths)) {
  const parts = await Promise.all(
    sections.map(async ([page, section]) => sectionOf(await readFile(join(root, page), "utf8"), section)),
  );
  const counts = parts.map(countOf);
  const sum = (key: "commands" | "edits"): number => counts.reduce((total, count) => total + count[key], 0);
  report.summarize(`from ${from} to the first job: ${sum("commands")} commands, ${sum("edits")} edits of a file`);
}
process.exitCode = report.end();
