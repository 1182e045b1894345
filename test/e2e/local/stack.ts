/** What the suites configure in the stack `local`. */

import { createHash } from "node:crypto";
import { scopes } from "../../../service/auth/index.ts";

export const stackName = "local";
export const namespace = "lancedb";

/** Static tokens, each named: a suite has no issuer. */
export const tokensOf = (tokens: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.entries(tokens).map(([name, token]) => ({
      name,
      sha256: createHash("sha256").update(token).digest("hex"),
      scopes,
      tables: ["**"],
    })),
  );

export const tableService = {
  image: "lakehead:0.2.0",
  cpus: 0.5,
  memory: "1Gi",
  replicas: { min: 1, max: 1 },
  exposure: { mode: "cluster" },
} as const;
