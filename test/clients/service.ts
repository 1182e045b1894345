import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startListening } from "../support/listening.ts";
import { staticToken } from "../support/static-token.ts";

/** Keys of the started service: one that may everything, one that may read the statistics of one table alone. */
export const keys = { all: "key-with-every-scope", docsStats: "key-for-the-statistics-of-docs" } as const;

const tokens = [staticToken("clients", keys.all), staticToken("docs-stats", keys.docsStats, ["stats"], ["docs"])];

export interface ClientService {
  readonly port: number;
  stop(): Promise<void>;
}

/** The service as a process of its own, ready, on a copy of the database that is its own too. */
export const startServiceOn = async (database: string): Promise<ClientService> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-client-"));
  await cp(database, join(home, "data"), { recursive: true });
  const service = await startListening(tokens, {
    LAKEHEAD_DATABASE: join(home, "data"),
    LAKEHEAD_AUTH_API_KEY: "true",
  });
  await service.ready();
  const stop = async (): Promise<void> => {
    await service.stop();
    await rm(home, { recursive: true, force: true });
  };
  return { port: service.port, stop };
};
