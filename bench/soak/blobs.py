"""Writes a table with one blob by pylance, for bench/soak/blobs.ts: address, gigabytes. Its 8 bytes at each place are the place."""

import os
import sys

import lance
import numpy as np
import pyarrow as pa

uri, size = sys.argv[1], int(float(sys.argv[2]) * 10**9) // 8 * 8
path = f"{uri}.bytes"
with open(path, "wb") as file:
    for start in range(0, size, 2**26):
        file.write(np.arange(start, min(size, start + 2**26), 8, dtype="<u8").data)
try:
    # Mapped, so that the writer alone has a part of it in memory.
    with pa.memory_map(path) as mapped:
        offsets = pa.py_buffer(np.array([0, size], dtype="<i8"))
        data = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, mapped.read_buffer()])
        others = [pa.nulls(1, kind) for kind in (pa.utf8(), pa.uint64(), pa.uint64())]
        clip = lance.blob_field("clip")
        names = [field.name for field in clip.type.storage_type]
        storage = pa.StructArray.from_arrays([data, *others], names=names)
        values = pa.ExtensionArray.from_storage(clip.type, storage)
        schema = pa.schema([pa.field("id", pa.int64()), clip])
        lance.write_dataset(pa.Table.from_arrays([pa.array([0]), values], schema=schema), uri, data_storage_version="2.2")
finally:
    os.remove(path)
print(size)
