import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { useService } from "../../support/service.ts";

const versions = 150;

let directory: string;
let connection: Connection;
beforeAll(async () => {
  directory = await makeDirectory();
  connection = await connect(directory);
});
afterAll(async () => {
  connection.close();
});
const service = useService(() => ({ database: directory, environment: { LAKEHEAD_CONSISTENCY_SECONDS: "0" } }));

test("versions are listed while a clean-up deletes them", async () => {
  const table = await connection.createTable("docs", [{ id: 0 }]);
  for (let id = 1; id < versions; id++) await table.add([{ id }]);
  const answers: unknown[] = [];
  const first = Promise.withResolvers<void>();
  let isCleaned = false;
  const list = async (): Promise<void> => {
    while (!isCleaned) {
      const { status, body } = await service.call("version/list", "docs");
      answers.push(status === 200 ? 200 : { status, body });
      first.resolve();
    }
  };
  const cleanUp = async (): Promise<void> => {
    await first.promise;
    await table.optimize({ cleanupOlderThan: new Date() });
    isCleaned = true;
  };
  await Promise.all([list(), list(), cleanUp()]);
  // One of them at least ran beside the clean-up.
  expect(answers.length).toBeGreaterThan(2);
  expect(new Set(answers)).toEqual(new Set([200]));
});
