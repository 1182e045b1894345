import type { CacheSizes, DatabaseAddress } from "../lance/connection.ts";
import { memoryOf, parseEnvironment } from "./config.ts";
import type { MaintenanceRule } from "./maintenance-policy.ts";
import { maintenanceSchema } from "./schema.ts";

/** The database as a process opens it that may change the tables. */
export interface MaintainedDatabase extends DatabaseAddress {
  readonly caches: CacheSizes;
}

/** The configuration of a run of the maintenance. */
export interface MaintenanceConfig {
  readonly logLevel: string;
  /** With the SDK's own timeouts and retries: a compaction reads for longer than a request may wait. */
  readonly database: MaintainedDatabase;
  readonly rules: readonly MaintenanceRule[];
  readonly tableSeconds: number;
  readonly runSeconds: number;
  readonly leaseSeconds: number;
  readonly attempts: number;
  /** Memory at which the process that works on a table is ended, in bytes. */
  readonly memoryBytes: number;
}

/** The share of the memory for the process that works on a table; its caches take a fifth of it. */
const workerShare = 0.8;

/**
 * Reads the configuration of a run from the variables of the service, of which most are not needed.
 * @throws ConfigError with all faults.
 */
export const readMaintenanceConfig = (environment: Readonly<Record<string, string | undefined>>): MaintenanceConfig => {
  const { server, database, load, maintenance } = parseEnvironment(maintenanceSchema, environment);
  const memoryBytes = Math.floor(memoryOf(load) * workerShare);
  return {
    ...maintenance,
    logLevel: server.logLevel,
    memoryBytes,
    database: {
      uri: database.uri,
      storageOptions: database.storageOptions,
      caches: { indexBytes: Math.floor(memoryBytes * 0.15), metadataBytes: Math.floor(memoryBytes * 0.05) },
    },
  };
};
