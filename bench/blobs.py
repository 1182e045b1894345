"""Reads blobs by pylance, for bench/blobs.ts: address, storage options as JSON, rounds. Prints JSON for each measurement."""

import json
import sys
import time

import lance

uri, options, rounds = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
for table, rows in (("large", 1), ("small", 64)):
    dataset = lance.dataset(f"{uri}/{table}.lance", storage_options=options)
    ids = dataset.to_table(columns=["id"], with_row_id=True)["_rowid"].to_pylist()[:rows]
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        bytes_read = sum(len(blob.readall()) for blob in dataset.take_blobs("image", ids=ids))
        seconds.append(time.perf_counter() - begun)
    print(json.dumps({"table": table, "bytes": bytes_read, "seconds": sorted(seconds)[len(seconds) // 2]}), flush=True)
