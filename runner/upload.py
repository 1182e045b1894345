"""Commits an upload in parts that is too large for one write of the service: piece after piece, in one commit."""

import io
import json

import lance
import pyarrow as pa
from column import KEY, Failed
from jobs import Stopped
from lance import LanceOperation

# Of a transaction: whether a version is the commit of an upload.
PROPERTY = "lakehead.upload"
# What is read once is not kept: with the defaults, the pieces stay in the cache of metadata.
NO_CACHE = {"metadata_cache_size_bytes": 2**20, "index_cache_size_bytes": 2**20}


class Pieces(io.RawIOBase):
    """The bytes of a part, of which one piece is in memory."""

    def __init__(self, pieces, rows):
        self._pieces = pieces
        self._rows = iter(rows)
        self._data = memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._data:
            row = next(self._rows, None)
            if row is None:
                return 0
            self._data = memoryview(self._pieces.take([row], columns=["data"])["data"][0].as_buffer()).cast("B")
        count = min(len(buffer), len(self._data))
        buffer[:count] = self._data[:count]
        self._data = self._data[count:]
        return count


def parts_of(parts, pieces):
    """Of the newest attempt of each part that has arrived completely: its bytes, and the rows of its pieces in their order."""
    ended = sorted(parts.to_table().to_pylist(), key=lambda each: each["at"])
    newest = {row["part"]: row for row in ended}
    numbers = {row["attempt"]: [] for row in newest.values()}
    for number, row in enumerate(pieces.to_table(columns=["attempt", "piece"]).to_pylist()):
        if row["attempt"] in numbers:
            numbers[row["attempt"]].append((row["piece"], number))
    return [(row["bytes"], [number for _, number in sorted(numbers[row["attempt"]])]) for row in newest.values()]


def opened(pieces, rows):
    return pa.ipc.open_stream(io.BufferedReader(Pieces(pieces, rows), 2**20))


class Upload:
    def __init__(self, home, database, storage_options, spec):
        self._uri = f"{database}/{spec['directory']}"
        # As the service keeps them: `service/lance/uploads/staging.ts`.
        self._parts, self._pieces = (f"{home}/{name}-{spec['upload']}.lance" for name in ("parts", "pieces"))
        self._storage = storage_options
        self._spec = spec
        self._appends = spec["mode"] == "append"

    def _open(self, version=None):
        return lance.dataset(self._uri, version=version, storage_options=self._storage)

    def _committed(self, table, since):
        """The version after `since` that is the commit of this upload, or None."""
        for version in range(table.version, since, -1):
            try:
                transaction = table.read_transaction(version)
            except (OSError, RuntimeError, ValueError):
                transaction = None
            if transaction is None:
                unknown = "a version since the upload began cannot be read, so it is unknown whether it was the commit"
                raise Failed("outcome", unknown, False)
            if transaction.transaction_properties.get(PROPERTY) == self._spec["upload"]:
                return version
        return None

    def _verify(self, table, schema):
        """@raises Failed for rows that the table does not take"""
        for field in table.schema:
            if field.name in schema.names and KEY in (field.metadata or {}):
                raise Failed("rows", f"the column {json.dumps(field.name)} is filled by a Function: leave it out", False)
        try:
            lance.fragment.write_fragments(schema.empty_table(), table, storage_options=self._storage)
        except OSError as error:
            if "different schema" not in str(error):
                raise
            raise Failed("rows", "the rows do not have the columns of the table, or other types", False) from error

    def commit(self, stop, event, progress):
        table = self._open()
        version = self._committed(table, int(self._spec["before"]))
        if version is not None:
            return {"published_version": version, "rows_written": self._rows(version)}
        parts, pieces = (
            lance.dataset(uri, storage_options=self._storage, **NO_CACHE) for uri in (self._parts, self._pieces)
        )
        waiting = parts_of(parts, pieces)
        whole = sum(size for size, _ in waiting)
        done = {"bytes": 0, "rows": 0}
        invalid = []

        def batches(schema):
            for size, rows in waiting:
                reader = opened(pieces, rows)
                if not reader.schema.equals(schema):
                    raise pa.ArrowInvalid("the parts have different schemas")
                for batch in reader:
                    if stop.is_set():
                        raise Stopped
                    batch.validate(full=True)
                    done["rows"] += batch.num_rows
                    progress({"rows_done": done["rows"], "bytes_done": done["bytes"], "bytes_total": whole})
                    yield batch
                done["bytes"] += size

        def noted(rows):
            # The writer reports every error of its input alike.
            try:
                yield from rows
            except pa.ArrowInvalid as error:
                invalid.append(error)
                raise

        event(state="claim", entity=self._spec["upload"], message=f"{len(waiting)} parts, {whole / 1e6:.0f} MB")
        try:
            schema = opened(pieces, waiting[0][1]).schema
            if self._appends:
                self._verify(table, schema)
            reader = pa.RecordBatchReader.from_batches(schema, noted(batches(schema)))
            fragments = lance.fragment.write_fragments(
                reader, table, mode=self._spec["mode"], storage_options=self._storage
            )
        except (OSError, pa.ArrowInvalid) as error:
            if stop.is_set():
                raise Stopped from error
            if invalid or isinstance(error, pa.ArrowInvalid):
                raise Failed("rows", "the parts are no valid Arrow data, or have different schemas", False) from error
            raise
        # A runner that had lost the job may have committed meanwhile.
        version = self._committed(self._open(), table.version)
        if stop.is_set():
            raise Stopped
        version = version or self._publish(table, schema, fragments)
        event(state="claim_complete", entity=self._spec["upload"], rows=done["rows"])
        return {"published_version": version, "rows_written": done["rows"]}

    def _publish(self, table, schema, fragments):
        """Appends of others do not conflict."""
        operation = LanceOperation.Append(fragments) if self._appends else LanceOperation.Overwrite(schema, fragments)
        transaction = lance.Transaction(
            read_version=table.version,
            operation=operation,
            transaction_properties={PROPERTY: self._spec["upload"]},
        )
        return lance.LanceDataset.commit(self._uri, transaction, storage_options=self._storage).version

    def _rows(self, version):
        before = self._open(version - 1).count_rows() if self._appends else 0
        return self._open(version).count_rows() - before
