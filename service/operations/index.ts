import { blobBytes } from "./blobs/blob-bytes.ts";
import { fetchBlobs } from "./blobs/fetch-blobs.ts";
import { createBranch } from "./branches/create-branch.ts";
import { deleteBranch } from "./branches/delete-branch.ts";
import { listBranches } from "./branches/list-branches.ts";
import { addColumns } from "./columns/add-columns.ts";
import { alterColumns } from "./columns/alter-columns.ts";
import { backfillColumn } from "./columns/backfill-column.ts";
import { dropColumns } from "./columns/drop-columns.ts";
import { updateFieldMetadata } from "./columns/update-field-metadata.ts";
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
import { dropIndex } from "./indices/drop-index.ts";
import { indexStats } from "./indices/index-stats.ts";
import { listIndices } from "./indices/list-indices.ts";
import { cancelJob, describeJob, listJobs, pauseJob, queryJobEvents, resumeJob } from "./jobs/jobs.ts";
import { listMaintenance } from "./maintenance/list-maintenance.ts";
import { maintain } from "./maintenance/maintain.ts";
import { createNamespace } from "./namespaces/create-namespace.ts";
import { describeNamespace } from "./namespaces/describe-namespace.ts";
import { dropNamespace } from "./namespaces/drop-namespace.ts";
import { listNamespaces } from "./namespaces/list-namespaces.ts";
import { namespaceExists } from "./namespaces/namespace-exists.ts";
import type { Operation } from "./operation.ts";
import { analyzePlan } from "./rows/analyze-plan.ts";
import { countRows } from "./rows/count-rows.ts";
import { deleteRows } from "./rows/delete-rows.ts";
import { explainPlan } from "./rows/explain-plan.ts";
import { insert } from "./rows/insert.ts";
import { mergeInsert } from "./rows/merge-insert.ts";
import { query } from "./rows/query.ts";
import { update } from "./rows/update.ts";
import { createTable } from "./tables/create-table.ts";
import { declare } from "./tables/declare.ts";
import { describe } from "./tables/describe.ts";
import { dropTable } from "./tables/drop-table.ts";
import { exists } from "./tables/exists.ts";
import { getLsmWriteSpec } from "./tables/get-lsm-write-spec.ts";
import { listAllTables } from "./tables/list-all-tables.ts";
import { listTables } from "./tables/list-tables.ts";
import { stats } from "./tables/stats.ts";
import { createTag } from "./tags/create-tag.ts";
import { deleteTag } from "./tags/delete-tag.ts";
import { listTags } from "./tags/list-tags.ts";
import { tagVersion } from "./tags/tag-version.ts";
import { updateTag } from "./tags/update-tag.ts";
import { abortUpload } from "./uploads/abort-upload.ts";
import { completeUpload } from "./uploads/complete-upload.ts";
import { createUpload } from "./uploads/create-upload.ts";
import { describeVersion } from "./versions/describe-version.ts";
import { listVersions } from "./versions/list-versions.ts";
import { restore } from "./versions/restore.ts";
import { createView, describeView, dropView, listViews, refreshView } from "./views/views.ts";

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
