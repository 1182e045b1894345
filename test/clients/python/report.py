"""Shared by every Python client's program: its input, its cases, its calls that must fail."""

import atexit
import json
import os
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

with open(sys.argv[1], encoding="utf-8") as file:
    WORLD: dict[str, Any] = json.load(file)

ENDPOINT: str = WORLD["endpoint"]
KEYS: dict[str, str] = WORLD["keys"]
DOCS: dict[str, Any] = WORLD["docs"]
PLAIN: dict[str, Any] = WORLD["plain"]
NESTED: dict[str, Any] = WORLD["nested"]
AWKWARD: dict[str, Any] = WORLD["awkward"]
TYPES: list[str] = WORLD["types"]


# Threads of a client may still run when the interpreter ends, which then sometimes aborts (lancedb 0.27.1 does). Python
# sets `last_type` for an exception that nothing caught.
atexit.register(lambda: os._exit(1 if hasattr(sys, "last_type") else 0))


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)
    sys.stdin.readline()


class Report:
    """Prints the client's name and then each case, see test/clients/result.ts."""

    def __init__(self, client: str, package: str) -> None:
        self._client = client
        _print({"client": client, "version": f"{package} {version(package)}"})

    def say(self, operation: str, case: str, fault: BaseException | None) -> None:
        detail = "" if fault is None else f"{type(fault).__name__}: {fault}"[:400]
        _print(
            {
                "client": self._client,
                "operation": operation,
                "case": case,
                "ok": fault is None,
                "detail": detail,
            }
        )

    def case(self, operation: str, case: str) -> Callable[[Callable[[], None]], None]:
        """Runs the decorated function as a case."""

        def run(check: Callable[[], None]) -> None:
            try:
                check()
            except Exception as fault:
                self.say(operation, case, fault)
            else:
                self.say(operation, case, None)

        return run


def same(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def holds(condition: object, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def failed_as(fault: BaseException | None, kind: type[BaseException], value: object = None) -> None:
    """Checks that a call fails with exactly this class, and no subclass of it."""
    if fault is None:
        raise AssertionError(f"it was expected to fail as {kind.__name__}, and gave {value!r}"[:300])
    if type(fault) is not kind:
        raise AssertionError(f"it failed as {type(fault).__name__}, not {kind.__name__}: {fault}"[:500])


def fails(kind: type[BaseException], call: Callable[[], object], text: str = "") -> BaseException:
    value = None
    try:
        value = call()
    except Exception as error:
        failed_as(error, kind)
        holds(text in str(error), f"{text!r} is not in {error}"[:500])
        return error
    failed_as(None, kind, value)
    raise AssertionError


class Watched:
    """Records which methods of an object were called, so that methods of a new client version are not missed."""

    def __init__(self, subject: object, seen: set[str]) -> None:
        self._subject = subject
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        self._seen.add(name)
        return getattr(self._subject, name)


def unseen(kind: type, seen: set[str], local: Iterable[str]) -> list[str]:
    """Public members of a class that were never used, apart from `local` ones, which send no request."""
    return sorted(
        name for name in dir(kind) if not name.startswith("_") and name not in seen and name not in set(local)
    )
