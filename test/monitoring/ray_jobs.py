"""A Ray cluster of one node whose driver runs tasks until it is ended. Arguments: its folder, and the ports of its metrics and dashboard."""

import sys
import time

import ray

home, metrics, dashboard = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ray.init(
    num_cpus=2,
    object_store_memory=100_000_000,
    include_dashboard=True,
    dashboard_port=dashboard,
    log_to_driver=False,
    _metrics_export_port=metrics,
    _temp_dir=home,
)
print("Ray runs", flush=True)


@ray.remote
def work(seconds):
    time.sleep(seconds)


while True:
    ray.get([work.remote(0.5) for _ in range(8)])
