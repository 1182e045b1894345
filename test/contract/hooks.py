"""Directs generated requests towards existing data.

A schema cannot say which tables exist, what is a valid SQL expression or that a query vector has as many dimensions as its
column. Left alone, nearly every request would end at "no such table". Three in four requests are therefore fitted: where a
part of the request is meant to be valid, its values are replaced by others of the same kind that mean something here. One
in four is left as it was generated, but for the table that it names; it need not be accepted.
"""

import base64
import json
import os
import random
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import schemathesis
from hypothesis import strategies
from schemathesis.core import NotSet
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData

REAL = json.loads(Path(os.environ["LAKEHEAD_CONTRACT_REAL"]).read_text())

# Requests that write are fitted to names alone: they need not be accepted.
WRITES = "LAKEHEAD_CONTRACT_WRITES" in os.environ
WILD_SHARE = 1 if WRITES else 0.25
UNKNOWN_SHARE = 0.1
# Each call that finds its table starts a process.
UNKNOWN_SHARE_OF_MAINTAIN = 0.95
# What is refused for another column, and not found for another job.
NAMES_OF_JOBS = {"/backfill_column": ("column", "computed"), "/v1/jobs/": ("job_id", "jobs")}

FILTERS = [
    "id > 10",
    "category = 'red' AND score < 5.5",
    "text LIKE '%puppy%'",
    "id IN (1, 2, 3) OR title IS NOT NULL",
    "NOT (score BETWEEN 1 AND 2)",
]
EXPRESSIONS = ["id", "id + 1", "score * 2.0", "upper(category)", "coalesce(score, 0.0)"]
WORDS = ["hello", "hello world", "puppy number", "title", "nothing of the kind"]

# They are refused without a vector.
VECTOR_KEYS = [
    "bypass_vector_index",
    "vector_column",
    "distance_type",
    "ef",
    "lower_bound",
    "upper_bound",
    "nprobes",
    "minimum_nprobes",
    "maximum_nprobes",
    "refine_factor",
]

ROWS = base64.b64decode(REAL["rows"])
# Rows, rows that end early, and bytes that are no rows.
schemathesis.openapi.media_type(
    "application/vnd.apache.arrow.stream",
    strategies.one_of(
        strategies.just(ROWS),
        strategies.integers(0, len(ROWS) - 1).map(lambda length: ROWS[:length]),
        strategies.binary(max_size=256),
    ),
)

wild: set[str] = set()
fitted: set[str] = set()


def own_random(case: Any) -> random.Random:
    """Depends only on the generated request, so that a seed reproduces a run."""
    text = json.dumps([case.operation.label, case.path_parameters, case.query, case.body], default=str, sort_keys=True)
    return random.Random(zlib.crc32(text.encode("utf-8", "surrogatepass")))


def bounded(value: Any, least: int, most: int) -> Any:
    """The number if it is within the bounds, else a number within them."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or least <= value <= most:
        return value
    return least + int(abs(value)) % (most - least + 1)


def resized(vector: list, size: int) -> list:
    numbers = [float(bounded(value, -1000, 1000)) for value in vector] or [0.5]
    return (numbers * size)[:size]


class Fitter:
    """Adjusts the parts of one request."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def name(self, real: list[str], value: Any) -> Any:
        """An existing name, or sometimes the generated one if it is valid."""
        possible = not isinstance(value, str) or (len(value) <= 30 and ".." not in value and not value.endswith(".lock"))
        return value if possible and self.chance.random() < UNKNOWN_SHARE else self.chance.choice(real)

    def vector(self, value: Any) -> Any:
        size = REAL["dimensions"]
        if isinstance(value, dict):
            key = "single_vector" if value.get("single_vector") else "multi_vector"
            return {key: self.vector(value.get(key))}
        if not isinstance(value, list) or not value:
            return value
        if isinstance(value[0], list):
            # Several vectors form one multi-vector, which only a multi-vector column accepts.
            return resized(value[0], size)
        return resized(value, size)

    def columns(self, value: Any) -> Any:
        if isinstance(value, list):
            # Generated items may be lists, which have no hash.
            names = {json.dumps(name): name for name in (self.name(REAL["columns"], item) for item in value)}
            return [names[key] for key in sorted(names)]
        if not isinstance(value, dict):
            return value
        for key in ("column_names", "column_aliases"):
            if key in value and isinstance(value[key], (list, dict)):
                return {key: self.columns(value[key])}
        return {f"alias{index}": self.chance.choice(EXPRESSIONS) for index, _ in enumerate(value)}

    def clause(self, clause: dict) -> dict:
        kind = next(iter(clause))
        value = clause[kind]
        if kind in ("match", "phrase"):
            return {kind: self.match(value)}
        if kind == "boost":
            return {kind: {**value, "positive": self.clause(value["positive"]), "negative": self.clause(value["negative"])}}
        if kind == "boolean":
            lists = {key: [self.clause(item) for item in value.get(key) or []] for key in ("must", "should", "must_not")}
            if not lists["must"] and not lists["should"]:
                lists["should"] = [self.clause({"match": {"terms": ""}})]
            return {kind: lists}
        if "match_queries" in value:
            terms = self.chance.choice(WORDS)
            return {kind: {"match_queries": [{"terms": terms, "column": column} for column in REAL["textColumns"]]}}
        columns = REAL["textColumns"]
        fitted = {"query": self.chance.choice(WORDS), "columns": columns, "operator": value.get("operator")}
        return {kind: {**fitted, "boost": [1.5 for _ in columns]} if value.get("boost") else fitted}

    def match(self, value: dict) -> dict:
        fitted = {**value, "terms": self.chance.choice(WORDS), "column": self.chance.choice(REAL["textColumns"])}
        for key in ("max_expansions", "prefix_length", "slop"):
            if fitted.get(key) is not None:
                fitted[key] = bounded(fitted[key], 1 if key == "max_expansions" else 0, 100)
        return fitted

    def full_text(self, value: dict) -> dict:
        if "string_query" in value:
            return {"string_query": self.full_text(value["string_query"])}
        if "structured_query" in value:
            return {"structured_query": self.full_text(value["structured_query"])}
        if isinstance(value.get("query"), dict):
            return {"query": self.clause(value["query"])}
        return {"query": self.chance.choice(WORDS), "columns": [self.chance.choice(REAL["textColumns"])]}

    def order(self, value: list) -> list:
        return [{**item, "column_name": self.chance.choice(["id", "category", "score"])} for item in value[:3]]

    def query(self, query: dict) -> dict:
        """Makes the fields of a query consistent."""
        fitted = dict(query)
        vector = fitted.get("vector")
        has_vector = bool(vector.get("single_vector") or vector.get("multi_vector") if isinstance(vector, dict) else vector)
        if has_vector:
            fitted.pop("full_text_query", None)
            fitted.pop("order_by", None)
            fitted["vector_column"] = self.name(REAL["vectorColumns"], "no such column")
            if fitted.get("distance_type") == "hamming":
                fitted["distance_type"] = "l2"
            for low, high in (("lower_bound", "upper_bound"), ("minimum_nprobes", "maximum_nprobes")):
                if fitted.get(low) is not None and fitted.get(high) is not None:
                    fitted.pop(high)
        else:
            for key in VECTOR_KEYS:
                fitted.pop(key, None)
        ranks = has_vector or bool(fitted.get("full_text_query")) or bool(fitted.get("order_by"))
        if fitted.get("order_by"):
            # The database sorts by a column that it does not return only if it has the row ids.
            fitted["with_row_id"] = True
        if fitted.get("full_text_query"):
            fitted.pop("prefilter", None)
            fitted.pop("order_by", None)
        fitted["k"] = bounded(fitted["k"], 1, 100) if ranks else bounded(fitted["k"], 0, 2**32 - 1)
        if ranks and fitted["k"] == 0:
            fitted["k"] = 1
        for key, least, most in (
            ("offset", 0, 1000),
            ("nprobes", 1, 16),
            ("minimum_nprobes", 1, 20),
            ("maximum_nprobes", 1, 100),
            ("ef", 100, 1000),
            ("refine_factor", 1, 10),
            ("lower_bound", -1000, 1000),
            ("upper_bound", -1000, 1000),
        ):
            if fitted.get(key) is not None:
                fitted[key] = bounded(fitted[key], least, most)
        fitted.pop("use_lsm", None)
        return fitted

    FIELDS = {
        "vector": vector,
        "columns": columns,
        "full_text_query": full_text,
        "order_by": order,
        "filter": lambda self, _: self.chance.choice(FILTERS),
        "predicate": lambda self, _: self.chance.choice(FILTERS),
        "tag": lambda self, value: self.name(REAL["tags"], value),
        "branch": lambda self, value: self.name(REAL["branches"], value),
        "version": lambda self, value: self.name(list(range(1, REAL["versions"] + 1)), value),
    }

    def body(self, body: dict) -> dict:
        own = {
            key: self.FIELDS[key](self, value) if key in self.FIELDS and value is not None else value
            for key, value in body.items()
        }
        if isinstance(own.get("query"), dict) and "k" in own["query"]:
            own["query"] = self.body(own["query"])
            if own["query"].get("branch") is not None:
                own.pop("branch", None)
        return self.query(own) if "k" in own else own


def with_id(body: dict, parts: list[str] | None) -> dict:
    """The body with the id of the path, if it has an id."""
    if body.get("id") is None:
        return body
    return {key: value for key, value in body.items() if key != "id"} if parts is None else {**body, "id": parts}


def agree(body: dict, case: Any) -> dict:
    """Makes the body consistent with the path and with itself."""
    own = dict(body)
    if "branch" in (case.query or {}):
        own.pop("branch", None)
    if own.get("index_name") is not None:
        own["index_name"] = unquote((case.path_parameters or {}).get("index_name"))
    if case.path.endswith("{id}/describe") and own.get("tag") is not None:
        # A tag replaces both.
        own.pop("version", None)
        own.pop("branch", None)
    return own


def steer_path(case: Any, chance: random.Random) -> list[str] | None:
    """Sets the path to an existing name; returns the parts of its id."""
    parameters = dict(case.path_parameters or {})
    if "index_name" in parameters and chance.random() >= UNKNOWN_SHARE:
        parameters["index_name"] = chance.choice(REAL["indices"])
    parts = None
    unknown = UNKNOWN_SHARE_OF_MAINTAIN if case.path.endswith("/maintain") else UNKNOWN_SHARE
    if "id" in parameters and chance.random() >= unknown:
        parts = chance.choice(REAL["namespaces" if case.path.startswith("/v1/namespace/") else "tables"])
        parameters["id"] = quote(join(parts, case), safe="")
    case.path_parameters = parameters
    return parts


def join(parts: list[str], case: Any) -> str:
    """The id with the request's delimiter, or with the default one if a name contains that delimiter."""
    delimiter = (case.query or {}).get("delimiter", "$")
    fits = isinstance(delimiter, str) and 0 < len(delimiter) <= 8 and delimiter not in (".", "..")
    if not fits or any(letter in "".join(parts) for letter in delimiter):
        case.query = {key: value for key, value in (case.query or {}).items() if key != "delimiter"}
        delimiter = "$"
    return delimiter.join(parts) or delimiter


def steer(case: Any) -> None:
    meta = case.meta
    if meta is None or case.id in fitted:
        return
    fitted.add(case.id)
    if WRITES and case.path.endswith("/drop"):
        # What exists is needed by the others.
        wild.add(case.id)
        return
    chance = own_random(case)
    leave = chance.random() < WILD_SHARE
    if leave:
        wild.add(case.id)
    if meta.is_negative_at(ParameterLocation.PATH) or meta.is_negative_at(ParameterLocation.QUERY):
        return
    parts = steer_path(case, chance)
    if parts is None:
        wild.add(case.id)
    if isinstance((case.query or {}).get("branch"), str):
        case.query = {**case.query, "branch": Fitter(chance).name(REAL["branches"], case.query["branch"])}
    if meta.is_negative_at(ParameterLocation.BODY) or isinstance(case.body, NotSet) or not isinstance(case.body, dict):
        return
    case.body = with_id(case.body if leave else agree(Fitter(chance).body(case.body), case), parts)
    for path, (key, names) in NAMES_OF_JOBS.items():
        if path in case.path and isinstance(case.body.get(key), str) and REAL[names]:
            case.body = {**case.body, key: Fitter(chance).name(REAL[names], case.body[key])}
    if isinstance(case.body.get("query"), dict):
        case.body = {**case.body, "query": with_id(case.body["query"], parts)}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    steer(case)


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """A request left as generated may break rules that a schema cannot express. A body of white space counts as none."""
    if isinstance(failure, AcceptedNegativeData):
        body = response.request.body
        return response.status_code != 413 and (not body or bool(body.strip()))
    return not (isinstance(failure, RejectedPositiveData) and (case.id in wild or depends_on_table(response)))


def depends_on_table(response: Any) -> bool:
    """Which columns hold blobs, and whether it is a view, depends on the table."""
    return any(text in response.text for text in ["is not a blob column", "is not a materialized view"])
