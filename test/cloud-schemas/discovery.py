"""Prints the schemas of the discovery documents named as arguments (such as container.v1), which google-api-python-client ships."""

import json
import pathlib
import sys

from googleapiclient import discovery_cache

folder = pathlib.Path(discovery_cache.__file__).parent / "documents"
json.dump({name: json.loads((folder / f"{name}.json").read_text())["schemas"] for name in sys.argv[1:]}, sys.stdout)
