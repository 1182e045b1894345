"""The steps of LanceDB's quick start, then a day's work on the table, with LanceDB's client. Only `connect` names the service.

    pip install lancedb
    LAKEHEAD_URL=http://127.0.0.1:8080 LAKEHEAD_TOKEN=… python quick-start.py
"""

import os
from datetime import timedelta

import lancedb
import pyarrow as pa
from lancedb.index import FTS, BTree

# On a directory: db = lancedb.connect("data/sample-lancedb")
db = lancedb.connect("db://lake", api_key=os.environ["LAKEHEAD_TOKEN"], host_override=os.environ["LAKEHEAD_URL"])

data = [
    {"id": 1, "name": "lighthouse", "vector": [0.9, 0.1, 0.2]},
    {"id": 2, "name": "harbour", "vector": [0.8, 0.3, 0.1]},
    {"id": 3, "name": "mill", "vector": [0.2, 0.9, 0.4]},
    {"id": 4, "name": "castle", "vector": [0.1, 0.4, 0.9]},
]
table = db.create_table("places", data=data, mode="overwrite")
try:
    db.create_table("places", data=data)
except ValueError as error:
    print(error)

# What is nearest to a pier?
print(table.search([0.9, 0.2, 0.1]).limit(2).select(["name", "_distance"]).to_list())

table = db.open_table("places")
table.add([{"id": 5, "name": "pier", "vector": [0.9, 0.2, 0.1]}])
nearest = table.search([0.9, 0.2, 0.1]).limit(2).select(["name", "_distance"]).to_list()
print(nearest)
assert [row["name"] for row in nearest] == ["pier", "harbour"]

# New values for some rows, and rows that are new
print(table.update(where="id = 3", values={"name": "windmill"}))
changes = pa.table(
    {
        "id": pa.array([4, 6], pa.int64()),
        "name": ["ruin", "bridge"],
        "vector": pa.array([[0.1, 0.4, 0.9], [0.5, 0.5, 0.5]], pa.list_(pa.float32(), 3)),
    }
)
print(table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(changes))

# Indices for filters and for words
table.create_index("id", config=BTree())
table.create_index("name", config=FTS())
table.wait_for_index(["id_idx", "name_idx"], timedelta(minutes=1))
found = table.search("windmill", query_type="fts", fts_columns="name").limit(1).to_list()
assert [row["id"] for row in found] == [3]

# Another column, and the rows without two of them
table.add_columns({"double": "id * 2"})
print(table.delete("double > 10"))
assert table.count_rows() == 5

# Back to the first version
table.restore(1)
print(sorted(row["name"] for row in table.search().limit(10).to_list()))
assert table.count_rows() == len(data)

db.drop_table("places")
