"""From a `@udf` to a filled column, with LanceDB's own client."""

import sys

import lancedb
import pyarrow as pa
from lancedb import col
from lancedb.functions import udf

db = lancedb.connect("db://lake", api_key=sys.argv[2], host_override=sys.argv[1])


@udf
def shout(text: str) -> str:
    return text.upper() + "!"


table = db.create_table("shouted", pa.table({"id": [1, 2, 3], "text": ["a", None, "c"]}))
table.add_columns({"loud": db.create_function(shout)(text=col("text"))})
result = table.refresh_column_async("loud").wait()
print(result.rows_assigned, result.rows_failed, sorted(map(str, table.search().limit(9).to_arrow()["loud"].to_pylist())))
