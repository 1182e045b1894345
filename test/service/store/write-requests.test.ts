import { afterAll, beforeAll, expect, test } from "vitest";
import { isolated } from "../../support/service.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";
import { byKind, type StoredService, startStoredService } from "./support.ts";

/** Requests to the store of a write whose worker has written to the table before. */
let stored: StoredService;

beforeAll(async () => {
  // One worker process, because each has a separate cache.
  stored = await startStoredService({
    consistencySeconds: 60,
    environment: { ...isolated, ...writesOn, LAKEHEAD_WRITE_CONCURRENCY: "1" },
  });
});
afterAll(() => stored.stop());

test("an insert lists the versions twice, to open the table and to commit, and puts three files", async () => {
  const insert = async () => {
    const answer = await stored.service.call("insert", "plain", undefined, asRows(plainStream([1000])));
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  };
  await insert();
  expect(byKind(await stored.during(insert))).toEqual({ LIST: 2, PUT: 3 });
});
