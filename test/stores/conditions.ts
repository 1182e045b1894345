import { expect, test } from "vitest";
import { bucketName, type ObjectStore } from "../support/object-store.ts";

/** "Only if there is no such object", and how each cloud's clients say so; moto refuses nobody who says who they are. */
const conditions = {
  s3: {
    "if-none-match": "*",
    authorization:
      "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
  },
  gs: { "x-goog-if-generation-match": "0" },
} as const;

/** What the other tests stand on: the store itself lets one of many conditional puts win. */
export const conditionalPuts = (cloud: keyof typeof conditions, store: () => ObjectStore): void => {
  test("the store lets one of 64 conditional puts win, and keeps what that one put", async () => {
    for (let round = 1; round <= 3; round++) {
      const url = `${store().endpoint}/${bucketName}/race/${round}`;
      const headers = conditions[cloud];
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          const response = await fetch(url, { method: "PUT", headers, body: `put ${index}` });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect([...statuses].sort()).toEqual([200, ...Array.from({ length: 63 }, () => 412)]);
      expect(await (await fetch(url, { headers })).text()).toBe(`put ${statuses.indexOf(200)}`);
    }
  });
};
