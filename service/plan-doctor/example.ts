import { query } from "../query/wire.ts";
import { diagnose } from "./diagnose.ts";
import type { Facts, PlanDocument } from "./types.ts";

const plan = `AnalyzeExec verbose=true, elapsed=12.626778ms, metrics=[]
  TracedExec, elapsed=12.626778ms, metrics=[]
    ProjectionExec: elapsed=12.626778ms, expr=[id@0 as id, body@3 as body], metrics=[output_rows=20, elapsed_compute=3.33µs, output_bytes=90.1 KB, output_batches=1, expr_0_eval_time=1.57µs, expr_1_eval_time=50ns]
      LanceRead: elapsed=12.612206ms, uri=documents.lance/data, projection=[body], source=stream(_rowid), metrics=[output_rows=20, elapsed_compute=7.97µs, output_bytes=90.4 KB, output_batches=1, fragments_scanned=1, ranges_scanned=20, rows_scanned=20, bytes_read=54.91 K, iops=22, requests=4]
        LanceRead: elapsed=1.581354ms, uri=documents.lance/data, projection=[id, category], num_fragments=1, range_before=None, range_after=Some(0..100), row_id=true, row_addr=false, full_filter=category = Utf8("c5"), refine_filter=category = Utf8("c5"), metrics=[output_rows=20, elapsed_compute=876.89µs, output_bytes=0.0 B, output_batches=0, fragments_scanned=1, ranges_scanned=1, rows_scanned=20.00 K, bytes_read=72.86 K, iops=6, requests=5, task_wait_time=875.61µs]
`;

const column = (name: string, type: string, dimensions: number | null = null) => ({ name, type, dimensions });

const facts: Facts = {
  version: 1,
  statistics: {
    ...{ rows: 20_000, deleted_rows: 0, bytes: 2_972_577 },
    ...{ fragments: 1, small_fragments: 1, largest_fragment_rows: 20_000 },
  },
  columns: [
    column("id", "int64"),
    column("category", "utf8"),
    column("score", "float64"),
    column("body", "utf8"),
    column("vector", "fixed_size_list<float32, 32>", 32),
  ],
  indices: [],
  missing: [],
};

const asked = query.parse({ k: 100, columns: ["id", "body"], filter: "category = 'c5'" });

/** What the doctor says of a plan that the engine printed. */
export const example: PlanDocument = { plan, ...diagnose(plan, asked, facts, "documents"), facts };
