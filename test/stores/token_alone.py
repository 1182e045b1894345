"""Clients that read and write files themselves, with the address of the service and a token, and nothing else.

Prints one line for each step that was done; an exception ends the program.
"""

import os
import sys
import time
from collections.abc import Iterator

import lance
import lance_namespace
import lancedb
import numpy as np
import pyarrow as pa

ENDPOINT, TOKEN, CLIENT, SECONDS = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
PROPERTIES = {"uri": ENDPOINT, "headers.authorization": f"Bearer {TOKEN}"}

# Nothing of a cloud may come from the machine.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]

SCHEMA = pa.schema([("id", pa.int64()), ("bytes", pa.binary())])
BATCHES = 12
ROWS = 3


def batch(number: int) -> pa.RecordBatch:
    # More than half of a part of an upload, and not compressible.
    rows = [np.random.default_rng(number * ROWS + row).bytes(2**20) for row in range(ROWS)]
    ids = list(range(number * ROWS, (number + 1) * ROWS))
    return pa.record_batch([pa.array(ids, pa.int64()), pa.array(rows, pa.binary())], schema=SCHEMA)


def slowly() -> Iterator[pa.RecordBatch]:
    for number in range(BATCHES):
        yield batch(number)
        time.sleep(SECONDS / BATCHES)


def reader() -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(SCHEMA, slowly())


def same(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def done(step: str) -> None:
    print(f"done: {step}", flush=True)


def by_pylance() -> None:
    catalog = lance_namespace.connect("rest", PROPERTIES)
    for table_id in (["mine"], ["team", "mine"]):
        at = {"namespace_client": catalog, "table_id": table_id}
        lance.write_dataset(reader(), mode="create", **at)
        done("create")
        lance.write_dataset(pa.Table.from_batches([batch(0)]), mode="append", **at)
        done("append")
        dataset = lance.dataset(**at)
        same(dataset.count_rows(), (BATCHES + 1) * ROWS)
        same(dataset.to_table(columns=["id"], filter="id = 1").num_rows, 2)
        done("read")
        dataset.delete("id = 1")
        dataset.optimize.compact_files()
        dataset.tags.create("kept", 1)
        for version in (1, "kept"):
            same(lance.dataset(version=version, **at).count_rows(), BATCHES * ROWS)
        dataset.tags.delete("kept")
        branch = dataset.create_branch("side")
        branch.delete("true")
        same(lance.dataset(**at).checkout_version(("side", None)).count_rows(), 0)
        dataset.branches.delete("side")
        same(lance.dataset(**at).count_rows(), (BATCHES + 1) * ROWS - 2)
        done("delete, compact, tag, branch")
        held = lance.dataset(**at)
        time.sleep(SECONDS)
        same(held.to_table(columns=["id"]).num_rows, (BATCHES + 1) * ROWS - 2)
        done("read with a handle that is older than its session")
        lance.write_dataset(pa.Table.from_batches([batch(1)]), mode="overwrite", **at)
        same(lance.dataset(**at).count_rows(), ROWS)
        done("overwrite")
        same("mine" in tables(table_id[:-1]), True)
        request = lance_namespace.DropTableRequest(id=table_id)
        catalog.drop_table(request)
        same("mine" in tables(table_id[:-1]), False)
        done("drop")


def tables(namespace: list[str]) -> list[str]:
    return list(lancedb.connect_namespace("rest", PROPERTIES).table_names(namespace_path=namespace))


def by_lancedb() -> None:
    db = lancedb.connect_namespace("rest", PROPERTIES)
    for namespace in ([], ["team"]):
        at = {"namespace_path": namespace}
        table = db.create_table("ours", reader(), **at)
        done("create")
        table.add(pa.Table.from_batches([batch(0)]))
        done("append")
        same(db.open_table("ours", **at).count_rows(), (BATCHES + 1) * ROWS)
        same(len(table.search().where("id = 1").select(["id"]).to_list()), 2)
        done("read")
        time.sleep(SECONDS)
        table.delete("id = 1")
        same(table.count_rows(), (BATCHES + 1) * ROWS - 2)
        table.optimize()
        done("delete and compact with a handle that is older than its session")
        db.drop_table("ours", **at)
        same("ours" in tables(namespace), False)
        done("drop")


{"pylance": by_pylance, "lancedb": by_lancedb}[CLIENT]()
