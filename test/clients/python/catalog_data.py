"""Cases of tables and their rows: describe, exists, statistics, counts, plans, queries."""

import io
from typing import Any

import pyarrow as pa
from catalog import AWKWARD_ID, NESTED_ID, Catalog
from lance_namespace_urllib3_client import models as m
from lancedb.namespace import _convert_pyarrow_schema_to_json
from report import AWKWARD, DOCS, KEYS, NESTED, PLAIN, fails, holds, same

VECTOR = m.QueryTableRequestVector(single_vector=DOCS["vector"])
LANCE_TYPES = {"integer": pa.int64(), "text": pa.string(), "number": pa.float64()}


def columns(*names: str) -> m.QueryTableRequestColumns:
    return m.QueryTableRequestColumns(column_names=list(names))


def some(**fields: Any) -> dict[str, Any]:
    return {"k": 4, "vector": m.QueryTableRequestVector(), **fields}


def nearest(**fields: Any) -> dict[str, Any]:
    return some(vector=VECTOR, vector_column="vector", bypass_vector_index=True, **fields)


def phrase(words: str) -> m.QueryTableRequestFullTextQuery:
    return m.QueryTableRequestFullTextQuery(string_query=m.StringFtsQuery(query=words, columns=["text"]))


def clause(words: str) -> m.QueryTableRequestFullTextQuery:
    match = m.FtsQuery(match=m.MatchQuery(terms=words, column="text"))
    return m.QueryTableRequestFullTextQuery(structured_query=m.StructuredFtsQuery(query=match))


def described_types() -> list[tuple[str, str]]:
    """Columns of `docs` in the types of the catalog's specification, as LanceDB's converter writes them."""
    fields = [
        (name, LANCE_TYPES[kind] if isinstance(kind, str) else pa.list_(pa.float32(), kind["vector"]))
        for name, kind in DOCS["columns"].items()
    ]
    return [(field.name, field.type.type) for field in _convert_pyarrow_schema_to_json(pa.schema(fields)).fields]


def tables(catalog: Catalog) -> None:
    case, call, faults = catalog.report.case, catalog.call, catalog.faults

    @case("describe", "version, place and schema")
    def _() -> None:
        answer = call("describe_table", ["docs"])
        same(answer.version, DOCS["version"])
        holds(answer.location and "docs.lance" in answer.location, f"the location is {answer.location}")
        same([(field.name, field.type.type) for field in answer.var_schema.fields], described_types())

    @case("describe", "a table in a namespace")
    def _() -> None:
        same(call("describe_table", NESTED_ID).version, 2)

    @case("stats", "of a table whose id has blanks and signs")
    def _() -> None:
        same(call("get_table_stats", AWKWARD_ID).num_rows, AWKWARD["rows"])

    @case("describe", "at a version, at a tag")
    def _() -> None:
        same(call("describe_table", ["plain"], version=3).version, 3)
        call("create_table_tag", ["plain"], tag="third", version=3)
        same(call("describe_table", ["plain"], tag="third").version, 3)
        call("delete_table_tag", ["plain"], tag="third")

    @case("describe", "a table, a namespace, a version that is not there")
    def _() -> None:
        fails(faults.no_table, lambda: call("describe_table", ["nope"]))
        fails(faults.no_namespace, lambda: call("describe_table", ["nope", "docs"]))
        fails(faults.no_version, lambda: call("describe_table", ["docs"], version=99))

    @case("describe", "an unknown key, one that does not permit it")
    def _() -> None:
        fails(faults.not_known, lambda: catalog.call_with("unknown")("describe_table", ["docs"]))
        fails(faults.not_permitted, lambda: catalog.call_with(KEYS["docsStats"])("describe_table", ["plain"]))

    @case("exists", "one that is there, some that are not")
    def _() -> None:
        call("table_exists", ["docs"])
        call("table_exists", NESTED_ID)
        fails(faults.no_table, lambda: call("table_exists", ["nope"]))
        fails(faults.no_namespace, lambda: call("table_exists", ["nope", "docs"]))

    @case("stats", "of a table, in a namespace, on a branch")
    def _() -> None:
        answer = call("get_table_stats", ["docs"])
        same((answer.num_rows, answer.total_bytes), (DOCS["rows"], DOCS["bytes"]))
        same(answer.num_indices, len(DOCS["indices"]))
        same(answer.fragment_stats.num_fragments, DOCS["fragments"])
        same(answer.fragment_stats.lengths.max, DOCS["longestFragment"])
        same(call("get_table_stats", NESTED_ID).num_rows, NESTED["rows"])
        same(call("get_table_stats", ["docs"], branch="experiment").num_rows, DOCS["branchRows"])

    @case("stats", "a table, a branch that is not there")
    def _() -> None:
        fails(faults.no_table, lambda: call("get_table_stats", ["nope"]))
        fails(faults.no_branch, lambda: call("get_table_stats", ["docs"], branch="nope"))

    @case("count_rows", "all, some, at a version, on a branch")
    def _() -> None:
        def count(table: str, **fields: Any) -> int:
            answer = call("count_table_rows", [table], **fields)
            return answer if isinstance(answer, int) else answer.count

        same(count("docs"), DOCS["rows"])
        same(count("docs", predicate="id < 10"), 10)
        same(count("plain", version=3), 3 * PLAIN["rowsPerVersion"])
        same(count("docs", branch="experiment"), DOCS["branchRows"])

    @case("count_rows", "no SQL, no such column, version, table")
    def _() -> None:
        fails(faults.bad_input, lambda: call("count_table_rows", ["docs"], predicate="id >"))
        fails(faults.no_column, lambda: call("count_table_rows", ["docs"], predicate="nope = 1"))
        fails(faults.no_version, lambda: call("count_table_rows", ["docs"], version=99))
        fails(faults.no_table, lambda: call("count_table_rows", ["nope"]))


def queries(catalog: Catalog) -> None:
    case, call, faults = catalog.report.case, catalog.call, catalog.faults

    def explain(**fields: Any) -> str:
        return plan_of(call("explain_table_query_plan", ["docs"], query=m.QueryTableRequest(**fields), verbose=True))

    def analyze(**fields: Any) -> str:
        return plan_of(call("analyze_table_query_plan", ["docs"], **fields))

    def plan_of(answer: Any) -> str:
        return answer if isinstance(answer, str) else getattr(answer, "plan", None) or answer.analysis

    def select(**fields: Any) -> pa.Table:
        return pa.ipc.open_file(io.BytesIO(catalog.rows(call("query_table", ["docs"], **fields)))).read_all()

    @case("explain_plan", "a scan, a vector, a text")
    def _() -> None:
        holds(explain(**some(filter="id > 10")).startswith("LanceRead: uri=docs.lance"), "no plan of a scan")
        holds("KNNVectorDistance: metric=l2" in explain(**nearest()), "no plan of a search")
        for text in (phrase("puppy"), clause("puppy")):
            holds("query=puppy" in explain(**some(full_text_query=text)), "no plan of a full-text search")

    @case("explain_plan", "no SQL, no such column, too much")
    def _() -> None:
        fails(faults.bad_input, lambda: explain(**some(filter="id >")))
        fails(faults.no_column, lambda: explain(**some(filter="nope = 1")))
        fails(faults.bad_input, lambda: explain(**{**nearest(), "nprobes": 2_000_000_000}))

    @case("analyze_plan", "a scan at a version, a vector")
    def _() -> None:
        holds("output_rows=4," in analyze(**some(version=1)), "no measured scan")
        holds(analyze(**nearest()).startswith("AnalyzeExec"), "no measured search")

    @case("analyze_plan", "no SQL, no such version, a key without the scope")
    def _() -> None:
        fails(faults.bad_input, lambda: analyze(**some(filter="id >")))
        fails(faults.no_version, lambda: analyze(**some(version=99)))
        limited = catalog.call_with(KEYS["docsStats"])
        fails(faults.not_permitted, lambda: limited("analyze_table_query_plan", ["docs"], **some()))

    @case("query", "columns of a filter")
    def _() -> None:
        answer = select(**some(filter="id >= 10 AND id < 13", columns=columns("id", "text")))
        same(answer.column_names, ["id", "text"])
        same(sorted(answer["id"].to_pylist()), [10, 11, 12])

    @case("query", "a vector, several vectors")
    def _() -> None:
        same(select(**nearest(columns=columns("id")))["id"].to_pylist(), DOCS["nearest"])
        both = m.QueryTableRequestVector(multi_vector=[DOCS["vector"], DOCS["vector"]])
        same(select(**{**nearest(columns=columns("id")), "vector": both}).num_rows, 8)

    @case("query", "a text")
    def _() -> None:
        for text in (phrase("puppy"), clause("puppy")):
            found = select(**some(full_text_query=text, columns=columns("text")))["text"].to_pylist()
            same([("puppy" in words) for words in found], [True] * 4)

    @case("query", "expressions, row ids, a branch, nothing found")
    def _() -> None:
        aliases = m.QueryTableRequestColumns(column_aliases={"next": "id + 1"})
        answer = select(**some(filter="id = 7", columns=aliases, with_row_id=True))
        same((answer["next"].to_pylist(), "_rowid" in answer.column_names), ([8], True))
        same(select(**some(filter="id >= 900", branch="experiment")).num_rows, 0)
        nothing = select(**some(filter="id < 0"))
        same((nothing.num_rows, nothing.column_names), (0, list(DOCS["columns"])))

    @case("query", "no SQL, no such column or version, a vector of another length")
    def _() -> None:
        fails(faults.bad_input, lambda: select(**some(filter="id >")))
        fails(faults.no_column, lambda: select(**some(filter="nope = 1")))
        fails(faults.no_version, lambda: select(**some(version=99)))
        short = m.QueryTableRequestVector(single_vector=[1.0, 2.0])
        fails(faults.bad_input, lambda: select(**{**nearest(), "vector": short}))
