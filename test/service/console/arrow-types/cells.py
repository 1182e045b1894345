"""Writes cells.arrow and cells.json: a column of each Arrow type, and each value as pyarrow prints it.

Run with pyarrow 21: python test/service/console/arrow-types/cells.py
"""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

MAX64 = 2**63 - 1
MOMENTS = [0, 1, -1, 1704164645000006, None]

COLUMNS = {
    "null": pa.array([None] * 5, pa.null()),
    "bool": pa.array([True, False, None, True, False]),
    "int8": pa.array([-128, 127, 0, None, 1], pa.int8()),
    "uint32": pa.array([2**32 - 1, 0, 1, None, 2], pa.uint32()),
    "int64": pa.array([MAX64, -MAX64 - 1, 2**53 + 1, None, 0], pa.int64()),
    "uint64": pa.array([2**64 - 1, 0, 2**53 + 1, None, 1], pa.uint64()),
    "float16": pa.array([1.5, 0.1, float("nan"), float("-inf"), None], pa.float16()),
    "float32": pa.array([0.1, 1e-7, float("nan"), float("inf"), None], pa.float32()),
    "float64": pa.array([0.1, -0.0, float("nan"), float("-inf"), None], pa.float64()),
    "decimal128": pa.array(
        [Decimal("123.45"), Decimal("-0.05"), Decimal("0.00"), Decimal("-99999999999999999999999999999999999.99"), None],
        pa.decimal128(38, 2),
    ),
    "decimal256": pa.array([Decimal("12345678901234567890123456789012345678901234567890"), Decimal(-1), Decimal(0), Decimal(7), None], pa.decimal256(60, 0)),
    "utf8": pa.array(["", "text", "\u00e9\U0001f600", None, "null"]),
    "large_utf8": pa.array(["", "text", "\u00e9", None, "x"], pa.large_string()),
    "date32": pa.array([0, -1, 19724, None, 2932896], pa.date32()),
    "date64": pa.array([date(1970, 1, 1), date(1969, 12, 31), date(2024, 1, 2), None, date(2000, 2, 29)], pa.date64()),
    "time32_s": pa.array([0, 1, 86399, None, 3600], pa.time32("s")),
    "time32_ms": pa.array([0, 1, 86399999, None, 3600000], pa.time32("ms")),
    "time64_us": pa.array([0, 1, 86399999999, None, 3600000000], pa.time64("us")),
    "time64_ns": pa.array([0, 1, 86399999999999, None, 3600000000000], pa.time64("ns")),
    "timestamp_s": pa.array(MOMENTS[:3] + [1704164645, None], pa.timestamp("s")),
    "timestamp_ms": pa.array(MOMENTS[:3] + [1704164645006, None], pa.timestamp("ms")),
    "timestamp_us": pa.array(MOMENTS, pa.timestamp("us")),
    "timestamp_ns": pa.array(MOMENTS[:3] + [1704164645000000006, None], pa.timestamp("ns")),
    "timestamp_us_utc": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "timestamp_us_berlin": pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin")),
    "duration_s": pa.array([0, 1, -1, 90061, None], pa.duration("s")),
    "duration_ns": pa.array([0, 1, -1, 90061000000001, None], pa.duration("ns")),
    "list": pa.array([[1, None], [], None, [2**53 + 1], [3]], pa.list_(pa.int64())),
    "list_float16": pa.array([[1.5, None], [], None, [0.1], [float("nan")]], pa.list_(pa.float16())),
    "fixed_size_list_int32": pa.array([[1, 2], [None, 4], None, [5, 6], [7, 8]], pa.list_(pa.int32(), 2)),
    "fixed_size_list_utf8": pa.array([["a", "b"], [None, "d"], None, ["e", "f"], ["g", "h"]], pa.list_(pa.string(), 2)),
    "vector_float16": pa.array([[1.5, 0.25]] * 4 + [None], pa.list_(pa.float16(), 2)),
    "vector_float32": pa.array([[0.1, -2.5]] * 4 + [None], pa.list_(pa.float32(), 2)),
    "struct": pa.array(
        [{"id": 2**53 + 1, "at": 6}, {"id": None, "at": None}, None, {"id": 1, "at": 0}, {"id": 2, "at": 1}],
        pa.struct({"id": pa.int64(), "at": pa.timestamp("us")}),
    ),
    "map": pa.array([[("a", 1)], [], None, [("b", None)], [("c", 3), ("d", 4)]], pa.map_(pa.string(), pa.int32())),
    "dictionary": pa.array(["x", "y", None, "x", "y"]).dictionary_encode(),
}


def printed(scalar):
    """The text of a value: nested values as [a, b] and {name: value}, texts inside of them in double quotes."""
    if not scalar.is_valid:
        return "null"
    kind = scalar.type
    if pa.types.is_map(kind):
        return "{" + ", ".join(f"{inner(entry['key'])}: {inner(entry['value'])}" for entry in scalar.values) + "}"
    if pa.types.is_struct(kind):
        return "{" + ", ".join(f"{field.name}: {inner(scalar[field.name])}" for field in kind) + "}"
    if hasattr(scalar, "values") and not pa.types.is_dictionary(kind):
        return "[" + ", ".join(inner(entry) for entry in scalar.values) + "]"
    if pa.types.is_dictionary(kind):
        return printed(scalar.value)
    if pa.types.is_duration(kind):
        return f"{scalar.value} {kind.unit}"
    return scalar.cast(pa.string()).as_py()


def inner(scalar):
    return json.dumps(printed(scalar), ensure_ascii=False) if scalar.is_valid and pa.types.is_string(scalar.type) else printed(scalar)


folder = Path(__file__).parent
table = pa.table(COLUMNS)
with pa.ipc.new_file(folder / "cells.arrow", table.schema) as writer:
    # Two batches, so that the second one begins at an offset of its own.
    writer.write_table(table, max_chunksize=3)
texts = {name: [printed(value) for value in table.column(name)] for name in table.column_names}
(folder / "cells.json").write_text(json.dumps({"pyarrow": pa.__version__, "cells": texts}, indent=1, ensure_ascii=False) + "\n")
