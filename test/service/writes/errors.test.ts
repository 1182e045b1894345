import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Field, Int64, Schema, Utf8 } from "apache-arrow";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import { MaintenanceRecord } from "../../../service/lance/maintenance/maintenance-record.ts";
import { writeOperations } from "../../../service/operations/index.ts";
import { addressOf, type Operation } from "../../../service/operations/operation.ts";
import { Bucket } from "../../support/object-store-content.ts";
import { type Ask, type Reply, respond } from "../../support/object-store-protocol.ts";
import { labelOf } from "../../support/openapi.ts";
import type { Answer, CallOptions } from "../../support/request.ts";
import { isolated, type TestService, useService, useSharedService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import {
  breakTable,
  brokenRoot,
  checkError,
  crowdedEnvironment,
  errorCodesOf,
  fakeJwt,
  issuerAwayEnvironment,
  nothing,
  nowhere,
  throttled,
} from "../error-codes.ts";
import { useStoredService } from "../store/support.ts";
import { asRows, plainStream, streamOf, writesOn } from "./support.ts";

/** Provokes every error code of every operation that writes. A code that no test provokes fails the run. */
const service = useService({
  tokens: [
    // SQL over rows needs `read` as well: see access.test.ts.
    ...scopes.map((scope) => staticToken(`${scope} and read`, `token-${scope.replace(":", "-")}`, [scope, "read"])),
    nowhere,
  ],
  environment: {
    ...writesOn,
    ...isolated,
    LAKEHEAD_STABLE_ROW_IDS: "on",
    LAKEHEAD_MAINTENANCE: JSON.stringify([{ tables: ["plain", "docs", "full$leased"] }]),
  },
});
const crowded = useService({ environment: { ...writesOn, ...crowdedEnvironment } });
const issuerAway = useService({ environment: { ...writesOn, ...issuerAwayEnvironment } });
const readOnly = useSharedService();
const rootBroken = useService(async () => {
  const database = await brokenRoot();
  await breakJobs(database);
  return { database, environment: writesOn };
});
const contended = useStoredService(() => {
  const bucket = new Bucket();
  bucket.seed(inject("tables"), "tables");
  const answer = respond(bucket);
  return {
    consistencySeconds: 1,
    // Each conflict is tried again for a while, and the others wait.
    environment: { ...writesOn, ...isolated, LAKEHEAD_WRITE_CONCURRENCY: "4", LAKEHEAD_QUEUE_SECONDS: "250" },
    retries: false,
    behind: (ask) => (isContended ? hinder(ask) : undefined) ?? answer(ask),
  };
});
/** Whether each commit to a table of `contended` finds that another writer was faster, and each deletion fails. */
let isContended = false;

beforeAll(async () => {
  await breakTable(join(service.directory, "docs.lance"));
  const created = await service.ask("/v1/namespace/full/create");
  const filled = await service.call("create", "full$table", undefined, asRows(plainStream([1])));
  const leased = await service.call("create", "full$leased", undefined, asRows(plainStream([1])));
  await holdLease(service.directory, "full$leased");
  const indexed = await service.call("create_index", "plain", { column: "id", index_type: "BTREE" });
  const branched = await service.call("branches/create", "plain", { name: "parent" });
  const child = await service.call("branches/create", "plain", { name: "child", from_branch: "parent" });
  const copied = await service.call("create", "full$computed", undefined, asRows(plainStream([1])));
  const computed = await service.call("add_columns", "full$computed", {
    new_columns: [{ name: "double", computed: "id * 2" }],
  });
  const stable = await service.call("create", "stable", undefined, asRows(plainStream([1])));
  const viewed = await service.ask("/v1/materialized_view/viewed/create", {
    query: "SELECT id FROM stable",
    with_no_data: true,
  });
  for (const answer of [created, filled, leased, indexed, branched, child, copied, computed, stable, viewed])
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  job = (await service.call("backfill_column", "full$computed", { column: "double" })).body.job_id;
  uploads.done = await upload(service);
  await service.call("multipart_write/complete", "plain", {}, { query: `?upload_id=${uploads.done}` });
  uploads.wrong = await upload(service, otherSchema);
  uploads.broken = await upload(service);
  await breakTable(join(service.directory, "_lakehead", `upload-${uploads.broken}.lance`));
  uploads.contended = await upload(contended.service);
  uploads.crowded = await upload(crowded);
  const prepared = await contended.service.call("create_index", "plain", { column: "id", index_type: "BTREE" });
  expect(prepared.status).toBe(200);
  isContended = true;
  for (const [label, codes] of codesOf)
    if (codes.includes(14))
      conflicts.set(
        label,
        send(
          contended.service,
          label,
          onUpload.test(label) ? { query: `upload_id=${uploads.contended}` } : contendedWrite[label],
        ),
      );
}, 300_000);

/** A job of `tester`. */
let job = "";

/** Uploads to the table `plain`. */
const uploads = { done: "", wrong: "", broken: "", contended: "", crowded: "" };

/** Begins an upload, and sends one part of it. */
const upload = async (to: TestService, rows = plainStream([1])): Promise<string> => {
  const { body } = await to.call("multipart_write/create", "plain");
  const query = `?upload_id=${body.upload_id}&upload_part_id=one`;
  expect((await to.call("insert", "plain", undefined, asRows(rows, { query }))).status).toBe(202);
  return body.upload_id;
};

/** Operations on an upload that exists. */
const onUpload = /^multipart_write\/(?:complete|abort)$/;

/** Makes a list of jobs that cannot be read. */
const breakJobs = async (directory: string): Promise<void> => {
  const versions = join(directory, "_lakehead", "jobs.lance", "_versions");
  await mkdir(versions, { recursive: true });
  await writeFile(join(versions, "1.manifest"), "not a manifest");
};

/** Another run works on a table. */
const holdLease = async (directory: string, table: string): Promise<void> => {
  const record = new MaintenanceRecord({ uri: directory, storageOptions: {} }, { indexBytes: 0, metadataBytes: 0 });
  expect(await record.acquire(table, "elsewhere", 3_600_000)).toBe(true);
  await record.close();
};

const xml = { "content-type": "application/xml" };

const hinder = ({ method, key, query }: Ask): Reply | undefined => {
  if (method === "PUT" && key.includes("/_versions/"))
    return { status: 412, headers: xml, body: Buffer.from(preconditionFailed) };
  if (method === "DELETE" || query.has("delete")) return { status: 500, headers: xml, body: Buffer.from("<Error/>") };
  return undefined;
};

const preconditionFailed = "<Error><Code>PreconditionFailed</Code></Error>";

const byLabel = new Map(writeOperations.map((operation) => [labelOf(addressOf(operation)), operation]));

const operationOf = (label: string): Operation => {
  const found = byLabel.get(label);
  if (found === undefined) throw new Error(`no operation ${label}`);
  return found;
};

const isOnTable = ({ target }: Operation): boolean => target === "table" || target === "view";

interface Wanted {
  readonly table?: string;
  readonly namespace?: string;
  readonly index?: string;
  readonly fields?: object;
  readonly query?: string;
  readonly rows?: Uint8Array<ArrayBuffer>;
  readonly options?: CallOptions;
}

const mergeQuery = "on=id&when_matched_update_all=true";

const send = (to: TestService, label: string, wanted: Wanted = {}): Promise<Answer> => {
  const { table = "plain", namespace = "full", index = "id_idx", fields, query, rows, options } = wanted;
  const operation = operationOf(label);
  const path = addressOf(operation)
    .replace("{id}", isOnTable(operation) ? table : namespace)
    .replace("{index_name}", index);
  const search = [
    label === "merge_insert" && !query?.startsWith("on=") ? mergeQuery : "",
    onUpload.test(label) && query?.includes("upload_id=") !== true ? "upload_id=none" : "",
    query ?? "",
  ]
    .filter((part) => part !== "")
    .join("&");
  const sent = search === "" ? {} : { query: `?${search}` };
  return operation.input === "arrow"
    ? to.ask(path, undefined, asRows(rows ?? plainStream([1]), { ...sent, ...options }))
    : to.ask(path, { ...operation.example, ...fields }, { ...sent, ...options });
};

const isArrow = (label: string): boolean => operationOf(label).input === "arrow";

type Provoke = (label: string) => Promise<Answer>;

const ask =
  (wanted: Wanted): Provoke =>
  (label) =>
    send(service, label, wanted);

const onBranch: Provoke = (label) => {
  if (label === "branches/delete") return send(service, label, { fields: { name: "no-such-branch" } });
  const inAddress = isArrow(label) || label.startsWith("multipart_write/") || label.startsWith("index/");
  return send(
    service,
    label,
    inAddress
      ? { query: "branch=no-such-branch" }
      : {
          fields: {
            [label === "branches/create" ? "from_branch" : "branch"]: "no-such-branch",
          },
        },
  );
};

const createView = "materialized_view/{id}/create";

const missingColumn: Readonly<Record<string, Wanted>> = {
  merge_insert: { query: "on=no_such_column&when_matched_update_all=true" },
  update: { fields: { updates: [["no_such_column", "1"]] } },
  delete: { fields: { predicate: "no_such_column = 1" } },
  add_columns: { fields: { new_columns: [{ name: "more", expression: "no_such_column" }] } },
  alter_columns: { fields: { alterations: [{ path: "no_such_column", rename: "other" }] } },
  drop_columns: { fields: { columns: ["no_such_column"] } },
  update_field_metadata: { fields: { updates: [{ path: "no_such_column", metadata: {} }] } },
  create_index: { fields: { column: "no_such_column" } },
  create_scalar_index: { fields: { column: "no_such_column" } },
  [createView]: { table: "other", fields: { query: "SELECT no_such_column FROM stable" } },
};

const contendedWrite: Readonly<Record<string, Wanted>> = {
  create: { query: "mode=overwrite" },
  // Not the name of an index that exists, which could be this request's own.
  create_index: { fields: { name: "new" } },
  create_scalar_index: { fields: { name: "new" } },
};

const forbiddenByState: Readonly<Record<string, Wanted>> = {
  "branches/delete": { fields: { name: "parent" } },
  // No rule of maintenance has a pattern for it.
  maintain: { table: "full$table" },
  [createView]: { table: "other", fields: { query: "SELECT id FROM plain" } },
};

/** An upload that is complete takes no part, and cannot be aborted. */
const stateOf = (label: string): Wanted | undefined => {
  if (onUpload.test(label)) return { query: `upload_id=${uploads.done}` };
  return label === "insert" ? { query: `upload_id=${uploads.done}&upload_part_id=two` } : undefined;
};

const otherSchema = streamOf([{ id: "word" }], new Schema([new Field("id", new Utf8(), true)]));
const unknownColumn = streamOf(
  [{ id: 1n, other: 1n }],
  new Schema([new Field("id", new Int64(), true), new Field("other", new Int64(), true)]),
);

const wrongSchema: Readonly<Record<string, Wanted>> = {
  create: { table: "new", rows: duplicateNames() },
  insert: { rows: otherSchema },
  merge_insert: { rows: unknownColumn },
  update: { fields: { updates: [["id", "'word'"]] } },
  add_columns: { fields: { new_columns: [{ name: "id", expression: "1" }] } },
  alter_columns: { fields: { alterations: [{ path: "text", data_type: { type: "int32" } }] } },
  create_index: { fields: { column: "text", index_type: "LABEL_LIST" } },
  create_scalar_index: { fields: { column: "text", index_type: "LABEL_LIST" } },
  drop_columns: { table: "full$computed", fields: { columns: ["id"] } },
  update_field_metadata: {
    table: "full$computed",
    fields: { updates: [{ path: "double", metadata: { "computed_column.expression": "1" } }] },
  },
  backfill_column: { table: "full$computed", fields: { column: "id" } },
  [createView]: { table: "other", fields: { query: "SELECT id, id FROM stable" } },
};

/** A stream whose schema has two columns of one name. */
function duplicateNames(): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(
    streamOf(
      [{ aa: 1n, ab: 1n }],
      new Schema([new Field("aa", new Int64(), true), new Field("ab", new Int64(), true)]),
    ),
  );
  for (let at = bytes.indexOf("ab"); at !== -1; at = bytes.indexOf("ab", at)) bytes.write("aa", at);
  return new Uint8Array(bytes);
}

/** Responses under contention, all asked for at once: the SDK waits between its attempts to commit. */
const conflicts = new Map<string, Promise<Answer>>();

const contend: Provoke = (label) => conflicts.get(label) ?? Promise.reject(new Error(`nothing contends ${label}`));

const provocations: Readonly<Record<number, Provoke>> = {
  0: ask({ options: { method: "PUT" } }),
  1: (label) =>
    ask({ table: "nowhere$at$all", namespace: label === "namespace/{id}/create" ? "no$way" : "nowhere" })(label),
  2: ask({ namespace: "full" }),
  3: ask({ namespace: "full" }),
  4: (label) => {
    const ofMissing = label === createView ? { fields: { query: "SELECT id FROM missing" } } : {};
    return ask({ table: "missing", ...ofMissing })(label);
  },
  5: (label) => ask(label === createView ? { fields: { query: "SELECT id FROM stable" } } : {})(label),
  6: ask({ index: "no-such-index" }),
  7: ask({ fields: { column: "text", name: "id_idx" } }),
  10: ask({}),
  11: (label) => ask({ fields: label === "restore" ? { version: 4711 } : { name: "late", from_version: 4711 } })(label),
  12: (label) =>
    send(
      service,
      label,
      label === "jobs/query_events" ? { fields: { job_id: job, filter: "no_such_column = 1" } } : missingColumn[label],
    ),
  13: (label) =>
    send(service, label, {
      query: "delimiter=",
      ...(isArrow(label) ? {} : { options: { rawBody: "{" } }),
    }),
  14: (label) => {
    if (label === "maintain") return send(service, label, { table: "full$leased" });
    if (label !== "materialized_view/{id}/refresh") return contend(label);
    return send(service, label, { table: "viewed", fields: { expected_incarnation: "another" } });
  },
  15: ask({ options: { token: nothing } }),
  16: ask({ options: { token: null } }),
  17: (label) => send(issuerAway, label, { options: { token: fakeJwt } }),
  18: (label) => {
    // A table that cannot be opened can be dropped.
    if (label === "drop") return send(contended.service, label);
    if (onUpload.test(label)) return send(service, label, { query: `upload_id=${uploads.broken}` });
    // A name is taken or not, whether or not its table can be opened.
    const opensTable = isOnTable(operationOf(label)) && label !== "declare";
    return opensTable ? ask({ table: "docs" })(label) : send(rootBroken, label);
  },
  19: (label) =>
    send(
      service,
      label,
      stateOf(label) ?? forbiddenByState[label] ?? { fields: { column: "vector", index_type: "IVF_PQ" } },
    ),
  20: (label) =>
    send(service, label, onUpload.test(label) ? { query: `upload_id=${uploads.wrong}` } : wrongSchema[label]),
  21: (label) => {
    const query = onUpload.test(label) ? { query: `upload_id=${uploads.crowded}` } : {};
    return throttled((round) => send(crowded, label, { table: `missing${round}`, ...query }));
  },
  22: onBranch,
  23: ask({ fields: { name: "parent" } }),
};

const codesOf = writeOperations.map((operation) => {
  const label = labelOf(addressOf(operation));
  return [label, errorCodesOf(label)] as const;
});

describe.each(codesOf)("%s", (label, codes) => {
  test.concurrent.each(codes)(
    "answers code %i",
    async (code) => {
      const provoke = provocations[code];
      if (provoke === undefined) throw new Error(`nothing provokes code ${code}`);
      // Code 18 of a drop: the store failed while it deleted.
      checkError(await provoke(label), code, code === 18 && label === "drop" ? 424 : undefined);
    },
    // The engine's pauses between attempts to commit grow with the time that an attempt takes.
    180_000,
  );

  test("is refused without LAKEHEAD_WRITES", async () => {
    // Not by `ask`: the service's OpenAPI document lacks the operation.
    const path = addressOf(operationOf(label)).replace("{id}", "plain").replace("{index_name}", "id_idx");
    const headers = { authorization: `Bearer ${readOnly.token}` };
    const response = await fetch(readOnly.base + path, { method: "POST", headers });
    expect([response.status, await response.json()]).toMatchObject([406, { code: 0 }]);
  });

  test.each(scopes)("asks for its scope of a token with %s", async (granted) => {
    const token = `token-${granted.replace(":", "-")}`;
    const answer = await send(service, label, { table: `of-${token}`, namespace: "no$way", options: { token } });
    if ([granted, null].includes(operationOf(label).scope)) expect(answer.status).not.toBe(403);
    else expect(answer).toMatchObject({ status: 403, body: { code: 15 } });
  });
});
