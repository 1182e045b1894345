import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeTables } from "../../tools/lance-tables.ts";
import type { Answer } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { nested } from "../support/tables.ts";
import { type Place, serve, withLongTimeouts } from "./place.ts";

const creations = 200;
const consistencySeconds = 1;
/** Only this suite uses this table, because it writes a version. */
const shared = { ...nested, name: "shared" };
const sharedId = [...shared.namespace, shared.name].join("$");
const pollOptions = { timeout: 20_000, interval: 50 };

/** Number of responses by kind, for instance `{"200": 1, "409/9": 199}`. */
const kinds = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const kind = status === 200 ? "200" : `${status}/${body.code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

/** Two processes of the service on one database. */
export const replicas = (place: () => Place): void => {
  describe("two replicas", () => {
    let both: readonly [ServiceProcess, ServiceProcess];
    beforeAll(async () => {
      await writeTables(place().uri, [shared], place().storageOptions);
      const environment = { LAKEHEAD_CONSISTENCY_SECONDS: String(consistencySeconds) };
      const start = () => serve(withLongTimeouts(place()), environment);
      both = await Promise.all([start(), start()]);
      await Promise.all(both.map((service) => service.ready()));
    });
    afterAll(() => Promise.all(both.map((service) => service.stop())));

    test.each(["plain", sharedId])(
      `${creations} creations of the same tag of %s at once have one winner`,
      async (table) => {
        const tag = "wanted-by-all";
        const versions = Array.from({ length: creations }, (_, index) => 1 + ((index >> 1) % 2));
        const answers = await Promise.all(
          versions.map((version, index) => both[index % 2 === 0 ? 0 : 1].call("tags/create", table, { tag, version })),
        );
        expect(kinds(answers)).toEqual({ "200": 1, "409/9": creations - 1 });
        const won = versions[answers.findIndex(({ status }) => status === 200)];
        for (const service of both)
          expect(await service.call("tags/version", table, { tag })).toMatchObject({
            status: 200,
            body: { version: won },
          });
      },
    );

    test("concurrent creations of several tags: each tag is created once, independently of the others", async () => {
      const tags = Array.from({ length: 20 }, (_, index) => `many-${index}`);
      const answers = await Promise.all(
        tags.flatMap((tag) => both.map((service) => service.call("tags/create", "plain", { tag, version: 1 }))),
      );
      expect(kinds(answers)).toEqual({ "200": tags.length, "409/9": tags.length });
    });

    test("a tag created, updated or deleted on one replica is visible on the other at once", async () => {
      const [left, right] = both;
      for (let round = 1; round <= 5; round++) {
        const tag = `seen-${round}`;
        const [maker, other] = round % 2 === 0 ? [left, right] : [right, left];
        expect(await maker.call("tags/create", "plain", { tag, version: round })).toMatchObject({ status: 200 });
        expect(await other.call("tags/version", "plain", { tag })).toMatchObject({
          status: 200,
          body: { version: round },
        });
        expect(await other.call("tags/update", "plain", { tag, version: round + 1 })).toMatchObject({ status: 200 });
        expect(await maker.call("tags/version", "plain", { tag })).toMatchObject({ body: { version: round + 1 } });
        expect((await maker.call("tags/list", "plain")).body.tags).toHaveProperty(tag);
        expect(await other.call("tags/delete", "plain", { tag })).toMatchObject({ status: 200 });
        expect(await maker.call("tags/version", "plain", { tag })).toMatchObject({ status: 404, body: { code: 8 } });
      }
    });

    test("a version written by another process is visible on both replicas and can be tagged on either", async () => {
      const { uri, storageOptions } = place();
      const stats = (service: ServiceProcess) => service.call("stats", sharedId);
      for (const service of both) expect((await stats(service)).body.num_rows).toBe(20);
      const connection = await connect(uri, { storageOptions: { ...storageOptions } });
      const options = { storageOptions: { ...storageOptions } };
      const table = await connection.openTable(shared.name, [...shared.namespace], options);
      await table.add([{ id: 1000n, text: "new", vector: [1, 0, 0, 1] }]);
      const version = await table.version();
      connection.close();
      for (const [index, service] of both.entries()) {
        const tag = `late-${index}`;
        expect(await service.call("tags/create", sharedId, { tag, version })).toMatchObject({ status: 200 });
        await expect.poll(async () => (await stats(service)).body.num_rows, pollOptions).toBe(21);
      }
    });
  });
};
