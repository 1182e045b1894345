import { compileTablePatterns, type TablePatterns } from "./tables.ts";
import { type AuthConfig, isScope, type Scope } from "./types.ts";

type Claims = Readonly<Record<string, unknown>>;

/** The claim of that very name, else the one at that dotted path; undefined when there is none. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** A string of words, or an array of strings; undefined for anything else. */
function words(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
}

/** Our scopes among a token's; names that are not ours are passed over, a claim of another form holds none. */
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
 * The tables that a token permits. A claim that is there but cannot be understood permits none: the issuer meant to
 * restrict, and the default could be wider. `problem` then says why.
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
    return { tables: compileTablePatterns([]), problem: "neither a string nor an array of strings" };
  try {
    return { tables: compileTablePatterns(patterns) };
  } catch {
    return { tables: compileTablePatterns([]), problem: "holds a malformed table pattern" };
  }
}
