/** A limit of a finding, and the measurement behind it. */
export interface Threshold {
  readonly value: number;
  readonly meaning: string;
  readonly reason: string;
}

const threshold = (value: number, meaning: string, reason: string): Threshold => ({ value, meaning, reason });

/**
 * All limits of the findings. The measurements are of 2026-11-22, lance 12.0.0 on local files (`npm run bench:doctor`), three runs:
 * they show a fault of about twice the limit, and ranges in brackets. On an object store, requests and bytes cost more.
 */
export const thresholds = {
  exhaustiveRows: threshold(
    10_000,
    "rows that a search compares one by one",
    "20,000 vectors of 32 numbers took 3.5 (3.1 to 4.8) times as long without an index",
  ),
  unindexedRows: threshold(
    1_000,
    "rows that an index does not cover",
    "5,000 beside a B-tree of 20,000 took 1.7 (1.3 to 1.7) times as long as none",
  ),
  filteredRows: threshold(
    10_000,
    "rows that a filter reads",
    "20,000 rows took 2.9 (1.6 to 3.5) times as long without an index",
  ),
  selectivePercent: threshold(
    5,
    "percent of the rows read that a filter keeps, at most",
    "an index reads these rows only: 20 instead of 20,000",
  ),
  refineFactor: threshold(10, "refine_factor", "for k 10, factor 100 read 2.1 MB, factor 10 read 0.4 MB"),
  refinedRows: threshold(500, "rows that are re-ranked", "1,000 read 5.5 times the bytes of 100"),
  codeBits: threshold(
    4,
    "bits that a quantized index keeps of each number",
    "with 1 bit, a distance was wrong by 41 percent",
  ),
  probedPercent: threshold(
    5,
    "percent of the partitions that a search reads",
    "at 0.8 percent 9 of the 10 nearest rows were missing, at 5 percent 4",
  ),
  deltas: threshold(
    4,
    "parts of a vector index",
    "each is searched by itself, and each optimize after new rows adds one",
  ),
  smallFragments: threshold(
    20,
    "fragments of fewer than 100,000 rows",
    "40 fragments of 500 rows took 40 requests, one took 1; 4.9 (4.8 to 7.5) times as long",
  ),
  deletedPercent: threshold(
    10,
    "percent of the stored rows that are deleted",
    "optimize removes them from here on; of half, a scan read twice the bytes",
  ),
  coldParts: threshold(
    16,
    "parts of an index that were read from the store",
    "with 64, the first search took 11.6 (8.0 to 23.8) times as long as the next",
  ),
  takenRows: threshold(
    500,
    "rows of which columns are read one by one",
    "1,000 rows of 8 KiB took 1,002 reads, 2 without that column",
  ),
  readsPerRow: threshold(0.25, "reads for each of these rows", "neighbours share a read where columns are narrow"),
  skippedRows: threshold(1_000, "rows that offset skips", "with offset 2,000, a search ranked 2,010 rows for 10"),
  wideBytes: threshold(
    2 ** 20,
    "bytes read by a query that names no columns",
    "20,000 rows were 3.0 MB with and 0.4 MB without their vectors",
  ),
  droppedBytes: threshold(
    2 ** 20,
    "bytes of values that a query reads and does not return",
    "the first 10 of 4,000 rows of 8 KiB by a number read 33 MB, 0.06 MB without that column",
  ),
} as const satisfies Readonly<Record<string, Threshold>>;
