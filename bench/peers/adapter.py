"""The reference server over a directory. Argument: the directory. Prints its port; ends when its input does."""

import sys

from lance.namespace import RestAdapter

with RestAdapter("dir", {"root": sys.argv[1]}, host="127.0.0.1", port=0) as adapter:
    print(adapter.port, flush=True)
    sys.stdin.read()
