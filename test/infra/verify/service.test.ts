import { describe, expect, test } from "vitest";
import { judgeBucket } from "../../../infra/verify/checks/bucket.ts";
import { judgeTableService, type ServiceFacts } from "../../../infra/verify/checks/table-service.ts";
import { renderSummary } from "../../../infra/verify/line.ts";
import { deployment, seen, verdicts } from "./support.ts";

const answer = (status: number, body: unknown = {}) => ({ value: { status, body: JSON.stringify(body) } });
const good: ServiceFacts = {
  namespace: "lancedb",
  deployment: deployment("table-service", "lakehead:0.1.0"),
  ready: answer(200),
  anonymous: answer(401),
  request: { table: "docs", named: true, outcome: answer(200, { num_rows: 3 }) },
};
const text = (more: Partial<ServiceFacts>) => seen(judgeTableService({ ...good, ...more }));

describe("table service", () => {
  test("no Deployment, no pods, no readiness and why", () => {
    expect(text({ deployment: undefined })).toBe(
      "WRONG   table service: no Deployment in lancedb\n        → pulumi up",
    );
    expect(text({ deployment: deployment("table-service", "x", 0) })).toContain("0 of 1 pods available");
    expect(text({ ready: answer(503, { databaseConnected: true, keysLoaded: false }) })).toMatch(
      /keysLoaded: false\)\n.*issuer/,
    );
    expect(text({ ready: { failure: "ECONNREFUSED" } })).toContain("no answer on its operations port: ECONNREFUSED");
  });

  test("a door that stands open", () => {
    expect(text({ anonymous: answer(404, { code: 4 }) })).toMatch(/WRONG .*answers 404 to a request without a token/);
  });

  test.each([
    [401, /WRONG .*issuer and audience/s],
    [403, /WRONG .*lacks the scope/s],
    [404, /WRONG .*databaseUri/s],
    [503, /WRONG .*the store does not answer/s],
    [500, /WRONG .*request id/s],
  ])("an operation that ends with %i", (status, expected) => {
    expect(text({ request: { table: "docs", named: true, outcome: answer(status, { code: 4 }) } })).toMatch(expected);
  });

  test("a table that nobody named is expected not to exist; only the tables' place can tell", () => {
    const request = { table: "verification-1", named: false, outcome: answer(404, { code: 4 }) };
    expect(verdicts(judgeTableService({ ...good, request }))).toEqual(["ok", "ok", "ok", "ok"]);
    const noRoute = { ...request, outcome: answer(404, { code: 0 }) };
    expect(verdicts(judgeTableService({ ...good, request: noRoute }))).toContain("wrong");
  });

  test("without a token nothing is claimed", () => {
    expect(verdicts(judgeTableService({ ...good, request: undefined }))).toEqual(["ok", "ok", "ok", "unknown"]);
    expect(renderSummary(judgeTableService({ ...good, request: undefined }))).toBe("3 ok, 0 wrong, 1 unknown");
  });
});

describe("bucket", () => {
  const reach = { who: "a Ray pod", uri: "s3://b/p", byHand: "kubectl exec …" };

  test.each([
    ["User is not authorized to perform: sts:AssumeRoleWithWebIdentity", /trust policy/],
    ["OSError: When listing objects: AWS Error ACCESS_DENIED during ListObjectsV2", /lacks rights/],
    ["NoSuchBucket: The specified bucket does not exist", /no such bucket/],
    ["Permission 'iam.serviceAccounts.getAccessToken' denied", /workloadIdentityUser/],
    ["curlCode: 28, Timeout was reached", /nothing leads there/],
    ["the credential provider was not enabled: no providers in chain provided credentials", /no identity/],
    ["a riddle", /kubectl exec/],
  ])("%s", (failure, expected) => {
    const line = judgeBucket({ ...reach, outcome: { failure: `Traceback\n${failure}` } });
    expect(line.verdict).toBe("wrong");
    expect(line.remedy).toMatch(expected);
  });

  test("what kubectl itself could not do is no verdict on the bucket", () => {
    const outcome = { failure: "error: error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused" };
    expect(judgeBucket({ ...reach, outcome }).verdict).toBe("unknown");
    expect(judgeBucket({ ...reach, outcome: undefined }).verdict).toBe("unknown");
  });

  test("a list", () => {
    expect(seen([judgeBucket({ ...reach, outcome: { value: "4 entries\n" } })])).toBe(
      "ok      tables s3://b/p: a Ray pod lists them (4 entries)",
    );
  });
});
