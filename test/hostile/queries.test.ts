import { tableFromIPC } from "apache-arrow";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { callOperation } from "../support/service.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import * as hostile from "./support/queries.ts";

let service: ServiceProcess;
beforeAll(async () => {
  // Without worker processes, only the guard protects the service.
  service = await startReadyServiceProcess({ copyOf: inject("tables"), environment: { LAKEHEAD_ISOLATION: "off" } });
});
afterAll(() => service?.kill());

afterEach(async () => {
  expect(service.ended()).toBeNull();
  expect(await service.readiness()).toBe(200);
});

const operations = ["explain_plan", "analyze_plan", "query"] as const;

/** `callOperation` checks every error response against the OpenAPI document. */
const ask = (operation: string, body: unknown, rawBody?: string) =>
  callOperation(service.base, operation, "docs", body, rawBody === undefined ? {} : { rawBody });

const refusal = expect.toSatisfy((status: number) => status >= 400 && status < 500, "a 4xx");

describe.each(operations)("%s lives and refuses", (operation) => {
  test.each(Object.entries(hostile.expressions))("a filter and an alias: %s", async (_, expression) => {
    const queries = [
      { k: 5, vector: null, filter: expression },
      { k: 5, vector: null, columns: { value: expression } },
    ];
    for (const query of queries) {
      const { status, body } = await ask(operation, hostile.bodyOf(operation, query));
      expect({ status, code: body.code }).toEqual({ status: 400, code: 13 });
      // The response is short, however long the request is.
      expect(JSON.stringify(body).length).toBeLessThan(1000);
    }
  });

  test.each([8193, 65_536, 1_048_000])("a valid filter of %i bytes, which is too long", async (bytes) => {
    const filter = `id = 1 or text = '${"a".repeat(bytes - "id = 1 or text = ''".length)}'`;
    expect(filter.length).toBe(bytes);
    const { status, body } = await ask(operation, hostile.bodyOf(operation, { k: 5, vector: null, filter }));
    expect({ status, code: body.code }).toEqual({ status: 400, code: 13 });
  });

  test.each(Object.entries(hostile.refused))("%s", async (_, query) => {
    const { status, body } = await ask(operation, hostile.bodyOf(operation, query));
    expect(status).toEqual(refusal);
    expect(JSON.stringify(body).length).toBeLessThan(4000);
  });

  test.each(hostile.integerFields)("a wrong integer as %s", async (field) => {
    for (const value of hostile.wrongIntegers) {
      const { status, body } = await ask(operation, undefined, hostile.withRawField(operation, field, value));
      expect(status, `${field}: ${value}`).toEqual(refusal);
      expect(body.code, `${field}: ${value}`).toBe(field === "version" && value === "4294967297" ? 11 : 13);
    }
  });
});

describe.each(operations)("%s lives and answers", (operation) => {
  test.each(Object.entries(hostile.answered))("%s", async (_, query) => {
    const { status } = await ask(operation, hostile.bodyOf(operation, query));
    expect(status).toBeLessThan(500);
  });

  test("a normal query afterwards", async () => {
    const { status, body } = await ask(operation, hostile.bodyOf(operation, { k: 5, vector: null, filter: "id < 3" }));
    expect(status).toBe(200);
    if (operation === "query") expect(tableFromIPC(body).numRows).toBe(3);
    else expect(body).toBeTypeOf("string");
  });
});

describe("count_rows", () => {
  test.each(Object.entries(hostile.expressions))("refuses a predicate: %s", async (_, predicate) => {
    const { status, body } = await ask("count_rows", { predicate });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 13 });
    expect(body.error).toMatch(/^predicate/);
    expect(JSON.stringify(body).length).toBeLessThan(1000);
  });

  test("accepts a normal predicate", async () => {
    expect(await ask("count_rows", { predicate: "id < 3" })).toMatchObject({ status: 200, body: 3 });
  });
});
