"""The cases of LanceDB's Python client on a remote database (`db://`), the same for its synchronous and asynchronous API.

What the synchronous and the asynchronous face do alike is called here and awaited where it can be; `Remote` holds what
they do differently.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa
from lance_namespace import ListTablesRequest
from lancedb.remote.errors import HttpError
from report import AWKWARD, DOCS, KEYS, NESTED, PLAIN, Report, failed_as, holds, same

Check = Callable[[], Awaitable[None]]


async def done(value: Any) -> Any:
    """The result of a call of either API."""
    return await value if inspect.isawaitable(value) else value


async def fails(kind: type[BaseException], call: Callable[[], Any], text: str = "") -> BaseException:
    value = None
    try:
        value = await done(call())
    except Exception as error:
        failed_as(error, kind)
        holds(re.search(text, str(error), re.S), f"{text!r} is not in {error}"[:500])
        return error
    failed_as(None, kind, value)
    raise AssertionError


@dataclass(frozen=True)
class Remote:
    report: Report
    """Connects with a key, as a user does, with the client's own retries."""
    connect: Callable[[str], Any]
    """The same with a bearer token and an unknown key."""
    connect_by_token: Callable[[str], Any]
    """Reads a table's schema or version, which is a property in one API."""
    get: Callable[[Any, str], Any]
    """Starts a query of a table: for a vector, a text, or a scan."""
    query: Callable[..., Any]
    """Objects whose methods were used."""
    watch: Callable[[str, Any], Any]


TYPES = {"integer": pa.int64(), "text": pa.string(), "number": pa.float64()}
SCHEMA = [
    (name, TYPES[kind] if isinstance(kind, str) else pa.list_(pa.float32(), kind["vector"]))
    for name, kind in DOCS["columns"].items()
]


class Cases:
    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    async def case(self, operation: str, name: str, check: Check) -> None:
        try:
            await check()
        except Exception as fault:
            self._remote.report.say(operation, name, fault)
        else:
            self._remote.report.say(operation, name, None)


async def run(remote: Remote, cases: Cases, db: Any) -> None:
    case, get, query = cases.case, remote.get, remote.query
    docs = remote.watch("table", await done(db.open_table("docs")))
    plain = remote.watch("table", await done(db.open_table("plain")))
    tags = remote.watch("tags", docs.tags)
    branches = remote.watch("branches", docs.branches)

    async def at(version: int | str, look: Callable[[], Any]) -> Any:
        """State of `plain` at a version."""
        await done(plain.checkout(version))
        try:
            return await done(look())
        finally:
            await done(plain.checkout_latest())

    async def table_with(key: str, name: str = "docs") -> Any:
        return await done((await done(remote.connect(key))).open_table(name))

    async def nested() -> Any:
        return await done(db.open_table(NESTED["name"], namespace_path=NESTED["namespace"]))

    def missing(name: str) -> str:
        return f"Table '{name}.*' was not found"

    async def describe() -> None:
        schema = await get(docs, "schema")
        same([(field.name, field.type) for field in schema], SCHEMA)
        same(await get(docs, "version"), DOCS["version"])
        same(await get(await nested(), "version"), 2)
        same((await done(docs.blob_columns()), await get(docs, "embedding_functions")), ([], {}))

    async def versions_described() -> None:
        same(await at(3, lambda: get(plain, "version")), 3)
        same(await get(plain, "version"), PLAIN["versions"])
        await fails(ValueError, lambda: plain.checkout(99), missing("plain"))

    async def awkward() -> None:
        own = await done(db.open_table(AWKWARD["name"], namespace_path=AWKWARD["namespace"]))
        same((await done(own.stats()))["num_rows"], AWKWARD["rows"])

    async def by_token() -> None:
        other = await done((await done(remote.connect_by_token(KEYS["all"]))).open_table("docs"))
        same(await get(other, "version"), DOCS["version"])

    async def located() -> None:
        holds("docs.lance" in await get(docs, "uri"), "the location is not the table's")

    async def not_there() -> None:
        await fails(ValueError, lambda: db.open_table("nope"), missing("nope"))
        await fails(ValueError, lambda: db.open_table("docs", namespace_path=["nope"]), missing("docs"))

    async def not_allowed() -> None:
        same((await fails(HttpError, lambda: table_with("unknown"))).status_code, 401)
        same((await fails(HttpError, lambda: table_with(KEYS["docsStats"], "plain"))).status_code, 403)

    await case("describe", "schema and version of an opened table, also in a namespace", describe)
    await case("describe", "checkout of a version, of one that is not there", versions_described)
    await case("describe", "a table whose id has blanks and signs", awkward)
    await case("describe", "by a bearer token, which wins over the key", by_token)
    await case("describe", "where a table lies", located)
    await case("describe", "a table, a namespace that is not there", not_there)
    await case("describe", "an unknown key, one that does not permit it", not_allowed)

    async def plans() -> None:
        scan = await done(query(docs).where("id > 10").select(["id"]).explain_plan())
        holds(scan.startswith("LanceRead: uri=docs.lance"), scan)
        holds(
            "KNNVectorDistance: metric=l2" in await done(query(docs, vector=DOCS["vector"]).explain_plan(True)),
            "a vector",
        )
        holds("query=puppy" in await done(query(docs, text="puppy").explain_plan()), "a text")

    async def no_plans() -> None:
        await fails(RuntimeError, lambda: query(docs).where("id >").explain_plan(), "400 Bad Request")
        await fails(RuntimeError, lambda: query(docs).where("nope = 1").explain_plan(), "column not found")
        await fails(
            RuntimeError, lambda: query(docs, vector=DOCS["vector"]).nprobes(2**31 - 1).explain_plan(), "400 Bad Request"
        )

    await case("explain_plan", "a scan, a vector, a text", plans)
    await case("explain_plan", "no SQL, no such column, too much", no_plans)

    async def measured() -> None:
        holds("output_rows=4," in await done(query(docs).analyze_plan()), "a scan")
        holds((await done(query(docs, vector=DOCS["vector"]).analyze_plan())).startswith("AnalyzeExec"), "a vector")
        plan = await at(1, lambda: query(plain).limit(1000).analyze_plan())
        holds(f"output_rows={PLAIN['rowsPerVersion']}," in plan, plan)

    async def not_measured() -> None:
        await fails(RuntimeError, lambda: query(docs).where("id >").analyze_plan(), "400 Bad Request")
        limited = await table_with(KEYS["docsStats"])
        await fails(RuntimeError, lambda: query(limited).analyze_plan(), "403 Forbidden")

    await case("analyze_plan", "a scan, also at a version, a vector", measured)
    await case("analyze_plan", "no SQL, a key without the scope", not_measured)

    async def no_specification() -> None:
        same(await done(docs.get_lsm_write_spec()), None)

    await case("get_lsm_write_spec", "there is none", no_specification)

    async def stats() -> None:
        answer = await done(docs.stats())
        same((answer["num_rows"], answer["total_bytes"]), (DOCS["rows"], DOCS["bytes"]))
        same(answer["num_indices"], len(DOCS["indices"]))
        same(answer["fragment_stats"]["num_fragments"], DOCS["fragments"])
        same((await done((await nested()).stats()))["num_rows"], NESTED["rows"])
        branch = await done(branches.checkout("experiment"))
        same((await done(branch.stats()))["num_rows"], DOCS["branchRows"])

    await case("stats", "of a table, in a namespace, on a branch", stats)

    async def counts() -> None:
        same(await done(docs.count_rows()), DOCS["rows"])
        same(await done(docs.count_rows("id < 10")), 10)
        same(await at(3, lambda: plain.count_rows()), 3 * PLAIN["rowsPerVersion"])

    async def no_counts() -> None:
        same((await fails(HttpError, lambda: docs.count_rows("id >"))).status_code, 400)
        await fails(HttpError, lambda: docs.count_rows("nope = 1"), "column not found")

    await case("count_rows", "all, some, at a version", counts)
    await case("count_rows", "no SQL, no such column", no_counts)

    async def rows() -> None:
        answer = await done(query(docs).where("id >= 10 AND id < 13").select(["id", "text"]).to_arrow())
        same((answer.column_names, sorted(answer["id"].to_pylist())), (["id", "text"], [10, 11, 12]))
        same((await done(docs.head(3))).num_rows, 3)
        same((await at(2, lambda: query(plain).limit(1000).to_arrow())).num_rows, 2 * PLAIN["rowsPerVersion"])
        same((await done(query(docs).where("id < 0").to_arrow())).num_rows, 0)

    async def found() -> None:
        answer = await done(query(docs, vector=DOCS["vector"]).select(["id", "_distance"]).to_arrow())
        same(answer["id"].to_pylist(), DOCS["nearest"])
        words = (await done(query(docs, text="puppy").select(["text", "_score"]).to_arrow()))["text"].to_pylist()
        same(["puppy" in word for word in words], [True] * 4)

    async def expressions() -> None:
        answer = await done(query(docs, row_id=True).where("id = 7").select({"next": "id + 1"}).to_arrow())
        same((answer["next"].to_pylist(), "_rowid" in answer.column_names), ([8], True))

    async def taken() -> None:
        same((await done(plain.take_offsets([0, 2]).select(["id"]).to_arrow()))["id"].to_pylist(), [0, 2])
        same((await done(plain.take_row_ids([0, 2]).select(["id"]).to_arrow()))["id"].to_pylist(), [0, 2])

    async def no_rows() -> None:
        same((await fails(HttpError, lambda: query(docs).where("id >").to_arrow())).status_code, 400)
        await fails(HttpError, lambda: query(docs).where("nope = 1").to_arrow(), "column not found")
        same((await fails(HttpError, lambda: query(docs, vector=[1.0, 2.0]).to_arrow())).status_code, 400)

    await case("query", "columns of a filter, the first rows, at a version, nothing", rows)
    await case("query", "a vector, a text", found)
    await case("query", "expressions and row ids", expressions)
    await case("query", "rows by offset and by id", taken)
    await case("query", "no SQL, no such column, a vector of another length", no_rows)

    async def tagged() -> None:
        await done(tags.create("v1", 1))
        same(await done(tags.get_version("v1")), 1)

    async def conflict() -> None:
        error = await fails(HttpError, lambda: tags.create("v1", 2))
        same(error.status_code, 400)

    async def not_tagged() -> None:
        await fails(ValueError, lambda: tags.create("late", 99), "not found")
        same((await fails(HttpError, lambda: tags.create("../x", 1))).status_code, 400)

    async def no_tag() -> None:
        same(await done(tags.get_version("v1")), 1)
        await fails(ValueError, lambda: tags.get_version("nope"), "not found")

    async def tag_list() -> None:
        same({name: tag["version"] for name, tag in (await done(tags.list())).items()}, {"v1": 1})
        same(await done(plain.tags.list()), {})

    async def tag_update() -> None:
        await done(tags.update("v1", 2))
        same(await done(tags.get_version("v1")), 2)
        await fails(ValueError, lambda: tags.update("nope", 1), "not found")
        await fails(ValueError, lambda: tags.update("v1", 99), "not found")

    async def tag_delete() -> None:
        await done(tags.delete("v1"))
        await fails(ValueError, lambda: tags.delete("v1"), "not found")

    await case("tags/create", "a name for a version", tagged)
    await case("tags/create", "a name that is taken: a conflict, after the client's retries", conflict)
    await case("tags/create", "a version that is not there, a name that cannot be", not_tagged)
    await case("tags/version", "one that is there, one that is not", no_tag)
    await case("tags/list", "names and versions; none", tag_list)
    await case("tags/update", "another version; a tag or version that is not there", tag_update)
    await case("tags/delete", "a tag, and once more", tag_delete)

    async def versions() -> None:
        listed = [entry["version"] for entry in await done(plain.list_versions())]
        same(sorted(listed), list(range(1, PLAIN["versions"] + 1)))

    async def indices() -> None:
        listed = [(index.name, index.index_type, index.columns) for index in await done(docs.list_indices())]
        same(sorted(listed), sorted((index["name"], index["type"], index["columns"]) for index in DOCS["indices"]))
        same(list(await done(plain.list_indices())), [])

    async def index_stats() -> None:
        answer, index = await done(docs.index_stats("vector_idx")), DOCS["vectorIndex"]
        same((answer.num_indexed_rows, answer.num_unindexed_rows), (index["numIndexedRows"], index["numUnindexedRows"]))
        same((answer.index_type, answer.distance_type), (index["indexType"], index["distanceType"]))
        same(await done(docs.index_stats("nope")), None)

    async def tokens() -> None:
        found = await done(docs.tokenize("Hello Puppies", column="text"))
        same([token.text for token in found], ["hello", "puppi"])

    async def waiting() -> None:
        indexed = [index["name"] for index in DOCS["indices"] if index["name"] == "vector_idx"]
        await fails(RuntimeError, lambda: docs.wait_for_index(indexed, timedelta(seconds=1)), "(?i)timed? ?out|within")

    async def branch_list() -> None:
        same(list(await done(branches.list())), ["experiment"])

    await case("version/list", "every version", versions)
    await case("index/list", "names, kinds and columns; none", indices)
    await case("index/list", "tokens of a full-text index", tokens)
    await case("index/list", "waiting for an index that covers not all rows", waiting)
    await case("index/{index_name}/stats", "of a vector index; one that is not there", index_stats)
    await case("branches/list", "the branches", branch_list)

    async def table_list() -> None:
        same(sorted((await done(db.list_tables())).tables), ["docs", "plain"])
        same((await done(db.list_tables(namespace_path=NESTED["namespace"]))).tables, [NESTED["name"]])
        first = await done(db.list_tables(limit=1))
        second = await done(db.list_tables(limit=1, page_token=first.page_token))
        same([*first.tables, *second.tables], ["docs", "plain"])
        same((await fails(HttpError, lambda: db.list_tables(namespace_path=["nope"]))).status_code, 404)

    async def all_tables() -> None:
        same(list(await done(db.table_names())), ["docs", "plain"])
        same(list(await done(db.table_names(limit=1))), ["docs"])

    async def by_namespace_client() -> None:
        client = await done(db.namespace_client())
        same(client.list_tables(ListTablesRequest(id=[])).tables, ["docs", "plain"])

    async def namespace_list() -> None:
        same((await done(db.list_namespaces())).namespaces, ["prod"])
        same((await done(db.list_namespaces(namespace_path=["prod"]))).namespaces, ["vectors"])
        same((await fails(HttpError, lambda: db.list_namespaces(namespace_path=["nope"]))).status_code, 404)

    async def namespace_described() -> None:
        same((await done(db.describe_namespace(["prod"]))).properties or {}, {})
        same((await fails(HttpError, lambda: db.describe_namespace(["nope"]))).status_code, 404)

    await case("namespace/table/list", "of the root, of a namespace, in pages; of one that is not there", table_list)
    await case("namespace/table/list", "by the connection's own namespace client", by_namespace_client)
    await case("/table", "names of the root's tables, also the first alone", all_tables)
    await case("namespace/list", "of the root, of a namespace; of one that is not there", namespace_list)
    await case("namespace/describe", "one; one that is not there", namespace_described)
