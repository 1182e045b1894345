import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Functions, type NewVersion } from "../../../service/functions/index.ts";
import { LanceFunctionStore } from "../../../service/lance/records/function-store.ts";
import { makeDirectory } from "../../support/directory.ts";
import { testToken } from "../../support/request.ts";
import { startTestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { writesOn } from "../writes/support.ts";

const tokens = { mine: "token-for-mine", manager: "token-of-a-manager", greedy: "token-of-a-greedy-caller" } as const;
const functionsOn = { ...writesOn, LAKEHEAD_FUNCTIONS: "on" } as const;

const options = {
  tokens: [
    staticToken("mine", tokens.mine, ["functions"], ["mine$**"]),
    staticToken("manager", tokens.manager, ["manage", "write", "read"]),
    staticToken("greedy", tokens.greedy, ["functions"]),
  ],
  environment: { ...functionsOn, LAKEHEAD_MAX_FUNCTIONS: "40" },
};
const service = useService(options);
/** On the same database. */
const replica = useService(() => ({ ...options, database: service.directory }));

const registrationOf = (factor: number, more: object = {}) => {
  const source = `def times(x: int) -> int:\n    return x * ${factor}\n`;
  return {
    artifact: {
      kind: "python_callable",
      digest: `sha256:${createHash("sha256").update(source).digest("hex")}`,
      content: { encoding: "base64", data: Buffer.from(source).toString("base64") },
      entrypoint: "times",
      adapter: { kind: "scalar_to_arrow_batch", version: 1 },
    },
    signature: {
      inputs: [{ name: "x", arrow_type: "int64", nullable: false }],
      output: { kind: "scalar", arrow_type: "utf8", nullable: false, fields: [] },
      initialization: [],
    },
    runtime: {
      kind: "python",
      python_version: "3.11",
      environment: { kind: "pip", packages: ["numpy==2.3.1"] },
      env: {},
    },
    secret_bindings: [],
    ...more,
  };
};

let names = 0;
const newName = (): string => `times_${++names}`;
const create = (id: string, factor = 2, token: string = testToken, on = service) =>
  on.ask(`/v1/function/${id}/create`, registrationOf(factor), { token });
const ended = async (job: string, token: string = testToken) => {
  for (;;) {
    const { status, body } = await service.ask("/v1/jobs/describe", { job_id: job }, { token });
    expect(status).toBe(200);
    if (body.job_state !== "IN_PROGRESS") return body;
  }
};
const registered = async (id: string, factor = 2) => {
  const { status, body } = await create(id, factor);
  expect([status, body]).toEqual([202, { job_id: expect.any(String) }]);
  const job = await ended(body.job_id);
  expect(job).toMatchObject({ job_state: "DONE", job_type: "create_function" });
  return job.result;
};
const describeIt = (id: string, version: string, token: string = testToken, on = service) =>
  on.ask(`/v1/function/${id}/describe`, { version }, { token });
const listed = async (namespace = "$", query = "", token: string = testToken) => {
  const { status, body } = await service.ask(`/v1/namespace/${namespace}/function/list`, undefined, {
    method: "GET",
    query,
    token,
  });
  expect(status).toBe(200);
  return body;
};

describe("a Function", () => {
  test("is registered by a job whose result every replica describes, without its source", async () => {
    const name = newName();
    const result = await registered(name);
    expect(result).toMatchObject({
      name,
      namespace_path: [],
      object_id: expect.any(String),
      version: "1",
      signature: { output: { kind: "scalar", arrow_type: "string", nullable: false } },
      artifact: { kind: "python_callable", entrypoint: "times" },
      runtime: { python_version: "3.11" },
      created_at: expect.any(String),
      created_at_millis: expect.any(Number),
      disabled: false,
    });
    expect(JSON.stringify(result)).not.toContain("return x");
    expect(await describeIt(name, "1", testToken, replica)).toMatchObject({ status: 200, body: result });
    expect(await service.ask("/v1/functions/describe", { name, version: "1" })).toMatchObject({
      status: 200,
      body: result,
    });
  });

  test("gets the next version for another source, and the same for the same", async () => {
    const name = newName();
    expect([(await registered(name, 2)).version, (await registered(name, 3)).version]).toEqual(["1", "2"]);
    expect((await registered(name, 3)).version).toBe("2");
    expect((await registered(name, 2)).version).toBe("3");
    const { body } = await service.ask("/v1/functions/create", { name, ...registrationOf(2) });
    expect((await ended(body.job_id)).result.version).toBe("3");
  });

  test("is listed with its namespace alone, page by page", async () => {
    for (const name of ["pages$b", "pages$a", "pages$deep$c"]) await registered(name);
    await registered("pages$a", 3);
    const of = ({ functions }: { functions: { definition: { name: string; version: string } }[] }) =>
      functions.map(({ definition: { name, version } }) => `${name}@${version}`);
    const all = await listed("pages", "?include_definition=true");
    expect(of(all)).toEqual(["a@1", "a@2", "b@1"]);
    const first = await listed("pages", "?limit=2");
    expect(of(first)).toEqual(["a@1", "a@2"]);
    expect(of(await listed("pages", `?page_token=${encodeURIComponent(first.page_token)}`))).toEqual(["b@1"]);
  });

  test("is gone when it is dropped", async () => {
    const name = newName();
    await registered(name);
    await registered(name, 3);
    const drop = (version: string) => service.ask(`/v1/function/${name}/drop`, { version });
    expect(await drop("1")).toMatchObject({ status: 200, body: { dropped: true } });
    expect(await drop("1")).toMatchObject({ status: 404, body: { code: 10 } });
    expect(await describeIt(name, "1", testToken, replica)).toMatchObject({ status: 404, body: { code: 10 } });
    expect((await describeIt(name, "2")).status).toBe(200);
  });

  test("is refused for what is wrong with it, by field", async () => {
    const name = newName();
    for (const [body, status, text] of [
      [
        registrationOf(2, {
          secret_bindings: [{ kind: "env", variable: "T", secret_ref: { name: "hub" }, value: "x" }],
        }),
        400,
        /value/,
      ],
      [registrationOf(2, { error_policy: "skip" }), 400, /error_policy/],
      [registrationOf(2, { runtime: { kind: "image" } }), 400, /runtime.kind/],
      [
        registrationOf(2, {
          runtime: {
            kind: "python",
            python_version: "3.11",
            environment: { kind: "pip" },
            env: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`V${at}`, "x".repeat(4000)])),
          },
        }),
        400,
        /beside its source, more than 32768: shorten env/,
      ],
    ] as const)
      expect(await service.ask(`/v1/function/${name}/create`, body), String(text)).toMatchObject({
        status,
        body: { error: expect.stringMatching(text) },
      });
    expect(await create("1st")).toMatchObject({ status: 400, body: { error: expect.stringContaining("function id") } });
    expect(await service.ask("/v1/functions/create", { name: "a$b", ...registrationOf(2) })).toMatchObject({
      status: 400,
    });
    expect((await describeIt(name, "latest")).status).toBe(400);
    expect((await describeIt(name, "1")).status).toBe(404);
  });

  test("leaves an audit line with caller and digest, and no source in the log", async () => {
    const name = newName();
    const { artifact } = registrationOf(77);
    await registered(name, 77);
    await service.ask(`/v1/function/${name}/drop`, { version: "1" });
    const lines = service.log.filter(({ msg, function: id }) => msg === "function" && id === name);
    expect(lines).toEqual([
      expect.objectContaining({ operation: "create_function", principal: "tester", digest: artifact.digest }),
      expect.objectContaining({ operation: "drop_function", principal: "tester", digest: artifact.digest }),
    ]);
    const log = JSON.stringify(service.log);
    expect([log.includes("x * 77"), log.includes(artifact.content.data)]).toEqual([false, false]);
  });
});

describe("the scope functions", () => {
  test("is not in manage, and patterns of tables hold for Functions", async () => {
    const name = newName();
    await registered(name);
    expect((await create(name, 2, tokens.manager)).status).toBe(403);
    expect((await describeIt(name, "1", tokens.manager)).status).toBe(403);
    expect((await create(name, 2, tokens.mine)).status).toBe(403);
    expect((await describeIt(name, "1", tokens.mine)).status).toBe(403);
    const byName = (path: string, body: object) => service.ask(path, body, { token: tokens.mine });
    expect((await byName("/v1/functions/create", { name, ...registrationOf(2) })).status).toBe(403);
    expect((await byName("/v1/functions/describe", { name, version: "1" })).status).toBe(403);
    const { status, body } = await create("mine$times", 2, tokens.mine);
    expect(status).toBe(202);
    expect(await ended(body.job_id, tokens.mine)).toMatchObject({ job_state: "DONE" });
    expect((await listed("mine", "", tokens.mine)).functions).toHaveLength(1);
  });
});

test("one caller cannot take the whole room of Functions", async () => {
  const statuses: number[] = [];
  for (let factor = 0; factor < 40 && statuses.at(-1) !== 429; factor++) {
    const { status, body } = await create("greedy", 1000 + factor, tokens.greedy);
    statuses.push(status);
    if (status === 202) await ended(body.job_id, tokens.greedy);
    else expect(body.error).toMatch(/as many as it leaves free: drop some/);
  }
  expect(statuses.at(-1)).toBe(429);
  expect((await create(newName(), 5)).status).toBe(202);
}, 120_000);

test("Functions are not served unless the configuration says so, and not without writes", async () => {
  const without = await startTestService({ environment: writesOn });
  try {
    const headers = { authorization: `Bearer ${testToken}` };
    const { status } = await fetch(`${without.base}/v1/function/f/describe`, { method: "POST", headers });
    expect(status).toBe(406);
  } finally {
    await without.stop();
  }
  await expect(startTestService({ environment: { LAKEHEAD_FUNCTIONS: "on" } })).rejects.toThrow(
    /LAKEHEAD_FUNCTIONS="on" needs LAKEHEAD_WRITES=on/,
  );
});

describe("the store of Functions", () => {
  const caches = { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 };
  const versionOf = (objectId: string, digest = objectId): NewVersion => ({
    objectId,
    id: ["f"],
    digest,
    owner: "tester",
    definition: {
      artifact: { kind: "python_callable", digest: "sha256:1", entrypoint: "f" },
      signature: { inputs: [{ name: "x", arrow_type: "int64" }], output: { kind: "scalar", arrow_type: "int64" } },
      runtime: { kind: "python", python_version: "3.11", environment: { kind: "pip" } },
    } as unknown as NewVersion["definition"],
  });

  test("numbers of versions are given once to processes that register at the same time", async () => {
    const uri = await makeDirectory();
    const processes = [1, 2, 3].map(
      () => new Functions(new LanceFunctionStore({ uri, storageOptions: {} }, caches), { maxVersions: 100 }),
    );
    try {
      await processes[0]?.keepSource("sha256:1", "def f(x): ...", "tester");
      const made = await Promise.all(
        processes.flatMap((each, process) => [1, 2].map((at) => each.register(versionOf(`${process}.${at}`)))),
      );
      expect(made.map((each) => each?.version).toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
      const again = await processes[1]?.register(versionOf("0.1"));
      expect(again).toEqual(made[0]);
    } finally {
      await Promise.all(processes.map((each) => each.close()));
    }
  });

  test("a source is kept while a version has it, and removed some time after the last", async () => {
    const uri = await makeDirectory();
    let now = 1e12;
    const store = new LanceFunctionStore({ uri, storageOptions: {} }, caches, () => now);
    const functions = new Functions(store, { maxVersions: 100 }, () => now);
    try {
      await functions.keepSource("sha256:1", "def f(x): ...", "tester");
      const made = await functions.register(versionOf("a"));
      if (made === undefined) throw new Error("the source was not kept");
      now += 3_600_000;
      await functions.register(versionOf("b"));
      await functions.drop(made);
      expect(await functions.source("sha256:1")).toBe("def f(x): ...");
      now += 3_600_000;
      const [left] = await functions.list();
      if (left === undefined) throw new Error("no version is left");
      await functions.drop(left);
      expect(await functions.source("sha256:1")).toBeUndefined();
      expect(await functions.register(versionOf("c"))).toBeUndefined();
    } finally {
      await functions.close();
    }
  });
});
