import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceProcess } from "../support/service-process.ts";
import { vectorOf } from "../support/tables.ts";
import { type Place, serve, withLongTimeouts } from "./place.ts";
import { fault, questions } from "./questions.ts";

/** Behaviour that does not depend on the store: the same suite for each kind of location. */
export const acceptance = (place: () => Place): void => {
  describe("the service responds correctly", () => {
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await serve(withLongTimeouts(place()));
      await service.ready();
    });
    afterAll(() => service.stop());

    test.each(questions)("$title: $path", async (question) => {
      const { path, body, asking } = question;
      expect(fault(question, await service.ask(`/v1/${path}`, body, asking))).toBeUndefined();
    });

    test.each(["docs", "prod$vectors$docs"])("creates, updates, lists and deletes tags of %s", async (table) => {
      const call = async (operation: string, body: object) => {
        const { status, body: answer } = await service.call(`tags/${operation}`, table, body);
        return { status, answer };
      };
      expect(await call("create", { tag: "kept", version: 1 })).toEqual({ status: 200, answer: {} });
      expect(await call("version", { tag: "kept" })).toEqual({ status: 200, answer: { version: 1 } });
      expect(await call("create", { tag: "kept", version: 2 })).toMatchObject({ status: 409, answer: { code: 9 } });
      expect(await call("version", { tag: "kept" })).toEqual({ status: 200, answer: { version: 1 } });
      expect(await call("update", { tag: "kept", version: 2 })).toEqual({ status: 200, answer: {} });
      expect(await call("list", {})).toMatchObject({ status: 200, answer: { tags: { kept: { version: 2 } } } });
      expect(await call("delete", { tag: "kept" })).toEqual({ status: 200, answer: {} });
      expect(await call("version", { tag: "kept" })).toMatchObject({ status: 404, answer: { code: 8 } });
    });

    test("returns a table's location from describe alone, and never storage options", async () => {
      const query = { k: 3, vector: vectorOf(1), vector_column: "vector", filter: "id > 1" };
      const { uri, storageOptions } = place();
      const description = await service.call("describe", "docs");
      expect(description.body.location).toBe(`${uri}/docs.lance`);
      const others = await Promise.all([
        service.call("explain_plan", "docs", { query, verbose: true }),
        service.call("analyze_plan", "docs", query),
        service.call("explain_plan", "nope$docs", { query }),
        service.call("version/describe", "docs", { version: 1 }),
        service.ask("/v1/namespace/prod/describe"),
      ]);
      const root = uri.replace(/^\w+:\/\//, "");
      for (const { body } of others) expect(JSON.stringify(body)).not.toContain(root);
      const secrets = Object.values(storageOptions).filter((text) => text.length > 4);
      for (const { body } of [description, ...others])
        for (const secret of secrets) expect(JSON.stringify(body)).not.toContain(secret);
    });
  });
};
