/** Runs kubectl against one cluster. The stack's kubeconfig is on the disk only while this runs. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "./facts.ts";

/** How to reach the cluster. */
export interface Reach {
  /** Text of a kubeconfig; undefined to use `path`, or kubectl's own default. */
  readonly kubeconfig?: string;
  readonly path?: string;
  readonly context?: string;
}

export class KubectlError extends Error {}

export class Kubectl {
  readonly #folder: string | undefined;
  readonly #flags: readonly string[];
  readonly #forwards: ChildProcess[] = [];

  constructor({ kubeconfig, path, context }: Reach) {
    let file = path;
    if (kubeconfig !== undefined) {
      this.#folder = mkdtempSync(join(tmpdir(), "lakehead-verify-"));
      file = join(this.#folder, "kubeconfig");
      writeFileSync(file, kubeconfig, { mode: 0o600 });
    }
    this.#flags = [
      ...(file === undefined ? [] : ["--kubeconfig", file]),
      ...(context === undefined ? [] : ["--context", context]),
    ];
  }

  /** @throws KubectlError with kubectl's message */
  run(args: readonly string[], { input, seconds = 30 }: { input?: string; seconds?: number } = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn("kubectl", [...this.#flags, ...args], { stdio: ["pipe", "pipe", "pipe"] });
      const timer = setTimeout(() => child.kill(), seconds * 1000);
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
      child.once("error", (error: NodeJS.ErrnoException) =>
        reject(new KubectlError(error.code === "ENOENT" ? "kubectl is not on the PATH" : error.message)),
      );
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        const said = Buffer.concat(err).toString("utf8").trim();
        if (code === 0) resolve(Buffer.concat(out).toString("utf8"));
        else
          reject(
            new KubectlError(
              signal === null ? said || `exit ${code}` : `no response within ${seconds} s ${said}`.trim(),
            ),
          );
      });
      // A child that ends at once closes the pipe. Its standard error has the reason.
      child.stdin.on("error", () => {});
      child.stdin.end(input ?? "");
    });
  }

  async outcome(args: readonly string[], options?: { input?: string; seconds?: number }): Promise<Outcome<string>> {
    try {
      return { value: await this.run(args, options) };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Every object of a kind; none of a kind that the server does not serve. */
  async list<Item>(kind: string, ...scope: string[]): Promise<Item[]> {
    try {
      const { items } = JSON.parse(await this.run(["get", kind, ...scope, "-o", "json"])) as { items: Item[] };
      return items;
    } catch (error) {
      if (error instanceof KubectlError && /doesn't have a resource type/.test(error.message)) return [];
      throw error;
    }
  }

  /** The object; undefined when it does not exist. */
  async find<Item>(kind: string, name: string, namespace: string): Promise<Item | undefined> {
    const text = await this.outcome(["get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found"]);
    if ("failure" in text && /doesn't have a resource type/.test(text.failure)) return undefined;
    if ("failure" in text) throw new KubectlError(text.failure);
    return text.value.trim() === "" ? undefined : (JSON.parse(text.value) as Item);
  }

  /** Forwards local ports to a Deployment: remote port to local port. @throws KubectlError when a port cannot be opened */
  forward(
    namespace: string,
    target: string,
    ports: readonly number[],
    seconds = 20,
  ): Promise<ReadonlyMap<number, number>> {
    const args = [...this.#flags, "port-forward", "-n", namespace, target, ...ports.map((port) => `:${port}`)];
    const child = spawn("kubectl", args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#forwards.push(child);
    return new Promise((resolve, reject) => {
      const found = new Map<number, number>();
      let said = "";
      const timer = setTimeout(() => child.kill(), seconds * 1000);
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
      });
      child.stdout.on("data", (chunk: Buffer) => {
        for (const [, local, remote] of chunk.toString("utf8").matchAll(/127\.0\.0\.1:(\d+) -> (\d+)/g))
          found.set(Number(remote), Number(local));
        if (ports.every((port) => found.has(port))) {
          clearTimeout(timer);
          resolve(found);
        }
      });
      child.once("error", (error) => reject(new KubectlError(error.message)));
      child.once("close", () => {
        clearTimeout(timer);
        reject(new KubectlError(`port-forward: ${said.trim() || `no port within ${seconds} s`}`));
      });
    });
  }

  close(): void {
    for (const child of this.#forwards) child.kill();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
