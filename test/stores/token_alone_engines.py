"""Engines that read and write files themselves, with the address of the service and a token: lance-ray, Daft and DuckDB.

Prints one line for each step that was done; an exception ends the program.
"""

import os
import sys

ENDPOINT, TOKEN, ENGINE = sys.argv[1], sys.argv[2], sys.argv[3]
PROPERTIES = {"uri": ENDPOINT, "headers.authorization": f"Bearer {TOKEN}"}

# Nothing of a cloud may come from the machine.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]


def at(*parts: str) -> dict[str, object]:
    return {"namespace_impl": "rest", "namespace_properties": PROPERTIES, "table_id": list(parts)}


def drop(*parts: str) -> None:
    import lance_namespace

    lance_namespace.connect("rest", PROPERTIES).drop_table(lance_namespace.DropTableRequest(id=list(parts)))
    done("drop")


def same(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def done(step: str) -> None:
    print(f"done: {step}", flush=True)


def by_lance_ray() -> None:
    import lance_ray
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    for table_id in (["by_ray"], ["team", "by_ray"]):
        lance_ray.write_lance(ray.data.range(200), mode="create", **at(*table_id))
        done("create")
        lance_ray.write_lance(ray.data.range(100), mode="append", **at(*table_id))
        done("append")
        same(lance_ray.read_lance(**at(*table_id)).count(), 300)
        same(lance_ray.read_lance(filter="id < 10", columns=["id"], **at(*table_id)).count(), 20)
        done("read")
        lance_ray.compact_files(num_workers=1, **at(*table_id))
        same(lance_ray.read_lance(**at(*table_id)).count(), 300)
        done("compact")
        lance_ray.write_lance(ray.data.range(5), mode="overwrite", **at(*table_id))
        same(lance_ray.read_lance(**at(*table_id)).count(), 5)
        done("overwrite")
        drop(*table_id)
    ray.shutdown()


def by_daft() -> None:
    import daft
    import daft_lance

    for table_id in (["by_daft"], ["team", "by_daft"]):
        daft_lance.write_lance(daft.from_pydict({"id": list(range(200))}), mode="create", **at(*table_id))
        done("create")
        daft_lance.write_lance(daft.from_pydict({"id": list(range(100))}), mode="append", **at(*table_id))
        done("append")
        same(daft_lance.read_lance(**at(*table_id)).count_rows(), 300)
        same(daft_lance.read_lance(**at(*table_id)).where("id < 10").count_rows(), 20)
        done("read")
        daft_lance.compact_files(**at(*table_id))
        same(daft_lance.read_lance(**at(*table_id)).count_rows(), 300)
        done("compact")
        daft_lance.write_lance(daft.from_pydict({"id": list(range(5))}), mode="overwrite", **at(*table_id))
        same(daft_lance.read_lance(**at(*table_id)).count_rows(), 5)
        done("overwrite")
        drop(*table_id)


def by_duckdb() -> None:
    """Tables that exist: the extension 1.5.5 creates and drops them by other names than those that it reads."""
    from pathlib import Path

    import duckdb
    import duckdb_extension_lance
    import lance
    import lance_namespace
    import pyarrow as pa

    connection = duckdb.connect()
    extension = next(Path(duckdb_extension_lance.__file__).parent.glob("extensions/*/lance.duckdb_extension"))
    connection.load_extension(str(extension))
    catalog = lance_namespace.connect("rest", PROPERTIES)
    for lake, namespace, table_id in (("root", "$", ["by_duckdb"]), ("team", "team", ["team", "in_team"])):
        table = f"{lake}.main.{table_id[-1]}"
        rows = pa.table({"id": pa.array(range(200), pa.int64())})
        lance.write_dataset(rows, namespace_client=catalog, table_id=table_id)
        connection.execute(f"ATTACH '{namespace}' AS {lake} (TYPE LANCE, ENDPOINT '{ENDPOINT}', BEARER_TOKEN '{TOKEN}')")
        done("attach")
        connection.execute(f"INSERT INTO {table} SELECT range FROM range(100)")
        done("append")
        same(connection.execute(f"SELECT count(*) FROM {table} WHERE id < 10").fetchall(), [(20,)])
        done("read")
        connection.execute(f"DELETE FROM {table} WHERE id >= 10")
        connection.execute(f"UPDATE {table} SET id = id + 1 WHERE id = 3")
        same(connection.execute(f"SELECT sum(id) FROM {table}").fetchall(), [(92,)])
        done("delete and update")
        drop(*table_id)


{"lance-ray": by_lance_ray, "daft": by_daft, "duckdb": by_duckdb}[ENGINE]()
