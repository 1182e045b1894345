"""Shared by the clients of the catalog's specification: one call for each of its operations.

`Catalog` says how a client does a call and by which classes it fails; the cases, in catalog_data.py, catalog_names.py,
catalog_writes.py and catalog_refused.py, are the same for each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from report import AWKWARD, NESTED, Report

Call = Callable[..., Any]


@dataclass(frozen=True)
class Faults:
    """The error classes of a client."""

    no_namespace: type[Exception]
    no_table: type[Exception]
    no_tag: type[Exception]
    no_version: type[Exception]
    no_index: type[Exception]
    no_column: type[Exception]
    no_branch: type[Exception]
    tag_exists: type[Exception]
    table_exists: type[Exception]
    namespace_exists: type[Exception]
    namespace_not_empty: type[Exception]
    branch_exists: type[Exception]
    bad_rows: type[Exception]
    bad_input: type[Exception]
    not_known: type[Exception]
    not_permitted: type[Exception]
    unsupported: type[Exception]


@dataclass(frozen=True)
class Catalog:
    report: Report
    faults: Faults
    """Calls an operation by its name in the specification: `call("get_table_stats", ["docs"], branch="b")`."""
    call: Call
    """The same with another key."""
    call_with: Callable[[str], Call]
    """The rows of a query's response."""
    rows: Callable[[Any], bytes]


NESTED_ID = [*NESTED["namespace"], NESTED["name"]]
AWKWARD_ID = [*AWKWARD["namespace"], AWKWARD["name"]]


def camel(operation: str) -> str:
    """Name of an operation's request in the models: get_table_stats -> GetTableStatsRequest."""
    return "".join(word.title() for word in operation.split("_")) + "Request"
