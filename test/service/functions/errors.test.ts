import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, test } from "vitest";
import { functionOperations } from "../../../service/operations/index.ts";
import { addressOf, type Operation } from "../../../service/operations/operation.ts";
import { makeDirectory } from "../../support/directory.ts";
import { labelOf } from "../../support/openapi.ts";
import type { Answer, CallOptions } from "../../support/request.ts";
import { type TestService, useService } from "../../support/service.ts";
import {
  breakTable,
  checkError,
  crowdedEnvironment,
  errorCodesOf,
  fakeJwt,
  issuerAwayEnvironment,
  nothing,
  nowhere,
  throttled,
} from "../error-codes.ts";
import { writesOn } from "../writes/support.ts";

/** Provokes every error code of every operation on Functions. A code that no test provokes fails the run. */
const functionsOn = { ...writesOn, LAKEHEAD_FUNCTIONS: "on" };
const service = useService({ tokens: [nowhere], environment: functionsOn });
const crowded = useService({ environment: { ...functionsOn, ...crowdedEnvironment } });
const issuerAway = useService({ environment: { ...functionsOn, ...issuerAwayEnvironment } });
const broken = useService(async () => ({ database: await brokenRecords(), environment: functionsOn }));
beforeAll(() => breakTable(join(service.directory, "docs.lance")));

/** Records of Functions and of their sources that cannot be read. */
const brokenRecords = async (): Promise<string> => {
  const directory = await makeDirectory();
  for (const name of ["functions", "function_sources"]) {
    const versions = join(directory, "_lakehead", `${name}.lance`, "_versions");
    await mkdir(versions, { recursive: true });
    await writeFile(join(versions, "1.manifest"), "not a manifest");
  }
  return directory;
};

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
  21: (operation) => throttled(() => send(crowded, operation)),
  22: ask({ fields: { branch: "no-such-branch" } }),
};

const cases = functionOperations.map((operation) => {
  const label = labelOf(addressOf(operation));
  return [label, operation, errorCodesOf(label)] as const;
});

describe.each(cases)("%s", (_, operation, codes) => {
  test.each(codes)("answers code %i", async (code) => {
    const provoke = provocations[code];
    if (provoke === undefined) throw new Error(`nothing provokes code ${code}`);
    checkError(await provoke(operation), code);
  });
});
