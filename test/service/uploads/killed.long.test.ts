import { cp } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { beforeAll, expect, inject, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { asRows, plainStream } from "../writes/support.ts";

let home: string;
beforeAll(async () => {
  home = await makeDirectory();
  await cp(inject("tables"), home, { recursive: true });
});

const start = (): Promise<ServiceProcess> =>
  startReadyServiceProcess({
    environment: {
      LAKEHEAD_DATABASE: home,
      LAKEHEAD_WRITES: "on",
      LAKEHEAD_CONSISTENCY_SECONDS: "0",
      LAKEHEAD_QUEUE_SECONDS: "120",
    },
  });

const facts = async (): Promise<{ version: number; rows: number }> => {
  const connection = await connect(home);
  const table = await connection.openTable("plain");
  const found = { version: await table.version(), rows: await table.countRows() };
  connection.close();
  return found;
};

const complete = (on: ServiceProcess, upload: string) =>
  on.call("multipart_write/complete", "plain", undefined, { rawBody: "", query: `?upload_id=${upload}` });

// A new process waits for the lease of the dead one.
test.each([0, 10, 20, 30, 45])(
  "an upload whose process is killed %i ms after its completion began is committed once",
  async (milliseconds) => {
    const before = await facts();
    const first = await start();
    const { body } = await first.call("multipart_write/create", "plain", undefined, { rawBody: "" });
    for (const part of ["a", "b"]) {
      const query = `?upload_id=${body.upload_id}&upload_part_id=${part}`;
      const sent = await first.call("insert", "plain", undefined, asRows(plainStream([1, 2, 3]), { query }));
      expect(sent.status).toBe(202);
    }
    const ended = complete(first, body.upload_id).then(
      ({ status }) => status,
      () => "no answer",
    );
    await sleep(milliseconds);
    await first.kill();
    const answer = await ended;
    const next = await start();
    try {
      const again = await complete(next, body.upload_id);
      const after = await facts();
      process.stdout.write(`killed after ${milliseconds} ms: ${answer}, then ${again.status}\n`);
      // 424: it was committed, and the process ended before it could say so.
      expect([200, 424]).toContain(again.status);
      expect(after).toEqual({ version: before.version + 1, rows: before.rows + 6 });
      if (again.status === 200) expect(again.body.version).toBe(after.version);
      expect((await complete(next, body.upload_id)).status).toBe(again.status);
      expect(await facts()).toEqual(after);
    } finally {
      await next.stop();
    }
  },
  180_000,
);
