"""The reference server over a database. Arguments: its address, and storage options as JSON. Prints its port; ends when its input does."""

import json
import sys

from lance.namespace import RestAdapter

storage = {f"storage.{name}": value for name, value in json.loads(sys.argv[2]).items()}
with RestAdapter("dir", {"root": sys.argv[1], **storage}, host="127.0.0.1", port=0) as adapter:
    print(adapter.port, flush=True)
    sys.stdin.read()
