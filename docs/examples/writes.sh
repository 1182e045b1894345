#!/bin/sh
# Writes with curl. Rows are an Arrow IPC stream, which pyarrow makes here.
#
#     pip install pyarrow
#     LAKEHEAD_URL=http://127.0.0.1:8080 LAKEHEAD_TOKEN=… sh writes.sh
set -eu
table="$LAKEHEAD_URL/v1/table/rivers"
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

post() { # the operation, then arguments of curl
  operation=$1
  shift
  curl -sS --fail-with-body -X POST "$table/$operation" -H "authorization: Bearer $LAKEHEAD_TOKEN" "$@"
  echo
}
stream() { # values of the columns id and name
  python3 - "$@" > "$rows" <<'PYTHON'
import sys
import pyarrow as pa
ids, names = sys.argv[1].split(","), sys.argv[2].split(",")
table = pa.table({"id": [int(number) for number in ids], "name": names})
with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
    stream.write_table(table)
PYTHON
}
arrow='content-type: application/vnd.apache.arrow.stream'
json='content-type: application/json'

stream 1,2 Rhine,Danube
post create -H "$arrow" --data-binary "@$rows"
stream 3 Po
post insert -H "$arrow" --data-binary "@$rows"
stream 3,4 Padus,Tiber
post 'merge_insert?on=id&when_matched_update_all=true&when_not_matched_insert_all=true' -H "$arrow" --data-binary "@$rows"
post update -H "$json" -d '{"predicate": "id = 2", "updates": [["name", "'"'Donau'"'"]]}'
post delete -H "$json" -d '{"predicate": "id = 4"}'
post create_index -H "$json" -d '{"column": "id", "index_type": "BTREE"}'
post add_columns -H "$json" -d '{"new_columns": [{"name": "twice", "expression": "id * 2"}]}'
[ "$(post count_rows -H "$json" -d '{"predicate": "twice <= 6"}')" = 3 ]
post restore -H "$json" -d '{"version": 1}'
post drop
