import { analyzePlan } from "./analyze-plan/operation.ts";
import { countRows } from "./count-rows/operation.ts";
import { createTag } from "./create-tag/operation.ts";
import { deleteTag } from "./delete-tag/operation.ts";
import { describe } from "./describe/operation.ts";
import { describeNamespace } from "./describe-namespace/operation.ts";
import { describeVersion } from "./describe-version/operation.ts";
import { exists } from "./exists/operation.ts";
import { explainPlan } from "./explain-plan/operation.ts";
import { indexStats } from "./index-stats/operation.ts";
import { listAllTables } from "./list-all-tables/operation.ts";
import { listBranches } from "./list-branches/operation.ts";
import { listIndices } from "./list-indices/operation.ts";
import { listNamespaces } from "./list-namespaces/operation.ts";
import { listTables } from "./list-tables/operation.ts";
import { listTags } from "./list-tags/operation.ts";
import { listVersions } from "./list-versions/operation.ts";
import { namespaceExists } from "./namespace-exists/operation.ts";
import type { Operation } from "./operation.ts";
import { query } from "./query/operation.ts";
import { stats } from "./stats/operation.ts";
import { tagVersion } from "./tag-version/operation.ts";
import { updateTag } from "./update-tag/operation.ts";

/** All that the API does: first with a table, its queries, its tags and what it consists of, then with namespaces. */
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
