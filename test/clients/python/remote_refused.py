"""Operations that the service does not implement, with LanceDB's Python client: it must fail at once."""

from collections.abc import Callable
from typing import Any

import lancedb
from lancedb.remote.errors import HttpError
from remote import Cases, fails

Refused = list[tuple[str, str, Callable[[], Any]]]
SECRET = "/secret/{name}/"
VIEW = "/view/{name}/"


def of_connection(db: Any) -> Refused:
    return [
        ("clone", "clone_table", lambda: db.clone_table("new", "file:///nowhere")),
        ("rename", "rename_table", lambda: db.rename_table("docs", "other")),
        (SECRET + "create", "create_secret", lambda: db.create_secret("a", "b")),
        (SECRET + "alter", "alter_secret", lambda: db.alter_secret("a", "b")),
        (SECRET + "describe", "describe_secret", lambda: db.describe_secret("a")),
        (SECRET + "drop", "drop_secret", lambda: db.drop_secret("a")),
        ("namespace/secret/list", "list_secrets", lambda: db.list_secrets()),
        (VIEW + "create", "create_view", lambda: db.create_view("a", "SELECT 1")),
        (VIEW + "describe", "describe_view", lambda: db.describe_view("a")),
        (VIEW + "drop", "drop_view", lambda: db.drop_view("a")),
        (VIEW + "drop", "drop_view_async", lambda: db.drop_view_async("a")),
        ("namespace/view/list", "list_views", lambda: db.list_views()),
    ]


def of_table(table: Any, branches: Any) -> Refused:
    return [
        ("index/{index_name}/prewarm", "prewarm_index", lambda: table.prewarm_index("id_idx")),
        ("page_cache/prewarm", "prewarm_data", lambda: table.prewarm_data(["id"])),
        ("branches/diff", "branches.diff", lambda: branches.diff("experiment")),
        ("branches/cherry_pick", "branches.cherry_pick", lambda: branches.cherry_pick("experiment")),
        (
            "set_lsm_write_spec",
            "set_lsm_write_spec",
            lambda: table.set_lsm_write_spec(lancedb._lancedb.LsmWriteSpec.bucket("id", 1)),
        ),
        ("unset_lsm_write_spec", "unset_lsm_write_spec", lambda: table.unset_lsm_write_spec()),
        ("get_lsm_stats", "get_lsm_stats", lambda: table.get_lsm_stats()),
        ("flush_lsm", "flush_lsm", lambda: table.flush_lsm()),
        ("flush_lsm", "checkpoint_lsm", lambda: table.checkpoint_lsm()),
        ("compact_lsm", "compact_lsm", lambda: table.compact_lsm()),
    ]


async def refusals(cases: Cases, refused: Refused) -> None:
    for operation, name, call in refused:

        async def check() -> None:
            await fails(HttpError, call, '"code":0')

        await cases.case(operation, name, check)
