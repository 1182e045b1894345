"""The writes of LanceDB's Python client on a remote database, the same for its synchronous and asynchronous API: a table from
its creation to its end."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
from lancedb import blob
from lancedb.exceptions import JobNotFoundError
from lancedb.index import FTS, Bitmap, BTree, IvfFlat
from lancedb.remote.errors import HttpError
from remote import Cases, Remote, done, fails
from report import TYPES, holds, same

VECTOR = pa.list_(pa.float32(), 4)


def rows(ids: list[int], text: str = "first") -> pa.Table:
    vectors = pa.array([[float(number), 0.0, 0.0, 1.0] for number in ids], VECTOR)
    return pa.table({"id": pa.array(ids, pa.int64()), "text": [f"{text} {number}" for number in ids], "vector": vectors})


async def writes(remote: Remote, cases: Cases, db: Any, update: Callable[..., Any]) -> None:
    """:param update: sets columns of the rows of a filter, whose parameters differ between the two APIs."""
    case = cases.case

    async def opened(name: str = "made", **more: Any) -> Any:
        return remote.watch("table", await done(db.open_table(name, **more)))

    async def ids(table: Any, predicate: str = "true") -> list[int]:
        answer = await done(remote.query(table).where(predicate).limit(1000).select(["id"]).to_arrow())
        return sorted(answer["id"].to_pylist())

    async def created() -> None:
        await done(db.create_table("made", rows([1, 2, 3])))
        same(await ids(await opened()), [1, 2, 3])
        await done(db.create_table("bare", schema=rows([1]).schema))
        same(await done((await opened("bare")).count_rows()), 0)

    async def of_every_type() -> None:
        types = [eval(text, {"pa": pa}) for text in TYPES]
        sent = pa.table({f"c{at}": pa.nulls(2, type) for at, type in enumerate(types)})
        await done(db.create_table("types", sent))
        table = await opened("types")
        same([(field.name, field.type) for field in await remote.get(table, "schema")], list(zip(sent.column_names, types, strict=True)))
        await done(table.add(sent))
        answer = await done(remote.query(table).limit(10).to_arrow())
        same((answer.schema.types, answer.num_rows), (types, 4))
        await done(db.drop_table("types"))

    async def taken() -> None:
        await fails(ValueError, lambda: db.create_table("made", rows([4])), "Table 'made' already exists")
        await done(db.create_table("made", rows([4]), exist_ok=True))
        same(await ids(await opened()), [1, 2, 3])
        await done(db.create_table("made", rows([1, 2, 3, 4]), mode="overwrite"))
        same(await ids(await opened()), [1, 2, 3, 4])

    async def not_created() -> None:
        error = await fails(HttpError, lambda: db.create_table("in", rows([1]), namespace_path=["nope"]))
        same(error.status_code, 404)
        await fails(ValueError, lambda: db.create_table("sp ace", rows([1])), "Invalid table name")

    await case("create", "with rows, with a schema alone", created)
    await case("create", "with a column of every type, read as it was written", of_every_type)
    await case("create", "a name that is taken: an error of the client's own, exist_ok, overwrite", taken)
    await case("create", "in a namespace that is not there, a name that cannot be", not_created)

    async def namespaces() -> None:
        await done(db.create_namespace(["fresh"]))
        same((await fails(HttpError, lambda: db.create_namespace(["fresh"]))).status_code, 409)
        await done(db.create_namespace(["fresh"], mode="exist_ok"))
        await done(db.create_table("inner", rows([1]), namespace_path=["fresh"]))
        same(await ids(await opened("inner", namespace_path=["fresh"])), [1])

    async def no_namespaces() -> None:
        same((await fails(HttpError, lambda: db.drop_namespace(["fresh"]))).status_code, 409)
        await done(db.drop_table("inner", namespace_path=["fresh"]))
        await done(db.drop_namespace(["fresh"]))
        same((await fails(HttpError, lambda: db.drop_namespace(["fresh"]))).status_code, 404)

    await case("namespace/create", "one, the same again, with a table in it", namespaces)
    await case("namespace/drop", "one with a table, one without, one that is not there", no_namespaces)
    made = await opened()

    async def added() -> None:
        before = await remote.get(made, "version")
        answer = await done(made.add(rows([5, 6])))
        same(answer.version, before + 1)
        same(await done(made.count_rows()), 6)
        bare = await opened("bare")
        await done(bare.add(rows([1])))
        await done(bare.add(rows([7, 8]), mode="overwrite"))
        same(await ids(bare), [7, 8])
        # The client refuses these by the schema that it read.
        await fails(ValueError, lambda: made.add(rows([7]).append_column("nope", pa.array([1]))), "does not exist")
        short = pa.table({"id": [1], "vector": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2))})
        await fails(ValueError, lambda: made.add(short), "cannot cast field")
        same(await done(made.count_rows()), 6)

    await case("insert", "rows, rows in place of all; another column, a vector of another length", added)

    async def updated() -> None:
        answer = await done(update(made, "id <= 2", {"text": "'changed'"}))
        same(answer.rows_updated, 2)
        same(await ids(made, "text = 'changed'"), [1, 2])

    async def not_updated() -> None:
        same((await fails(HttpError, lambda: update(made, "id >", {"text": "'x'"}))).status_code, 400)
        same((await fails(HttpError, lambda: update(made, "id = 1", {"text": "sleep(1)"}))).status_code, 400)
        await fails(HttpError, lambda: update(made, "nope = 1", {"text": "'x'"}), "column not found")

    await case("update", "some rows by an expression", updated)
    await case("update", "no rows: no SQL, a function that is not known, no such column", not_updated)

    async def merged() -> None:
        merge = made.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        answer = await done(merge.execute(rows([5, 6, 7], "merged")))
        same((answer.num_updated_rows, answer.num_inserted_rows, answer.num_deleted_rows), (2, 1, 0))
        same(await ids(made, "text LIKE 'merged%'"), [5, 6, 7])

    async def merged_by_source() -> None:
        merge = made.merge_insert(["id", "text"]).when_not_matched_insert_all()
        answer = await done(merge.when_not_matched_by_source_delete("id = 7").execute(rows([8])))
        same((answer.num_inserted_rows, answer.num_deleted_rows), (1, 1))
        same(await ids(made), [1, 2, 3, 4, 5, 6, 8])

    async def not_merged() -> None:
        merge = made.merge_insert("nope").when_not_matched_insert_all()
        await fails(HttpError, lambda: merge.execute(rows([9])), "column not found")
        merge = made.merge_insert("id").when_matched_update_all(where="target.id >")
        same((await fails(HttpError, lambda: merge.execute(rows([1])))).status_code, 400)

    await case("merge_insert", "rows that are there and one that is not", merged)
    await case("merge_insert", "by two columns, with rows that the source lacks", merged_by_source)
    await case("merge_insert", "no such column, no SQL", not_merged)

    async def deleted() -> None:
        answer = await done(made.delete("id > 6"))
        same((answer.num_deleted_rows, await done(made.count_rows())), (1, 6))

    async def not_deleted() -> None:
        same((await fails(HttpError, lambda: made.delete("id >"))).status_code, 400)
        await fails(HttpError, lambda: made.delete("nope = 1"), "column not found")

    await case("delete", "some rows", deleted)
    await case("delete", "no SQL, no such column", not_deleted)

    async def indexed() -> None:
        await done(made.create_index("id", config=BTree()))
        await done(made.create_index("vector", config=IvfFlat(num_partitions=1)))
        await done(made.create_index("text", config=FTS()))
        await done(made.wait_for_index(["id_idx", "vector_idx", "text_idx"], timedelta(seconds=30)))
        same(sorted(index.name for index in await done(made.list_indices())), ["id_idx", "text_idx", "vector_idx"])
        found = await done(remote.query(made, text="merged").limit(10).to_arrow())
        same(sorted(found["id"].to_pylist()), [5, 6])
        near = await done(remote.query(made, vector=[3.0, 0.0, 0.0, 1.0]).limit(1).to_arrow())
        same(near["id"].to_pylist(), [3])

    async def indexed_later() -> None:
        job = await done(made.create_index_async("text", config=Bitmap(), name="words"))
        holds("finished" in repr(job) or job is None, repr(job))
        holds("words" in [index.name for index in await done(made.list_indices())], "no index")

    async def not_indexed() -> None:
        await fails(ValueError, lambda: made.create_index("nope", config=BTree()), "not found")
        same((await fails(HttpError, lambda: made.create_index("vector", config=BTree()))).status_code, 400)

    async def not_any_more() -> None:
        await done(made.drop_index("words"))
        holds("words" not in [index.name for index in await done(made.list_indices())], "it is there")
        await fails(RuntimeError, lambda: made.drop_index("words"), "was not found")

    await case("create_index", "of numbers, vectors and words; waiting for them; a search in each", indexed)
    await case("create_index", "without waiting, with a name", indexed_later)
    await case("create_index", "no such column, a type that the column cannot have", not_indexed)
    await case("index/{index_name}/drop", "one; one that is not there", not_any_more)

    async def columns() -> None:
        await done(made.add_columns({"twice": "id * 2"}))
        answer = await done(remote.query(made).where("id = 3").select(["twice"]).to_arrow())
        same(answer["twice"].to_pylist(), [6])
        error = await fails(HttpError, lambda: made.add_columns({"twice": "1"}))
        same(error.status_code, 400)

    async def altered() -> None:
        await done(made.alter_columns({"path": "twice", "rename": "double"}))
        holds("double" in (await remote.get(made, "schema")).names, "not renamed")
        await fails(HttpError, lambda: made.alter_columns({"path": "nope", "rename": "x"}), "column not found")

    async def described() -> None:
        await done(made.update_field_metadata({"path": "double", "metadata": {"unit": "none"}}))
        await fails(HttpError, lambda: made.update_field_metadata({"path": "nope", "metadata": {"a": "b"}}), "column not found")

    async def dropped_columns() -> None:
        await done(made.drop_columns(["double"]))
        same((await remote.get(made, "schema")).names, ["id", "text", "vector"])
        await fails(HttpError, lambda: made.drop_columns(["double"]), "column not found")

    await case("add_columns", "by an expression; one that is there", columns)
    await case("alter_columns", "another name; no such column", altered)
    await case("update_field_metadata", "of a column; no such column", described)
    await case("drop_columns", "one; one that is not there", dropped_columns)

    table = None
    job = None

    async def computed() -> None:
        nonlocal table
        await done(db.create_table("sums", rows([1, 2, 3])))
        table = await opened("sums")
        await done(table.add_columns(computed={"triple": "id * 3"}))
        same(await done(table.count_rows("triple is null")), 3)
        await fails(HttpError, lambda: table.add_columns(computed={"other": "nope + 1"}), "column not found")
        await fails(HttpError, lambda: update(table, "id = 1", {"triple": "5"}), "is computed")
        await fails(HttpError, lambda: table.drop_columns(["id"]), "is an input of a computed column")

    async def refreshed() -> None:
        nonlocal job
        job = await done(table.refresh_column_async("triple"))
        result = await done(job.wait())
        same((result.rows_assigned, result.rows_failed, result.rows_remaining), (3, 0, 0))
        same(await done(table.count_rows("triple = id * 3")), 3)
        await done(table.add(rows([4])))
        again = await done((await done(table.refresh_column_async("triple"))).wait())
        same((again.rows_assigned, await done(table.count_rows("triple = id * 3"))), (1, 4))
        await fails(HttpError, lambda: table.refresh_column_async("id"), "not computed")

    async def opened_job() -> None:
        known = await done(db.open_job(job.id))
        await done(known.refresh())
        same((known.state, known.job_type, known.spec["column"]), ("finished", "refresh_column", "triple"))
        same(known.result["rows_assigned"], 3)
        await fails(JobNotFoundError, lambda: db.open_job("none"))

    async def events() -> None:
        answer = await done((await done(db.open_job(job.id))).events(filter="state = 'claim_complete'"))
        answer = answer if isinstance(answer, pa.Table) else pa.Table.from_batches(answer)
        same(answer["rows_processed"].to_pylist(), [3])

    async def listed_jobs() -> None:
        holds(job.id in [each.job_id for each in await done(db.list_jobs())], "the job is not listed")

    async def cancelled() -> None:
        same((await done(db.cancel_job(job.id)), await done(db.cancel_job("none"))), (True, False))

    async def paused() -> None:
        await done(db.pause_job(job.id))
        same((await fails(HttpError, lambda: db.pause_job("none"))).status_code, 404)

    async def resumed() -> None:
        await done(db.resume_job(job.id))
        await done(db.drop_table("sums"))

    await case("add_columns", "computed; of no such column, a write of it, without its input", computed)
    await case("backfill_column", "all rows, new rows; a column that is not computed", refreshed)
    await case("/jobs/describe", "one that is done; one that is not there", opened_job)
    await case("/jobs/query_events", "by a filter", events)
    await case("/jobs/list", "with the one that is done", listed_jobs)
    await case("/jobs/cancel", "one that is done; one that is not there", cancelled)
    await case("/jobs/pause", "one that is done; one that is not there", paused)
    await case("/jobs/resume", "one that is done", resumed)

    async def restored() -> None:
        await done(made.checkout(1))
        await done(made.restore())
        same(await ids(made), [1, 2, 3])
        await done(made.restore(2))
        same(await ids(made), [1, 2, 3, 4])
        await fails(ValueError, lambda: made.restore(999), "not found")

    await case("restore", "an old version; one that is not there", restored)
    branches = remote.watch("branches", made.branches)

    async def branch() -> None:
        side = await done(branches.create("side"))
        await done(side.add(rows([9])))
        same((await done(side.count_rows()), await done(made.count_rows())), (5, 4))
        await fails(ValueError, lambda: branches.create("side"), "already exists")

    async def no_branch() -> None:
        await done(branches.delete("side"))
        same(list(await done(branches.list())), [])
        await fails(ValueError, lambda: branches.delete("side"), "not found")

    await case("branches/create", "one with rows of its own; the same again", branch)
    await case("branches/delete", "one; one that is not there", no_branch)

    images = [b"first", None, b"", bytes(70_000), bytes(range(256)) * 20_000]

    async def with_images() -> Any:
        table = await opened("images")
        hits = await done(remote.query(table, row_id=True).limit(10).to_arrow())
        by_id = dict(zip(hits["id"].to_pylist(), hits["_rowid"].to_pylist(), strict=True))
        return table, hits, [by_id[number] for number in range(len(images))]

    async def fetched() -> None:
        schema = pa.schema([pa.field("id", pa.int64()), blob("image")])
        table = remote.watch("table", await done(db.create_table("images", schema=schema)))
        await done(table.add([{"id": number, "image": image} for number, image in enumerate(images)]))
        table, hits, row_ids = await with_images()
        same(set(hits["image"].to_pylist()[0]), {"kind", "position", "size", "blob_id", "blob_uri"})
        same(await done(table.blob_columns()), ["image"])
        same((await done(table.fetch_blobs("image", [*row_ids, row_ids[0]]))).to_pylist(), [*images, images[0]])
        await fails(HttpError, lambda: table.fetch_blobs("id", row_ids), "is not a blob column")

    async def read_in_parts() -> None:
        table, _, row_ids = await with_images()
        files = await done(table.fetch_blob_files("image", row_ids))
        same([None if file is None else file.size() for file in files], [None if image is None else len(image) for image in images])
        last = files[-1]
        last.seek(5_000_000)
        same(last.read(10), images[-1][5_000_000:5_000_010])
        same(files[3].read(), images[3])

    await case("fetch_blobs", "of every place in a column, null, empty, twice; a column without blobs", fetched)
    await case("blob/{column}/{row_id}/bytes", "sizes, a part of one, all of another", read_in_parts)

    async def uploaded() -> None:
        await done(db.create_table("parts", rows([1])))
        table = await opened("parts")
        before = await remote.get(table, "version")
        answer = await done(table.add(rows(list(range(10_000))), write_parallelism=4))
        same((answer.version, await done(table.count_rows())), (before + 1, 10_001))

    async def replaced() -> None:
        table = await opened("parts")
        before = await remote.get(table, "version")
        answer = await done(table.add(rows([1, 2, 3]), write_parallelism=2, mode="overwrite"))
        same((answer.version, await done(table.count_rows())), (before + 1, 3))

    async def refused_part() -> None:
        words = pa.table({"word": pa.array(["a", "b"]).dictionary_encode()})
        await done(db.create_table("words", words))
        table = await opened("words")
        await fails(HttpError, lambda: table.add(words, write_parallelism=2), "dictionaries")
        same(await done(table.count_rows()), 2)
        for name in ("words", "parts", "images"):
            await done(db.drop_table(name))

    await case("multipart_write/create", "for rows in parts", uploaded)
    await case("multipart_write/complete", "parts in place of all rows, as one version", replaced)
    await case("multipart_write/abort", "after a part that was refused", refused_part)

    async def dropped() -> None:
        await done(db.drop_table("made"))
        await done(db.drop_table_async("bare"))
        same(list(await done(db.table_names())), ["docs", "plain"])
        same((await fails(HttpError, lambda: db.drop_table("made"))).status_code, 404)

    await case("drop", "tables, at once and later; one that is not there", dropped)
