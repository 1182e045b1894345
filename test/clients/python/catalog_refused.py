"""Operations that the service does not implement: the client must fail at once, and not with "table not found"."""

from typing import Any

from catalog import Catalog
from lance_namespace_urllib3_client import models as m
from report import fails


VERSION = {"version": 8, "manifest_path": "8.manifest"}
VIEW = {"kind": "query", "source_query": "SELECT 1", "output_schema": ""}

# Name in the specification, path, id, fields.
REFUSED: list[tuple[str, str, list[str] | None, dict[str, Any]]] = [
    ("register_table", "register", ["new"], {"location": "new.lance"}),
    ("deregister_table", "deregister", ["docs"], {}),
    ("rename_table", "rename", ["docs"], {"new_table_name": "other"}),
    ("update_table_schema_metadata", "schema_metadata/update", ["docs"], {"metadata": {"a": "b"}}),
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
