import { createHash, randomUUID } from "node:crypto";
import { blob, connect } from "@lancedb/lancedb";
import { Field, Int64, Schema, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesOf, readBytes, stored } from "../service/blobs/support.ts";
import { asRows, plainStream } from "../service/writes/support.ts";
import { testToken } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { type Place, serve, withLongTimeouts } from "./place.ts";

const digest = (bytes: Uint8Array | ArrayBuffer): string =>
  createHash("sha256").update(new Uint8Array(bytes)).digest("hex");

/** Blobs, and uploads in parts, of two replicas on one store. */
export const blobs = (place: () => Place): void => {
  describe("blobs and uploads in parts", () => {
    let [service, replica]: ServiceProcess[] = [];
    const both = (): readonly [ServiceProcess, ServiceProcess] => {
      if (service === undefined || replica === undefined) throw new Error("the services did not start");
      return [service, replica];
    };
    beforeAll(async () => {
      const { uri, storageOptions } = withLongTimeouts(place());
      const connection = await connect(uri, { storageOptions: { ...storageOptions } });
      const schema = new Schema([new Field("id", new Int64()), blob("image")]);
      await connection.createTable(
        "blobs",
        stored.map((image, id) => ({ id: BigInt(id), image })),
        { schema },
      );
      connection.close();
      const environment = {
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_AUTH_API_KEY: "true",
        LAKEHEAD_CONSISTENCY_SECONDS: "0",
      };
      [service, replica] = await Promise.all([1, 2].map(() => serve(withLongTimeouts(place()), environment)));
      await Promise.all(both().map((one) => one.ready()));
    });
    afterAll(() => Promise.all([service?.stop(), replica?.stop()]));

    test("are read whole, by ranges, and many at once", async () => {
      const [{ base }] = both();
      const large = stored[4] ?? Buffer.of();
      expect(digest(await (await readBytes(base, "blobs", 4)).arrayBuffer())).toBe(digest(large));
      const range = await readBytes(base, "blobs", 3, { range: "bytes=69990-" });
      expect(range.headers.get("content-range")).toBe("bytes 69990-69999/70000");
      expect(Buffer.from(await range.arrayBuffer())).toEqual(stored[3]?.subarray(69_990));
      expect((await readBytes(base, "blobs", 1)).status).toBe(204);
      const [on] = both();
      const { status, body } = await on.call("fetch_blobs", "blobs", { column: "image", row_ids: [3, 0, 1] });
      expect(status).toBe(200);
      const column = tableFromIPC(body).getChildAt(0);
      expect([0, 1, 2].map((row) => column?.get(row)?.length ?? null)).toEqual([70_000, 6, null]);
    });

    test("are written by a client through one replica, and read through the other", async () => {
      const [{ base }, other] = both();
      const connection = await connect("db://any", { apiKey: testToken, hostOverride: base });
      const image = bytesOf(6 * 2 ** 20);
      await (await connection.openTable("blobs")).add([{ id: 9n, image }]);
      connection.close();
      // The first row of the second fragment.
      const response = await readBytes(other.base, "blobs", 2n ** 32n);
      expect(digest(await response.arrayBuffer())).toBe(digest(image));
    });

    test("parts of one upload go to both replicas, and are one commit by either, repeated or not", async () => {
      const [first, second] = both();
      const rows = asRows(plainStream([1]));
      expect((await first.call("create", "in_parts", undefined, rows)).status).toBe(200);
      const begun = await first.call("multipart_write/create", "in_parts", undefined, { rawBody: "" });
      const query = `?upload_id=${begun.body.upload_id}`;
      for (const [on, ids] of [
        [first, [2, 3]],
        [second, [4, 5, 6]],
      ] as const) {
        const options = asRows(plainStream(ids), { query: `${query}&upload_part_id=${randomUUID()}` });
        expect((await on.call("insert", "in_parts", undefined, options)).status).toBe(202);
      }
      expect((await first.call("count_rows", "in_parts")).body).toBe(1);
      const complete = (on: ServiceProcess) =>
        on.call("multipart_write/complete", "in_parts", undefined, { rawBody: "", query });
      const answers = await Promise.all([complete(second), complete(first)]);
      const done = answers.find(({ status }) => status === 200);
      expect(done?.body, JSON.stringify(answers.map(({ body }) => body))).toEqual({ version: 2 });
      expect((await complete(first)).body).toEqual({ version: 2 });
      expect((await first.call("count_rows", "in_parts")).body).toBe(6);
    });
  });
};
