/** `npm run acceptance -- --url <address> --token-file <file>`: checks any deployed table service from outside. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Check, reads, type Subject, writes } from "./checks.ts";
import { createClient, Skipped } from "./client.ts";

const usage = `usage: npm run acceptance -- --url <address> --token-file <file> [options]

  --table <id>   the table to read (default: the first that the token permits)
  --writes       also write, in a namespace of its own that is removed at the end
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
};

const subjectOf = async (url: URL, token: string, named: string | undefined): Promise<Subject> => {
  const client = createClient(url, token);
  const listed = named === undefined ? await client.send("/v1/table", { method: "GET" }) : undefined;
  const first = listed?.status === 200 ? listed.json().tables?.[0] : undefined;
  return {
    client,
    table: () => {
      const table = named ?? first;
      if (typeof table !== "string") throw new Skipped("there is no table that the token permits; name one by --table");
      return table;
    },
  };
};

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    "token-file": { type: "string" },
    table: { type: "string" },
    writes: { type: "boolean", default: false },
  },
});
const url = URL.parse(values.url ?? "");
if (url === null || values["token-file"] === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const check = async ({ title, run }: Check, subject: Subject): Promise<void> => {
    try {
      await run(subject);
      count.passed++;
      print(`ok       ${title}`);
    } catch (error) {
      const result = error instanceof Skipped ? "skipped" : "failed";
      count[result]++;
      print(`${result.padEnd(8)} ${title}\n         ${messageOf(error)}`);
    }
  };
  try {
    const token = (await readFile(values["token-file"], "utf8")).trim();
    const subject = await subjectOf(url, token, values.table);
    for (const each of values.writes ? [...reads, writes] : reads) await check(each, subject);
  } catch (error) {
    count.failed++;
    print(`failed   ${messageOf(error)}`);
  }
  print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  if (count.failed > 0 || count.passed === 0) process.exitCode = 1;
}
