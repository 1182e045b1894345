/**
 * `npm run bootstrap|deploy|client -- <stack>`: the commands of a page's step, each printed before it runs. It stops at the
 * first that fails.
 */

import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { readArguments, runCommand, UsageError } from "./command-line.ts";

const usage = `usage: npm run bootstrap -- <aws|gcp>    the program of bootstrap/, and what it prints, in files
       npm run deploy -- <stack>         preflight, pulumi up, verify
       npm run client -- <stack>         requirements.txt and first.py for Geneva's client, and who may run it

  --print            print the commands, and run none
  --root <folder>    the project's folder (default: this repository)
`;

interface Command {
  readonly words: readonly string[];
  /** File for what it prints, instead of the terminal. */
  readonly to?: string;
}

const pulumi = (...words: readonly string[]): Command => ({ words: ["npx", "pulumi", ...words] });
const output = (name: string, ...words: readonly string[]): Command => pulumi("stack", "output", name, ...words);

const steps: Readonly<Record<string, (stack: string) => readonly Command[]>> = {
  bootstrap: (stack) => {
    const own = (command: Command): Command => ({
      ...command,
      words: ["npx", "pulumi", "-C", "bootstrap", ...command.words.slice(2)],
    });
    return [
      // The state moves into the bucket by the printed script, once the program has made that.
      pulumi("login", `file://${homedir()}`),
      own(pulumi("stack", "select", stack, "--create")),
      own(pulumi("up", "--stack", stack)),
      { ...own(output("deployerCredentials", "--stack", stack)), to: "deployers.txt" },
      { ...own(output("commands", "--stack", stack)), to: "bootstrap.sh" },
    ];
  },
  deploy: (stack) => [
    { words: ["npm", "run", "preflight", "--", stack] },
    pulumi("up", "--stack", stack),
    { words: ["npm", "run", "verify", "--", stack] },
  ],
  client: (stack) => [
    { ...output("clientRequirements", "--stack", stack), to: "requirements.txt" },
    { ...output("clientSnippet", "--stack", stack), to: "first.py" },
    output("clientCredentials", "--stack", stack),
  ],
};

class StepFailed extends Error {}

const shown = ({ words, to }: Command): string => `$ ${[...words, ...(to === undefined ? [] : [">", to])].join(" ")}`;

async function runIn(root: string, command: Command): Promise<void> {
  const [program = "", ...words] = command.words;
  const { to } = command;
  const child = spawn(program, words, {
    cwd: root,
    stdio: ["inherit", to === undefined ? "inherit" : "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((settle, reject) => {
    child.once("error", reject);
    child.once("close", settle);
  });
  const file = to === undefined ? undefined : join(root, to);
  if (child.stdout !== null && file !== undefined)
    await pipeline(child.stdout, createWriteStream(file, { mode: 0o600 }));
  const code = await ended;
  if (code === 0) return;
  if (file !== undefined) await rm(file, { force: true });
  throw new StepFailed(`it ended with code ${code}; the commands after it did not run:\n${shown(command)}`);
}

await runCommand(usage, [StepFailed], async () => {
  const { values, positionals } = readArguments({ print: { type: "boolean", default: false } });
  if (values.help) return void process.stdout.write(usage);
  const [step = "", stack, ...more] = positionals;
  const commands = steps[step];
  if (commands === undefined || stack === undefined || more.length > 0)
    throw new UsageError(`name a step of ${Object.keys(steps).join(", ")}, and exactly one stack`);
  for (const command of commands(stack)) {
    process.stdout.write(`${shown(command)}\n`);
    if (!values.print) await runIn(resolve(values.root), command);
  }
});
