/** A limit of a finding, and the measurement that it comes from (`npm run bench:doctor`, lance 12.0.0, local files). */
export interface Threshold {
  readonly value: number;
  readonly meaning: string;
  readonly reason: string;
}

const threshold = (value: number, meaning: string, reason: string): Threshold => ({ value, meaning, reason });

/** All limits of the findings. Below them, what a finding promises to lower is lost in the noise of a query. */
export const thresholds = {
  exhaustiveRows: threshold(
    10_000,
    "rows that a search compares one by one",
    "20,000 vectors of 32 numbers take about 5 ms without an index, as long as an indexed search takes in all",
  ),
  unindexedRows: threshold(
    1_000,
    "rows that an index does not cover",
    "each query reads them; 1,000 add a tenth to the time of an indexed search",
  ),
  filteredRows: threshold(
    10_000,
    "rows that a filter reads",
    "20,000 rows of one column take about as long as a search of an index",
  ),
  selectivePercent: threshold(
    5,
    "percent of the rows read that a filter keeps, at most",
    "an index reads these rows only",
  ),
  refineFactor: threshold(10, "refine_factor", "10 re-ranks ten times the rows of the result, which finds almost all"),
  refinedRows: threshold(
    500,
    "rows that are re-ranked",
    "the exact vectors of 500 rows are as much as the index reads",
  ),
  codeBits: threshold(4, "bits that a quantized index keeps of each number", "distances differ by several percent"),
  probedPercent: threshold(5, "percent of the partitions that a search reads", "below it, a search misses near rows"),
  deltas: threshold(4, "parts of a vector index", "each is searched by itself, and each optimize adds one"),
  smallFragments: threshold(20, "fragments of fewer than 100,000 rows", "each costs requests of its own"),
  deletedPercent: threshold(10, "percent of the stored rows that are deleted", "optimize removes them from here on"),
  coldParts: threshold(16, "parts of an index that were read from the store", "a cold query is several times as slow"),
  takenRows: threshold(500, "rows of which columns are read one by one", "below it, requests run at the same time"),
  readsPerRow: threshold(0.25, "reads for each of these rows", "neighbours share a read where columns are narrow"),
  skippedRows: threshold(1_000, "rows that offset skips", "all of them are read and thrown away"),
  wideBytes: threshold(2 ** 20, "bytes read by a query that names no columns", "a vector is most of a row"),
} as const satisfies Readonly<Record<string, Threshold>>;
