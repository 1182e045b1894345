import { z } from "zod";
import { authorize } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { Database, Location } from "../../lance/database.ts";
import { schemaAnswer } from "../../query/answers.ts";
import { optional } from "../../query/fields.ts";
import type { Snapshot } from "../../query/model.ts";
import { type Call, defineOperation, OperationResponse, type Tools } from "../operation.ts";
import { tagField } from "../shared/common-fields.ts";
import { phalanxVersion } from "../shared/headers.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";
import { storageOptionsAnswer, vend, vendField } from "../shared/vend.ts";

const strings = z.record(z.string(), z.string());

const description = z.object({
  table: z.string(),
  namespace: z.array(z.string()),
  version: z.int().min(0).optional().describe("Absent for a table that is only declared, as the schema"),
  schema: schemaAnswer.optional(),
  location: z
    .string()
    .optional()
    .describe("Location of the table in its storage; absent with LAKEHEAD_TABLE_LOCATIONS=off"),
  table_uri: z.string().optional(),
  stats: z.object({ num_deleted_rows: z.int().min(0), num_fragments: z.int().min(0) }).optional(),
  metadata: strings.optional().describe("Counts of the version: rows, files, fragments"),
  is_only_declared: z.boolean().optional(),
  storage_options: storageOptionsAnswer,
});

const flag = z.stringbool({ error: "must be true or false" }).optional();
const bodyFlag = optional(z.boolean());

const body = z.object({
  ...snapshotShape,
  tag: optional(tagField).describe("A tag, instead of version and branch"),
  with_table_uri: bodyFlag,
  load_detailed_metadata: bodyFlag,
  check_declared: bodyFlag,
  vend_credentials: vendField,
});

const parameters = z.object({
  with_table_uri: flag.describe("Return table_uri, the location as a complete URI"),
  load_detailed_metadata: flag.describe("Return stats and metadata, which reads the manifest of every version"),
  check_declared: flag.describe("Return is_only_declared"),
});

type Body = z.output<typeof body>;
type Parameters = z.output<typeof parameters>;

const asks = (name: keyof Parameters, body: Body, parameters: Parameters): boolean =>
  (parameters[name] ?? body[name]) === true;

const wantedSnapshot = async (
  tools: Tools,
  table: TableId,
  { tag, version, branch }: Body,
  call: Pick<Call, "minimumState" | "principal">,
): Promise<Snapshot> => {
  if (tag === undefined) return snapshotOf(tools, { version, branch }, call);
  // The version of a tag requires the scope of `tags/version`.
  authorize(call.principal, "tags:read", table.parts);
  if (version !== undefined || branch !== undefined) throw invalid("tag excludes version and branch: send one of them");
  return tools.database.tagVersion(table, tools.guard.tag(tag));
};

const locationFields = (location: Location | undefined, withUri: boolean) =>
  location === undefined ? {} : { location: location.address, ...(withUri ? { table_uri: location.uri } : {}) };

/**
 * The location of a table without data; undefined where the failure has another meaning. LanceDB's own clients need a
 * version and a schema: for them the table does not exist.
 */
const onlyDeclared = async (
  database: Database,
  table: TableId,
  { tag, version, branch }: Body,
  { dialect }: Pick<Call, "dialect">,
  failure: unknown,
): Promise<Location | undefined> => {
  const isPinned = tag !== undefined || version !== undefined || branch !== undefined;
  if (dialect === "lancedb" || isPinned || !(failure instanceof ServiceError) || failure.code !== 4) return undefined;
  return database.declared(table, failure);
};

/** Facts of the manifest, which the SDK returns with the list of all versions only. */
const details = async (database: Database, table: TableId, version: number, branch: string | undefined) => {
  const found = (await database.versions(table, branch)).find((entry) => entry.version === version);
  if (found === undefined) return {};
  const { total_deletion_file_rows: deleted, total_fragments: fragments } = found.metadata;
  return {
    metadata: found.metadata,
    ...(deleted === undefined || fragments === undefined
      ? {}
      : { stats: { num_deleted_rows: Number(deleted), num_fragments: Number(fragments) } }),
  };
};

/** LanceDB's own client calls it before any other operation on a table. */
export const describe = defineOperation({
  name: "describe",
  target: "table",
  path: "describe",
  scope: null,
  // Detailed metadata costs as much as `version/list`.
  admission: (wire, parameters) => (asks("load_detailed_metadata", wire, parameters) ? "analyze" : "metadata"),
  errors: [0, 8, 11, 19, 22],
  summary: "Returns the version, schema and location of a table (a tag requires the scope `tags:read`)",
  body,
  parameters,
  answer: description,
  headers: phalanxVersion,
  handle: async (tools, table, wire, call) => {
    const { dialect } = call;
    const { database } = tools;
    const wants = (name: keyof Parameters): boolean => asks(name, wire, call.parameters);
    const respond = async (location: Location | undefined, isOnlyDeclared: boolean, facts: object) => {
      const vended = await vend(tools, table, location?.address, call, wire.vend_credentials);
      const content = {
        table: table.name,
        namespace: table.namespace,
        ...facts,
        ...locationFields(tools.showsLocations ? location : undefined, wants("with_table_uri")),
        ...(wants("check_declared") || wants("load_detailed_metadata") ? { is_only_declared: isOnlyDeclared } : {}),
        ...(vended && { storage_options: vended.storageOptions }),
      };
      return new OperationResponse(content, {}, { loan: vended?.loan });
    };
    try {
      const snapshot = await wantedSnapshot(tools, table, wire, call);
      const { version, schema, location } = await database.describe(
        table,
        snapshot,
        dialect === "lancedb" ? "lance" : "arrow",
      );
      const detailed = wants("load_detailed_metadata") ? await details(database, table, version, snapshot.branch) : {};
      return await respond(location, false, { version, schema, ...detailed });
    } catch (error) {
      const location = await onlyDeclared(database, table, wire, call, error);
      if (location === undefined) throw error;
      return respond(location, true, {});
    }
  },
});
