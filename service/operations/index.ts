import { blobBytes } from "./blobs/blob-bytes.ts";
import { fetchBlobs } from "./blobs/fetch-blobs.ts";
import { createBranch, deleteBranch, listBranches } from "./branches.ts";
import { addColumns } from "./columns/add-columns.ts";
import { backfillColumn } from "./columns/backfill-column.ts";
import { alterColumns, dropColumns, updateFieldMetadata } from "./columns/change-columns.ts";
import {
  createFunction,
  createFunctionByName,
  describeFunction,
  describeFunctionByName,
  dropFunction,
  listFunctions,
} from "./functions/functions.ts";
import { rowErrors } from "./functions/row-errors.ts";
import { createIndex, createScalarIndex } from "./indices/create-index.ts";
import { dropIndex, indexStats, listIndices } from "./indices/indices.ts";
import { cancelJob, describeJob, listJobs, pauseJob, queryJobEvents, resumeJob } from "./jobs/jobs.ts";
import { listMaintenance, maintain } from "./maintenance.ts";
import { createNamespace, describeNamespace, dropNamespace, listNamespaces, namespaceExists } from "./namespaces.ts";
import type { Operation } from "./operation.ts";
import { deleteRows, update } from "./rows/change-rows.ts";
import { countRows } from "./rows/count-rows.ts";
import { insert } from "./rows/insert.ts";
import { mergeInsert } from "./rows/merge-insert.ts";
import { analyzePlan, explainPlan, query } from "./rows/queries.ts";
import { createTable } from "./tables/create-table.ts";
import { declare } from "./tables/declare.ts";
import { describe } from "./tables/describe.ts";
import { dropTable } from "./tables/drop-table.ts";
import { exists } from "./tables/exists.ts";
import { getLsmWriteSpec } from "./tables/get-lsm-write-spec.ts";
import { listAllTables, listTables } from "./tables/lists.ts";
import { stats } from "./tables/stats.ts";
import { createTag, deleteTag, listTags, tagVersion, updateTag } from "./tags.ts";
import { abortUpload, completeUpload, createUpload } from "./uploads.ts";
import { describeVersion, listVersions, restore } from "./versions.ts";
import { createView, describeView, dropView, listViews, refreshView } from "./views.ts";

/** The operations that read, and those on tags: on a table its queries, tags and metadata, then on namespaces. */
export const readOperations: readonly Operation[] = [
  explainPlan,
  analyzePlan,
  query,
  fetchBlobs,
  blobBytes,
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
  describeView,
  listViews,
];

/** The operations that change tables and namespaces; served only if the configuration says so. */
export const writeOperations: readonly Operation[] = [
  createTable,
  declare,
  insert,
  createUpload,
  completeUpload,
  abortUpload,
  mergeInsert,
  update,
  deleteRows,
  dropTable,
  restore,
  addColumns,
  alterColumns,
  dropColumns,
  backfillColumn,
  createView,
  refreshView,
  dropView,
  updateFieldMetadata,
  createIndex,
  createScalarIndex,
  dropIndex,
  createBranch,
  deleteBranch,
  createNamespace,
  dropNamespace,
  maintain,
  describeJob,
  listJobs,
  cancelJob,
  pauseJob,
  resumeJob,
  queryJobEvents,
];

/** The operations on Functions; served only if the configuration says so. */
export const functionOperations: readonly Operation[] = [
  createFunction,
  describeFunction,
  listFunctions,
  dropFunction,
  createFunctionByName,
  describeFunctionByName,
  rowErrors,
];

/** Every operation. */
export const operations: readonly Operation[] = [...readOperations, ...writeOperations, ...functionOperations];
