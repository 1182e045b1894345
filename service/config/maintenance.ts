import type { CacheSizes, DatabaseAddress } from "../lance/connection/connection.ts";
import type { MaintenanceRule } from "./maintenance-policy.ts";

/** The database as a process opens it that may change the tables. */
export interface MaintainedDatabase extends DatabaseAddress {
  readonly caches: CacheSizes;
}

/** The Ray cluster that gets the work on large tables. */
export interface RayConfig {
  /** Of its dashboard. */
  readonly address: string;
  readonly token?: string;
  /** Packages that the job installs. */
  readonly packages: readonly string[];
  /** Maximum number of workers of one job, of one CPU each. */
  readonly workers: number;
  /** Tables of at least so many bytes are given to it. */
  readonly bytes: number;
}

/** How one table is maintained, by a run as by a request. */
export interface TableMaintenanceConfig {
  /** With the SDK's own timeouts and retries: a compaction reads for longer than a request may wait. */
  readonly database: MaintainedDatabase;
  readonly rules: readonly MaintenanceRule[];
  readonly tableSeconds: number;
  readonly leaseSeconds: number;
  readonly attempts: number;
  /** Memory at which the process that works on a table is ended, in bytes. */
  readonly memoryBytes: number;
}

/** The configuration of a run of the maintenance. */
export interface MaintenanceConfig extends TableMaintenanceConfig {
  readonly logLevel: string;
  readonly runSeconds: number;
  /** Absent: all tables are worked on by this machine. */
  readonly ray?: RayConfig;
}

/** The database of a process with `memoryBytes`, of which the caches take a fifth. */
export const toMaintainedDatabase = (
  { uri, storageOptions }: DatabaseAddress,
  memoryBytes: number,
): MaintainedDatabase => ({
  uri,
  storageOptions,
  caches: { indexBytes: Math.floor(memoryBytes * 0.15), metadataBytes: Math.floor(memoryBytes * 0.05) },
});
