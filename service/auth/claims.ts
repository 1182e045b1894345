import { compileTablePatterns, type TablePatterns } from "./tables.ts";
import { type AuthConfig, isScope, type Scope } from "./types.ts";

type Claims = Readonly<Record<string, unknown>>;

/** The claim of that exact name, else the one at that dotted path, else undefined. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** The words of a space-separated string or an array of strings; undefined for any other value. */
function words(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
}

/** The scopes of this service in a token. Other names are ignored. */
export function scopesOf(
  claims: Claims,
  config: Pick<AuthConfig, "scopeClaim" | "scopePrefix" | "scopeMap">,
): Set<Scope> {
  const { scopeMap = {}, scopePrefix = "" } = config;
  const named = words(claimAt(claims, config.scopeClaim)) ?? [];
  return new Set(
    named.flatMap((name) => {
      if (Object.hasOwn(scopeMap, name)) return scopeMap[name] ?? [];
      const own = name.startsWith(scopePrefix) ? name.slice(scopePrefix.length) : "";
      return isScope(own) ? [own] : [];
    }),
  );
}

/**
 * The tables that a token permits. A malformed claim permits none, because the default could be wider than the issuer
 * intended; `problem` then names the fault.
 */
export function tablesOf(
  claims: Claims,
  claimName: string | undefined,
  defaults: TablePatterns,
): { tables: TablePatterns; problem?: string } {
  const value = claimName === undefined ? undefined : claimAt(claims, claimName);
  if (value === undefined) return { tables: defaults };
  const patterns = words(value);
  if (patterns === undefined)
    return { tables: compileTablePatterns([]), problem: "not a string or an array of strings" };
  try {
    return { tables: compileTablePatterns(patterns) };
  } catch {
    return { tables: compileTablePatterns([]), problem: "has a malformed table pattern" };
  }
}
