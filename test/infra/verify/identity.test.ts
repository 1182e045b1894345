import { describe, expect, test } from "vitest";
import { checkAccess, expectations } from "../../../infra/verify/checks/access.ts";
import { checkAccounts } from "../../../infra/verify/checks/accounts.ts";
import { results, seen, stackOf } from "./support.ts";

const aws = stackOf("aws-dev");
const account = (annotations: Record<string, string>) => ({ metadata: { name: "a", annotations } });
const role = "arn:aws:iam::111122223333:role/runtime";
const good = account({ "eks.amazonaws.com/role-arn": role });
const outputs = { runtimeRoleArn: role };

describe("service accounts", () => {
  test("a missing account, one without an identity and one of another role are wrong", () => {
    const judge = (runtime: typeof good | undefined) =>
      seen(checkAccounts(aws, { runtime, tableService: good, outputs }));
    expect(judge(undefined)).toContain("account lancedb/geneva-service-account: it does not exist");
    expect(judge(account({}))).toContain("the runtime's client refuses such an account");
    expect(judge(account({ "eks.amazonaws.com/role-arn": "other" }))).toContain(
      `is other, but the stack created ${role}`,
    );
    expect(seen(checkAccounts(aws, { runtime: good, tableService: account({}), outputs }))).toContain(
      "has no access to the bucket",
    );
    expect(seen(checkAccounts(aws, { runtime: good, tableService: undefined, outputs }))).toContain(
      "lancedb/table-service: it does not exist",
    );
  });

  test("an account without an identity is unknown on an existing cluster", () => {
    const local = stackOf("local");
    expect(results(checkAccounts(local, { runtime: account({}), tableService: account({}), outputs: {} }))).toEqual([
      "unknown",
      "ok",
    ]);
  });

  test("accounts with the identities that the stack created are ok", () => {
    expect(results(checkAccounts(aws, { runtime: good, tableService: good, outputs }))).toEqual(["ok", "ok"]);
  });
});

describe("access", () => {
  const gcp = stackOf("gcp-dev", { client: { access: "least-privilege", members: [] } });
  const expected = expectations(gcp, { clientServiceAccount: "client@example.iam.gserviceaccount.com" });
  const right = expected.map(({ allowed }) => allowed);
  const but = (change: (index: number) => boolean) =>
    right.map((allowed, index) => (change(index) ? !allowed : allowed));

  test("a missing and a forbidden permission are named with their subject", () => {
    const patch = expected.findIndex(
      ({ who, verb, resource }) => who === "Ray's pods" && verb === "patch" && resource === "rayclusters",
    );
    expect(seen(checkAccess(expected, { value: but((index) => index === patch) }))).toContain(
      "WRONG   access Ray's pods: may not patch rayclusters.ray.io",
    );
    const list = expected.findIndex(
      ({ who, verb, resource }) => who === "the table service" && verb === "list" && resource === "secrets",
    );
    expect(seen(checkAccess(expected, { value: but((index) => index === list) }))).toContain(
      "WRONG   access the table service: may list secrets in lancedb, which the stack does not grant",
    );
    const forward = expected.findIndex(({ verb, subresource }) => verb === "create" && subresource === "portforward");
    expect(seen(checkAccess(expected, { value: but((index) => index === forward) }))).toContain(
      "access the client: may not create pods/portforward in lancedb",
    );
  });

  test("the result is unknown when the API server refuses the reviews", () => {
    expect(results(checkAccess(expected, { failure: "forbidden" }))).toEqual(["unknown"]);
  });

  test("a missing answer is wrong", () => {
    expect(results(checkAccess(expected, { value: [] }))).toContain("wrong");
  });

  test("one ok line for each subject when every answer is as expected", () => {
    expect(seen(checkAccess(expected, { value: right }))).toMatch(/^(ok .*\n?){4}$/);
  });

  test("the client of EKS is reviewed by its group, except where an access policy grants its rights", () => {
    const of = (config: typeof gcp) => expectations(config, {}).filter(({ who }) => who === "the client");
    expect(of(aws)).toEqual([]);
    const least = of(stackOf("aws-dev", { client: { access: "least-privilege", principals: [] } }));
    expect(least[0]?.subject).toMatchObject({ groups: expect.arrayContaining(["lakehead:geneva-clients"]) });
  });
});
