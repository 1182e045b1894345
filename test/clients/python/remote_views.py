"""LanceDB's Python client on materialized views: what it creates, opens, refreshes, lists and drops."""

from typing import Any

import lance
import lance_namespace
import pyarrow as pa
from lancedb.remote.errors import HttpError
from remote import Cases, Remote, done, fails
from report import ENDPOINT, KEYS, same


async def views(remote: Remote, cases: Cases, db: Any) -> None:
    path = "/materialized_view/{id}/"
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "text": ["a", "b", "c"]})
    source = await done(db.create_table("viewed", rows))
    opened: list[Any] = []

    async def created() -> None:
        select = {"id": "id", "double": "id * 2"}
        view = await done(db.create_materialized_view("doubles", "viewed", select=select, where="id > 1"))
        opened.append(view)
        same(await done(view.table.count_rows("double = id * 2")), 2)
        job = await done(db.create_materialized_view_async("first", "viewed", limit=1))
        await done(job.wait())
        same(await done((await done(db.open_table("first"))).count_rows()), 1)
        empty = await done(db.create_materialized_view("empty", "viewed", with_no_data=True))
        same(await done(empty.table.count_rows()), 0)

    async def not_created() -> None:
        await fails(HttpError, lambda: db.create_materialized_view("of_old", "docs"), "no stable row ids")
        await fails(HttpError, lambda: db.create_materialized_view("of_none", "no_such_table"), "does not exist")
        stranger = await done(remote.connect(KEYS["docsStats"]))
        same((await fails(HttpError, lambda: stranger.create_materialized_view("a", "viewed"))).status_code, 403)

    async def described() -> None:
        view = await done(db.open_materialized_view("doubles"))
        definition = await done(view.definition() if callable(view.definition) else view.definition)
        same("id * 2" in definition.query, True)
        await fails(HttpError, lambda: db.open_materialized_view("docs"), "not a materialized view")

    async def refreshed() -> None:
        view = await done(db.open_materialized_view("doubles"))
        await done(source.add(pa.table({"id": pa.array([4], pa.int64()), "text": ["d"]})))
        result = await done(view.refresh())
        same((result.mode, result.rows_written), ("incremental", 1))
        same((await done(view.refresh())).mode, "no_op")
        job = await done(view.refresh_async(full=True))
        same((await done(job.wait())).mode, "rebuild")
        same(await done(view.table.count_rows()), 3)
        # Who reads files finds the same rows.
        catalog = lance_namespace.connect("rest", {"uri": ENDPOINT, "headers.authorization": f"Bearer {KEYS['all']}"})
        found = lance.dataset(namespace_client=catalog, table_id=["doubles"]).to_table(["id", "double"])
        same(dict(zip(found["id"].to_pylist(), found["double"].to_pylist())), {2: 4, 3: 6, 4: 8})
        await fails(HttpError, lambda: view.table.add(pa.table({"id": [1]})), "materialized view")

    async def listed() -> None:
        same(await done(db.list_materialized_views()), ["doubles", "empty", "first"])

    async def dropped() -> None:
        await done(db.drop_materialized_view("doubles"))
        for name in ("first", "empty"):
            await done((await done(db.drop_materialized_view_async(name))).wait())
        same(await done(db.list_materialized_views()), [])
        await fails(HttpError, lambda: db.drop_materialized_view("docs"), "not a materialized view")
        await done(db.drop_table("viewed"))

    await cases.case(path + "create", "with rows, by a job, without rows", created)
    await cases.case(path + "create", "of a table without stable row ids, of none, by a key without the scope", not_created)
    await cases.case(path + "describe", "a view; a table that is none", described)
    await cases.case(path + "refresh", "new rows, nothing new, all anew; a row that is added to it", refreshed)
    await cases.case("namespace/materialized_view/list", "of the root", listed)
    await cases.case(path + "drop", "a view, by a job; a table that is none", dropped)
