import { z } from "zod";
import { type Principal, seesNamespace } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import { mapConcurrently } from "../../lance/map-concurrently.ts";
import { defineOperation, type Tools } from "../operation.ts";
import { phalanxVersion } from "../shared/headers.ts";
import { pageOfNames, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

/** Parameters of both lists of tables. */
export const tableListParameters = pageParameters.extend({
  include_declared: z
    .stringbool({ error: "must be true or false" })
    .optional()
    .describe("Accepted and ignored: tables that are only declared are always listed"),
});

export const listTables = defineOperation({
  name: "list_tables",
  target: "namespace",
  path: "table/list",
  methods: ["GET"],
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Lists the permitted tables of a namespace",
  body: emptyBody,
  parameters: tableListParameters,
  answer: z.object({ tables: z.array(z.string()), page_token: pageToken }),
  headers: phalanxVersion,
  handle: async ({ database }, namespace, _, { parameters, principal }) => {
    const all = await database.tables(namespace);
    const permitted = all.filter((name) => principal.tables.permits([...namespace.parts, name]));
    const { entries, token } = pageOfNames(permitted, parameters);
    return { tables: entries, ...token };
  },
});

type Ids = readonly (readonly string[])[];
type List = (tools: Tools, principal: Principal, parts: readonly string[]) => Promise<Ids>;

const namespaceOf = (parts: readonly string[]) => ({ parts, key: parts.join("$") });

/** Ids of the permitted tables directly in a namespace. */
const tablesOf: List = async ({ database }, principal, parts) => {
  const tables = await database.tables(namespaceOf(parts));
  return tables.map((name) => [...parts, name]).filter((id) => principal.tables.permits(id));
};

/** Namespaces listed at the same time. */
const concurrency = 8;

/** A namespace can be dropped while its parent is listed. */
const nothingWhereDropped = (error: unknown): [Ids, readonly string[]] => {
  if (error instanceof ServiceError && error.code === 1) return [[], []];
  throw error;
};

const overdue = (seconds: number): ServiceError =>
  new ServiceError(17, {
    message: `listing all namespaces exceeded ${seconds} s: list the tables of one namespace at a time, or ask the operator to raise LAKEHEAD_ANALYZE_DEADLINE_SECONDS`,
    retryAfter: Math.ceil(seconds),
  });

/**
 * Ids of the permitted tables in a namespace and all namespaces inside it, level by level.
 * @throws ServiceError code 17 when the deadline passes.
 */
export const tablesBeneath: List = async (tools, principal, parts) => {
  const { database, deadlineSeconds } = tools;
  const end = performance.now() + deadlineSeconds * 1000;
  const ask = (namespace: readonly string[]): Promise<[Ids, readonly string[]]> => {
    if (performance.now() > end) throw overdue(deadlineSeconds);
    return Promise.all([tablesOf(tools, principal, namespace), database.namespaces(namespaceOf(namespace))]);
  };
  const found: (readonly string[])[] = [];
  for (let level: Ids = [parts]; level.length > 0; ) {
    const asked = await mapConcurrently(concurrency, level, (namespace) => ask(namespace).catch(nothingWhereDropped));
    found.push(...asked.flatMap(([tables]) => tables));
    const beneath = level.flatMap((namespace, index) => (asked[index]?.[1] ?? []).map((name) => [...namespace, name]));
    level = beneath.filter((namespace) => seesNamespace(principal, namespace));
  }
  return found;
};

/** @throws ServiceError code 13 if a name contains the delimiter. */
export const joinIds = (ids: Ids, delimiter: string): readonly string[] => {
  if (ids.some((id) => id.some((part) => part.includes(delimiter)) && id.length > 1))
    throw invalid("a name contains the delimiter, so that ids would be ambiguous: send another delimiter");
  return ids.map((id) => id.join(delimiter));
};

export const listAllTables = defineOperation({
  name: "list_all_tables",
  target: "root",
  path: "table",
  methods: ["GET"],
  scope: null,
  // The number of namespaces is unbounded.
  admission: "analyze",
  errors: [],
  summary: "Lists the ids of all permitted tables in all namespaces",
  body: emptyBody,
  parameters: tableListParameters,
  answer: z.object({ tables: z.array(z.string()), page_token: pageToken }),
  headers: phalanxVersion,
  handle: async (tools, root, _, { parameters, principal, dialect, delimiter }) => {
    // LanceDB's client expects the tables of the root namespace only, as its embedded database lists them.
    const ids = await (dialect === "lancedb" ? tablesOf : tablesBeneath)(tools, principal, root.parts);
    const { entries, token } = pageOfNames(joinIds(ids, delimiter).toSorted(), parameters);
    return { tables: entries, ...token };
  },
});
