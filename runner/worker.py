"""Runs the code of a Function, in a worker of Ray and nowhere else. Answers are JSON.

The head reads this class, too, and has no packages of the workers: each method imports what it needs of them.
"""

import importlib
import inspect
import json
import os
import sys
import tempfile
import types
import typing
import uuid

MODULE = "user_function"
BATCH = 1024
ERRORS = 100
TEXT = 300
WHOLE = "$value"
# Where a worker's machine has secrets, each in a file of its name.
SECRETS = "/etc/lakehead/function-secrets"


def shown(error):
    return type(error).__name__, str(error)[:TEXT]


def load(artifact, source):
    """The callable that a source defines: a module, or the files of several."""
    if artifact["kind"] == "python_bundle":
        home = tempfile.mkdtemp()
        for path, text in json.loads(source)["files"].items():
            place = os.path.normpath(os.path.join(home, path))
            if not place.startswith(home + os.sep):
                raise ValueError("a file of the bundle is outside of it")
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        sys.path.insert(0, home)
        module = importlib.import_module(MODULE)
    else:
        module = types.ModuleType(MODULE)
        sys.modules[MODULE] = module
        exec(compile(source, f"{MODULE}.py", "exec"), module.__dict__)
    return getattr(module, artifact["entrypoint"])


def bind_secrets(bindings):
    """Sets the variables of a Function to the secrets that it names. They are read here, so that no other part of Ray sees them."""
    home = os.environ.get("LAKEHEAD_FUNCTION_SECRETS", SECRETS)
    for binding in bindings:
        place = os.path.join(home, binding["file"])
        if os.path.dirname(os.path.normpath(place)) != os.path.normpath(home):
            raise ValueError("the name of a secret is a path")
        try:
            with open(place, encoding="utf-8") as file:
                os.environ[binding["variable"]] = file.read()
        except FileNotFoundError:
            raise ValueError(f"there is no secret {binding['file']}: the operator gives workers its value") from None


class Worker:
    def __init__(self, uri, storage_options, version, spec, source, outputs):
        self._spec = json.loads(spec)
        self._outputs = json.loads(outputs)
        self._uri = uri
        self._storage = storage_options
        self._fault = None
        try:
            import lance

            self._table = lance.dataset(uri, version=version, storage_options=storage_options)
            bind_secrets(self._spec["function"].get("secrets", []))
            self._prepare(source)
        except Exception as error:
            kind, text = shown(error)
            self._fault = f"the Function cannot be loaded: {kind}: {text}"

    def _prepare(self, source):
        import pyarrow as pa

        function = self._spec["function"]
        entry = load(function["artifact"], source)
        hinted = entry.__call__ if inspect.isclass(entry) else entry
        hints = typing.get_type_hints(hinted)
        self._parameters = function["signature"]["inputs"]
        if inspect.isclass(entry):
            values = self._spec.get("initialization") or {}
            entry = entry(**{name: value for name, value in values.items() if value is not None})
        self._call = entry
        kinds = {hints.get(each["name"]) for each in self._parameters}
        self._form = "array" if kinds == {pa.Array} else "batch" if kinds == {pa.RecordBatch} else "row"
        schema = self._table.schema
        # One column has all of the result, or each has one of its fields.
        self._fields = {name: None if output == WHOLE else output for name, output in self._outputs.items()}
        own = [pa.field(name, schema.field(name).type) for name in self._outputs]
        self._schema = pa.schema(own)
        if list(self._fields.values()) == [None]:
            self._type = own[0].type
        else:
            self._type = pa.struct([pa.field(self._fields[each.name], each.type) for each in own])

    def ready(self):
        return json.dumps({} if self._fault is None else {"fault": self._fault})

    def compute(self, fragment_id, digest):
        """Writes a file with the values of all rows of a fragment. Those of deleted rows and of rows that fail are null."""
        from lance.file import LanceFileWriter

        if self._fault is not None:
            return json.dumps({"fault": self._fault})
        name = f"fn-{digest}-{uuid.uuid4().hex}.lance"
        columns = list(dict.fromkeys(each["column"] for each in self._spec["inputs"]))
        scanner = self._table.get_fragment(fragment_id).scanner(
            columns=columns, include_deleted_rows=True, with_row_id=True, batch_size=BATCH
        )
        failed, errors, offset = 0, [], 0
        path = f"{self._uri}/data/{name}"
        version = self._table.data_storage_version
        with LanceFileWriter(path, self._schema, version=version, storage_options=self._storage or None) as writer:
            for batch in scanner.to_batches():
                values, faults = self._values(batch)
                failed += len(faults)
                errors += [[offset + at, *shown(error)] for at, error in faults[: ERRORS - len(errors)]]
                offset += batch.num_rows
                writer.write_batch(self._written(values))
        return json.dumps({"file": name, "failed": failed, "errors": errors})

    def _values(self, batch):
        """The results of a batch's rows, and the rows that failed. A row without a value that the Function requires has none."""
        import pyarrow.compute as pc

        inputs = {each["parameter"]: batch.column(each["column"]) for each in self._spec["inputs"]}
        usable = batch.column("_rowid").is_valid()
        for each in self._parameters:
            if not each.get("nullable"):
                usable = pc.and_(usable, inputs[each["name"]].is_valid())
        rows = [at for at, use in enumerate(usable.to_pylist()) if use]
        results = [None] * batch.num_rows
        faults = []
        form = self._by_row if self._form == "row" else self._by_batch
        form(inputs, rows, results, faults)
        return results, sorted(faults, key=lambda fault: fault[0])

    def _by_row(self, inputs, rows, results, faults):
        import pyarrow as pa

        named = {name: values.to_pylist() for name, values in inputs.items()}
        for at in rows:
            try:
                value = self._call(**{name: values[at] for name, values in named.items()})
                results[at] = pa.scalar(value, self._type).as_py()
            except Exception as error:
                faults.append((at, error))

    def _by_batch(self, inputs, rows, results, faults):
        """Halves a batch that fails, until the rows are found for which it does."""
        import pyarrow as pa

        if not rows:
            return
        taken = {name: values.take(pa.array(rows, pa.int64())) for name, values in inputs.items()}
        try:
            if self._form == "batch":
                answer = self._call(pa.RecordBatch.from_pydict(taken))
            else:
                answer = self._call(**taken)
            if isinstance(answer, pa.RecordBatch):
                answer = answer.to_struct_array()
            if isinstance(answer, pa.ChunkedArray):
                answer = answer.combine_chunks()
            answer = pa.array(answer, self._type) if not isinstance(answer, pa.Array) else answer.cast(self._type)
            if len(answer) != len(rows):
                raise ValueError(f"{len(answer)} values for {len(rows)} rows")
            for at, value in zip(rows, answer.to_pylist()):
                results[at] = value
        except Exception as error:
            if len(rows) == 1:
                faults.append((rows[0], error))
                return
            middle = len(rows) // 2
            self._by_batch(inputs, rows[:middle], results, faults)
            self._by_batch(inputs, rows[middle:], results, faults)

    def _written(self, results):
        import pyarrow as pa
        import pyarrow.compute as pc

        array = pa.array(results, self._type)
        if list(self._fields.values()) == [None]:
            return pa.RecordBatch.from_arrays([array], schema=self._schema)
        parts = [pc.struct_field(array, self._fields[each.name]) for each in self._schema]
        return pa.RecordBatch.from_arrays(parts, schema=self._schema)
