import type { Query } from "../query/wire.ts";
import { uncheckedExpression, type VerifiedExpression, verifyExpression } from "./expression/index.ts";
import type { RequestLimits } from "./limits.ts";
import { verifyBranchName, verifyNewBranchName, verifyNewTagName, verifyTagName } from "./ref-name.ts";
import { functionIdFromParts, type NamespaceId, type TableId, tableIdFromParts } from "./table-id.ts";
import { uncheckedQuery, type VerifiedQuery, verifyQueryOfTable } from "./verify-query.ts";
import { readViewQuery, type ViewQuery } from "./view-query.ts";

/** The guard with the limits of a service: the database takes no query that it has not verified. */
export class Guard {
  readonly #limits: RequestLimits;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** @param countRows of the table: it decides whether a k above the limit is one. */
  query(query: Query, executes: boolean, countRows: () => Promise<number>): Promise<VerifiedQuery> {
    return verifyQueryOfTable(query, executes, this.#limits, countRows);
  }

  /** @param field the request field that holds the expression, for messages. */
  expression(expression: string, field: string): VerifiedExpression {
    return verifyExpression(expression, this.#limits.expression, field);
  }

  predicate(predicate: string): VerifiedExpression {
    return this.expression(predicate, "predicate");
  }

  tag(tag: string): string {
    return verifyTagName(tag, this.#limits.maxTagLength);
  }

  newTag(tag: string): string {
    return verifyNewTagName(tag, this.#limits.maxTagLength);
  }

  /** @returns undefined for main. */
  branch(branch: string | undefined): string | undefined {
    return verifyBranchName(branch, this.#limits.maxTagLength);
  }

  /** The name of a branch to create or delete. @throws ServiceError code 13 for main. */
  newBranch(branch: string): string {
    return verifyNewBranchName(branch, this.#limits.maxTagLength);
  }

  /** The id of a Function by its name alone, in the root namespace. */
  functionId(name: string): NamespaceId {
    return functionIdFromParts([name], this.#limits);
  }

  /** The id of a table that is named inside a request. */
  tableId(parts: readonly string[]): TableId {
    return tableIdFromParts(parts, this.#limits);
  }

  /** The query of a materialized view. */
  viewQuery(sql: string): ViewQuery {
    return readViewQuery(sql, (expression, field) => this.expression(expression, field));
  }
}

/** Passes queries and expressions on unread. */
export class GuardOff extends Guard {
  override query(query: Query): Promise<VerifiedQuery> {
    return Promise.resolve(uncheckedQuery(query));
  }

  override expression(expression: string): VerifiedExpression {
    return uncheckedExpression(expression);
  }
}
