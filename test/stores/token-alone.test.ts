import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopesOf } from "../../service/catalog/rights.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { startMinio } from "./minio.ts";
import { type ShortSessions, startShortSessions } from "./short-sessions.ts";

const run = promisify(execFile);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [minio, { python, missing }] = await Promise.all([
  startMinio(print),
  pythonWith(fileURLToPath(new URL("../clients/python/requirements.txt", import.meta.url)), print),
]);
const skipped = minio.base === undefined ? minio.missing : missing;
if (skipped !== undefined) print(`skipped: clients with a token alone, because ${skipped} is missing`);

const token = "token-of-a-client-without-keys";
/** Life of a session, and time of each slow write, in seconds. */
const life = 8;
const slow = 12;

describe.skipIf(skipped !== undefined)("a client with a token alone, whose sessions end during its writes", () => {
  let sessions: ShortSessions;
  let service: ServiceProcess;

  beforeAll(async () => {
    if (minio.base === undefined) return;
    sessions = await startShortSessions(minio.base, life);
    const connection = await connect(minio.uri, { storageOptions: { ...minio.storageOptions } });
    await connection.createNamespace(["team"]);
    connection.close();
    service = await startReadyServiceProcess({
      tokens: [staticToken("client", token, scopesOf.write)],
      environment: {
        LAKEHEAD_DATABASE: minio.uri,
        // Clients reach the store by this address, too.
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify({ ...minio.storageOptions, aws_endpoint: sessions.base }),
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_QUEUE_SECONDS: "120",
        LAKEHEAD_VENDING: "assume-role",
        LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
      },
    });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    sessions?.close();
    if (minio.base !== undefined) await minio.stop();
  });

  test.each([
    ["pylance", 14],
    ["lancedb", 10],
  ])(
    "%s creates, appends, reads, compacts and drops",
    async (client, steps) => {
      const before = sessions.opened();
      const program = fileURLToPath(new URL("token_alone.py", import.meta.url));
      const { stdout } = await run(python ?? "", [program, service.base, token, client, String(slow)], {
        env: { PATH: process.env.PATH, LANCE_LOG: "error" },
        timeout: 300_000,
      });
      expect(stdout.match(/^done: /gm)?.length).toBe(steps);
      print(
        `${client}: ${sessions.opened() - before} sessions of ${life} s, ${sessions.wroteWith()} wrote, ${sessions.late()} requests too late`,
      );
      expect(sessions.opened() - before).toBeGreaterThan(4);
      expect(sessions.late()).toBe(0);
    },
    320_000,
  );
});
