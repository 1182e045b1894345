"""Prints what google-api-python-client's discovery documents say of the named methods (such as `compute.v1 regions.get`): their HTTP
method and URL; and the quota metrics that Compute Engine has."""

import json
import pathlib
import sys

from googleapiclient import discovery_cache

folder = pathlib.Path(discovery_cache.__file__).parent / "documents"


def read(name):
    return json.loads((folder / f"{name}.json").read_text())


def method(name):
    api, path = name.split()
    document = read(api)
    *resources, last = path.split(".")
    node = document
    for resource in resources:
        node = node["resources"][resource]
    found = node["methods"][last]
    return {"method": found["httpMethod"], "url": document["rootUrl"] + document["servicePath"] + found.get("flatPath", found["path"])}


metrics = read("compute.v1")["schemas"]["Quota"]["properties"]["metric"]["enum"]
json.dump({"methods": {name: method(name) for name in sys.argv[1:]}, "metrics": metrics}, sys.stdout)
