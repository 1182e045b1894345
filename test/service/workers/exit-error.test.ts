import { expect, test } from "vitest";
import { ExitErrorReader } from "../../../service/workers/exit-error.ts";

const read = (...chunks: string[]): string | undefined => {
  const reader = new ExitErrorReader();
  for (const chunk of chunks) reader.read(chunk);
  return reader.error;
};

test.each([
  ["\nthread 'tokio-1' has overflowed its stack\nfatal runtime error", "a native thread overflowed its stack"],
  ["memory allocation of 34359738360 bytes failed\n", "an allocation of 34359738360 bytes failed"],
  [
    "thread 'x' panicked at /root/.cargo/lance-7.1.0/src/index/ivf.rs:42:9:\nsecret",
    "a panic at lance-7.1.0/src/index/ivf.rs:42",
  ],
  ["FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "the JavaScript heap was full"],
])("%j is recognized", (text, found) => {
  expect(read(text)).toBe(found);
});

test("an error that is split over chunks is recognized, and the last error is kept", () => {
  expect(read("has overflowed its stack\nmemory alloc", "ation of 12 by", "tes failed")).toBe(
    "an allocation of 12 bytes failed",
  );
});

test("other output is ignored", () => {
  expect(read("thread 'main' panicked: filter id = 'secret' failed", " at secret.rs")).toBeUndefined();
});
