"""LanceDB's Python client on a remote database, its asynchronous API, each of its operations."""

import asyncio
import warnings
from typing import Any

import lancedb
from lancedb.db import AsyncConnection
from lancedb.remote import ClientConfig
from lancedb.remote.header import StaticHeaderProvider
from lancedb.table import AsyncBranches, AsyncTable, AsyncTags
from remote import Cases, Remote, done, run
from remote_functions import functions
from remote_refused import of_connection, of_table, refusals
from remote_views import views
from remote_writes import writes
from report import DOCS, ENDPOINT, KEYS, Report, Watched, same, unseen

warnings.simplefilter("ignore", DeprecationWarning)
seen: dict[str, set[str]] = {"connection": set(), "table": set(), "tags": set(), "branches": set()}


def connect(key: str) -> Any:
    return lancedb.connect_async("db://dev", api_key=key, host_override=ENDPOINT)


def connect_by_token(token: str) -> Any:
    config = ClientConfig(header_provider=StaticHeaderProvider({"authorization": f"Bearer {token}"}))
    return lancedb.connect_async("db://dev", api_key="unknown", host_override=ENDPOINT, client_config=config)


async def get(table: Any, name: str) -> Any:
    return await getattr(table, name)()


def query(table: Any, *, vector: list[float] | None = None, text: str | None = None, row_id: bool = False) -> Any:
    started = table.query()
    if vector is not None:
        started = started.nearest_to(vector).column("vector").bypass_vector_index()
    if text is not None:
        started = started.nearest_to_text(text, columns=["text"])
    return (started.with_row_id() if row_id else started).limit(4)


def watch(what: str, subject: Any) -> Any:
    return Watched(subject, seen[what])


remote = Remote(
    report=Report("Python remote async", "lancedb"),
    connect=connect,
    connect_by_token=connect_by_token,
    get=get,
    query=query,
    watch=watch,
)

# Calls that the client refuses or handles without a request.
LOCAL_CONNECTION = {
    *("close", "drop_all_tables", "drop_database", "get_read_consistency_interval", "is_open"),
    "uri",
    # Uses Arrow Flight at a separate address.
    *("describe_query", "execute_query", "execute_query_async"),
}
LOCAL_TABLE = {
    *("close", "close_lsm_writers", "current_branch"),
    *("fetch_blob_ranges", "initial_storage_options", "is_open", "latest_storage_options", "name"),
    *("migrate_manifest_paths_v2", "optimize", "refresh_column", "set_unenforced_primary_key"),
    *("to_pandas", "uses_v2_manifest_paths", "search", "vector_search"),
}


async def main() -> None:
    db = watch("connection", await connect(KEYS["all"]))
    cases = Cases(remote)
    await run(remote, cases, db)
    table = watch("table", await db.open_table("docs"))

    async def everything() -> None:
        same((await table.to_arrow()).num_rows, (await done(table.count_rows())))

    await cases.case("query", "everything", everything)

    async def opened() -> None:
        same((await table.to_lance()).count_rows(), DOCS["rows"])

    await cases.case("describe", "a data set of it, read from where it lies", opened)
    branches = watch("branches", table.branches)
    await refusals(cases, [*of_connection(db), *of_table(table, branches)])
    await writes(remote, cases, db, lambda of, where, values: of.update(where=where, updates_sql=values))
    await functions(remote, cases, db)
    await views(remote, cases, db)

    async def replaced() -> None:
        await table.replace_field_metadata("id", {"unit": "none"})
        same((await table.schema()).field("id").metadata, {b"unit": b"none"})

    await cases.case("update_field_metadata", "in place of a column's metadata", replaced)

    async def methods() -> None:
        same(
            [
                *unseen(AsyncConnection, seen["connection"], LOCAL_CONNECTION),
                *unseen(AsyncTable, seen["table"], LOCAL_TABLE),
                *unseen(AsyncTags, seen["tags"], ()),
                *unseen(AsyncBranches, seen["branches"], ()),
            ],
            [],
        )

    await cases.case("methods", "each was asked, or asks no service", methods)


asyncio.run(main())
