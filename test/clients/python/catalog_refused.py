"""Operations that the service does not implement: the client must fail at once, and not with "table not found"."""

from typing import Any

import pyarrow as pa
from catalog import Catalog
from lance_namespace_urllib3_client import models as m
from report import fails


def rows() -> bytes:
    table = pa.table({"id": [1]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


VERSION = {"version": 8, "manifest_path": "8.manifest"}
COLUMN = {"column": "id", "index_type": "BTREE"}
VIEW = {"kind": "query", "source_query": "SELECT 1", "output_schema": ""}

# Name in the specification, path, id, fields.
REFUSED: list[tuple[str, str, list[str] | None, dict[str, Any]]] = [
    ("create_namespace", "namespace/create", ["new"], {}),
    ("drop_namespace", "namespace/drop", ["prod"], {}),
    ("create_table", "create", ["new"], {"body": rows()}),
    ("declare_table", "declare", ["new"], {}),
    ("register_table", "register", ["new"], {"location": "new.lance"}),
    ("deregister_table", "deregister", ["docs"], {}),
    ("drop_table", "drop", ["docs"], {}),
    ("rename_table", "rename", ["docs"], {"new_table_name": "other"}),
    ("restore_table", "restore", ["docs"], {"version": 1}),
    ("insert_into_table", "insert", ["docs"], {"body": rows()}),
    ("merge_insert_into_table", "merge_insert", ["docs"], {"on": ["id"], "body": rows()}),
    ("update_table", "update", ["docs"], {"updates": [["id", "1"]]}),
    ("delete_from_table", "delete", ["docs"], {"predicate": "id = 1"}),
    (
        "alter_table_add_columns",
        "add_columns",
        ["docs"],
        {"new_columns": [m.AddColumnsEntry(name="new", expression="1")]},
    ),
    (
        "alter_table_alter_columns",
        "alter_columns",
        ["docs"],
        {"alterations": [m.AlterColumnsEntry(path="id", rename="new")]},
    ),
    ("alter_table_backfill_columns", "backfill_column", ["docs"], {"column": "id"}),
    ("alter_table_drop_columns", "drop_columns", ["docs"], {"columns": ["id"]}),
    (
        "update_field_metadata",
        "update_field_metadata",
        ["docs"],
        {"updates": [m.UpdateFieldMetadataEntry(path="id", metadata={"a": "b"})]},
    ),
    ("update_table_schema_metadata", "schema_metadata/update", ["docs"], {"metadata": {"a": "b"}}),
    ("create_table_index", "create_index", ["docs"], COLUMN),
    ("create_table_scalar_index", "create_scalar_index", ["docs"], COLUMN),
    ("drop_table_index", "index/{index_name}/drop", ["docs"], {"index_name": "id_idx"}),
    ("create_table_branch", "branches/create", ["docs"], {"name": "new"}),
    ("delete_table_branch", "branches/delete", ["docs"], {"name": "experiment"}),
    ("create_table_version", "version/create", ["docs"], VERSION),
    (
        "batch_delete_table_versions",
        "version/delete",
        ["docs"],
        {"ranges": [m.VersionRange(start_version=1, end_version=2)]},
    ),
    (
        "batch_create_table_versions",
        "/table/version/batch-create",
        None,
        {"entries": [m.CreateTableVersionEntry(id=["docs"], **VERSION)]},
    ),
    ("batch_commit_tables", "/table/batch-commit", None, {"operations": []}),
    ("describe_transaction", "/transaction/{id}/describe", ["1"], {}),
    (
        "alter_transaction",
        "/transaction/{id}/alter",
        ["1"],
        {"actions": [m.AlterTransactionAction(set_status_action=m.AlterTransactionSetStatus(status="SUCCEEDED"))]},
    ),
    ("create_materialized_view", "/materialized_view/{id}/create", ["new"], VIEW),
    ("refresh_materialized_view", "/materialized_view/{id}/refresh", ["docs"], {}),
]


def refusals(catalog: Catalog, local: set[str]) -> None:
    for name, operation, of, fields in REFUSED:
        if name in local:
            continue

        @catalog.report.case(operation, name)
        def _() -> None:
            fails(catalog.faults.unsupported, lambda: catalog.call(name, of, **fields))
