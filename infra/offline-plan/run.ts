/**
 * Runs a project's program, unmodified, in a child process against a recording monitor. A child process, as in the CLI: the
 * SDK keeps its connection in module state, a program is evaluated once for each module graph, and its exit code matters.
 */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { answer as defaultAnswer } from "./answers.ts";
import type { Capture, Diagnostic } from "./capture.ts";
import { startMonitor } from "./monitor.ts";
import type { Project, StackConfig } from "./project.ts";
import { Recorder, type RecorderOptions } from "./recorder.ts";

export interface RunOptions {
  readonly project: Project;
  readonly stack: string;
  readonly config: Pick<StackConfig, "values" | "secretKeys">;
  readonly answer?: RecorderOptions["answer"];
  /** Fabricates ids and outputs, which makes the run an update. Without it the run is a dry run. */
  readonly create?: RecorderOptions["create"];
  /** In a dry run, whether unknown identifiers are placeholders (default: true). */
  readonly placeholders?: boolean;
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number;
}

const preload = new URL("preload.ts", import.meta.url).href;

export const defaultTimeout = 120_000;

/**
 * Runs the program. A failed program gives a capture with `failure`, not an exception. A program that fails in a dry run with
 * placeholders runs again without them, because it may expect another form of an identifier than that of the placeholder.
 */
export async function runProgram(options: RunOptions): Promise<Capture> {
  const { capture, placed, killed } = await runOnce({ placeholders: options.create === undefined, ...options });
  return capture.failure !== undefined && placed && !killed
    ? (await runOnce({ ...options, placeholders: false })).capture
    : capture;
}

interface Run {
  readonly capture: Capture;
  /** Whether the program got a placeholder. */
  readonly placed: boolean;
  readonly killed: boolean;
}

async function runOnce(options: RunOptions): Promise<Run> {
  const { project, stack, config, create, placeholders = false, timeout = defaultTimeout } = options;
  const recorder = new Recorder({
    project: project.name,
    stack,
    answer: options.answer ?? defaultAnswer,
    placeholders,
    ...(create === undefined ? {} : { create }),
  });
  const monitor = await startMonitor(recorder);
  const started = performance.now();
  try {
    const runner = createRequire(join(project.root, "package.json")).resolve("@pulumi/pulumi/cmd/run");
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        "--import",
        preload,
        runner,
        ...["--monitor", monitor.address, "--engine", monitor.address, "--organization", "organization"],
        ...["--project", project.name, "--root-directory", project.root, "--stack", stack, "--pwd", project.root],
        ...["--parallel", "16", ...(create === undefined ? ["--dry-run"] : [])],
        project.main,
      ],
      { cwd: project.root, env: environment(config), stdio: ["ignore", "pipe", "pipe", "pipe"] },
    );
    const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
    const [stdout, stderr, peak, exit] = await Promise.all([
      collect(child.stdout),
      collect(child.stderr),
      collect((child.stdio as readonly (Readable | null)[])[3] ?? null),
      new Promise<number | string>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (code, signal) => resolve(code ?? `signal ${signal}`));
      }),
    ]).finally(() => clearTimeout(timer));
    const killed = exit === "signal SIGKILL";
    const failure =
      exit === 0
        ? undefined
        : failureText(
            monitor.diagnostics,
            `${stderr}${stdout}`.trim(),
            killed ? `stopped after ${timeout / 1000} s; --timeout <seconds> allows more` : `exit ${exit}`,
          );
    const capture: Capture = {
      project: project.name,
      stack,
      mode: create === undefined ? "preview" : "update",
      resources: recorder.resources(),
      invocations: [...recorder.invocations()],
      diagnostics: monitor.diagnostics.filter(({ severity }) => severity !== "debug"),
      ...(failure === undefined ? {} : { failure }),
      milliseconds: performance.now() - started,
      peakBytes: Number(peak) * 1024,
    };
    return { capture, placed: recorder.placed, killed };
  } finally {
    monitor.close();
  }
}

/** Passes only what a process needs: no credentials, no kubeconfig, no region of the caller. */
function environment(config: RunOptions["config"]): NodeJS.ProcessEnv {
  const keep = ["PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SystemRoot", "NODE_COMPILE_CACHE"];
  return {
    NODE_COMPILE_CACHE: join(tmpdir(), "lakehead-compile-cache"),
    ...Object.fromEntries(keep.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]]))),
    LAKEHEAD_OFFLINE_PLAN: "1",
    PULUMI_CONFIG: JSON.stringify(config.values),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(config.secretKeys),
  };
}

async function collect(stream: Readable | null): Promise<string> {
  if (stream === null) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

/** The errors that the program reported; without any, its output. */
function failureText(diagnostics: readonly Diagnostic[], printed: string, ending: string): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message.trim());
  const text = errors.length > 0 ? errors.join("\n") : printed;
  // The SDK prints errors with terminal colors.
  return text === "" ? `the program ended without a message (${ending})` : stripVTControlCharacters(text);
}
