import { connect } from "@lancedb/lancedb";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import { writeTables } from "../../tools/lance-tables.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { dimensions, docs } from "../support/tables.ts";

/** Three tables of one schema in different namespaces, so that a query fits all. */
const places = [[], ["prod"], ["prod", "vectors"]] as const;

const branch = "experiment";
/** Tags that no generated request deletes. */
const kept = ["golden", "v1.0", "release-2026"];

/** Existing names, for generated requests that should reach data. */
export interface Real {
  readonly tables: readonly (readonly string[])[];
  readonly namespaces: readonly (readonly string[])[];
  readonly versions: number;
  readonly dimensions: number;
  readonly branches: readonly string[];
  readonly tags: readonly string[];
  readonly indices: readonly string[];
  readonly columns: readonly string[];
  readonly textColumns: readonly string[];
  readonly vectorColumns: readonly string[];
  /** An Arrow IPC stream with rows for the tables, in Base64. */
  readonly rows: string;
  /** Computed columns of every table. */
  readonly computed: readonly string[];
  readonly jobs: readonly string[];
}

/** Makes a database with tables in nested namespaces, versions, indices, branches and tags. */
export const makeData = async (directory: string): Promise<Real> => {
  await writeTables(
    directory,
    places.map((namespace) => ({ ...docs, namespace })),
  );
  const connection = await connect(directory);
  try {
    let versions = 0;
    let indices: readonly string[] = [];
    for (const namespace of places) {
      const table = await connection.openTable(docs.name, [...namespace]);
      versions = await table.version();
      indices = (await table.listIndices()).map(({ name }) => name);
      const tags = await table.tags();
      for (const [index, tag] of kept.entries()) await tags.create(tag, index + 1);
      await (await table.branches()).create(branch);
    }
    return {
      tables: places.map((namespace) => [...namespace, docs.name]),
      namespaces: places,
      versions,
      dimensions,
      branches: [branch],
      tags: kept,
      indices,
      columns: Object.keys(docs.columns),
      textColumns: ["text", "title"],
      vectorColumns: ["vector", "other"],
      rows: Buffer.from(tableToIPC(tableFromArrays({ id: new BigInt64Array([1n, 2n]) }), "stream")).toString("base64"),
      computed: [],
      jobs: [],
    };
  } finally {
    connection.close();
  }
};

/** Adds a computed column to each table, and refreshes it by a job. */
export const startJobs = async (service: ServiceProcess, real: Real): Promise<Real> => {
  const column = "half";
  const jobs: string[] = [];
  for (const parts of real.tables) {
    const table = parts.join("$");
    const added = await service.call("add_columns", table, { new_columns: [{ name: column, computed: "score / 2" }] });
    const { status, body } = await service.call("backfill_column", table, { column });
    if (status !== 202)
      throw new Error(`${table} has no job: ${JSON.stringify(added.body)} ${status} ${JSON.stringify(body)}`);
    jobs.push(body.job_id);
  }
  return { ...real, computed: [column], jobs };
};
