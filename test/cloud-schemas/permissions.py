"""Prints the permissions that AWS's own schemas name for the handlers of resource types, from the copy that cfn-lint ships.

Arguments: types of CloudFormation. Standard output: {"<type>": {"create": ["s3:CreateBucket", ...], "read": [...], ...}}."""

import json
import pathlib
import sys

import cfnlint

schemas = pathlib.Path(cfnlint.__file__).parent / "data" / "schemas"
files = json.loads((schemas / "providers" / "us-east-1.json").read_text())


def handlers(name):
    schema = json.loads((schemas / "resources" / f"{files[name]}.json").read_text())
    return {handler: entry["permissions"] for handler, entry in schema.get("handlers", {}).items()}


json.dump({name: handlers(name) for name in sys.argv[1:]}, sys.stdout)
