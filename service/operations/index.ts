import { analyzePlan } from "./analyze-plan.ts";
import { countRows } from "./count-rows.ts";
import { createTag } from "./create-tag.ts";
import { deleteTag } from "./delete-tag.ts";
import { describe } from "./describe.ts";
import { describeNamespace } from "./describe-namespace.ts";
import { describeVersion } from "./describe-version.ts";
import { exists } from "./exists.ts";
import { explainPlan } from "./explain-plan.ts";
import { indexStats } from "./index-stats.ts";
import { listAllTables } from "./list-all-tables.ts";
import { listBranches } from "./list-branches.ts";
import { listIndices } from "./list-indices.ts";
import { listNamespaces } from "./list-namespaces.ts";
import { listTables } from "./list-tables.ts";
import { listTags } from "./list-tags.ts";
import { listVersions } from "./list-versions.ts";
import { namespaceExists } from "./namespace-exists.ts";
import type { Operation } from "./operation.ts";
import { query } from "./query.ts";
import { stats } from "./stats.ts";
import { tagVersion } from "./tag-version.ts";
import { updateTag } from "./update-tag.ts";

/** All operations of the API: on a table its queries, tags and metadata, then on namespaces. */
export const operations: readonly Operation[] = [
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
  listTables,
  listAllTables,
  listNamespaces,
  describeNamespace,
  namespaceExists,
];
