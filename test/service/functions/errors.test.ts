import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import { type ErrorCode, errorKinds } from "../../../service/errors.ts";
import { functionOperations } from "../../../service/operations/index.ts";
import { addressOf, type Operation } from "../../../service/operations/operation.ts";
import { possible } from "../../support/matrix.ts";
import { labelOf } from "../../support/openapi.ts";
import type { Answer, CallOptions } from "../../support/request.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { writesOn } from "../writes/support.ts";

/** Provokes every error code of every operation on Functions. A code that no test provokes fails the run. */
let service: TestService;
let crowded: TestService;
let issuerAway: TestService;
let broken: TestService;

const functionsOn = { ...writesOn, LAKEHEAD_FUNCTIONS: "on" };
const nothing = "token-for-nothing";
const fakeJwt = ["eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ", "eyJzdWIiOiJ4In0", "c2ln"].join(".");

/** Records of Functions and of their sources that cannot be read. */
const brokenRecords = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "lakehead-broken-"));
  for (const name of ["functions", "function_sources"]) {
    const versions = join(directory, "_lakehead", `${name}.lance`, "_versions");
    await mkdir(versions, { recursive: true });
    await writeFile(join(versions, "1.manifest"), "not a manifest");
  }
  return directory;
};

/** Corrupts the manifests of a table. */
const breakTable = async (directory: string): Promise<void> => {
  const versions = join(directory, "_versions");
  for (const file of await readdir(versions)) await writeFile(join(versions, file), "not a manifest");
};

beforeAll(async () => {
  const tokens = [staticToken("nowhere", nothing, scopes, [])];
  [service, crowded, issuerAway, broken] = await Promise.all([
    startTestService({ tokens, environment: functionsOn }),
    startTestService({ environment: { ...functionsOn, LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "1" } }),
    startTestService({
      environment: {
        ...functionsOn,
        // No process listens there.
        LAKEHEAD_AUTH_ISSUER: "http://127.0.0.1:9/",
        LAKEHEAD_AUTH_AUDIENCE: "lakehead",
      },
    }),
    startTestService({ database: await brokenRecords(), environment: functionsOn }),
  ]);
  await breakTable(join(service.directory, "docs.lance"));
});
afterAll(async () => {
  const { directory } = broken;
  await Promise.all([service, crowded, issuerAway, broken].map((each) => each.stop()));
  await rm(directory, { recursive: true, force: true });
});

interface Wanted {
  readonly id?: string;
  readonly fields?: object;
  readonly options?: CallOptions;
}

const send = (to: TestService, operation: Operation, { id, fields, options }: Wanted = {}): Promise<Answer> => {
  const usual = { table: "plain", namespace: "$", root: "", function: "double", view: "plain" }[operation.target];
  const method = operation.methods[0] ?? "POST";
  const body = method === "GET" ? undefined : { ...operation.example, ...fields };
  return to.ask(addressOf(operation).replace("{id}", id ?? usual), body, { method, ...options });
};

type Provoke = (operation: Operation) => Promise<Answer>;

const ask =
  (wanted: Wanted): Provoke =>
  (operation) =>
    send(service, operation, wanted);

const provokeThrottling: Provoke = async (operation) => {
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all(Array.from({ length: 24 }, () => send(crowded, operation)));
    const throttled = answers.find(({ status }) => status === 429);
    if (throttled !== undefined) return throttled;
  }
  throw new Error("no burst was throttled");
};

const provocations: Readonly<Record<number, Provoke>> = {
  0: ask({ options: { method: "PUT" } }),
  1: ask({ id: "nowhere$at$all" }),
  4: ask({ id: "missing" }),
  10: ask({ fields: { version: "4711" } }),
  13: ask({ options: { query: "?delimiter=" } }),
  15: ask({ options: { token: nothing } }),
  16: ask({ options: { token: null } }),
  17: (operation) => send(issuerAway, operation, { options: { token: fakeJwt } }),
  18: (operation) =>
    operation.target === "table" ? send(service, operation, { id: "docs" }) : send(broken, operation),
  21: provokeThrottling,
  22: ask({ fields: { branch: "no-such-branch" } }),
};

const cases = functionOperations.map((operation) => {
  const label = labelOf(addressOf(operation));
  return [label, operation, (possible[label] ?? []).filter((code) => code !== "ok")] as const;
});

describe.each(cases)("%s", (_, operation, codes) => {
  test.each(codes)("answers code %i", async (code) => {
    const provoke = provocations[code];
    if (provoke === undefined) throw new Error(`nothing provokes code ${code}`);
    const answer = await provoke(operation);
    expect(answer.body).toMatchObject({ code });
    expect(answer.status).toBe(code === 0 ? 405 : errorKinds[code as ErrorCode].status);
    expect(JSON.stringify(answer.body)).not.toMatch(/cargo|lance-\d|\.rs:|lakehead-|\/tmp\//);
  });
});
