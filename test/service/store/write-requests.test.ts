import { expect, test } from "vitest";
import { isolated } from "../../support/service.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";
import { byKind, useStoredService } from "./support.ts";

/** Requests to the store of a write whose worker has written to the table before. */
const stored = useStoredService({
  consistencySeconds: 60,
  // One worker process, because each has a separate cache.
  environment: { ...isolated, ...writesOn, LAKEHEAD_WRITE_CONCURRENCY: "1" },
});

test("an insert lists the versions twice, to open the table and to commit, and puts three files", async () => {
  const insert = async () => {
    const answer = await stored.service.call("insert", "plain", undefined, asRows(plainStream([1000])));
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  };
  await insert();
  expect(byKind(await stored.during(insert))).toEqual({ LIST: 2, PUT: 3 });
});
