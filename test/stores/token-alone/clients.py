"""Clients that read and write the files of tables themselves, with the address of the service, a token and nothing else.

Prints one line for each operation that was done; an exception ends the program. At the root they write as fast as they can. In
the namespace `team` one write takes the seconds of the command line.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import lance
import lance_namespace
import numpy as np
import pyarrow as pa

CLIENT, SECONDS, PARAMETERS = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
PROPERTIES: dict[str, str] = PARAMETERS["namespace_properties"]

# Nothing of a cloud may come from the machine.
for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_"))]:
    del os.environ[name]

SCHEMA = pa.schema([("id", pa.int64()), ("bytes", pa.binary())])
BATCHES = 12
ROWS = 3
ALL = BATCHES * ROWS


def blob(number: int) -> bytes:
    # Three are more than half of a part of an upload, and not compressible.
    return np.random.default_rng(number).bytes(2**20)


def rows(ids: list[int]) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "bytes": pa.array(map(blob, ids), pa.binary())})


FEW = rows([0, 1, 2])


def reader(seconds: float) -> pa.RecordBatchReader:
    def slowly() -> Iterator[pa.RecordBatch]:
        for number in range(BATCHES):
            yield from rows(list(range(number * ROWS, (number + 1) * ROWS))).to_batches()
            time.sleep(seconds / BATCHES)

    return pa.RecordBatchReader.from_batches(SCHEMA, slowly())


def same(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def done(operation: str) -> None:
    print(f"done: {operation}", flush=True)


def catalog() -> lance_namespace.LanceNamespace:
    return lance_namespace.connect(PARAMETERS["namespace_impl"], PROPERTIES)


def tables(namespace: list[str]) -> set[str]:
    return set(catalog().list_tables(lance_namespace.ListTablesRequest(id=namespace)).tables)


def remove(table_id: list[str]) -> None:
    """For clients that cannot drop a table."""
    catalog().drop_table(lance_namespace.DropTableRequest(id=table_id))


def by_pylance(table_id: list[str], seconds: float) -> None:
    at = {"namespace_client": catalog(), "table_id": table_id}
    lance.write_dataset(reader(seconds), mode="create", **at)
    done("create")
    lance.write_dataset(FEW, mode="append", **at)
    done("append")
    dataset = lance.dataset(**at)
    same(dataset.count_rows(), ALL + ROWS)
    same(dataset.to_table(columns=["id"], filter="id = 1").num_rows, 2)
    done("read")
    dataset.delete("id = 1")
    dataset.update({"id": "100"}, "id = 2")
    same(dataset.count_rows("id = 100"), 2)
    done("delete, update")
    dataset.optimize.compact_files()
    dataset.tags.create("kept", 1)
    for version in (1, "kept"):
        same(lance.dataset(version=version, **at).count_rows(), ALL)
    dataset.tags.delete("kept")
    branch = dataset.create_branch("side")
    branch.delete("true")
    same(lance.dataset(**at).checkout_version(("side", None)).count_rows(), 0)
    dataset.branches.delete("side")
    held = lance.dataset(**at)
    time.sleep(seconds)
    # With a handle that is older than its session.
    same(held.to_table(columns=["id"]).num_rows, ALL + ROWS - 2)
    done("compact")
    lance.write_dataset(FEW, mode="overwrite", **at)
    same(lance.dataset(**at).count_rows(), ROWS)
    done("overwrite")
    same(table_id[-1] in tables(table_id[:-1]), True)
    remove(table_id)
    same(table_id[-1] in tables(table_id[:-1]), False)
    done("drop")


def by_lancedb(table_id: list[str], seconds: float) -> None:
    import lancedb

    db = lancedb.connect_namespace(PARAMETERS["namespace_impl"], PROPERTIES)
    by_database(db, "optimize", table_id, seconds)


def by_geneva(table_id: list[str], seconds: float) -> None:
    import geneva

    db = geneva.connect(namespace_client_impl=PARAMETERS["namespace_impl"], namespace_client_properties=PROPERTIES)
    by_database(db, "compact_files", table_id, seconds)


def by_database(db: Any, compact: str, table_id: list[str], seconds: float) -> None:
    at = {"name": table_id[-1], "namespace_path": table_id[:-1]}
    table = db.create_table(data=reader(seconds), **at)
    done("create")
    table.add(FEW)
    done("append")
    same(db.open_table(**at).count_rows(), ALL + ROWS)
    same(table.search().where("id = 1").select(["id"]).to_arrow().num_rows, 2)
    done("read")
    time.sleep(seconds)
    # With a handle that is older than its session.
    table.delete("id = 1")
    table.update(where="id = 2", values={"id": 100})
    same(table.count_rows("id = 100"), 2)
    done("delete, update")
    getattr(table, compact)()
    same(table.count_rows(), ALL + ROWS - 2)
    done("compact")
    db.create_table(data=FEW, mode="overwrite", **at)
    same(db.open_table(**at).count_rows(), ROWS)
    done("overwrite")
    db.drop_table(**at)
    same(table_id[-1] in tables(table_id[:-1]), False)
    done("drop")


def by_lance_ray(table_id: list[str], seconds: float) -> None:
    import lance_ray
    import ray

    at = {**PARAMETERS, "table_id": table_id}

    def slowly(batch: dict[str, np.ndarray]) -> pa.Table:
        time.sleep(seconds / BATCHES)
        return rows(batch["id"].tolist())

    if not ray.is_initialized():
        # Not another one of this machine.
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    lance_ray.write_lance(ray.data.range(ALL).map_batches(slowly, batch_size=ROWS), mode="create", **at)
    done("create")
    lance_ray.write_lance(ray.data.from_arrow(FEW), mode="append", **at)
    done("append")
    same(lance_ray.read_lance(**at).count(), ALL + ROWS)
    same(lance_ray.read_lance(filter="id = 1", columns=["id"], **at).count(), 2)
    done("read")
    lance_ray.compact_files(num_workers=1, **at)
    same(lance_ray.read_lance(**at).count(), ALL + ROWS)
    done("compact")
    lance_ray.write_lance(ray.data.from_arrow(FEW), mode="overwrite", **at)
    same(lance_ray.read_lance(**at).count(), ROWS)
    done("overwrite")
    remove(table_id)


def by_daft(table_id: list[str], seconds: float) -> None:
    import daft
    import daft_lance

    at = {**PARAMETERS, "table_id": table_id}

    @daft.func(return_dtype=daft.DataType.binary())
    def slowly(number: int) -> bytes:
        time.sleep(seconds / ALL)
        return blob(number)

    ids = daft.from_pydict({"id": list(range(ALL))})
    daft_lance.write_lance(ids.with_column("bytes", slowly(daft.col("id"))), mode="create", **at)
    done("create")
    daft_lance.write_lance(daft.from_arrow(FEW), mode="append", **at)
    done("append")
    same(daft_lance.read_lance(**at).count_rows(), ALL + ROWS)
    same(daft_lance.read_lance(**at).where("id = 1").count_rows(), 2)
    done("read")
    daft_lance.compact_files(**at)
    same(daft_lance.read_lance(**at).count_rows(), ALL + ROWS)
    done("compact")
    daft_lance.write_lance(daft.from_arrow(FEW), mode="overwrite", **at)
    same(daft_lance.read_lance(**at).count_rows(), ROWS)
    done("overwrite")
    remove(table_id)


def by_duckdb(table_id: list[str], seconds: float) -> None:
    """Tables that exist: the extension 1.5.5 creates and drops them by other names than those that it reads."""
    from pathlib import Path

    import duckdb
    import duckdb_extension_lance

    def slowly(number: int) -> bytes:
        time.sleep(seconds / ALL)
        return blob(number)

    connection = duckdb.connect()
    extension = next(Path(duckdb_extension_lance.__file__).parent.glob("extensions/*/lance.duckdb_extension"))
    connection.load_extension(str(extension))
    connection.create_function("slowly", slowly, ["BIGINT"], "BLOB")
    lance.write_dataset(FEW, namespace_client=catalog(), table_id=table_id)
    bearer = PROPERTIES["headers.authorization"].removeprefix("Bearer ")
    namespace = "$".join(table_id[:-1]) or "$"
    connection.execute(f"ATTACH '{namespace}' AS lake (TYPE LANCE, ENDPOINT '{PROPERTIES['uri']}', BEARER_TOKEN '{bearer}')")
    table = f"lake.main.{table_id[-1]}"
    connection.execute(f"INSERT INTO {table} SELECT range, slowly(range) FROM range({ALL})")
    done("append")
    same(connection.execute(f"SELECT count(*) FROM {table} WHERE id = 1").fetchall(), [(2,)])
    done("read")
    connection.execute(f"DELETE FROM {table} WHERE id >= 10")
    connection.execute(f"UPDATE {table} SET id = id + 1 WHERE id = 3")
    same(connection.execute(f"SELECT sum(id) FROM {table}").fetchall(), [(49,)])
    done("delete, update")
    remove(table_id)


CLIENTS = {
    "pylance": by_pylance,
    "lancedb": by_lancedb,
    "lance-ray": by_lance_ray,
    "daft": by_daft,
    "duckdb": by_duckdb,
    "geneva": by_geneva,
}
# A run that fails leaves its tables.
NAME = f"by_{CLIENT.replace('-', '_')}_{os.getpid()}"
CLIENTS[CLIENT]([NAME], 0)
CLIENTS[CLIENT](["team", NAME], SECONDS)
