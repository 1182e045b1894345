import { expect, test } from "vitest";
import { bucketName, type ObjectStore } from "../support/object-store.ts";

/** The header for "only if the object does not exist", by cloud. moto accepts every signature. */
const conditions = {
  s3: {
    "if-none-match": "*",
    authorization:
      "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
  },
  gs: { "x-goog-if-generation-match": "0" },
} as const;

/** A precondition of the other tests: of many concurrent conditional puts, the store accepts one. */
export const conditionalPuts = (cloud: keyof typeof conditions, store: () => ObjectStore): void => {
  test("the store accepts one of 64 conditional puts, and keeps its content", async () => {
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
