import { describe, expect, test } from "vitest";
import { renderSummary } from "../../../infra/check-line.ts";
import { checkBucket } from "../../../infra/verify/checks/bucket.ts";
import { checkTableService, type ServiceFacts } from "../../../infra/verify/checks/table-service.ts";
import { deployment, results, seen } from "./support.ts";

const answer = (status: number, body: unknown = {}) => ({ value: { status, body: JSON.stringify(body) } });
const good: ServiceFacts = {
  namespace: "lancedb",
  deployment: deployment("table-service", "lakehead:0.2.0"),
  pods: [],
  ready: answer(200),
  anonymous: answer(401),
  request: { table: "docs", named: true, outcome: answer(200, { num_rows: 3 }) },
};
const text = (more: Partial<ServiceFacts>) => seen(checkTableService({ ...good, ...more }));

describe("table service", () => {
  test("a missing Deployment, missing pods and a failed readiness check are wrong, with the reason", () => {
    expect(text({ deployment: undefined })).toBe(
      "WRONG   table service: no Deployment in lancedb\n        → pulumi up",
    );
    expect(text({ deployment: deployment("table-service", "x", 0) })).toContain("0 of 1 pods available");
    const waiting = { waiting: { reason: "ImagePullBackOff" } };
    const pod = { name: "table-service", ready: false, state: waiting };
    const pods = [{ metadata: { name: "one" }, spec: {}, status: { containerStatuses: [pod] } }];
    expect(text({ deployment: deployment("table-service", "x", 0), pods })).toContain(
      "0 of 1 pods available (one: ImagePullBackOff)",
    );
    expect(text({ ready: answer(503, { databaseConnected: true, keysLoaded: false }) })).toMatch(
      /keysLoaded: false\)\n.*issuer/,
    );
    expect(text({ ready: { failure: "ECONNREFUSED" } })).toContain("no response on its operations port: ECONNREFUSED");
  });

  test("a request without a token that is not refused is wrong", () => {
    expect(text({ anonymous: answer(404, { code: 4 }) })).toMatch(/WRONG .*a request without a token gets 404/);
  });

  test.each([
    [401, /WRONG .*another issuer or audience/s],
    [403, /WRONG .*lacks the scope/s],
    [404, /WRONG .*databaseUri/s],
    [503, /WRONG .*the store does not respond/s],
    [500, /WRONG .*request id/s],
  ])("an operation with status %i is wrong, with its remedy", (status, expected) => {
    expect(text({ request: { table: "docs", named: true, outcome: answer(status, { code: 4 }) } })).toMatch(expected);
  });

  test("without --table, code 4 is ok and any other 404 is wrong", () => {
    const request = { table: "verification-1", named: false, outcome: answer(404, { code: 4 }) };
    expect(results(checkTableService({ ...good, request }))).toEqual(["ok", "ok", "ok", "ok"]);
    const noRoute = { ...request, outcome: answer(404, { code: 0 }) };
    expect(results(checkTableService({ ...good, request: noRoute }))).toContain("wrong");
  });

  test("the operation is unknown without a token", () => {
    expect(results(checkTableService({ ...good, request: undefined }))).toEqual(["ok", "ok", "ok", "unknown"]);
    expect(renderSummary(checkTableService({ ...good, request: undefined }))).toBe("3 ok, 0 wrong, 1 unknown");
  });
});

describe("bucket", () => {
  const reach = { who: "a Ray pod", uri: "s3://b/p", manually: "kubectl exec …" };

  test.each([
    ["User is not authorized to perform: sts:AssumeRoleWithWebIdentity", /trust policy/],
    ["OSError: When listing objects: AWS Error ACCESS_DENIED during ListObjectsV2", /lacks permissions/],
    ["NoSuchBucket: The specified bucket does not exist", /bucket does not exist/],
    ["Permission 'iam.serviceAccounts.getAccessToken' denied", /workloadIdentityUser/],
    ["curlCode: 28, Timeout was reached", /no route to the store/],
    ["the credential provider was not enabled: no providers in chain provided credentials", /no identity/],
    ["a message that is not in the table", /kubectl exec/],
  ])("names the remedy for: %s", (failure, expected) => {
    const line = checkBucket({ ...reach, outcome: { failure: `Traceback\n${failure}` } });
    expect(line.result).toBe("wrong");
    expect(line.remedy).toMatch(expected);
  });

  test("the line names the error, not what a program and kubectl print after it", () => {
    const failure =
      "Error: ENOSPC: the volume is full, 0 bytes are free\n    at file:///app/[eval1]:7:9\n\nNode.js v26.10.0\ncommand terminated with exit code 1";
    const line = checkBucket({ ...reach, outcome: { failure } });
    expect(line.text).toMatch(/cannot list them: Error: ENOSPC: the volume is full, 0 bytes are free$/);
    expect(line.remedy).toMatch(/volumeSize/);
  });

  test("a failure of kubectl exec is unknown", () => {
    const outcome = { failure: "error: error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused" };
    expect(checkBucket({ ...reach, outcome }).result).toBe("unknown");
    expect(checkBucket({ ...reach, outcome: undefined }).result).toBe("unknown");
  });

  test("where the stack gives Ray's pods no rights, a refusal is ok and a listing is not", () => {
    const closed = { ...reach, closed: true };
    const refused = "OSError: AWS Error ACCESS_DENIED during ListObjectsV2";
    expect(checkBucket({ ...closed, outcome: { failure: refused } }).result).toBe("ok");
    expect(checkBucket({ ...closed, outcome: { failure: "curlCode: 28, Timeout was reached" } }).result).toBe("wrong");
    expect(checkBucket({ ...closed, outcome: { value: "4 entries\n" } }).result).toBe("wrong");
  });

  test("a listing is ok", () => {
    expect(seen([checkBucket({ ...reach, outcome: { value: "4 entries\n" } })])).toBe(
      "ok      tables s3://b/p: a Ray pod lists them (4 entries)",
    );
  });
});
