"""The writes of the catalog's specification, the same for each client: a table from its creation to its end."""

from collections.abc import Callable
from time import sleep
from typing import Any

import pyarrow as pa
from catalog import Catalog
from lance_namespace_urllib3_client import models as m
from report import fails, holds, same

VECTOR = pa.list_(pa.float32(), 4)


def table(ids: list[int], text: str = "first") -> pa.Table:
    vectors = pa.array([[float(number), 0.0, 0.0, 1.0] for number in ids], VECTOR)
    return pa.table({"id": pa.array(ids, pa.int64()), "text": [f"{text} {number}" for number in ids], "vector": vectors})


def stream(rows: pa.Table, compression: str | None = None) -> bytes:
    """An Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


MADE = ["made"]


def writes(catalog: Catalog, local: set[str]) -> None:
    case, faults, call = catalog.report.case, catalog.faults, catalog.call

    def count(predicate: str | None = None, of: list[str] = MADE, **more: Any) -> int:
        answer = call("count_table_rows", of, **({} if predicate is None else {"predicate": predicate}), **more)
        # One client wraps the number.
        return getattr(answer, "count", answer)

    def insert(rows: pa.Table, **fields: Any) -> Any:
        return call("insert_into_table", MADE, body=stream(rows), **fields)

    @case("create", "with rows, with a schema alone; overwrite, exist_ok")
    def _() -> None:
        same(call("create_table", MADE, body=stream(table([1, 2]))).version, 1)
        same(count(), 2)
        call("create_table", MADE, body=stream(table([7])), mode="exist_ok")
        same(count(), 2)
        call("create_table", MADE, body=stream(table([1, 2, 3])), mode="overwrite")
        same(count(), 3)
        call("create_table", ["bare"], body=stream(table([1]).slice(0, 0)))
        same(count(of=["bare"]), 0)

    @case("create", "a name that is taken, a namespace that is not there, bytes that are no rows")
    def _() -> None:
        fails(faults.table_exists, lambda: call("create_table", MADE, body=stream(table([1]))), "already exists")
        fails(faults.no_namespace, lambda: call("create_table", ["nope", "made"], body=stream(table([1]))))
        fails(faults.bad_input, lambda: call("create_table", ["other"], body=b"no Arrow"))

    @case("declare", "one, described before it is written; a name that is taken, a namespace that is not there")
    def _() -> None:
        declared = call("declare_table", ["told"])
        same(call("describe_table", ["told"], check_declared=True).is_only_declared, True)
        same(call("describe_table", ["told"]).location, declared.location)
        fails(faults.table_exists, lambda: call("declare_table", ["told"]), "already exists")
        fails(faults.no_namespace, lambda: call("declare_table", ["nope", "told"]))
        call("create_table", ["told"], body=stream(table([1])))
        same(call("describe_table", ["told"]).location, declared.location)
        call("drop_table", ["told"])

    @case("namespace/create", "one, the same again, with a table in it")
    def _() -> None:
        call("create_namespace", ["fresh"], properties={"owner": "tests"})
        same(call("describe_namespace", ["fresh"]).properties, {"owner": "tests"})
        fails(faults.namespace_exists, lambda: call("create_namespace", ["fresh"]))
        call("create_namespace", ["fresh"], mode="exist_ok")
        call("create_table", ["fresh", "inner"], body=stream(table([1])))
        same(count(of=["fresh", "inner"]), 1)

    @case("namespace/drop", "one with a table, one without, one that is not there")
    def _() -> None:
        fails(faults.namespace_not_empty, lambda: call("drop_namespace", ["fresh"]))
        call("drop_table", ["fresh", "inner"])
        call("drop_namespace", ["fresh"])
        fails(faults.no_namespace, lambda: call("drop_namespace", ["fresh"]))
        call("drop_namespace", ["fresh"], mode="skip")

    for compression in (None, "lz4", "zstd"):

        @case("insert", f"rows of a stream with compression {compression}")
        def _() -> None:
            before = count()
            body = stream(table([10, 11], f"{compression}"), compression)
            answer = call("insert_into_table", MADE, body=body)
            same((count(), count(f"text LIKE '{compression}%'")), (before + 2, 2))
            holds(answer.version > 2, str(answer))

    @case("insert", "in place of all rows; on a branch")
    def _() -> None:
        insert(table([1, 2, 3, 4]), mode="overwrite")
        same(count(), 4)

    @case("insert", "another column, a vector of another length, a table that is not there")
    def _() -> None:
        fails(faults.bad_rows, lambda: insert(table([5]).append_column("nope", pa.array([1]))), "nope")
        short = pa.table({"id": [1], "vector": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2))})
        fails(faults.bad_rows, lambda: insert(short))
        fails(faults.no_table, lambda: call("insert_into_table", ["nope"], body=stream(table([1]))))
        same(count(), 4)

    @case("update", "some rows by an expression; no SQL, no such column")
    def _() -> None:
        answer = call("update_table", MADE, predicate="id <= 2", updates=[["text", "concat('changed ', text)"]])
        same((answer.updated_rows, count("text LIKE 'changed%'")), (2, 2))
        fails(faults.bad_input, lambda: call("update_table", MADE, predicate="id >", updates=[["id", "1"]]))
        fails(faults.no_column, lambda: call("update_table", MADE, predicate="nope = 1", updates=[["id", "1"]]))
        fails(faults.no_column, lambda: call("update_table", MADE, updates=[["nope", "1"]]))

    def merge(rows: pa.Table, on: list[str], **fields: Any) -> Any:
        answer = call("merge_insert_into_table", MADE, body=stream(rows), on=on, **fields)
        return answer.num_updated_rows, answer.num_inserted_rows, answer.num_deleted_rows

    @case("merge_insert", "rows that are there and one that is not; by two columns, with rows that the source lacks")
    def _() -> None:
        all_new = {"when_not_matched_insert_all": True}
        same(merge(table([4, 5], "merged"), ["id"], when_matched_update_all=True, **all_new), (1, 1, 0))
        same(count("text LIKE 'merged%'"), 2)
        gone = {"when_not_matched_by_source_delete": True, "when_not_matched_by_source_delete_filt": "id = 1"}
        same(merge(table([6]), ["id", "text"], **all_new, **gone), (0, 1, 1))

    @case("merge_insert", "no such column, no SQL, nothing to do")
    def _() -> None:
        fails(faults.no_column, lambda: merge(table([1]), ["nope"], when_not_matched_insert_all=True))
        bad = {"when_matched_update_all": True, "when_matched_update_all_filt": "target.id >"}
        fails(faults.bad_input, lambda: merge(table([1]), ["id"], **bad))
        fails(faults.bad_input, lambda: merge(table([1]), ["id"]))

    @case("delete", "some rows; no SQL, no such column")
    def _() -> None:
        call("delete_from_table", MADE, predicate="id = 6")
        same(count("id = 6"), 0)
        fails(faults.bad_input, lambda: call("delete_from_table", MADE, predicate="id >"))
        fails(faults.no_column, lambda: call("delete_from_table", MADE, predicate="nope = 1"))

    def names() -> list[str]:
        return sorted(index.index_name for index in call("list_table_indices", MADE).indexes)

    def index(operation: str, address: str, column: str, kind: str, **fields: Any) -> Callable[[], None]:
        def check() -> None:
            call(operation, MADE, column=column, index_type=kind, **fields)
            holds(fields.get("name", f"{column}_idx") in names(), str(names()))

        case(address, f"{kind} of {column}")(check)
        return check

    index("create_table_index", "create_index", "vector", "IVF_FLAT", num_partitions=1, distance_type="l2")
    index("create_table_index", "create_index", "text", "FTS")
    index("create_table_scalar_index", "create_scalar_index", "id", "BTREE")
    index("create_table_scalar_index", "create_scalar_index", "text", "BITMAP", name="words")

    @case("create_index", "no such column, a type that is not known or that the column cannot have")
    def _() -> None:
        def create(column: str, kind: str) -> Any:
            return call("create_table_index", MADE, column=column, index_type=kind)

        fails(faults.no_column, lambda: create("nope", "BTREE"))
        fails(faults.unsupported, lambda: create("id", "MAGIC"))
        fails(faults.bad_rows, lambda: create("vector", "BTREE"))

    @case("index/{index_name}/drop", "one; one that is not there")
    def _() -> None:
        call("drop_table_index", MADE, index_name="words")
        same(names(), ["id_idx", "text_idx", "vector_idx"])
        fails(faults.no_index, lambda: call("drop_table_index", MADE, index_name="words"))

    @case("add_columns", "by an expression; one that is there, no SQL")
    def _() -> None:
        def add(expression: str) -> Any:
            entry = m.AddColumnsEntry(name="twice", expression=expression)
            return call("alter_table_add_columns", MADE, new_columns=[entry])

        holds(add("id * 2").version > 1, "no version")
        same(count("twice = 4"), 1)
        fails(faults.bad_rows, lambda: add("1"))
        fails(faults.bad_input, lambda: add("id *"))

    @case("backfill_column", "a computed column; one that is not")
    def _() -> None:
        entry = m.AddColumnsEntry(name="triple", computed="id * 3")
        call("alter_table_add_columns", MADE, new_columns=[entry])
        holds(call("alter_table_backfill_columns", MADE, column="triple").job_id != "", "no job")
        for _ in range(1800):
            if count("triple is null") == 0:
                break
            sleep(0.1)
        same(count("triple = id * 3"), count("true"))
        fails(faults.bad_rows, lambda: call("alter_table_backfill_columns", MADE, column="id"))
        call("alter_table_drop_columns", MADE, columns=["triple"])

    @case("alter_columns", "another name; no such column")
    def _() -> None:
        def rename(path: str, name: str) -> Any:
            entry = m.AlterColumnsEntry(path=path, rename=name)
            return call("alter_table_alter_columns", MADE, alterations=[entry])

        rename("twice", "double")
        same(count("double = 4"), 1)
        fails(faults.no_column, lambda: rename("nope", "x"))

    if "update_field_metadata" not in local:

        @case("update_field_metadata", "of a column; no such column")
        def _() -> None:
            def update(path: str) -> Any:
                entry = m.UpdateFieldMetadataEntry(path=path, metadata={"unit": "none"})
                return call("update_field_metadata", MADE, updates=[entry])

            holds(update("double").version > 1, "no version")
            fails(faults.no_column, lambda: update("nope"))

    @case("drop_columns", "one; one that is not there")
    def _() -> None:
        call("alter_table_drop_columns", MADE, columns=["double"])
        fails(faults.no_column, lambda: call("alter_table_drop_columns", MADE, columns=["double"]))

    @case("branches/create", "one with rows of its own; the same again")
    def _() -> None:
        call("create_table_branch", MADE, name="side")
        insert(table([9]), branch="side")
        side = call("list_table_branches", MADE).branches
        same(list(side), ["side"])
        fails(faults.branch_exists, lambda: call("create_table_branch", MADE, name="side"))

    @case("branches/delete", "one; one that is not there")
    def _() -> None:
        call("delete_table_branch", MADE, name="side")
        fails(faults.no_branch, lambda: call("delete_table_branch", MADE, name="side"))

    @case("restore", "an old version; one that is not there")
    def _() -> None:
        call("restore_table", MADE, version=1)
        same(count(), 2)
        fails(faults.no_version, lambda: call("restore_table", MADE, version=999))

    @case("drop", "tables; one that is not there")
    def _() -> None:
        call("drop_table", MADE)
        call("drop_table", ["bare"])
        same(call("list_tables", []).tables, ["docs", "plain"])
        fails(faults.no_table, lambda: call("drop_table", MADE))
