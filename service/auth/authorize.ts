import { insufficientScope } from "./challenge.ts";
import type { Principal, Scope } from "./types.ts";

function requireScope(principal: Principal, scope: Scope | null): void {
  if (scope === null && principal.scopes.size === 0)
    throw insufficientScope("the credentials carry no scope of this service");
  if (scope !== null && !principal.scopes.has(scope))
    throw insufficientScope(`the credentials lack the scope ${scope}, which this operation needs`, scope);
}

/**
 * @param scope The scope that the operation needs; null: any principal that has at least one scope.
 * @param tableId Canonical parts of the table's id.
 * @throws ServiceError code 15. The answer does not depend on whether the table exists.
 */
export function authorize(principal: Principal, scope: Scope | null, tableId: readonly string[]): void {
  requireScope(principal, scope);
  if (!principal.tables.permits(tableId)) throw insufficientScope("the credentials do not permit this table");
}

/** Whether a principal may know of a namespace: it is permitted itself, or something beneath it may be. */
export const seesNamespace = ({ tables }: Principal, parts: readonly string[]): boolean =>
  tables.permits(parts) || tables.reaches(parts);

/**
 * @param namespaceId Canonical parts of the namespace's id; `[]` is the root.
 * @throws ServiceError code 15. The answer does not depend on whether the namespace exists.
 */
export function authorizeNamespace(principal: Principal, scope: Scope | null, namespaceId: readonly string[]): void {
  requireScope(principal, scope);
  if (!seesNamespace(principal, namespaceId)) throw insufficientScope("the credentials do not permit this namespace");
}
