"""Prints, as JSON, the operations of the Lance Namespace specification as its generated Python client has them.

The client's own code is asked, not read: each operation is called with values of the right types, and what it would send
and how it would read each status is taken down instead of going out.
"""

import importlib
import inspect
import json
import pkgutil
from importlib.metadata import version
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import lance_namespace_urllib3_client as client
from lance_namespace_urllib3_client import api as apis
from pydantic import BaseModel, TypeAdapter

PACKAGE = "lance-namespace-urllib3-client"


class Recorder(client.ApiClient):
    """Records what an operation would send and how it would read the response."""

    def param_serialize(self, **sent: Any) -> tuple:
        self.sent = sent
        return ()

    def select_header_accept(self, accepts: list[str]) -> str | None:
        self.accepts = accepts
        return super().select_header_accept(accepts)

    def call_api(self, *_: Any, **__: Any) -> Any:
        return type("Answer", (), {"read": lambda self: None})()

    def response_deserialize(self, response_data: Any, response_types_map: Any) -> Any:
        self.answers = dict(response_types_map)
        return type("Read", (), {"data": None})()


def base_types(annotation: Any) -> list[Any]:
    """The types behind Optional, Annotated and Union."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return base_types(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [base for part in get_args(annotation) for base in base_types(part)]
    return [] if annotation is type(None) else [annotation]


def value_of(name: str, annotation: Any) -> Any:
    """Any value that the operation takes for a parameter."""
    first = base_types(annotation)[0]
    if inspect.isclass(first) and issubclass(first, BaseModel):
        return first.model_construct()
    if get_origin(first) is list:
        return [value_of(name, get_args(first)[0])]
    if get_origin(first) is dict:
        return {}
    return {str: f"{{{name}}}", bytes: b"", int: 1, bool: True, float: 1.0}[first]


def schema_of(annotation: Any) -> dict[str, Any]:
    return TypeAdapter(annotation).json_schema(by_alias=True, ref_template="#/models/{model}")


# The client names response types by strings.
ANSWER_NAMES = {**vars(client), "Dict": dict, "List": list, "str": str, "int": int, "bytearray": bytes}


def answer_schema(name: str | None) -> dict[str, Any] | None:
    return None if name is None else schema_of(eval(name, {"__builtins__": {}}, ANSWER_NAMES))


def describe(api: Any, recorder: Recorder, name: str) -> dict[str, Any]:
    signature = inspect.signature(getattr(type(api), name), eval_str=True)
    parameters = {key: value for key, value in signature.parameters.items() if key != "self" and not key.startswith("_")}
    getattr(api, name)(**{key: value_of(key, value.annotation) for key, value in parameters.items()})
    sent = recorder.sent
    of_query = {key for key, _ in sent["query_params"]}
    of_body = set(parameters) - of_query - set(sent["path_params"])
    required = {key: value.default is inspect.Parameter.empty for key, value in parameters.items()}
    body = [schema_of(parameters[key].annotation) for key in of_body if sent["body"] is not None]
    return {
        "name": name,
        "method": sent["method"],
        "path": sent["resource_path"],
        "query": {
            key: {"schema": schema_of(value.annotation), "required": required[key]}
            for key, value in parameters.items()
            if key in of_query
        },
        "body": body[0] if body else None,
        "bodyRequired": any(required[key] for key in of_body),
        "requestType": sent["header_params"].get("Content-Type"),
        "answerTypes": recorder.accepts,
        "answers": {status: answer_schema(answer) for status, answer in recorder.answers.items()},
    }


def operations() -> list[dict[str, Any]]:
    found = {}
    for module in pkgutil.iter_modules(apis.__path__):
        for _, kind in inspect.getmembers(importlib.import_module(f"{apis.__name__}.{module.name}"), inspect.isclass):
            if not kind.__module__.startswith(f"{apis.__name__}."):
                continue
            names = [name for name in dir(kind) if hasattr(kind, f"_{name}_serialize")]
            for name in names:
                recorder = Recorder()
                operation = describe(kind(recorder), recorder, name)
                found[(operation["path"], operation["method"])] = operation
    return [found[key] for key in sorted(found)]


print(json.dumps({"package": PACKAGE, "version": version(PACKAGE), "operations": operations()}))
