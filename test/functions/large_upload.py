"""Adds rows by LanceDB's client in parts. Prints the version, the number of rows, and how many different ones there are."""

import sys

import lancedb
import pyarrow as pa

base, token = sys.argv[1:]
db = lancedb.connect("db://lake", api_key=token, host_override=base)
rows = pa.table({"id": pa.array(range(200_001), pa.int64())})
table = db.create_table("large", rows.slice(0, 1))
table.add(pa.Table.from_batches(rows.slice(1).to_batches(max_chunksize=10_000)), write_parallelism=2)
print(table.version, table.count_rows(), len(set(table.search().limit(300_000).to_arrow()["id"].to_pylist())))
