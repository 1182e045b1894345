"""LanceDB's Python client on a remote database, older releases: the operations that each of them has."""

import urllib.request
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import lancedb
import pyarrow as pa
from report import DOCS, ENDPOINT, KEYS, NESTED, PLAIN, TYPES, Report, holds, same

warnings.simplefilter("ignore")
RELEASE = ".".join(version("lancedb").split(".")[:2])
report = Report(f"Python remote {RELEASE}", "lancedb")
case = report.case


def connect(key: str) -> Any:
    return lancedb.connect("db://dev", api_key=key, host_override=ENDPOINT)


db = connect(KEYS["all"])


# The client says "Table … was not found" of every 404, without the service's own text.
def refused(call: Callable[[], Any], *texts: str) -> None:
    """Checks that a call fails, and that the client shows some texts. Its classes differ between releases."""
    try:
        value = call()
    except Exception as error:
        shown, cause = str(error), error.__cause__
        while cause is not None:
            shown, cause = f"{shown} {cause}", cause.__cause__
        for text in texts:
            holds(text in shown, f"{text!r} is not in {type(error).__name__} {shown}"[:500])
        return
    raise AssertionError(f"it was expected to fail, and gave {value!r}"[:300])


def has(subject: Any, *names: str) -> bool:
    return all(hasattr(subject, name) for name in names)


@case("describe", "schema and version of an opened table")
def _() -> None:
    docs = db.open_table("docs")
    same(docs.schema.names, list(DOCS["columns"]))
    same(docs.version, DOCS["version"])


@case("describe", "a table that is not there, an unknown key")
def _() -> None:
    refused(lambda: db.open_table("nope").schema, "not found")
    refused(lambda: connect("unknown").open_table("docs").schema, "401")


docs, plain = db.open_table("docs"), db.open_table("plain")


def nearest() -> Any:
    return docs.search(DOCS["vector"], vector_column_name="vector").limit(4)


def text() -> Any:
    return docs.search("puppy", query_type="fts", fts_columns="text").limit(4)


if has(plain, "checkout", "checkout_latest"):

    @case("describe", "checkout of a version, of one that is not there")
    def _() -> None:
        plain.checkout(3)
        same(plain.version, 3)
        plain.checkout_latest()
        refused(lambda: plain.checkout(99), "not found")


if has(docs, "_explain_plan"):

    @case("explain_plan", "a scan, a vector, a text")
    def _() -> None:
        holds("LanceRead: uri=docs.lance" in docs.search().where("id > 10").limit(4).explain_plan(), "a scan")
        holds("docs.lance" in nearest().explain_plan(True), "a vector")
        holds("query=puppy" in text().explain_plan(), "a text")

    @case("explain_plan", "no SQL, no such column")
    def _() -> None:
        refused(lambda: docs.search().where("id >").limit(4).explain_plan(), "400 Bad Request")
        refused(lambda: docs.search().where("nope = 1").limit(4).explain_plan(), "column not found")


if has(docs, "_analyze_plan"):

    @case("analyze_plan", "a scan, a vector")
    def _() -> None:
        holds("output_rows=4," in docs.search().limit(4).analyze_plan(), "a scan")
        holds(nearest().analyze_plan().startswith("AnalyzeExec"), "a vector")

    @case("analyze_plan", "no SQL")
    def _() -> None:
        refused(lambda: docs.search().where("id >").limit(4).analyze_plan(), "400 Bad Request")


@case("count_rows", "all, some, no SQL")
def _() -> None:
    same((docs.count_rows(), docs.count_rows("id < 10")), (DOCS["rows"], 10))
    refused(lambda: docs.count_rows("id >"), "400 Bad Request")


@case("query", "columns of a filter, all rows, nothing")
def _() -> None:
    answer = docs.search().where("id >= 10 AND id < 13").select(["id", "text"]).limit(9).to_arrow()
    same((answer.column_names, sorted(answer["id"].to_pylist())), (["id", "text"], [10, 11, 12]))
    same(plain.search().to_arrow().num_rows, PLAIN["rows"])
    same(docs.search().where("id < 0").to_arrow().num_rows, 0)


@case("query", "a vector, a text")
def _() -> None:
    same(nearest().select(["id"]).to_arrow().num_rows, 4)
    same(["puppy" in words for words in text().select(["text"]).to_arrow()["text"].to_pylist()], [True] * 4)


@case("query", "expressions in the order of the request")
def _() -> None:
    answer = docs.search().where("id = 7").select({"t": "upper(title)", "1": "id + 1", "0": "id"}).limit(4).to_arrow()
    same((sorted(answer.column_names), answer["1"].to_pylist()), (["0", "1", "t"], [8]))


@case("query", "no SQL, no such column, a vector of another length")
def _() -> None:
    refused(lambda: docs.search().where("id >").limit(4).to_arrow(), "400 Bad Request")
    refused(lambda: docs.search().where("nope = 1").limit(4).to_arrow(), "column not found")
    refused(lambda: docs.search([1.0, 2.0], vector_column_name="vector").limit(4).to_arrow(), "400 Bad Request")


if has(docs, "stats"):

    @case("stats", "of a table")
    def _() -> None:
        answer = docs.stats()
        same((answer["num_rows"], answer["total_bytes"]), (DOCS["rows"], DOCS["bytes"]))


if has(docs, "tags"):
    tags = docs.tags

    @case("tags/create", "a name for a version; a name that cannot be, a version that is not there")
    def _() -> None:
        tags.create("v1", 1)
        refused(lambda: tags.create("../x", 1), "400 Bad Request")
        refused(lambda: tags.create("late", 99), "not found")

    @case("tags/version", "one that is there, one that is not")
    def _() -> None:
        same(tags.get_version("v1"), 1)
        refused(lambda: tags.get_version("nope"), "not found")

    @case("tags/list", "names and versions")
    def _() -> None:
        same({name: tag["version"] for name, tag in tags.list().items()}, {"v1": 1})

    @case("tags/update", "another version; a tag that is not there")
    def _() -> None:
        tags.update("v1", 2)
        same(tags.get_version("v1"), 2)
        refused(lambda: tags.update("nope", 1), "not found")

    @case("tags/delete", "a tag, and once more")
    def _() -> None:
        tags.delete("v1")
        refused(lambda: tags.delete("v1"), "not found")


if has(plain, "list_versions"):

    @case("version/list", "every version")
    def _() -> None:
        same(sorted(entry["version"] for entry in plain.list_versions()), list(range(1, PLAIN["versions"] + 1)))


@case("index/list", "names and columns; none")
def _() -> None:
    listed = sorted((index.name, index.columns) for index in docs.list_indices())
    same(listed, sorted((index["name"], index["columns"]) for index in DOCS["indices"]))
    same(list(plain.list_indices()), [])


@case("index/{index_name}/stats", "of a vector index; one that is not there")
def _() -> None:
    answer, index = docs.index_stats("vector_idx"), DOCS["vectorIndex"]
    same((answer.num_indexed_rows, answer.num_unindexed_rows), (index["numIndexedRows"], index["numUnindexedRows"]))
    same(docs.index_stats("nope"), None)


if has(docs, "branches"):

    @case("branches/list", "the branches")
    def _() -> None:
        same(list(docs.branches.list()), ["experiment"])


@case("/table", "names of the root's tables, also the first alone")
def _() -> None:
    same((list(db.table_names()), list(db.table_names(limit=1))), (["docs", "plain"], ["docs"]))


if has(db, "list_tables"):

    @case("namespace/table/list", "of the root, of a namespace")
    def _() -> None:
        same(sorted(db.list_tables().tables), ["docs", "plain"])
        same(db.list_tables(NESTED["namespace"]).tables, [NESTED["name"]])


if has(db, "list_namespaces"):

    @case("namespace/list", "of the root")
    def _() -> None:
        same(list(db.list_namespaces().namespaces), ["prod"])


if has(db, "describe_namespace"):

    @case("namespace/describe", "one; one that is not there")
    def _() -> None:
        db.describe_namespace(["prod"])
        refused(lambda: db.describe_namespace(["nope"]), "404")


# Release 0.21 reads no fixed-size binary, and needs pandas for the rows that it sends.
SENDS_ROWS = RELEASE != "0.21"
READ_TYPES = [text for text in TYPES if SENDS_ROWS or "binary(" not in text and "uuid" not in text]


@case("describe", "a column of every type")
def _() -> None:
    schema = pa.schema([(f"c{at}", eval(text, {"pa": pa})) for at, text in enumerate(READ_TYPES)])
    address = f"{ENDPOINT}/v1/table/types/create?mode=overwrite"
    headers = {"authorization": f"Bearer {KEYS['all']}", "content-type": "application/vnd.apache.arrow.stream"}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema):
        pass
    urllib.request.urlopen(urllib.request.Request(address, sink.getvalue().to_pybytes(), headers)).read()
    types = db.open_table("types")
    same([str(field) for field in types.schema], [str(field) for field in schema])
    same(types.search().to_arrow().schema.types, schema.types)
    db.drop_table("types")


def rows(ids: list[int], text: str = "first") -> pa.Table:
    vectors = pa.array([[float(number), 1.0] for number in ids], pa.list_(pa.float32(), 2))
    return pa.table({"id": pa.array(ids, pa.int64()), "text": [f"{text} {number}" for number in ids], "vector": vectors})


@case("rename", "rename_table")
def _() -> None:
    refused(lambda: db.rename_table("docs", "other"), '"code":0')


if SENDS_ROWS:

    @case("create", "with rows; a name that is taken, overwrite")
    def _() -> None:
        db.create_table("made", rows([1, 2]))
        same(db.open_table("made").count_rows(), 2)
        refused(lambda: db.create_table("made", rows([3])), "already exists")
        db.create_table("made", rows([1, 2, 3]), mode="overwrite")
        same(db.open_table("made").count_rows(), 3)


made = db.open_table("made") if SENDS_ROWS else plain
before = made.count_rows()

if SENDS_ROWS:

    @case("insert", "rows; a vector of another length")
    def _() -> None:
        made.add(rows([4, 5]))
        same(made.count_rows(), before + 2)
        refused(lambda: made.add(pa.table({"id": [6], "vector": pa.array([[1.0]], pa.list_(pa.float32(), 1))})))
        same(made.count_rows(), before + 2)


    @case("merge_insert", "rows that are there and one that is not")
    def _() -> None:
        merge = made.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(rows([5, 6], "merged"))
        same((made.count_rows(), made.count_rows("text LIKE 'merged%'")), (before + 3, 2))


@case("update", "some rows; no SQL")
def _() -> None:
    made.update(where="id <= 2", values={"text": "changed"})
    holds(made.count_rows("text = 'changed'") > 0, "not changed")
    refused(lambda: made.update(where="id >", values={"text": "x"}), "400 Bad Request")


@case("delete", "some rows; no SQL")
def _() -> None:
    made.delete("id = 2")
    same(made.count_rows("id = 2"), 0)
    refused(lambda: made.delete("id >"), "400 Bad Request")


@case("create_index", "of numbers, of vectors")
def _() -> None:
    made.create_scalar_index("id")
    made.create_index("l2", vector_column_name="vector", index_type="IVF_FLAT")
    same(sorted(index.name for index in made.list_indices()), ["id_idx", "vector_idx"])


if has(made, "drop_index"):

    @case("index/{index_name}/drop", "one")
    def _() -> None:
        made.drop_index("id_idx")
        same([index.name for index in made.list_indices()], ["vector_idx"])


@case("add_columns", "by an expression")
def _() -> None:
    made.add_columns({"twice": "id * 2"})
    same(made.count_rows("twice = 6"), 1)


@case("alter_columns", "another name")
def _() -> None:
    made.alter_columns({"path": "twice", "rename": "double"})
    same(made.count_rows("double = 6"), 1)


@case("drop_columns", "one")
def _() -> None:
    made.drop_columns(["double"])
    refused(lambda: made.count_rows("double = 6"), "column not found")


if has(made, "refresh_column_async"):
    job_id = ""

    @case("backfill_column", "all rows of a computed column")
    def _() -> None:
        global job_id
        made.add_columns(computed={"triple": "id * 3"})
        job = made.refresh_column_async("triple")
        job_id = job.id
        job.wait()
        same(made.count_rows("triple = id * 3"), made.count_rows())
        made.drop_columns(["triple"])

    @case("/jobs/describe", "one that is done; one that is not there")
    def _() -> None:
        same(str(db.get_job(job_id).state), "finished")
        same(db.get_job("none"), None)

    @case("/jobs/list", "with the one that is done")
    def _() -> None:
        holds(job_id in str(db.list_jobs()), "the job is not listed")

    @case("/jobs/query_events", "of the one that is done")
    def _() -> None:
        same(sum(batch.num_rows for batch in db.job_history(job_id)), 4)

    @case("/jobs/cancel", "one that is done; one that is not there")
    def _() -> None:
        same((db.cancel_job(job_id), db.cancel_job("none")), (True, False))


if has(db, "create_function"):
    from lancedb import col
    from lancedb.functions import udf

    @udf(pip=["numpy==2.3.1"])
    def twice(x: int) -> int:
        return x * 2

    function = None

    @case("/functions/create", "by a job; by a key without the scope")
    def _() -> None:
        global function
        function = db.create_function(twice)
        same((function.name, function.version, function.artifact.entrypoint), ("twice", "1", "twice"))
        refused(lambda: connect(KEYS["docsStats"]).create_function(twice), "403")

    @case("/functions/describe", "a version; one that is not there")
    def _() -> None:
        same(db.get_function("twice", version="1"), function)
        refused(lambda: db.get_function("twice", version="9"), "404")

    @case("add_columns", "of a Function")
    def _() -> None:
        made.add_columns({"label": function(x=col("id"))})
        same(made.count_rows("label is null"), made.count_rows())

    @case("backfill_column", "of a Function, by a job that waits for a runner")
    def _() -> None:
        same(db.cancel_job(made.refresh_column_async("label").id), True)
        made.drop_columns(["label"])


if has(made, "restore", "checkout"):

    @case("restore", "an old version")
    def _() -> None:
        made.checkout(1)
        rows_then = made.count_rows()
        made.restore()
        same(made.count_rows(), rows_then)


@case("drop", "a table; once more")
def _() -> None:
    db.drop_table("made" if SENDS_ROWS else "plain")
    same(list(db.table_names()), ["docs", "plain"] if SENDS_ROWS else ["docs"])
    refused(lambda: db.drop_table("made"), "404")
