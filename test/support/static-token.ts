import { createHash } from "node:crypto";
import { scopes } from "../../service/auth/index.ts";

/** An entry of `LAKEHEAD_AUTH_STATIC_TOKENS`, with every scope on every table by default. */
export const staticToken = (
  name: string,
  token: string,
  granted: readonly string[] = scopes,
  tables: readonly string[] = ["**"],
) => ({
  name,
  sha256: createHash("sha256").update(token).digest("hex"),
  scopes: granted,
  tables,
});

export type StaticToken = ReturnType<typeof staticToken>;
