import { insufficientScope } from "./challenge.ts";
import type { Principal, Scope } from "./types.ts";

function requireScope(principal: Principal, scope: Scope | null): void {
  if (scope === null && principal.scopes.size === 0)
    throw insufficientScope("the credentials have no scope of this service");
  if (scope !== null && !principal.scopes.has(scope))
    throw insufficientScope(`the credentials lack the scope ${scope}, which this operation requires`, scope);
}

/**
 * @param scope Required scope; null for any.
 * @param tableId Canonical parts of the table id.
 * @throws ServiceError code 15, whether or not the table exists.
 */
export function authorize(principal: Principal, scope: Scope | null, tableId: readonly string[]): void {
  requireScope(principal, scope);
  if (!principal.tables.permits(tableId)) throw insufficientScope("the credentials do not permit this table");
}

/** Whether a principal may see a namespace: a pattern matches it or may match something inside it. */
export const seesNamespace = ({ tables }: Principal, parts: readonly string[]): boolean =>
  tables.permits(parts) || tables.reaches(parts);

/**
 * A pattern of tables alone, as `alice_*`, permits no change of a namespace with such a name: what is inside is not the
 * principal's.
 * @param namespaceId Canonical parts of the namespace id; `[]` is the root.
 * @throws ServiceError code 15, whether or not the namespace exists.
 */
export function authorizeNamespace(principal: Principal, scope: Scope | null, namespaceId: readonly string[]): void {
  requireScope(principal, scope);
  const mayUse = scope === "manage" ? principal.tables.reaches(namespaceId) : seesNamespace(principal, namespaceId);
  if (!mayUse) throw insufficientScope("the credentials do not permit this namespace");
}
