/**
 * Measures what one caller's writes wait for while another caller holds uploads or workers: uploads that stall, two slow builds
 * of indices, and two whose clients have left. Prints Markdown.
 */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, type ClientRequest, request } from "node:http";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Field, FixedSizeList, Float32, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } from "apache-arrow";
import { scopes } from "../service/auth/index.ts";
import { median, percentile } from "./measure.ts";
import { readOptions } from "./options.ts";
import { figureTable } from "./report.ts";
import { startServer } from "./servers.ts";

const { seconds, rows, m, ef, stalled } = readOptions("bench:writers", {
  seconds: { default: 30, help: "duration of each phase" },
  rows: { default: 60_000, help: "rows of the table whose index is built" },
  m: { default: 64, help: "m of the index" },
  ef: { default: 1000, help: "ef_construction of the index" },
  stalled: { default: 18, help: "uploads of 60 MiB that stall; together 1 GiB arrives" },
});

const dimensions = 256;
const mebibyte = 2 ** 20;

const staticToken = (name: string) => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  scopes,
  tables: ["**"],
});

/** An Arrow IPC stream of random vectors. */
const vectors = (count: number): Uint8Array<ArrayBuffer> => {
  const item = new Field("item", new Float32(), true);
  const list = new FixedSizeList(dimensions, item);
  const values = Float32Array.from({ length: count * dimensions }, () => Math.random());
  const child = makeData({ type: item.type, data: values });
  const schema = new Schema([new Field("vector", list, true)]);
  const columns = [makeData({ type: list, length: count, nullCount: 0, child })];
  const data = makeData({ type: new Struct(schema.fields), length: count, nullCount: 0, children: columns });
  return new Uint8Array(tableToIPC(new Table([new RecordBatch(schema, data)]), "stream"));
};

const agent = new Agent({ keepAlive: true });
const arrow = "application/vnd.apache.arrow.stream";

interface Sent {
  readonly path: string;
  readonly token: string;
  readonly body: Uint8Array;
  readonly type?: string;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
}

const send = (port: number, { path, token, body, type = "application/json" }: Sent) => {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const headers = { authorization: `Bearer ${token}`, "content-type": type, "content-length": body.byteLength };
  const outgoing = request({ port, host: "127.0.0.1", method: "POST", path, headers, agent }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text })).on("error", reject);
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return { outgoing, outcome: promise };
};

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

interface Figures {
  readonly latencies: number[];
  readonly refused: string[];
}

const home = await mkdtemp(join(tmpdir(), "lakehead-writers-"));
const server = await startServer("../service/main.ts", {
  LAKEHEAD_DATABASE: home,
  LAKEHEAD_WRITES: "on",
  LAKEHEAD_MEMORY_LIMIT_BYTES: String(2048 * mebibyte),
  LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("alice"), staticToken("bob")]),
});
try {
  const { port } = server;
  const must = async (sent: Sent): Promise<void> => {
    const { status, text } = await send(port, sent).outcome;
    if (status !== 200) throw new Error(`${sent.path}: ${status} ${text}`);
  };
  const small = vectors(20);
  const large = vectors(6000);
  await must({ path: "/v1/table/small/create", token: "bob", body: small, type: arrow });
  await must({ path: "/v1/table/large/create", token: "bob", body: vectors(20), type: arrow });
  for (const name of ["one", "two"]) {
    await must({ path: `/v1/table/${name}/create`, token: "alice", body: vectors(20), type: arrow });
    for (let left = rows; left > 0; left -= 20_000)
      await must({
        path: `/v1/table/${name}/insert`,
        token: "alice",
        body: vectors(Math.min(left, 20_000)),
        type: arrow,
      });
  }

  /** Bob's writes, at a fixed rate, whether or not earlier ones have a response. */
  const probes: Readonly<Record<string, { readonly sent: Sent; readonly everyMs: number }>> = {
    "append of 20 kB": {
      sent: { path: "/v1/table/small/insert", token: "bob", body: small, type: arrow },
      everyMs: 200,
    },
    "insert of 6 MB": {
      sent: { path: "/v1/table/large/insert", token: "bob", body: large, type: arrow },
      everyMs: 2000,
    },
    update: {
      sent: {
        path: "/v1/table/small/update",
        token: "bob",
        body: json({ updates: [["vector", "vector"]], predicate: "false" }),
      },
      everyMs: 1000,
    },
    stats: { sent: { path: "/v1/table/small/stats", token: "bob", body: json({}) }, everyMs: 200 },
  };
  const probe = async (): Promise<Readonly<Record<string, Figures>>> => {
    const measured = Object.entries(probes).map(async ([name, { sent, everyMs }]) => {
      const figures: Figures = { latencies: [], refused: [] };
      const under: Promise<void>[] = [];
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(everyMs)) {
        const from = performance.now();
        const note = (refusal?: string): void => {
          figures.latencies.push(performance.now() - from);
          if (refusal !== undefined) figures.refused.push(refusal);
        };
        under.push(
          send(port, sent).outcome.then(
            ({ status, text }) => note(status === 200 ? undefined : `${status}: ${text.replace(/,"instance".*/, "")}`),
            (error: unknown) => note(String(error)),
          ),
        );
      }
      await Promise.all(under);
      return [name, figures] as const;
    });
    return Object.fromEntries(await Promise.all(measured));
  };

  const results: [string, Readonly<Record<string, Figures>>][] = [["none", await probe()]];

  // What arrives fills the limit of all uploads.
  const part = Buffer.alloc(Math.floor((1024 * mebibyte) / stalled));
  const stalling = Array.from({ length: stalled }, () => {
    const headers = {
      authorization: "Bearer alice",
      "content-type": arrow,
      "content-length": 60 * mebibyte,
    };
    const outgoing = request({ port, host: "127.0.0.1", method: "POST", path: "/v1/table/one/insert", headers });
    const from = performance.now();
    const ended = Promise.withResolvers<string>();
    const end = (what: string): void =>
      ended.resolve(`${what} after ${Math.round((performance.now() - from) / 1000)} s`);
    outgoing.on("error", (error) => end(error.message));
    outgoing.on("response", (response) => end(String(response.resume().statusCode)));
    outgoing.write(part);
    return { outgoing, ended: ended.promise };
  });
  await sleep(3000);
  results.push(["uploads that stall", await probe()]);
  const ends = await Promise.all(
    stalling.map(({ outgoing, ended }) => {
      const answered = Promise.race([ended, sleep(5000, "stalls on")]);
      return answered.finally(() => outgoing.destroy());
    }),
  );
  await sleep(3000);

  const build = (name: string) =>
    send(port, {
      path: `/v1/table/${name}/create_index`,
      token: "alice",
      body: json({ column: "vector", index_type: "IVF_HNSW_SQ", num_partitions: 1, m, ef_construction: ef }),
    });
  const built: string[] = [];
  const from = performance.now();
  const builds: ClientRequest[] = ["one", "two"].map((name) => {
    const { outgoing, outcome } = build(name);
    outcome.then(
      ({ status, text }) =>
        built.push(`${status} after ${Math.round((performance.now() - from) / 1000)} s ${status === 200 ? "" : text}`),
      (error: unknown) => built.push(String(error)),
    );
    return outgoing;
  });
  await sleep(1000);
  results.push(["two slow builds", await probe()]);
  built.push(`${2 - built.length} still run`);
  for (const outgoing of builds) outgoing.destroy();
  await sleep(1000);
  results.push(["two whose clients left", await probe()]);

  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  const [load = 0] = loadavg();
  process.stdout.write(
    `Bob's writes while alice attacks, in milliseconds. Node ${process.version}, ${availableParallelism()} CPUs, load average ${load.toFixed(1)}.\n\n${figureTable(
      ["attack", "bob's call", "calls", "refused", "p50", "p99", "greatest"],
      results.flatMap(([attack, figures]) =>
        Object.entries(figures).map(([name, { latencies, refused }]) => [
          attack,
          name,
          String(latencies.length),
          String(refused.length),
          ...[median(latencies), percentile(latencies, 0.99), Math.max(...latencies)].map(ms),
        ]),
      ),
    )}\n\nAlice's uploads: ${[...new Set(ends)].join(", ")}. Her builds: ${built.join("; ")}.\n`,
  );
  for (const refusal of new Set(
    results.flatMap(([, figures]) => Object.values(figures).flatMap(({ refused }) => refused)),
  ))
    process.stderr.write(`refused: ${refusal}\n`);
} finally {
  await server.stop();
  agent.destroy();
  await rm(home, { recursive: true, force: true });
}
process.exit();
