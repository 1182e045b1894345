import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scopesOf } from "../../service/catalog/rights.ts";
import { startMinio } from "../stores/minio.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";

const run = promisify(execFile);

const token = "token-of-geneva-without-keys";
const steps = ["create", "add a column", "compute it on Ray", "read", "drop"];

/**
 * Runs a job of the client that has a token of the service and no keys of the bucket: what Ray's workers write, checkpoints
 * included, they write with lent credentials. On MinIO, which refuses what a credential does not permit.
 * @returns its faults, or what is missing.
 */
export const runByNamespace = async (
  python: string,
  log: (line: string) => void,
): Promise<readonly string[] | { readonly missing: string }> => {
  const minio = await startMinio(log);
  if (minio.base === undefined) return { missing: minio.missing };
  const home = await mkdtemp(join(tmpdir(), "lakehead-geneva-"));
  try {
    const service = await startReadyServiceProcess({
      tokens: [staticToken("geneva", token, scopesOf.write)],
      environment: {
        LAKEHEAD_DATABASE: minio.uri,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(minio.storageOptions),
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_QUEUE_SECONDS: "120",
        LAKEHEAD_VENDING: "assume-role",
        LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
      },
    });
    try {
      const program = fileURLToPath(new URL("namespace.py", import.meta.url));
      const { stdout } = await run(python, [program, service.base, token], {
        env: { PATH: process.env.PATH, HOME: home, LANCE_LOG: "error", RAY_USAGE_STATS_ENABLED: "0" },
        timeout: 300_000,
        maxBuffer: 16 * 2 ** 20,
      });
      const done = [...stdout.matchAll(/^done: (.*)$/gm)].map(([, step = ""]) => step);
      return steps.filter((step) => !done.includes(step)).map((step) => `not done: ${step}`);
    } catch (error) {
      return [String((error as { stderr?: string }).stderr ?? error).slice(-2000)];
    } finally {
      await service.stop();
    }
  } finally {
    await minio.stop();
    await rm(home, { recursive: true, force: true });
  }
};
