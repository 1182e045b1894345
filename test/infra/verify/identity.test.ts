import { describe, expect, test } from "vitest";
import { expectations, judgeAccess } from "../../../infra/verify/checks/access.ts";
import { judgeAccounts } from "../../../infra/verify/checks/accounts.ts";
import { configOf, seen, verdicts } from "./support.ts";

const aws = configOf("aws-dev");
const account = (annotations: Record<string, string>) => ({ metadata: { name: "a", annotations } });
const role = "arn:aws:iam::111122223333:role/runtime";
const good = account({ "eks.amazonaws.com/role-arn": role });
const outputs = { runtimeRoleArn: role };

describe("service accounts", () => {
  test("one that is missing, bare, or of another role", () => {
    const judge = (runtime: typeof good | undefined) =>
      seen(judgeAccounts(aws, { runtime, tableService: good, outputs }));
    expect(judge(undefined)).toContain("account lancedb/geneva-service-account: it does not exist");
    expect(judge(account({}))).toContain("the runtime's client refuses such an account");
    expect(judge(account({ "eks.amazonaws.com/role-arn": "other" }))).toContain(`is other, and the stack made ${role}`);
    expect(seen(judgeAccounts(aws, { runtime: good, tableService: account({}), outputs }))).toContain(
      "reaches no bucket",
    );
    expect(seen(judgeAccounts(aws, { runtime: good, tableService: undefined, outputs }))).toContain(
      "lancedb/table-service: it does not exist",
    );
  });

  test("on a cluster without a cloud a bare account is for its user to know", () => {
    const local = configOf("local");
    expect(verdicts(judgeAccounts(local, { runtime: account({}), tableService: account({}), outputs: {} }))).toEqual([
      "unknown",
      "ok",
    ]);
  });

  test("as the stack made them", () => {
    expect(verdicts(judgeAccounts(aws, { runtime: good, tableService: good, outputs }))).toEqual(["ok", "ok"]);
  });
});

describe("access", () => {
  const gcp = configOf("gcp-dev", { client: { access: "least-privilege", members: [] } });
  const expected = expectations(gcp, { clientServiceAccount: "client@example.iam.gserviceaccount.com" });
  const right = expected.map(({ allowed }) => allowed);
  const but = (change: (index: number) => boolean) =>
    right.map((allowed, index) => (change(index) ? !allowed : allowed));

  test("a right that is missing and one too many are named with whose they are", () => {
    const patch = expected.findIndex(
      ({ who, verb, resource }) => who === "Ray's pods" && verb === "patch" && resource === "rayclusters",
    );
    expect(seen(judgeAccess(expected, { value: but((index) => index === patch) }))).toContain(
      "WRONG   access Ray's pods: may not patch rayclusters.ray.io",
    );
    const list = expected.findIndex(
      ({ who, verb, resource }) => who === "the table service" && verb === "list" && resource === "secrets",
    );
    expect(seen(judgeAccess(expected, { value: but((index) => index === list) }))).toContain(
      "WRONG   access the table service: may list secrets in lancedb, which the stack does not grant",
    );
    const forward = expected.findIndex(({ verb, subresource }) => verb === "create" && subresource === "portforward");
    expect(seen(judgeAccess(expected, { value: but((index) => index === forward) }))).toContain(
      "access the client: may not create pods/portforward in lancedb",
    );
  });

  test("who may not ask gets no verdict", () => {
    expect(verdicts(judgeAccess(expected, { failure: "forbidden" }))).toEqual(["unknown"]);
  });

  test("answers that are missing are not taken for the right ones", () => {
    expect(verdicts(judgeAccess(expected, { value: [] }))).toContain("wrong");
  });

  test("everybody has what they need and nothing else", () => {
    expect(seen(judgeAccess(expected, { value: right }))).toMatch(/^(ok .*\n?){4}$/);
  });

  test("the client of EKS is asked for by its group, and not where an access policy stands behind it", () => {
    const of = (config: typeof gcp) => expectations(config, {}).filter(({ who }) => who === "the client");
    expect(of(aws)).toEqual([]);
    const least = of(configOf("aws-dev", { client: { access: "least-privilege", principals: [] } }));
    expect(least[0]?.subject).toMatchObject({ groups: expect.arrayContaining(["lakehead:geneva-clients"]) });
  });
});
