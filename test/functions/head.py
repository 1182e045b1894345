"""A Ray cluster of one node, until it is ended: the runners of the tests come and go."""

import signal
import sys

import ray

signal.signal(signal.SIGTERM, lambda *_: sys.exit())
context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
print(f"address {context.address_info['gcs_address']}", flush=True)
signal.pause()
