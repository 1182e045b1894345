import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writes } from "../clients/node/remote-writes.ts";
import { testToken } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { type Place, serve, withLongTimeouts } from "./place.ts";

/** The writes of LanceDB's own client, through the service: the same for each kind of location. */
export const clientWrites = (place: () => Place): void => {
  describe("LanceDB's client writes through the service", () => {
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await serve(withLongTimeouts(place()), { LAKEHEAD_WRITES: "on" });
      await service.ready();
    });
    afterAll(() => service.stop());

    test("a table from its creation to its end, in every way that the client has", async () => {
      const connection = await connect("db://dev", { apiKey: testToken, hostOverride: service.base });
      const faults: string[] = [];
      let cases = 0;
      const say = async (operation: string, name: string, check: () => Promise<void>): Promise<void> => {
        cases++;
        await check().catch((error: unknown) => faults.push(`${operation}, ${name}: ${String(error)}`));
      };
      await writes(say, connection, { table: (table) => table, branches: (branches) => branches });
      connection.close();
      expect(faults).toEqual([]);
      expect(cases).toBeGreaterThan(15);
    }, 300_000);
  });
};
