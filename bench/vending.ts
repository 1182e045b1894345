/**
 * Measures `describe` with lent credentials on MinIO: without them, with kept ones, and with a caller's first ones, for which the
 * service asks STS. Needs MinIO, which Go builds. Prints Markdown.
 */
import { createHash } from "node:crypto";
import { connect } from "@lancedb/lancedb";
import { startMinio } from "../test/stores/minio.ts";
import { closedLoop, median, type Round } from "./measure.ts";
import { readOptions } from "./options.ts";
import { conditions, figureTable, print, say } from "./report.ts";
import { startServer } from "./servers.ts";

const { rounds, callers, concurrency } = readOptions("bench:vending", {
  rounds: { default: 5, help: "rounds of each kind of request" },
  callers: { default: 50, help: "requests of a round; of first requests as many callers" },
  concurrency: { default: [1, 16], help: "concurrent requests" },
});

/** A caller for each first request of each round. */
const tokens = Array.from({ length: rounds * callers * concurrency.length + 1 }, (_, index) => `caller-${index}`);
const staticTokens = tokens.map((token) => ({
  name: token,
  sha256: createHash("sha256").update(token).digest("hex"),
  scopes: ["credentials", "read"],
}));

const minio = await startMinio(say);
if (minio.base === undefined) {
  print(`skipped: ${minio.missing} is missing`);
  process.exit(0);
}
try {
  const connection = await connect(minio.uri, { storageOptions: { ...minio.storageOptions } });
  await connection.createTable("docs", [{ id: 1 }]);
  connection.close();
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: minio.uri,
    LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(minio.storageOptions),
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(staticTokens),
    LAKEHEAD_VENDING: "assume-role",
    LAKEHEAD_VENDING_ROLE: "arn:aws:iam::000000000000:role/lakehead-vending",
  });
  const describe = async (token: string, body: object): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/table/docs/describe`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { storage_options: lent } = (await response.json()) as { storage_options?: object };
    if (!response.ok || (lent === undefined) !== "vend_credentials" in body)
      throw new Error(`describe answers ${response.status}`);
  };
  const [known = "", ...strangers] = tokens;
  const kinds: Readonly<Record<string, () => Promise<void>>> = {
    "without credentials": () => describe(known, { vend_credentials: false }),
    "kept credentials": () => describe(known, {}),
    "a caller's first credentials": () => describe(strangers.pop() ?? "", {}),
  };
  try {
    const lines: string[][] = [];
    for (const callersAtOnce of concurrency) {
      const measured = new Map<string, Round[]>(Object.keys(kinds).map((kind) => [kind, []]));
      const task = { concurrency: callersAtOnce, requests: callers };
      for (const [kind, call] of Object.entries(kinds)) if (!kind.includes("first")) await closedLoop(task, call);
      for (let round = 0; round < rounds; round++)
        for (const [kind, call] of Object.entries(kinds)) measured.get(kind)?.push(await closedLoop(task, call));
      for (const [kind, done] of measured) {
        const of = (figure: (round: Round) => number, digits: number): string =>
          median(done.map(figure)).toFixed(digits);
        lines.push([
          kind,
          String(callersAtOnce),
          of(({ requests, seconds }) => requests / seconds, 0),
          of(({ p50 }) => p50, 2),
          of(({ p99 }) => p99, 2),
        ]);
      }
    }
    print(
      `${conditions("service, load and MinIO")}; median of ${rounds} rounds of ${callers} requests.`,
      figureTable(["`describe` with", "concurrent", "requests/s", "p50 ms", "p99 ms"], lines),
    );
  } finally {
    await server.stop();
  }
} finally {
  await minio.stop();
}
