import { expect, test } from "vitest";
import { isBelow } from "../../../service/guard/blob-uri.ts";

const prefixes = ["s3://photos/public/", "file:///data/blobs/"];

test.each(["s3://photos/public/a.jpg", "s3://photos/public/2026/a b.jpg", "file:///data/blobs/x"])(
  "%s is below",
  (uri) => {
    expect(isBelow(uri, prefixes)).toBe(true);
    expect(isBelow(uri, [])).toBe(false);
  },
);

test.each([
  "s3://photos/public/",
  "s3://photos/publicity/a.jpg",
  "s3://photos/public/../secret",
  "s3://photos/public/./a",
  "s3://photos/public//a",
  "s3://photos/public/%2e%2e/secret",
  "s3://photos/public/a?versionId=1",
  "s3://photos/public/a#b",
  "s3://photos/public/..\\secret",
  "S3://photos/public/a",
  "s3://user@photos/public/a",
  "file:///data/blobs/../../etc/passwd",
  "file://localhost/data/blobs/x",
  "/data/blobs/x",
  "public/a.jpg",
  "",
])("%j is not", (uri) => {
  expect(isBelow(uri, prefixes)).toBe(false);
});
