/**
 * Measures what one caller waits for while another one tries to fill the memory of the main process: values of great width,
 * handles of tables with much metadata, responses that nobody reads, bodies that stall. Prints Markdown; exits with 1 when a
 * service has ended.
 */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scopes } from "../service/auth/index.ts";
import { makeHeavyTables, metadataVersions } from "../test/hostile/support/heavy-tables.ts";
import { Caller } from "./caller.ts";
import { median, percentile } from "./measure.ts";
import { readOptions } from "./options.ts";
import { Probe, type Probed } from "./probe.ts";
import { family } from "./processes.ts";
import { figureTable } from "./report.ts";
import { startServer } from "./servers.ts";

const { seconds, mebibytes } = readOptions("bench:bounds", {
  seconds: { default: 15, help: "duration of each attack" },
  mebibytes: { default: 1024, help: "memory of the service; its main process is ended when it has taken as much" },
});

const staticToken = (name: string) => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  scopes,
  tables: ["**"],
});

/** Sends requests until it is stopped. */
type Attack = (port: number, isOver: () => boolean) => Promise<void>;

const asking =
  (callers: number, next: (count: number) => { readonly path: string; readonly body: string }): Attack =>
  async (port, isOver) => {
    let count = 0;
    await Promise.all(
      Array.from({ length: callers }, async () => {
        const caller = new Caller(port);
        while (!isOver()) await caller.ask({ token: "attacker", ...next(count++) }).catch(() => sleep(100));
        caller.close();
      }),
    );
  };

const requestText = (path: string, body: string, length = body.length): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer attacker\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;

/** Opens connections, sends the same text on each, and reads nothing. */
const silent =
  (connections: number, text: string): Attack =>
  async (port, isOver) => {
    const sockets: Socket[] = [];
    for (let index = 0; index < connections; index++) {
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      socket.on("error", () => undefined);
      socket.pause();
      sockets.push(socket);
    }
    while (!isOver()) await sleep(50);
    for (const socket of sockets) socket.destroy();
  };

const filter = Array.from({ length: 60 }, () => "x is null").join(" and ");
const plan = JSON.stringify({ query: { k: 1, filter } });

const attacks: Readonly<Record<string, Attack>> = {
  none: () => sleep(seconds * 1000),
  "plans over a value of 8 GiB": asking(4, () => ({ path: "/v1/table/huge/explain_plan", body: plan })),
  "plans over values of 4 MiB": asking(64, () => ({ path: "/v1/table/wide/explain_plan", body: plan })),
  "handles of versions with 10 MB of metadata": asking(16, (count) => ({
    path: "/v1/table/metadata/exists",
    body: `{"version":${1 + (count % metadataVersions)}}`,
  })),
  "descriptions of 10 MB, unread": silent(100, requestText("/v1/table/metadata/describe", "{}").repeat(5)),
  "descriptions of 1 MB, unread": silent(500, requestText("/v1/table/columns/describe", "{}").repeat(5)),
  "bodies of 1 MB, incomplete": silent(
    1000,
    requestText("/v1/table/plain/query", `{"k":1,"filter":"${" ".repeat(1_000_000)}`, 2 ** 20 - 1),
  ),
};

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const figures = ({ latencies }: Probed): string[] =>
  latencies.length === 0
    ? ["–", "–", "–"]
    : [median(latencies), percentile(latencies, 0.99), Math.max(...latencies)].map(ms);

const home = await mkdtemp(join(tmpdir(), "lakehead-bounds-"));
try {
  await makeHeavyTables(home);
  const rows: string[][] = [];
  for (const [name, attack] of Object.entries(attacks)) {
    const server = await startServer(
      "../service/main.ts",
      {
        LAKEHEAD_DATABASE: home,
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_MEMORY_LIMIT_BYTES: String(mebibytes * 2 ** 20),
        LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(["attacker", "other"].map(staticToken)),
      },
      // Node's own choice in a container of this memory.
      { flags: [`--max-old-space-size=${mebibytes / 2}`] },
    );
    let end: string | undefined;
    let peak = 0;
    void server.ended.then((how) => {
      end ??= String(how);
    });
    const watch = setInterval(() => {
      peak = Math.max(peak, family(server.pid)[0]?.residentBytes ?? 0);
      if (peak < mebibytes * 2 ** 20 || end !== undefined) return;
      end = "memory";
      process.kill(server.pid, "SIGKILL");
    }, 20);
    const until = performance.now() + seconds * 1000;
    const isOver = (): boolean => end !== undefined || performance.now() > until;
    const attacking = attack(server.port, isOver);
    await sleep(500);
    const probe = (token: string) => new Probe(server.port, { token, path: "/v1/table/plain/stats", body: "{}" }, 100);
    const [own, other] = [probe("attacker"), probe("other")];
    while (!isOver()) await sleep(20);
    const lasted = seconds - Math.max(0, until - performance.now()) / 1000;
    await attacking;
    const [mine, others] = [await own.stop(), await other.stop()];
    const ended = end;
    clearInterval(watch);
    if (ended === undefined) await server.stop();
    else process.exitCode = 1;
    rows.push([
      name,
      ended === undefined ? "lives" : `**ends after ${lasted.toFixed(1)} s**`,
      String(Math.round(peak / 2 ** 20)),
      ...figures(others),
      String(others.failures.length),
      ...figures(mine),
      String(mine.failures.length),
    ]);
    for (const text of others.failures.slice(0, 1)) process.stderr.write(`${name}: the other caller got ${text}\n`);
  }
  const [load = 0] = loadavg();
  process.stdout.write(
    `${seconds} s of each attack by one caller; both ask for \`stats\` of a table 10 times a second. Service with ${mebibytes} MiB, Node ${process.version}, ${availableParallelism()} CPUs, load average ${load.toFixed(1)}.\n\n${figureTable(
      [
        "attack",
        "main process",
        "its peak MiB",
        "other caller: p50 ms",
        "p99",
        "greatest",
        "failed",
        "attacker: p50 ms",
        "p99",
        "greatest",
        "failed",
      ],
      rows,
    )}\n`,
  );
} finally {
  await rm(home, { recursive: true, force: true });
}
