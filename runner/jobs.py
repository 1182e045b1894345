"""The service's record of jobs, as `service/lance/records/job-store.ts` keeps it."""

import hashlib
import json
import os
import random
import socket
import time
import uuid

import lance
import pyarrow as pa

EVENTS = 10_000
ATTEMPTS = 8

TEXTS = ["job_id", "state", "updated_by", "emitted_from", "emitted_by", "claim_entity", "message"]
NUMBERS = ["emitted_at_millis", "rows_processed"]
ERROR_SCHEMA = pa.schema(
    [
        *((name, pa.utf8()) for name in ["job_id", "table", "column", "function", "error_type", "error_message"]),
        ("function_version", pa.utf8()),
        *((name, pa.int64()) for name in ["fragment_id", "row_offset", "table_version", "created_at_millis"]),
    ]
)
# Errors of rows are kept for as long as jobs are.
KEPT_MILLISECONDS = 7 * 86_400_000
LEASE_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.utf8(), nullable=False) for name in ["table", "owner", "note"]),
        *(
            pa.field(name, pa.float64(), nullable=False)
            for name in ["expires_at", "due_since", "finished_at", "exhausted_at"]
        ),
    ]
)
EVENT_SCHEMA = pa.schema([*((name, pa.utf8()) for name in TEXTS), *((name, pa.int64()) for name in NUMBERS)])


class Stopped(Exception):
    """The work was stopped before its end."""


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def now():
    return int(time.time() * 1000)


def repeated(action):
    """Repeats what another writer of the table was faster than, and what the store failed at."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return action()
        except (OSError, RuntimeError):
            if attempt == ATTEMPTS:
                raise
            time.sleep(0.1 * attempt * random.random())


class Jobs:
    def __init__(self, home, storage_options, lease_seconds):
        self.home = home
        self._storage = storage_options
        self._lease = int(lease_seconds * 1000)
        self._left = {}
        self.runner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"

    def _table(self, name):
        return lance.dataset(f"{self.home}/{name}.lance", storage_options=self._storage)

    def _change(self, where, values):
        """Whether a job was changed: a condition and its change are one commit."""
        written = {key: quoted(value) if isinstance(value, str) else str(value) for key, value in values.items()}
        return repeated(lambda: self._table("jobs").update(written, where=where))["num_rows_updated"] > 0

    def _held(self, job):
        return f"id = {quoted(job['id'])} AND state = 'IN_PROGRESS' AND runner = {quoted(self.runner)}"

    def take(self, types):
        """The oldest job of these types that nobody runs, or None. Of runners that take one at once, one gets it."""
        try:
            table = self._table("jobs")
        except ValueError:
            return None
        waiting = (
            f"type IN ({', '.join(map(quoted, types))}) AND state = 'IN_PROGRESS' AND wish = 'run'"
            f" AND (runner = '' OR heartbeat < {now() - self._lease})"
        )
        rows = table.to_table(filter=waiting).to_pylist()
        for row in sorted(rows, key=lambda each: each["created_at"]):
            was = row["runner"]
            attempts = row["attempts"] + (1 if was else 0)
            # The service ends a job whose runners ended too often.
            if attempts > 3:
                continue
            where = f"{waiting} AND id = {quoted(row['id'])} AND runner = {quoted(was)}"
            if self._change(where, {"runner": self.runner, "heartbeat": now(), "attempts": attempts}):
                job = {**row, "spec": json.loads(row["spec"])}
                self._left[job["id"]] = EVENTS
                self.event(job, state="IN_PROGRESS", message=f"attempt {attempts:.0f}")
                return job
        return None

    def beat(self, job, progress):
        """A sign of life, and how far it is. What the caller wants of the job: run, cancel or pause; lost if it is another runner's."""
        told = {"result": json.dumps(progress)} if progress else {}
        if not self._change(self._held(job), {"heartbeat": now(), **told}):
            return "lost"
        rows = self._table("jobs").to_table(columns=["wish"], filter=f"id = {quoted(job['id'])}").to_pylist()
        return rows[0]["wish"] if rows else "lost"

    def lease(self, job):
        """
        Takes the lease of the job's table, which its maintenance and the service's own jobs take, too; once more, extends it. Whether it
        is this job's, as `MaintenanceRecord.acquire` decides. For pylance, unlike LanceDB, a name in double quotes is a text.
        """
        table, owner = quoted(job["table"]), quoted(f"job/{job['id']}")
        free = f"(owner = '' OR owner = {owner} OR expires_at < {now()})"

        def ensure():
            row = {"table": job["table"], "owner": "", "note": "", "exhausted_at": -1.0}
            row |= {name: 0.0 for name in ("expires_at", "due_since", "finished_at")}
            data = pa.Table.from_pylist([row], schema=LEASE_SCHEMA)
            try:
                record = self._table("maintenance")
            except ValueError:
                uri = f"{self.home}/maintenance.lance"
                lance.write_dataset(data, uri, mode="create", storage_options=self._storage)
            else:
                if record.count_rows(f'`table` = {table}') == 0:
                    record.merge_insert("table").when_not_matched_insert_all().execute(data)

        repeated(ensure)
        held = {"owner": owner, "expires_at": str(float(now() + self._lease))}
        where = f'`table` = {table} AND {free}'
        if repeated(lambda: self._table("maintenance").update(held, where=where))["num_rows_updated"] == 0:
            return False
        others = f"`table` = {table} AND owner NOT IN ('', {owner}) AND expires_at >= {now()}"
        if self._table("maintenance").count_rows(others) == 0:
            return True
        self.give_back(job)
        return False

    def give_back(self, job):
        """Ends the lease of the job's table. One that cannot be given back ends by itself."""
        table, owner = quoted(job["table"]), quoted(f"job/{job['id']}")
        where = f'`table` = {table} AND owner = {owner}'
        free = {"owner": "''", "expires_at": "0.0"}
        repeated(lambda: self._table("maintenance").update(free, where=where))

    def release(self, job):
        """Leaves a job to the next runner."""
        self._change(self._held(job), {"runner": ""})

    def end(self, job, state, outcome):
        values = {key: json.dumps(value) for key, value in outcome.items()}
        if self._change(self._held(job), {**values, "state": state, "ended_at": now()}):
            self.event(job, state=state, message=outcome.get("failure", {}).get("message"))
        self._left.pop(job["id"], None)

    def event(self, job, state, entity="", rows=None, message=None):
        """Keeps an event. No job fails for one that cannot be stored."""
        self._left[job["id"]] = self._left.get(job["id"], EVENTS) - 1
        if self._left[job["id"]] < 0:
            return
        values = {
            **{"job_id": job["id"], "state": state, "updated_by": self.runner, "emitted_from": "lakehead-runner"},
            **{"emitted_by": self.runner, "claim_entity": entity, "message": message},
            **{"emitted_at_millis": now(), "rows_processed": rows},
        }
        try:
            data = pa.Table.from_pylist([values], schema=EVENT_SCHEMA)
            uri = f"{self.home}/job_events.lance"
            repeated(lambda: lance.write_dataset(data, uri, mode="append", storage_options=self._storage))
        except (OSError, RuntimeError, ValueError):
            pass

    def row_errors(self, job, version, errors):
        """Keeps why rows have no value: the fragment, the offset in it, the type and the text of each error."""
        function = job["spec"]["function"]
        branch = job["spec"].get("branch")
        # As the service asks for them.
        table = f"{job['table']}@{branch}" if branch else job["table"]
        known = {
            **{"job_id": job["id"], "table": table, "column": job["spec"]["column"]},
            **{"function": function["name"], "function_version": function["version"]},
            **{"table_version": version, "created_at_millis": now()},
        }
        keys = ("fragment_id", "row_offset", "error_type", "error_message")
        rows = [{**known, **dict(zip(keys, error))} for error in errors]
        uri = f"{self.home}/function_errors.lance"

        def keep():
            try:
                kept = lance.dataset(uri, storage_options=self._storage)
            except ValueError:
                kept = None
            if kept is not None:
                old = f"created_at_millis < {now() - KEPT_MILLISECONDS}"
                if kept.count_rows(old) > 0:
                    kept.delete(old)
            data = pa.Table.from_pylist(rows, schema=ERROR_SCHEMA)
            mode = "create" if kept is None else "append"
            lance.write_dataset(data, uri, mode=mode, storage_options=self._storage)

        repeated(keep)

    def source(self, digest):
        """A source of the catalog, or None if it is not kept, or not what the digest says."""
        filter = f"digest = {quoted(digest)}"
        rows = self._table("function_sources").to_table(columns=["source"], filter=filter).to_pylist()
        if not rows:
            return None
        source = rows[0]["source"]
        return source if f"sha256:{hashlib.sha256(source.encode()).hexdigest()}" == digest else None
