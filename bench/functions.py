"""Fills a column by pylance's own add_columns, and by lance-ray's on two CPUs. Prints the seconds of each, as JSON."""

import json
import os
import sys
import time

import lance
import lance_ray
import pyarrow as pa
import ray

uri, milliseconds = sys.argv[1], float(sys.argv[2])
field = pa.schema([("y", pa.int64())])


def doubled(batch):
    """The same work for a row as the Function of the measurement."""
    values = []
    for value in batch.column("id").to_pylist():
        if milliseconds > 0:
            time.sleep(milliseconds / 1000)
        values.append(value * 2)
    return pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], schema=field)


def timed(action):
    begun = time.time()
    action()
    seconds = time.time() - begun
    table = lance.dataset(uri)
    if table.count_rows("y = id * 2") != table.count_rows():
        sys.exit("rows have another value")
    table.drop_columns(["y"])
    return seconds


alone = timed(lambda: lance.dataset(uri).add_columns(lance.udf.batch_udf(output_schema=field)(doubled), read_columns=["id"]))
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=200_000_000)
on_ray = timed(lambda: lance_ray.add_columns(uri, transform=doubled, read_columns=["id"], concurrency=2))
print(json.dumps({"pylance": alone, "lance-ray": on_ray}))
