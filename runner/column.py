"""The columns of one binding: which fragments of the table need values, who computes them, and their commits."""

import hashlib
import json
import time

import lance
import ray
import worker
from jobs import Stopped
from lance import LanceOperation
from lance.fragment import DataFile

# The nodes of the cluster do not have this folder.
ray.cloudpickle.register_pickle_by_value(worker)

KEY = b"lakehead.function"
# A job that has more rows that failed ends, as LanceDB's does.
FAILED_SHARE = 0.05
# Conflicts with other writers, one after another, after which a job gives up.
CONFLICTS = 20
# What is committed together: a conflict makes it void.
GROUP_FRAGMENTS = 16
GROUP_SECONDS = 20
# Rows that failed, of which is kept why.
REPORTED = 1000


class Failed(Exception):
    def __init__(self, phase, message, retryable):
        super().__init__(message)
        self.failure = {"phase": phase, "message": message, "retryable": retryable}


def ids_of(field):
    return [field.id(), *(each for child in field.children() for each in ids_of(child))]


def is_conflict(error):
    """Whether another writer was faster. What it did, a new plan finds out."""
    return any(word in str(error).lower() for word in ("conflict", "incompatible"))


class Column:
    def __init__(self, uri, storage_options, worker_options, spec, source, workers, packages):
        self._uri = uri
        self._storage = storage_options
        self._worker_options = worker_options
        self._spec = spec
        self._source = source
        self._workers = workers
        self._packages = packages

    def _open(self):
        return lance.dataset(self._uri, storage_options=self._storage)

    def _outputs(self, table):
        """The columns of the binding: the field of the result by name, as the table has them now."""
        found = {}
        for field in table.schema:
            bound = json.loads((field.metadata or {}).get(KEY, b"{}"))
            if bound.get("binding") == self._spec["binding"]:
                found[field.name] = bound["output"]
        if self._spec["column"] not in found:
            raise Failed("plan", "the column was dropped, or bound to another Function", False)
        return found

    def _digest(self, fields, fragment):
        """Of all that the values of a fragment depend on: what is bound, and the files of its inputs."""
        wanted = {each for column in self._spec["inputs"] for each in ids_of(fields[column["column"]])}
        files = [
            [file.path, sorted(wanted.intersection(file.fields))]
            for file in fragment.metadata.files
            if wanted.intersection(file.fields)
        ]
        bound = [self._spec["binding"], self._spec["function"]["object"], sorted(files)]
        return hashlib.sha256(json.dumps(bound).encode()).hexdigest()[:24]

    def _stale(self, table, outputs):
        """Fragments whose values were not computed from what their inputs are now: the file's name says from what."""
        fields = {field.name(): field for field in table.lance_schema.fields()}
        missing = [each["column"] for each in self._spec["inputs"] if each["column"] not in fields]
        if missing:
            raise Failed("plan", f"the input {missing[0]} was dropped or renamed", False)
        own = {each for name in outputs for each in ids_of(fields[name])}
        work = []
        for fragment in table.get_fragments():
            digest = self._digest(fields, fragment)
            holders = {file.path for file in fragment.metadata.files if own.intersection(file.fields)}
            if len(holders) != 1 or not next(iter(holders)).startswith(f"fn-{digest}-"):
                work.append((fragment.fragment_id, fragment.count_rows(), digest))
        return work

    def fill(self, stop, event, row_errors, progress):
        started = self._open()
        total = {"assigned": 0, "failed": 0}
        published = started.version
        conflicts = 0
        reported = 0
        whole = None
        begun = time.time()
        table = started
        while True:
            outputs = self._outputs(table)
            work = self._stale(table, outputs)
            rows = sum(count for _, count, _ in work)
            whole = rows if whole is None else max(whole, rows)
            if not work:
                break
            event(state="claim", entity=self._spec["column"], rows=rows, message=f"{len(work)} fragments")
            conflict = None
            for group in self._computed(table, outputs, work, stop):
                failed = sum(each["failed"] for each in group)
                errors = [(each["fragment"], *error) for each in group for error in each["errors"]]
                errors = errors[: REPORTED - reported]
                if errors:
                    row_errors(table.version, errors)
                reported += len(errors)
                if total["failed"] + failed > max(1, whole) * FAILED_SHARE:
                    raise Failed(
                        "run",
                        f"{total['failed'] + failed} of {whole} rows failed, more than {FAILED_SHARE:.0%}: "
                        "the table's function_errors say why",
                        False,
                    )
                if stop.is_set():
                    raise Stopped
                try:
                    published = self._commit(table, group)
                except (OSError, RuntimeError) as error:
                    if not is_conflict(error):
                        raise
                    conflict = error
                    break
                conflicts = 0
                total["failed"] += failed
                total["assigned"] += sum(each["rows"] - each["failed"] for each in group)
                done = total["assigned"] + total["failed"]
                rate = done / max(0.001, time.time() - begun)
                seconds = max(0, whole - done) / max(1, rate)
                left = f"{rate:.0f} rows/s, about {seconds:.0f} s left"
                event(state="progress", entity=self._spec["column"], rows=done, message=left)
                # As one value: another thread reads it.
                progress({"rows_done": done, "rows_total": whole, "seconds_left": round(seconds)})
            if conflict is None:
                break
            conflicts += 1
            if conflicts > CONFLICTS:
                raise Failed("commit", "other writers changed the same rows again and again; retry", True)
            table = self._open()
        latest = self._open()
        remaining = sum(count for _, count, _ in self._stale(latest, self._outputs(latest)))
        event(state="claim_complete", entity=self._spec["column"], rows=total["assigned"])
        return {
            "rows_assigned": total["assigned"],
            "rows_failed": total["failed"],
            "rows_remaining": remaining,
            "source_version": started.version,
            "published_version": published,
        }

    def _commit(self, table, group):
        """Appends, deletes and updates by others do not conflict: what they changed is found by the next refresh."""
        replacements = [
            LanceOperation.DataReplacementGroup(each["fragment"], DataFile.create(table, each["file"])) for each in group
        ]
        return lance.LanceDataset.commit(
            self._uri,
            LanceOperation.DataReplacement(replacements),
            read_version=table.version,
            storage_options=self._storage,
        ).version

    def _options(self):
        runtime = self._spec["function"]["runtime"]
        environment = runtime["environment"]
        packages = [*self._packages, *(environment.get("packages") or [])]
        variables = runtime.get("env") or {}
        installed = {"pip": packages}
        if environment["kind"] == "conda":
            channels = environment.get("channels") or []
            own = [*(environment.get("packages") or []), "pip", {"pip": self._packages}]
            installed = {"conda": {"channels": channels or ["conda-forge"], "dependencies": own}}
        runtime_env = {**(installed if packages else {}), **({"env_vars": variables} if variables else {})}
        return {
            "num_cpus": 1,
            "num_gpus": 1 if runtime.get("gpu") else 0,
            "max_restarts": 3,
            "max_task_retries": 3,
            **({"runtime_env": runtime_env} if runtime_env else {}),
        }

    def _computed(self, table, outputs, work, stop):
        """Groups of computed fragments, as workers end them. Each worker has one fragment at a time."""
        given = (self._uri, self._worker_options, table.version, json.dumps(self._spec), self._source, json.dumps(outputs))
        actor = ray.remote(worker.Worker).options(**self._options())
        workers = [actor.remote(*given) for _ in range(min(self._workers, len(work)))]
        waiting = list(work)
        # A worker that the cluster has no room for yet gets no fragment.
        running = {each.ready.remote(): (each, None) for each in workers}
        group, since = [], time.time()
        try:
            while running:
                ended, _ = ray.wait(list(running), num_returns=1, timeout=0.5)
                if stop.is_set():
                    raise Stopped
                for future in ended:
                    each, task = running.pop(future)
                    answer = self._answer(future)
                    if task is not None:
                        group.append({"fragment": task[0], "rows": task[1], **answer})
                    if waiting:
                        task = waiting.pop(0)
                        running[each.compute.remote(task[0], task[2])] = (each, task)
                if not waiting and all(task is None for _, task in running.values()):
                    break
                if group and (len(group) >= GROUP_FRAGMENTS or time.time() - since > GROUP_SECONDS):
                    yield group
                    group, since = [], time.time()
            if group:
                yield group
        finally:
            for each in workers:
                ray.kill(each)

    def _answer(self, future):
        """What a worker says. Nothing that the code of a caller raises is unpickled to an error of its own class here."""
        try:
            answer = json.loads(ray.get(future))
        except ray.exceptions.RuntimeEnvSetupError as error:
            raise Failed("prepare", "the packages of the Function cannot be installed on the cluster", False) from error
        except ray.exceptions.RayActorError as error:
            raise Failed("run", "the worker of the Function ended several times: it may need more memory", True) from error
        if "fault" in answer:
            raise Failed("load", answer["fault"], False)
        return answer
