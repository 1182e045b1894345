import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopesOf } from "../../service/catalog/rights.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { startMinio } from "./minio.ts";

const run = promisify(execFile);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [minio, { python, missing }] = await Promise.all([
  startMinio(print),
  pythonWith(fileURLToPath(new URL("requirements-engines.txt", import.meta.url)), print),
]);
const skipped = minio.base === undefined ? minio.missing : missing;
if (skipped !== undefined) print(`skipped: engines with a token alone, because ${skipped} is missing`);

const token = "token-of-an-engine-without-keys";

describe.skipIf(skipped !== undefined)("an engine with a token alone", () => {
  let service: ServiceProcess;
  let home: string;

  beforeAll(async () => {
    if (minio.base === undefined) return;
    home = await mkdtemp(join(tmpdir(), "lakehead-engines-"));
    const connection = await connect(minio.uri, { storageOptions: { ...minio.storageOptions } });
    await connection.createNamespace(["team"]);
    connection.close();
    service = await startReadyServiceProcess({
      tokens: [staticToken("engine", token, scopesOf.write)],
      environment: {
        LAKEHEAD_DATABASE: minio.uri,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(minio.storageOptions),
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_QUEUE_SECONDS: "120",
        LAKEHEAD_VENDING: "assume-role",
        LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
      },
    });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    if (minio.base !== undefined) await minio.stop();
    if (home !== undefined) await rm(home, { recursive: true, force: true });
  });

  test.each([
    ["lance-ray", "creates, appends, reads, compacts, overwrites and drops", 12],
    ["daft", "creates, appends, reads, compacts, overwrites and drops", 12],
    ["duckdb", "appends, reads, deletes and updates", 10],
  ])(
    "%s %s, at the root and in a namespace",
    async (engine, _, steps) => {
      const program = fileURLToPath(new URL("token_alone_engines.py", import.meta.url));
      const { stdout } = await run(python ?? "", [program, service.base, token, engine], {
        env: { PATH: process.env.PATH, HOME: home, LANCE_LOG: "error", RAY_USAGE_STATS_ENABLED: "0" },
        timeout: 400_000,
        maxBuffer: 16 * 2 ** 20,
      });
      expect(stdout.match(/^done: /gm)?.length).toBe(steps);
    },
    420_000,
  );
});
