"""Applies the Python of the plan doctor's fixes as it is printed: a request a line on standard input, a response a line on standard output."""

import ast
import json
import sys
from typing import Any

import lancedb

MAX_ROWS = 1000


def analyzed(program: str, names: dict[str, Any]) -> str:
    """The measured plan of a program that ends with `.to_arrow()`."""
    called = ast.parse(program, mode="eval").body
    assert isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and called.func.attr == "to_arrow"
    return eval(ast.unparse(called.func.value), names).analyze_plan()


def apply(request: dict[str, Any]) -> dict[str, Any]:
    table = lancedb.connect(request["directory"]).open_table(request["table"])
    names = {"table": table, "vector": request["vector"], "last_distance": request.get("lastDistance")}
    if request["maintenance"] is not None:
        exec(request["maintenance"], names)
    # The plan first: the second run finds the index in the cache.
    plan = analyzed(request["query"], names)
    rows = eval(request["query"], names)
    known = [name for name in ("id", "_distance") if name in rows.column_names]
    return {"plan": plan, "rows": rows.slice(0, MAX_ROWS).select(known).to_pylist() if "id" in known else []}


print(json.dumps({"version": lancedb.__version__}), flush=True)
for line in sys.stdin:
    try:
        response = apply(json.loads(line))
    except Exception as error:
        response = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(response), flush=True)
