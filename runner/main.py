"""Takes jobs from the database: fills columns by Functions, whose code runs in the workers of a Ray cluster, and commits uploads.

A job is taken by a lease in the service's own table of jobs, so it needs no address of the service, and any number of
runners may run. What a runner has committed stays when it ends: the next one goes on from there.
"""

import json
import os
import signal
import sys
import threading
import time
from functools import partial

# A runner that was killed holds the CPUs of its workers for so many seconds.
os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "5")

import answers
import ray
from column import Column, Failed
from jobs import Jobs, Stopped
from upload import Upload

DATABASE = os.environ["LAKEHEAD_DATABASE"].rstrip("/")
STORAGE = json.loads(os.environ.get("LAKEHEAD_STORAGE_OPTIONS") or "{}")
# Of the workers, where their keys are not the runner's.
WORKER_STORAGE = json.loads(os.environ.get("LAKEHEAD_FUNCTIONS_STORAGE_OPTIONS") or "null") or STORAGE
LEASE_SECONDS = float(os.environ.get("LAKEHEAD_JOBS_LEASE_SECONDS", "30"))
JOB_SECONDS = float(os.environ.get("LAKEHEAD_JOBS_SECONDS", "21600"))
WORKERS = int(os.environ.get("LAKEHEAD_FUNCTIONS_WORKERS", "4"))
# What workers need beside Ray, where its image does not have it.
PACKAGES = os.environ.get("LAKEHEAD_FUNCTIONS_PACKAGES", "").split()
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def say(text, **fields):
    print(json.dumps({"msg": text, **fields}), flush=True)


def wait_for_lease(jobs, job, stop):
    """The maintenance of a table and this job would undo each other's work."""
    told = False
    while not jobs.lease(job):
        if not told:
            jobs.event(job, state="waiting", message="waits for the maintenance of the table, or for another job on it")
        told = True
        if stop.wait(2):
            raise Stopped


def refresh(jobs, job, stop, event, progress):
    """Fills a column by a Function."""
    spec = job["spec"]
    wanted = spec["function"]["runtime"]["python_version"]
    if wanted != PYTHON:
        raise Failed("prepare", f"the Function needs Python {wanted}, and the cluster has {PYTHON}", False)
    source = jobs.source(spec["function"]["artifact"]["digest"])
    if source is None:
        raise Failed("prepare", "the source of the Function is no longer kept: register it again", False)
    branch = spec.get("branch")
    uri = f"{DATABASE}/{spec['directory']}" + (f"/tree/{branch}" if branch else "")
    column = Column(uri, STORAGE, WORKER_STORAGE, spec, source, WORKERS, PACKAGES)
    return column.fill(stop, event, partial(jobs.row_errors, job), progress)


def commit(jobs, job, stop, event, progress):
    """Commits an upload in parts."""
    return Upload(jobs.home, DATABASE, STORAGE, job["spec"]).commit(stop, event, progress)


# By the type of the job.
WORK = {"refresh_function": refresh, "commit_upload": commit}


def perform(jobs, job, stopping):
    """Runs a job that this runner holds, and stores how it ended, unless another runner has it by then."""
    stop = threading.Event()
    leased = threading.Event()
    progress = {}
    reason = []

    def end_early(why):
        if not reason:
            reason.append(why)
        stop.set()

    def watch():
        started = alive = time.time()
        while not stop.wait(LEASE_SECONDS / 6):
            try:
                wish = jobs.beat(job, progress)
                if wish == "run" and leased.is_set() and not jobs.lease(job):
                    wish = "unleased"
                alive = time.time()
            except Exception as error:
                say("a sign of life failed", job=job["id"], reason=str(error)[:300])
                # Before another runner takes the job.
                wish = "lost" if time.time() - alive > LEASE_SECONDS * 2 / 3 else "run"
            if wish != "run":
                end_early(wish)
            elif stopping.is_set():
                end_early("shutdown")
            elif time.time() - started > JOB_SECONDS:
                end_early("timeout")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    say("a job was taken", job=job["id"], table=job["table"])
    try:
        wait_for_lease(jobs, job, stop)
        leased.set()
        result = WORK[job["type"]](jobs, job, stop, partial(jobs.event, job), progress.update)
        outcome = ("DONE", {"result": result})
    except Stopped:
        outcome = None
    except Failed as failed:
        outcome = ("FAILED", {"failure": failed.failure})
    except Exception as error:
        # Its text may be native, and is for the log alone.
        say("a job failed", job=job["id"], reason=f"{type(error).__name__}: {str(error)[:2000]}")
        message = "the job failed; the runner's log has the cause"
        outcome = ("FAILED", {"failure": {"phase": "run", "message": message, "retryable": True}})
    finally:
        stop.set()
        thread.join()
        if leased.is_set():
            try:
                jobs.give_back(job)
            except Exception as error:
                say("a lease was not given back", job=job["id"], reason=str(error)[:300])
    if outcome is None:
        why = reason[0] if reason else "shutdown"
        message = f"the job took more than {JOB_SECONDS:.0f} s; ask the operator to raise LAKEHEAD_JOBS_SECONDS"
        unleased = "the lease of the table was lost; retry"
        ends = {
            "unleased": ("FAILED", {"failure": {"phase": "lease", "message": unleased, "retryable": True}}),
            "cancel": ("CANCELLED", {}),
            "timeout": ("TIMED_OUT", {"failure": {"phase": "run", "message": message, "retryable": True}}),
        }
        if why in ("pause", "shutdown"):
            jobs.release(job)
        outcome = ends.get(why)
    if outcome is not None:
        jobs.end(job, *outcome)
        say("a job ended", job=job["id"], table=job["table"], state=outcome[0])


def join(stopping):
    """Connects to the cluster, which may be about to start."""
    address = os.environ.get("LAKEHEAD_RAY_ADDRESS", "auto")
    if address.startswith("ray://"):
        answers.guard()
    for attempt in range(1, 11):
        try:
            # Code of callers writes to the log of its worker, not to this one.
            ray.init(address=address, log_to_driver=False, namespace="lakehead")
            return
        except (ConnectionError, RuntimeError, TimeoutError) as error:
            say("the cluster does not answer", address=address, reason=str(error)[:300])
            if attempt == 10 or stopping.wait(3):
                raise


def main():
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    join(stopping)
    jobs = Jobs(f"{DATABASE}/_lakehead", STORAGE, LEASE_SECONDS)
    say("waiting for jobs", runner=jobs.runner, python=PYTHON)
    while not stopping.is_set():
        try:
            job = jobs.take(tuple(WORK))
        except Exception as error:
            say("jobs could not be read", reason=str(error)[:300])
            job = None
        if job is None:
            stopping.wait(1)
        else:
            perform(jobs, job, stopping)


if __name__ == "__main__":
    main()
