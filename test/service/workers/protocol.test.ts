import { expect, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import { fromFailure, toFailure } from "../../../service/workers/protocol.ts";

const afterTransfer = (error: unknown): ServiceError => fromFailure(structuredClone(toFailure(error)));

test("a failure keeps its code, texts, headers, failed dependency and cause", () => {
  const error = new ServiceError(17, {
    message: "the storage is unavailable",
    detail: "details",
    retryAfter: 5,
    dependency: "store",
    cause: new Error("native text"),
  });
  expect(afterTransfer(error)).toEqual(error);
  expect(afterTransfer(error)).toMatchObject({ dependency: "store", cause: { message: "native text" } });
});

test("any other error becomes code 18 with its text as the cause", () => {
  expect(afterTransfer(new TypeError("unexpected"))).toMatchObject({ code: 18, cause: { message: "unexpected" } });
});
