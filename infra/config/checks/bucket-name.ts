import { errorIf, type Finding } from "../report.ts";

/** A bucket's name is not one that the cloud keeps for itself. */
export function checkBucketName(name: string, reserved: readonly RegExp[], key = "bucket.name"): Finding[] {
  const pattern = reserved.find((candidate) => candidate.test(name));
  return errorIf(pattern !== undefined, key, `the cloud reserves names that match ${pattern}`, "write another name");
}
