import { appendFileSync } from "node:fs";
import { inject } from "vitest";
import type { Answer } from "./service.ts";

/** One line for every answer that a test saw: the run's summary is made of them. */
export interface Seen {
  readonly operation: string;
  /** Lance error code; "ok" for 200. */
  readonly code: number | "ok";
}

export const record = (operation: string, { status, body }: Answer): void => {
  const seen: Seen = { operation, code: status === 200 ? "ok" : body.code };
  appendFileSync(inject("seen"), `${JSON.stringify(seen)}\n`);
};

const common = ["ok", 0, 13, 15, 16, 17, 18, 21] as const;

/**
 * Which codes each operation can answer. A code that is not here has no way to come about (14 and 19 need a writer's
 * commit, and creating a tag is one conditional put); one that is here and was not seen fails the run.
 */
export const possible: Readonly<Record<string, readonly Seen["code"][]>> = {
  explain_plan: [...common, 1, 4, 11, 12, 22],
  analyze_plan: [...common, 1, 4, 11, 12, 22],
  query: [...common, 1, 4, 11, 12, 22],
  count_rows: [...common, 1, 4, 11, 12, 22],
  stats: [...common, 1, 4, 22],
  "tags/create": [...common, 1, 4, 9, 11, 22],
  "tags/version": [...common, 1, 4, 8],
  "tags/update": [...common, 1, 4, 8, 11, 22],
  "tags/delete": [...common, 1, 4, 8],
  "tags/list": [...common, 1, 4],
  describe: [...common, 1, 4, 8, 11, 22],
  exists: [...common, 1, 4, 11, 22],
  "version/list": [...common, 1, 4, 22],
  "version/describe": [...common, 1, 4, 11, 22],
  "branches/list": [...common, 1, 4],
  "index/list": [...common, 1, 4, 11, 22],
  "index/{index_name}/stats": [...common, 1, 4, 6, 11, 22],
  table: common,
  "namespace/{id}/table/list": [...common, 1],
  "namespace/{id}/list": [...common, 1],
  "namespace/{id}/describe": [...common, 1],
  "namespace/{id}/exists": [...common, 1],
};
