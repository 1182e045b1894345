"""LanceDB's Python client on a remote database, its synchronous API, each of its operations."""

import asyncio
import warnings
from typing import Any

import lancedb
from lancedb.remote import ClientConfig
from lancedb.remote.db import RemoteDBConnection
from lancedb.remote.header import StaticHeaderProvider
from lancedb.remote.table import RemoteTable
from lancedb.table import Branches, Tags
from remote import Cases, Remote, run
from remote_functions import functions
from remote_refused import of_connection, of_table, refusals
from remote_views import views
from remote_writes import writes
from report import ENDPOINT, KEYS, Report, Watched, same, unseen

warnings.simplefilter("ignore", DeprecationWarning)
seen: dict[str, set[str]] = {"connection": set(), "table": set(), "tags": set(), "branches": set()}


def connect(key: str) -> Any:
    return lancedb.connect("db://dev", api_key=key, host_override=ENDPOINT)


def connect_by_token(token: str) -> Any:
    config = ClientConfig(header_provider=StaticHeaderProvider({"authorization": f"Bearer {token}"}))
    return lancedb.connect("db://dev", api_key="unknown", host_override=ENDPOINT, client_config=config)


async def get(table: Any, name: str) -> Any:
    return getattr(table, name)


def query(table: Any, *, vector: list[float] | None = None, text: str | None = None, row_id: bool = False) -> Any:
    if vector is not None:
        return table.search(vector, vector_column_name="vector").bypass_vector_index().limit(4)
    if text is not None:
        return table.search(text, query_type="fts", fts_columns="text").limit(4)
    return table.search().limit(4).with_row_id(row_id)


def watch(what: str, subject: Any) -> Any:
    return Watched(subject, seen[what])


remote = Remote(
    report=Report("Python remote", "lancedb"),
    connect=connect,
    connect_by_token=connect_by_token,
    get=get,
    query=query,
    watch=watch,
)

# Calls that the client refuses or handles without a request, and those of other kinds of connection.
LOCAL_CONNECTION = {
    *("close", "create_function", "drop_all_tables", "drop_database"),
    *("namespace_exists", "serialize", "table_exists", "uri"),
    # Uses Arrow Flight at a separate address.
    *("describe_query", "execute_query", "execute_query_async"),
}
LOCAL_TABLE = {
    *("cleanup_old_versions", "close_lsm_writers", "compact_files", "current_branch"),
    *("fetch_blob_ranges", "migrate_v2_manifest_paths", "name", "optimize"),
    *("refresh_column", "set_unenforced_primary_key", "to_arrow", "to_lance", "to_pandas", "to_polars"),
    "uses_v2_manifest_paths",
}


async def main() -> None:
    db = watch("connection", connect(KEYS["all"]))
    cases = Cases(remote)
    await run(remote, cases, db)
    table = watch("table", db.open_table("docs"))
    await refusals(cases, [*of_connection(db), *of_table(table, watch("branches", table.branches))])
    await writes(remote, cases, db, lambda of, where, values: of.update(where=where, values_sql=values))
    await functions(remote, cases, db)
    await views(remote, cases, db)

    async def older_names() -> None:
        plain = watch("table", db.open_table("plain"))
        plain.create_scalar_index("id")
        plain.create_fts_index("text")
        same(sorted(index.name for index in plain.list_indices()), ["id_idx", "text_idx"])

    await cases.case("create_index", "by methods of older releases", older_names)

    async def methods() -> None:
        same(
            [
                *unseen(RemoteDBConnection, seen["connection"], LOCAL_CONNECTION),
                *unseen(RemoteTable, seen["table"], LOCAL_TABLE),
                *unseen(Tags, seen["tags"], ()),
                *unseen(Branches, seen["branches"], ()),
            ],
            [],
        )

    await cases.case("methods", "each was asked, or asks no service", methods)


asyncio.run(main())
