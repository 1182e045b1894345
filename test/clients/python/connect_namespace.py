"""LanceDB's Python client on a REST namespace: the service is its catalog and answers its scans and full-text queries; what
else a table offers, vector searches included, the client reads from the store itself."""

from typing import Any

import lancedb
from lance_namespace import errors
from lancedb.namespace import LanceNamespaceDBConnection
from report import AWKWARD, DOCS, ENDPOINT, KEYS, NESTED, Report, Watched, fails, same, unseen

report = Report("Python REST namespace", "lancedb")
case = report.case
seen: set[str] = set()


def connect(key: str) -> Any:
    properties = {"uri": ENDPOINT, "headers.authorization": f"Bearer {key}"}
    return lancedb.connect_namespace("rest", properties, namespace_client_pushdown_operations=["QueryTable"])


db = Watched(connect(KEYS["all"]), seen)


@case("describe", "an opened table, read from where it lies, also in a namespace")
def _() -> None:
    table = db.open_table("docs")
    same((table.count_rows(), table.version), (DOCS["rows"], DOCS["version"]))
    same(db.open_table(NESTED["name"], namespace_path=NESTED["namespace"]).count_rows(), NESTED["rows"])


@case("describe", "a table whose id has blanks and signs")
def _() -> None:
    same(db.open_table(AWKWARD["name"], namespace_path=AWKWARD["namespace"]).count_rows(), AWKWARD["rows"])


@case("describe", "a table that is not there")
def _() -> None:
    fails(errors.TableNotFoundError, lambda: db.open_table("nope"))


@case("describe", "an unknown key, one that does not permit it")
def _() -> None:
    fails(RuntimeError, lambda: connect("unknown").open_table("docs"), "Unauthenticated")
    fails(RuntimeError, lambda: connect(KEYS["docsStats"]).open_table("plain"), "Permission denied")


@case("query", "columns of a filter")
def _() -> None:
    answer = db.open_table("docs").search().where("id >= 10 AND id < 13").select(["id", "text"]).to_arrow()
    same((answer.column_names, sorted(answer["id"].to_pylist())), (["id", "text"], [10, 11, 12]))


@case("query", "a text")
def _() -> None:
    found = db.open_table("docs").search("puppy", query_type="fts", fts_columns="text").limit(4)
    same(found.select(["text", "_score"]).to_arrow().num_rows, 4)


@case("query", "no SQL, no such column")
def _() -> None:
    table = db.open_table("docs")
    fails(RuntimeError, lambda: table.search().where("id >").to_arrow(), "Invalid input")
    fails(RuntimeError, lambda: table.search().where("nope = 1").to_arrow(), "column not found")


@case("namespace/table/list", "of the root, of a namespace, in pages; of one that is not there")
def _() -> None:
    same(db.list_tables().tables, ["docs", "plain"])
    same(db.list_tables(namespace_path=NESTED["namespace"]).tables, [NESTED["name"]])
    first = db.list_tables(limit=1)
    same([*first.tables, *db.list_tables(limit=1, page_token=first.page_token).tables], ["docs", "plain"])
    same(list(db.table_names()), ["docs", "plain"])
    fails(RuntimeError, lambda: db.list_tables(namespace_path=["nope"]), "Namespace not found")


@case("namespace/list", "of the root, of a namespace; of one that is not there")
def _() -> None:
    same(db.list_namespaces().namespaces, ["prod"])
    same(db.list_namespaces(namespace_path=["prod"]).namespaces, ["vectors"])
    fails(RuntimeError, lambda: db.list_namespaces(namespace_path=["nope"]), "Namespace not found")


@case("namespace/describe", "one; one that is not there")
def _() -> None:
    same(db.describe_namespace(["prod"]).properties or {}, {})
    fails(RuntimeError, lambda: db.describe_namespace(["nope"]), "Namespace not found")


@case("declare", "a new table, at the root and in a namespace; a name that is taken")
def _() -> None:
    for at in ([], NESTED["namespace"]):
        made = db.create_table("new", [{"id": 1}], namespace_path=at)
        made.add([{"id": 2}])
        same(db.open_table("new", namespace_path=at).count_rows(), 2)
        fails(ValueError, lambda: db.create_table("new", [{"id": 1}], namespace_path=at), "already exists")
        db.drop_table("new", namespace_path=at)


REFUSED = [
    ("rename", "rename_table", lambda: db.rename_table("docs", "other")),
]
for operation, name, call in REFUSED:

    @case(operation, name)
    def _() -> None:
        fails(RuntimeError, call, "Unsupported")


@case("namespace/create", "one, the same again")
def _() -> None:
    db.create_namespace(["fresh"])
    fails(RuntimeError, lambda: db.create_namespace(["fresh"]), "already exists")


@case("namespace/drop", "one, one with a namespace in it, one that is not there")
def _() -> None:
    db.drop_namespace(["fresh"])
    fails(errors.NamespaceNotEmptyError, lambda: db.drop_namespace(["prod"]), "not empty")
    fails(RuntimeError, lambda: db.drop_namespace(["fresh"]), "Namespace not found")


@case("drop", "a table, once more, all that are left")
def _() -> None:
    db.drop_table("plain")
    fails(ValueError, lambda: db.drop_table("plain"), "not found")
    same(list(db.table_names()), ["docs"])
    db.drop_all_tables()
    same(list(db.table_names()), [])


# Calls that the client refuses or handles without a request.
LOCAL = {
    *("alter_secret", "cancel_job", "create_function", "create_function_async", "create_materialized_view"),
    *("create_materialized_view_async", "create_secret", "create_view", "describe_query", "describe_secret"),
    *("describe_view", "drop_database", "drop_function", "drop_function_async", "drop_materialized_view"),
    *("drop_materialized_view_async", "drop_secret", "drop_table_async", "drop_view", "drop_view_async"),
    *("execute_query", "execute_query_async", "get_function", "list_functions", "list_jobs"),
    *("list_materialized_views", "list_secrets", "list_views", "namespace_client", "open_job"),
    *("open_materialized_view", "pause_job", "resume_job", "serialize", "uri"),
    # Broken in the client: it uses a namespace client that it does not create.
    *("namespace_exists", "table_exists"),
}


@case("methods", "each was asked, or asks no service")
def _() -> None:
    same(unseen(LanceNamespaceDBConnection, seen, LOCAL), [])
