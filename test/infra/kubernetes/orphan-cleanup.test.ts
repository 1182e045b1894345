import { spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  decide,
  idleSinceAnnotation,
  keepAnnotation,
  type RayClusterObject,
  sweep,
} from "../../../infra/workloads/orphan-cleanup/script.ts";

const now = new Date("2026-11-20T12:00:00Z");
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString();

interface Shape {
  readonly workers?: number;
  readonly least?: number;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly owned?: boolean;
  readonly deleting?: boolean;
}

function cluster(name: string, shape: Shape = {}): RayClusterObject {
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: "7",
      creationTimestamp: hoursAgo(500),
      labels: shape.labels ?? {},
      annotations: shape.annotations ?? {},
      ...(shape.owned ? { ownerReferences: [{ kind: "RayJob" }] } : {}),
      ...(shape.deleting ? { deletionTimestamp: hoursAgo(1) } : {}),
    },
    spec: { workerGroupSpecs: [{ minReplicas: shape.least ?? 0 }] },
    status: { availableWorkerReplicas: shape.workers ?? 0, desiredWorkerReplicas: shape.workers ?? 0 },
  };
}

const idleFor = (hours: number, more: Shape = {}) =>
  cluster("a", { ...more, annotations: { [idleSinceAnnotation]: hoursAgo(hours), ...more.annotations } });

describe("orphaned clusters", () => {
  test("nothing is deleted in the first run, at any age", () => {
    expect(decide(cluster("a"), now, 6)).toMatchObject({ action: "mark", idleSince: now.toISOString() });
  });

  test("a cluster is deleted only after the whole idle time", () => {
    expect(decide(idleFor(6), now, 6).action).toBe("delete");
    expect(decide(idleFor(5.9), now, 6).action).toBe("leave");
  });

  test.each([
    ["the stack's own", { labels: { "app.kubernetes.io/managed-by": "lakehead" } }],
    ["one that a RayJob owns", { owned: true }],
    ["one that its user marks to be kept", { annotations: { [keepAnnotation]: "true" } }],
    ["one that is being deleted", { deleting: true }],
  ] satisfies [string, Shape][])("%s is never touched", (_, shape) => {
    expect(decide(idleFor(1000, shape), now, 6).action).toBe("leave");
  });

  test("workers at the minimum count as idle; one more removes the mark", () => {
    expect(decide(idleFor(7, { workers: 2, least: 2 }), now, 6).action).toBe("delete");
    expect(decide(idleFor(7, { workers: 3, least: 2 }), now, 6)).toMatchObject({ action: "mark", idleSince: null });
  });

  test("desired workers that do not run yet count as work", () => {
    const pending = { ...idleFor(7), status: { availableWorkerReplicas: 0, desiredWorkerReplicas: 1 } };
    expect(decide(pending, now, 6).action).toBe("mark");
  });

  test.each(["yesterday", "", "2099-01-01T00:00:00Z"])("an invalid mark (%j) restarts the count", (mark) => {
    expect(decide(cluster("a", { annotations: { [idleSinceAnnotation]: mark } }), now, 6)).toMatchObject({
      action: "mark",
      idleSince: now.toISOString(),
    });
  });

  test("no cluster with workers above its minimum is ever deleted", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 50 }), fc.string(), (least, extra, mark) => {
        const busy = cluster("a", { least, workers: least + extra, annotations: { [idleSinceAnnotation]: mark } });
        expect(decide(busy, now, 1).action).not.toBe("delete");
      }),
    );
  });
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly token: string | undefined;
  readonly body: unknown;
}

/** The part of an API server that the script speaks to: lists in pages of one, refuses stale changes. */
class ApiServer {
  readonly calls: Call[] = [];
  readonly #server: Server;
  status: Record<string, number> = {};

  constructor(clusters: readonly RayClusterObject[]) {
    this.#server = createServer(async (request, response) => {
      const url = new URL(request.url ?? "", "http://api");
      const body = await readJson(request);
      this.calls.push({
        method: request.method ?? "",
        path: url.pathname,
        type: request.headers["content-type"],
        token: request.headers.authorization,
        body,
      });
      const status = this.status[request.method ?? ""] ?? 200;
      const page = Number(url.searchParams.get("continue") ?? 0);
      const next = page + 1 < clusters.length ? String(page + 1) : undefined;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ items: clusters.slice(page, page + 1), metadata: { continue: next } }));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

describe("a sweep", () => {
  let server: ApiServer | undefined;
  afterEach(() => server?.close());

  async function run(clusters: readonly RayClusterObject[], status: Record<string, number> = {}) {
    server = new ApiServer(clusters);
    server.status = status;
    const url = await server.listen();
    const lines: Record<string, unknown>[] = [];
    const failed = await sweep(
      { url, token: "pod-token", namespace: "lancedb" },
      { now, idleHours: 6, log: (line) => lines.push(line) },
    );
    return { failed, lines, calls: server.calls };
  }

  const path = "/apis/ray.io/v1/namespaces/lancedb/rayclusters";

  test("reads every page, marks new clusters and deletes old ones with a precondition on their version", async () => {
    const { failed, calls } = await run([cluster("busy", { workers: 1 }), cluster("fresh"), { ...idleFor(9) }]);
    expect(failed).toBe(0);
    expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${path}`,
      `GET ${path}`,
      `GET ${path}`,
      `PATCH ${path}/fresh`,
      `DELETE ${path}/a`,
    ]);
    expect(calls.every(({ token }) => token === "Bearer pod-token")).toBe(true);
    expect(calls[3]).toMatchObject({
      type: "application/merge-patch+json",
      body: { metadata: { resourceVersion: "7", annotations: { [idleSinceAnnotation]: now.toISOString() } } },
    });
    expect(calls[4]?.body).toEqual({
      propagationPolicy: "Background",
      preconditions: { uid: "uid-a", resourceVersion: "7" },
    });
  });

  test("a cluster that changed or disappeared meanwhile is no failure", async () => {
    expect((await run([idleFor(9)], { DELETE: 409 })).failed).toBe(0);
    await server?.close();
    expect((await run([idleFor(9)], { DELETE: 404 })).lines[0]).toMatchObject({ outcome: "changed meanwhile" });
  });

  test("a rejected delete is counted and logged, and the other clusters are still checked", async () => {
    const { failed, lines } = await run([idleFor(9), cluster("fresh")], { DELETE: 403 });
    expect(failed).toBe(1);
    expect(lines.map(({ cluster, outcome }) => [cluster, outcome])).toEqual([
      ["a", "failed"],
      ["fresh", "done"],
    ]);
  });

  test("without KubeRay's definitions nothing happens; a rejected list is an error", async () => {
    expect((await run([], { GET: 404 })).failed).toBe(0);
    await server?.close();
    await expect(run([], { GET: 403 })).rejects.toThrow(/listing RayClusters: HTTP 403/);
  });
});

test("the script runs as it is mounted: under another name, behind symbolic links, without packages", async () => {
  const folder = await mkdtemp(join(tmpdir(), "cleanup-"));
  try {
    const mounted = join(folder, "cleanup.mts");
    await symlink(
      fileURLToPath(new URL("../../../infra/workloads/orphan-cleanup/script.ts", import.meta.url)),
      mounted,
    );
    const child = spawn(process.execPath, [mounted, "lancedb", "0"], { stdio: ["ignore", "ignore", "pipe"] });
    const chunks: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(Buffer.concat(chunks).toString()).toContain("usage: <namespace> <idle hours, more than 0>");
    expect(code).toBe(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});
