import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding, PlanDocument } from "../../../service/plan-doctor/types.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { cases } from "./support/cases.ts";
import { createTables, type Tables } from "./support/data.ts";

/** Findings whose fix changes the table by an operation of the service. */
const codes = [
  "no-vector-index",
  "vector-index-metric",
  "many-deltas",
  "missing-scalar-index",
  "unindexed-prefilter",
  "filter-partly-indexed",
  "unindexed-vectors",
  "unindexed-scalars",
  "unindexed-text",
  "small-fragments",
  "deleted-rows",
  "fast-search-omits-rows",
] as const;

const caseOf = (code: string) => {
  const found = cases.find((one) => one.code === code);
  if (found === undefined) throw new Error(`no case of ${code}`);
  return found;
};

const tableOf = (code: string): string => code.replaceAll("-", "_");

let tables: Tables;
let service: ServiceProcess;
beforeAll(async () => {
  tables = await createTables();
  for (const code of codes) await caseOf(code).make(tables, tableOf(code));
  service = await startReadyServiceProcess({
    environment: { LAKEHEAD_DATABASE: tables.directory, LAKEHEAD_WRITES: "on" },
  });
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await tables.remove();
});

const findingsOf = async (code: string): Promise<readonly Finding[]> => {
  const { status, body } = await service.call("analyze_plan", tableOf(code), caseOf(code).query, {
    headers: { accept: "application/vnd.lakehead.plan+json" },
  });
  expect(status).toBe(200);
  return (body as PlanDocument).findings;
};

/** The requests of a REST form: a line with method and address, then the body. */
const requestsOf = (rest: string): readonly (readonly [path: string, body: unknown])[] =>
  rest
    .split(/^(?=POST )/m)
    .map((request) => /^POST (\S+)\n([\s\S]+)$/.exec(request) ?? [])
    .map(([, path = "", body = ""]) => [path, JSON.parse(body)]);

describe("the REST form of a fix, sent to the service as it is printed, ends the finding", () => {
  test.each(codes)(
    "%s",
    async (code) => {
      const finding = (await findingsOf(code)).find((one) => one.code === code);
      const requests = requestsOf(finding?.fix.rest ?? "");
      expect(requests.length).toBeGreaterThan(0);
      if (requests.length === 1)
        expect(requests[0]).toEqual([
          `/v1/table/${tableOf(code)}/${finding?.fix.write?.operation}`,
          finding?.fix.write?.body,
        ]);
      else expect(finding?.fix.write).toBeUndefined();
      for (const [path, body] of requests) expect(await service.ask(path, body)).toMatchObject({ status: 200 });
      expect((await findingsOf(code)).map((one) => one.code)).not.toContain(code);
    },
    120_000,
  );
});
