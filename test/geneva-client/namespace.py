"""Geneva with the address of the service and a token, and nothing else: a column that a function computes on Ray.

Prints one line for each step that was done; an exception ends the program.
"""

import os
import sys

os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]

import geneva
import pyarrow as pa
import ray

ENDPOINT, TOKEN = sys.argv[1], sys.argv[2]
ROWS = 64


def done(step: str) -> None:
    print(f"\ndone: {step}", flush=True)


@geneva.udf(data_type=pa.int64(), num_cpus=0.5, memory=64 * 2**20)
def twice(id: int) -> int:
    return id * 2


ray.init(
    num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=200_000_000
)
db = geneva.connect(
    namespace_client_impl="rest",
    namespace_client_properties={"uri": ENDPOINT, "headers.authorization": f"Bearer {TOKEN}"},
)
table = db.create_table("by_geneva", pa.table({"id": pa.array(range(ROWS), pa.int64())}))
done("create")
table.add_columns({"twice": twice})
done("add a column")
table.backfill("twice", concurrency=1)
done("compute it on Ray")
values = db.open_table("by_geneva").to_arrow().to_pydict()
if values["twice"] != [2 * id for id in values["id"]]:
    raise AssertionError(values)
done("read")
db.drop_table("by_geneva")
done("drop")
os._exit(0)
