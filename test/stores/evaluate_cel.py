"""Evaluates the expressions of access boundaries with a CEL library.

Reads a list of questions as JSON: an expression, the name of a resource, and the attributes of the request. Prints the
list of answers.
"""

import json
import sys

import celpy
from celpy import celtypes

environment = celpy.Environment()
programs: dict[str, celpy.Runner] = {}
attributes: dict[str, str] = {}


def get_attribute(_: object, name: str, default: str) -> celtypes.StringType:
    return celtypes.StringType(attributes.get(str(name), str(default)))


def ask(question: dict) -> bool:
    attributes.clear()
    attributes.update(question["attributes"])
    expression = question["expression"]
    if expression not in programs:
        programs[expression] = environment.program(
            environment.compile(expression), functions={"getAttribute": get_attribute}
        )
    activation = {"resource": celpy.json_to_cel({"name": question["resource"]}), "api": celpy.json_to_cel({})}
    return bool(programs[expression].evaluate(activation))


print(json.dumps([ask(question) for question in json.load(sys.stdin)]))
