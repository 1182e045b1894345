"""Adds rows of 4 KiB by LanceDB's client in parts, for bench/soak/uploads.ts: address, token, gigabytes. Prints version and rows."""

import os
import sys

import lancedb
import pyarrow as pa
import pyarrow.dataset

base, token, gigabytes = sys.argv[1:]
# As many as the client puts into one batch.
rows = 8192
count = int(float(gigabytes) * 10**9) // (rows * 2**12)
# All batches share the values, and a dataset is not copied, so that this process stays small.
values = pa.array([os.urandom(2**12) for _ in range(rows)], pa.binary())
batches = [
    pa.record_batch([pa.array(range(at * rows, (at + 1) * rows), pa.int64()), values], names=["id", "value"])
    for at in range(count)
]
table = lancedb.connect("db://lake", api_key=token, host_override=base).create_table("large", batches[0].slice(0, 0))
table.add(pa.dataset.dataset(pa.Table.from_batches(batches)), write_parallelism=2)
print(table.version, table.count_rows())
