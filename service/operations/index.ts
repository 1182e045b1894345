import { addColumns } from "./add-columns.ts";
import { alterColumns } from "./alter-columns.ts";
import { analyzePlan } from "./analyze-plan.ts";
import { countRows } from "./count-rows.ts";
import { createBranch } from "./create-branch.ts";
import { createIndex, createScalarIndex } from "./create-index.ts";
import { createNamespace } from "./create-namespace.ts";
import { createTable } from "./create-table.ts";
import { createTag } from "./create-tag.ts";
import { deleteBranch } from "./delete-branch.ts";
import { deleteRows } from "./delete-rows.ts";
import { deleteTag } from "./delete-tag.ts";
import { describe } from "./describe.ts";
import { describeNamespace } from "./describe-namespace.ts";
import { describeVersion } from "./describe-version.ts";
import { dropColumns } from "./drop-columns.ts";
import { dropIndex } from "./drop-index.ts";
import { dropNamespace } from "./drop-namespace.ts";
import { dropTable } from "./drop-table.ts";
import { exists } from "./exists.ts";
import { explainPlan } from "./explain-plan.ts";
import { getLsmWriteSpec } from "./get-lsm-write-spec.ts";
import { indexStats } from "./index-stats.ts";
import { insert } from "./insert.ts";
import { listAllTables } from "./list-all-tables.ts";
import { listBranches } from "./list-branches.ts";
import { listIndices } from "./list-indices.ts";
import { listMaintenance } from "./list-maintenance.ts";
import { listNamespaces } from "./list-namespaces.ts";
import { listTables } from "./list-tables.ts";
import { listTags } from "./list-tags.ts";
import { listVersions } from "./list-versions.ts";
import { maintain } from "./maintain.ts";
import { mergeInsert } from "./merge-insert.ts";
import { namespaceExists } from "./namespace-exists.ts";
import type { Operation } from "./operation.ts";
import { query } from "./query.ts";
import { restore } from "./restore.ts";
import { stats } from "./stats.ts";
import { tagVersion } from "./tag-version.ts";
import { update } from "./update.ts";
import { updateFieldMetadata } from "./update-field-metadata.ts";
import { updateTag } from "./update-tag.ts";

/** The operations that read, and those on tags: on a table its queries, tags and metadata, then on namespaces. */
export const readOperations: readonly Operation[] = [
  explainPlan,
  analyzePlan,
  query,
  countRows,
  stats,
  createTag,
  tagVersion,
  updateTag,
  deleteTag,
  listTags,
  describe,
  exists,
  listVersions,
  describeVersion,
  listBranches,
  listIndices,
  indexStats,
  getLsmWriteSpec,
  listTables,
  listAllTables,
  listNamespaces,
  describeNamespace,
  namespaceExists,
  listMaintenance,
];

/** The operations that change tables and namespaces; served only if the configuration says so. */
export const writeOperations: readonly Operation[] = [
  createTable,
  insert,
  mergeInsert,
  update,
  deleteRows,
  dropTable,
  restore,
  addColumns,
  alterColumns,
  dropColumns,
  updateFieldMetadata,
  createIndex,
  createScalarIndex,
  dropIndex,
  createBranch,
  deleteBranch,
  createNamespace,
  dropNamespace,
  maintain,
];

/** Every operation. */
export const operations: readonly Operation[] = [...readOperations, ...writeOperations];
