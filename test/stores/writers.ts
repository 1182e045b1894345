import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asRows, plainStream } from "../service/writes/support.ts";
import type { Answer } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { type Place, serve, withLongTimeouts } from "./place.ts";

const writersCount = 8;
const roundsOfEach = 12;
const byMany = "written-by-many";
const byOne = "written-by-one";
/** Rows of one writer have ids from a range of its own. */
const rangeOf = (writer: number): number => writer * 1000;

/** What a table must hold: the text of each id. */
type Expected = Map<number, string>;

/** Answers that leave the table as it was, after which a writer sends the same again. */
const isRetried = ({ status }: Answer): boolean => status === 409 || status === 429 || status === 503;

/** Eight writers on two replicas of the service and one table: no acknowledged write is lost, none is there twice. */
export const writers = (place: () => Place): void => {
  describe("eight writers on two replicas", () => {
    let both: readonly [ServiceProcess, ServiceProcess];
    beforeAll(async () => {
      const environment = { LAKEHEAD_WRITES: "on", LAKEHEAD_CONSISTENCY_SECONDS: "30" };
      const start = () => serve(withLongTimeouts(place()), environment);
      both = await Promise.all([start(), start()]);
      await Promise.all(both.map((service) => service.ready()));
    });
    afterAll(() => Promise.all(both.map((service) => service.stop())));

    const seen: Record<string, number> = {};

    /** Sends a write until it is acknowledged. */
    const commit = async (
      service: ServiceProcess,
      table: string,
      operation: string,
      body?: object,
      rows?: readonly number[],
      text?: string,
    ) => {
      const query =
        operation === "merge_insert" ? "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true" : "";
      for (let attempt = 0; attempt < 100; attempt++) {
        const answer = await service.call(
          operation,
          table,
          body,
          rows === undefined ? {} : asRows(plainStream(rows, text), { query }),
        );
        seen[`${operation} ${answer.status}`] = (seen[`${operation} ${answer.status}`] ?? 0) + 1;
        if (answer.status === 200) return answer;
        if (!isRetried(answer)) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      throw new Error(`${operation} was refused 100 times`);
    };

    const write = async (service: ServiceProcess, writer: number, expected: Expected): Promise<void> => {
      const base = rangeOf(writer);
      for (let round = 0; round < roundsOfEach; round++) {
        const id = base + round;
        await commit(service, byMany, "insert", undefined, [id], "inserted");
        expected.set(id, "inserted");
        if (round % 4 === 1) {
          await commit(service, byMany, "merge_insert", undefined, [id, id + 500], "merged");
          expected.set(id, "merged").set(id + 500, "merged");
        }
        if (round % 4 === 2) {
          const { body } = await commit(service, byMany, "update", {
            predicate: `id = ${id}`,
            updates: [["text", "'updated'"]],
          });
          expect(body.rows_updated).toBe(1);
          expected.set(id, "updated");
        }
        if (round % 4 === 3) {
          const { body } = await commit(service, byMany, "delete", { predicate: `id = ${id - 3}` });
          expect(body.num_deleted_rows).toBe(1);
          expected.delete(id - 3);
        }
      }
    };

    test("the table holds each acknowledged write once", async () => {
      const [first] = both;
      await first.call("create", byMany, undefined, asRows(plainStream([])));
      const expected: Expected = new Map();
      await Promise.all(
        Array.from({ length: writersCount }, (_, writer) => write(both[writer % 2 === 0 ? 0 : 1], writer, expected)),
      );
      process.stdout.write(`eight writers: ${JSON.stringify(seen)}\n`);
      const connection = await connect(place().uri, { storageOptions: { ...place().storageOptions } });
      const rows = await (await connection.openTable(byMany)).query().select(["id", "text"]).toArray();
      connection.close();
      const held = rows.map((row) => [Number(row.id), row.text] as const).sort(([one], [other]) => one - other);
      expect(held).toEqual([...expected].sort(([one], [other]) => one - other));
    }, 300_000);

    test("a caller reads its write on the other replica by the version of the answer", async () => {
      await both[0].call("create", byOne, undefined, asRows(plainStream([])));
      for (let round = 0; round < 6; round++) {
        const [writer, reader] = round % 2 === 0 ? both : [both[1], both[0]];
        const ids = [100_000 + round];
        // The reader has a handle within its staleness bound of 30 s.
        await reader.call("count_rows", byOne, {});
        const { body } = await commit(writer, byOne, "insert", undefined, ids, "seen");
        const count = (options: object) =>
          reader.call("count_rows", byOne, { predicate: `id = ${ids[0]}`, ...options });
        expect((await count({ version: body.version })).body).toBe(1);
        const headers = { "x-lancedb-min-read-version": String(body.version) };
        const latest = await reader.call("count_rows", byOne, { predicate: `id = ${ids[0]}` }, { headers });
        expect(latest.body).toBe(1);
      }
    });
  });
};
