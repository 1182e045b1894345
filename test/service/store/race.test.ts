import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, expect, test } from "vitest";
import { isolated, useService } from "../../support/service.ts";
import { atConcurrency } from "./support.ts";

/** Version v of `plain` has v fragments of ten rows each; the latest is version 10. */
const latest = 10;
const versionOf = (plan: string): number => Number(/num_fragments=(\d+)/.exec(plan)?.[1]);

const concurrency = 16;
const total = 1000;

const service = useService({ environment: { ...isolated, LAKEHEAD_CONSISTENCY_SECONDS: "1" } });
afterAll(() => agent.destroy());

/** Deterministic; every version follows every other one. 0 requests the latest. */
const wantedBy = (index: number): number => (index * 7 + (index >> 4)) % (latest + 1);

/** Requests in turn; each response shows the version that it was computed from. */
const requests = [
  { operation: "explain_plan", body: (version: object) => ({ query: { k: 5, ...version } }) },
  { operation: "explain_plan", body: (version: object) => ({ query: { k: 5, filter: "id >= 0", ...version } }) },
  { operation: "explain_plan", body: (version: object) => ({ query: { k: 5, vector: [1, 0, 0, 1], ...version } }) },
  { operation: "analyze_plan", body: (version: object) => ({ k: 5, filter: "id >= 0", ...version }) },
] as const;

const agent = new Agent({ keepAlive: true, maxSockets: concurrency });

/** A minimal client: validation of each response would take most of the time and reduce concurrency. */
const ask = (operation: string, body: object): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
    request(
      `${service.base}/v1/table/plain/${operation}`,
      { method: "POST", agent, headers },
      (response) => void text(response).then(resolve, reject),
    )
      .on("error", reject)
      .end(JSON.stringify(body));
  });

test("1,000 concurrent queries of ten versions and the latest each read the requested version", async () => {
  const wrong: string[] = [];
  await atConcurrency(concurrency, total, async (index) => {
    const wanted = wantedBy(index);
    const { operation, body } = requests[index % requests.length] ?? requests[0];
    const answer = await ask(operation, body(wanted === 0 ? {} : { version: wanted }));
    if (versionOf(answer) !== (wanted || latest)) wrong.push(`${operation} at ${wanted}: ${answer}`);
  });
  expect(wrong.slice(0, 5)).toEqual([]);
}, 120_000);

test("statistics read the latest version while queries read others", async () => {
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      index % 2 === 0
        ? service.call("stats", "plain")
        : service.call("explain_plan", "plain", { query: { k: 5, version: 1 + (index % latest) } }),
    ),
  );
  for (const [index, { body }] of answers.entries()) if (index % 2 === 0) expect(body.num_rows).toBe(latest * 10);
});

test("a shared handle that is checked out for each query reads wrong versions, so these tests can fail", async () => {
  const connection: Connection = await connect(service.directory);
  const shared = await connection.openTable("plain");
  let wrong = 0;
  await atConcurrency(concurrency, 500, async (index) => {
    const wanted = wantedBy(index);
    await (wanted === 0 ? shared.checkoutLatest() : shared.checkout(wanted));
    if (versionOf(await shared.query().limit(5).explainPlan()) !== (wanted || latest)) wrong++;
  });
  connection.close();
  expect(wrong).toBeGreaterThan(0);
});
