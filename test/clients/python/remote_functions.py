"""LanceDB's Python client on Functions: what it registers, describes, lists and drops."""

from typing import Any

import pyarrow as pa
from lancedb import EnvVarSecret, col
from lancedb.functions import udf
from lancedb.remote.errors import HttpError
from remote import Cases, Remote, done, fails
from report import KEYS, holds, same


@udf(pip=["numpy==2.3.1"])
def double(x: int) -> int:
    return x * 2


@udf
def lengths(words: list[str]) -> list[int]:
    return [len(word) for word in words]


CREATE = "/function/{id}/create"


async def functions(remote: Remote, cases: Cases, db: Any) -> None:
    made: list[Any] = []

    async def created() -> None:
        job = await done(db.create_function_async(double))
        made.append(await done(job.wait()))
        same((made[0].name, made[0].version, made[0].namespace_path), ("double", "1", ()))
        same((made[0].signature.inputs[0].arrow_type, made[0].disabled), ("int64", False))
        secret = EnvVarSecret("hub", "TOKEN", secret_namespace_path=["team"])
        job = await done(db.create_function_async(lengths, namespace_path=["prod"], secrets=[secret]))
        inner = await done(job.wait())
        [bound_secret] = inner.secret_bindings
        same((bound_secret.variable, bound_secret.secret_ref.namespace_path), ("TOKEN", ("team",)))
        same((inner.namespace_path, inner.signature.output.arrow_type), (("prod",), "list<int64>"))
        again = await done((await done(db.create_function_async(double))).wait())
        same(again, made[0])

    async def not_created() -> None:
        stranger = await done(remote.connect(KEYS["docsStats"]))
        same((await fails(HttpError, lambda: stranger.create_function_async(double))).status_code, 403)

    async def described() -> None:
        same(await done(db.get_function("double", version="1")), made[0])
        inner = await done(db.get_function("lengths", version="1", namespace_path=["prod"]))
        same(inner.signature.inputs[0].arrow_type, "list<string>")
        await fails(HttpError, lambda: db.get_function("double", version="9"), "not found")

    async def listed() -> None:
        same(await done(db.list_functions()), [made[0]])
        same([each.name for each in await done(db.list_functions(namespace_path=["prod"]))], ["lengths"])

    async def bound() -> None:
        table = await done(db.create_table("bound", pa.table({"id": pa.array([1, 2], pa.int64())})))
        await done(table.add_columns({"twice": made[0](x=col("id"))}))
        same(await done(table.count_rows("twice is null")), 2)
        await fails(HttpError, lambda: table.drop_columns(["id"]), "is an input of a Function")
        await done(table.add(pa.table({"id": pa.array([3], pa.int64())})))

    async def refreshed() -> None:
        table = await done(db.open_table("bound"))
        job = await done(table.refresh_column_async("twice"))
        known = await done(db.open_job(job.id))
        await done(known.refresh())
        same((known.state, known.job_type), ("running", "refresh_function"))
        same(await done(db.cancel_job(job.id)), True)

    async def no_errors() -> None:
        table = remote.watch("table", await done(db.open_table("bound")))
        found = await done(table.function_errors(column="twice", limit=5))
        same((list(found.records), found.truncated), ([], False))
        await done(db.drop_table("bound"))

    async def dropped() -> None:
        same(await done(db.drop_function("double", version="1")), True)
        was, _ = await done(db.drop_function_async("lengths", version="1", namespace_path=["prod"]))
        holds(was, "the Function was not dropped")
        same(await done(db.list_functions()), [])
        await fails(HttpError, lambda: db.drop_function("double", version="1"), "not found")

    await cases.case(CREATE, "by a job; in a namespace, once more", created)
    await cases.case(CREATE, "by a key without the scope", not_created)
    await cases.case("/function/{id}/describe", "a version; one that is not there", described)
    await cases.case("namespace/function/list", "of the root, of a namespace", listed)
    await cases.case("add_columns", "of a Function; without its input", bound)
    await cases.case("backfill_column", "of a Function, by a job that waits for a runner", refreshed)
    await cases.case("errors", "none, of a column", no_errors)
    await cases.case("/function/{id}/drop", "a version; one that is not there", dropped)
