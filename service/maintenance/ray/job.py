"""Maintains one table on the workers of a Ray cluster. `job.ts` submits it, with a JSON object as its argument.

lance-ray distributes the tasks, and Lance commits the tasks of a round together or not at all.
"""

import json
import logging
import math
import os
import sys
import time

import lance
import lance_ray
import ray
from lance.optimize import Compaction
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

given = json.loads(sys.argv[1])
uri = given["uri"]
storage_options = json.loads(os.environ.get("LAKEHEAD_STORAGE_OPTIONS", "{}"))
# At most Lance's default, which the table service's SDK merges to, whatever the table's own configuration says.
fragment_rows = given["fragment_rows"]
target = {"target_rows_per_fragment": fragment_rows}
# What the SDK of the table service aims at.
partition_rows = 8192
# Half of the memory that a worker of a stack has by default.
training_bytes = 4 * 2**30
# Tasks of a worker in one round: what a conflict with a writer makes void.
round_tasks = 4
# This node maps the indices to the rows of a round, which takes some 150 bytes for each.
round_rows = 24 * 2**20


def log_tasks():
    """Logs in each worker which tasks it runs, without their fragments, of which a task has thousands."""
    log = logging.getLogger("lance_ray.compaction")
    log.setLevel(logging.INFO)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message).36s"))
    log.addHandler(handler)


def table():
    return lance.dataset(uri, storage_options=storage_options)


def reserve(most):
    """Waits for up to `most` CPUs, each on another node where possible: the autoscaler adds nodes for them, but
    lance-ray fails at once if the cluster has fewer CPUs than it is told to use."""
    count = most
    while True:
        group = placement_group([{"CPU": 1}] * count, strategy="SPREAD")
        if group.wait(given["reserve_seconds"]):
            # Without restarts, the loss of one worker fails the whole job.
            arguments = {
                "num_cpus": 1,
                "max_restarts": 3,
                "max_task_retries": 3,
                "scheduling_strategy": PlacementGroupSchedulingStrategy(group),
            }
            return group, {"num_workers": count, "ray_remote_args": arguments, "storage_options": storage_options}
        remove_placement_group(group)
        if count == 1:
            raise SystemExit("no worker of the Ray cluster has a free CPU")
        count //= 2


def repeated(action):
    """Repeats what a writer was faster than."""
    for attempt in range(given["attempts"]):
        try:
            return action()
        except (OSError, RuntimeError) as error:
            if "conflict" not in str(error).lower() or attempt + 1 == given["attempts"]:
                raise
            print(f"a writer was faster: {str(error)[:200]}", flush=True)
            time.sleep(0.5 * 2**attempt)


def rebuild(index, workers):
    """Builds a vector index anew. It has a part for each worker, of fragments far apart, and fragments of different
    parts cannot be merged, so the parts are merged at once, on this node."""
    rows = table().count_rows()
    vector = table().schema.field(index["column"]).type
    vector_bytes = vector.list_size * vector.value_type.bit_width // 8
    partitions = max(1, min(math.isqrt(rows), rows // partition_rows))
    # This node trains with so many vectors of each partition, and of each of 256 codes.
    samples = max(1, min(256, rows // 256, training_bytes // (partitions * vector_bytes)))
    lance_ray.create_index(
        uri, replace=True, num_partitions=partitions, sample_rate=samples, **index, **workers
    )
    table().optimize.optimize_indices(index_names=[index["name"]], num_indices_to_merge=workers["num_workers"])


def compact(workers):
    """Merges fragments in rounds of one commit each. @returns the numbers of fragments removed and added"""
    limit = {"max_source_rows": min(round_rows, round_tasks * workers["num_workers"] * fragment_rows)}
    rounds = table().count_rows() // limit["max_source_rows"] + 2
    removed = added = 0
    for _ in range(rounds):
        # One fragment with deleted rows can exceed the limit.
        for options in (target | limit, target):
            metrics = repeated(lambda: lance_ray.compact_files(uri, compaction_options=options, **workers))
            if metrics is not None:
                break
        else:
            break
        removed += metrics.fragments_removed
        added += metrics.fragments_added
        print(f"{metrics.fragments_removed} fragments became {metrics.fragments_added}", flush=True)
    return removed, added


ray.init(runtime_env={"worker_process_setup_hook": log_tasks})
before = table()
tasks = Compaction.plan(before, target).num_tasks()
result = {"workers": 0, "rebuilt": [], "fragmentsRemoved": 0, "fragmentsAdded": 0}
if tasks > 0 or given["indices"]:
    group, workers = reserve(given["workers"] if given["indices"] else min(given["workers"], tasks))
    result["workers"] = workers["num_workers"]
    try:
        for index in given["indices"]:
            repeated(lambda: rebuild(index, workers))
            result["rebuilt"].append(index["name"])
        result["fragmentsRemoved"], result["fragmentsAdded"] = compact(workers)
    finally:
        remove_placement_group(group)
result |= {"versionBefore": before.version, "versionAfter": table().version}
print(f"result {json.dumps(result)}", flush=True)
