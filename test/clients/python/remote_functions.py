"""LanceDB's Python client on Functions: what it registers, describes, lists and drops."""

from typing import Any

from lancedb.functions import udf
from lancedb.remote.errors import HttpError
from remote import Cases, done, fails
from report import KEYS, holds, same


@udf(pip=["numpy==2.3.1"])
def double(x: int) -> int:
    return x * 2


@udf
def lengths(words: list[str]) -> list[int]:
    return [len(word) for word in words]


CREATE = "/function/{id}/create"


async def functions(cases: Cases, db: Any, other: Any) -> None:
    made: list[Any] = []

    async def created() -> None:
        job = await done(db.create_function_async(double))
        made.append(await done(job.wait()))
        same((made[0].name, made[0].version, made[0].namespace_path), ("double", "1", ()))
        same((made[0].signature.inputs[0].arrow_type, made[0].disabled), ("int64", False))
        inner = await done((await done(db.create_function_async(lengths, namespace_path=["prod"]))).wait())
        same((inner.namespace_path, inner.signature.output.arrow_type), (("prod",), "list<int64>"))
        again = await done((await done(db.create_function_async(double))).wait())
        same(again, made[0])

    async def not_created() -> None:
        stranger = await done(other(KEYS["docsStats"]))
        same((await fails(HttpError, lambda: stranger.create_function_async(double))).status_code, 403)

    async def described() -> None:
        same(await done(db.get_function("double", version="1")), made[0])
        inner = await done(db.get_function("lengths", version="1", namespace_path=["prod"]))
        same(inner.signature.inputs[0].arrow_type, "list<string>")
        await fails(HttpError, lambda: db.get_function("double", version="9"), "not found")

    async def listed() -> None:
        same(await done(db.list_functions()), [made[0]])
        same([each.name for each in await done(db.list_functions(namespace_path=["prod"]))], ["lengths"])

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
    await cases.case("/function/{id}/drop", "a version; one that is not there", dropped)
