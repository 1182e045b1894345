//! Writes: a table from its creation to its end. The same for each release of the client; `crate::calls` holds what they
//! do differently.

use lance_namespace_reqwest_client::apis::{namespace_api as namespace, table_api as table};
use serde_json::{Value, json};

use crate::World;
use crate::calls::{create, drop_index, insert, merge};
use crate::case;
use crate::report::{fails, of, same, told};

pub async fn run(world: &World) {
    let all = &world.all;
    let first = || world.stream("first");
    let merged = || world.stream("merged");
    let no_rows = || b"no Arrow".to_vec();
    let count = async |predicate: &str| told(table::count_table_rows(all, "made", of(json!({ "predicate": predicate })), None).await);

    case!("create", "with rows; a name that is taken, overwrite; bytes that are no rows", {
        same(told(create(all, "made", first(), None).await)?.version, Some(1))?;
        same(count("true").await?, 3)?;
        fails(create(all, "made", merged(), None).await, 409, 5)?;
        told(create(all, "made", first(), Some("overwrite")).await)?;
        fails(create(all, "other", no_rows(), None).await, 400, 13)?;
        fails(create(all, "nope$made", first(), None).await, 404, 1)
    });
    case!("declare", "one; a name that is taken, a namespace that is not there", {
        told(table::declare_table(all, "told", of(json!({})), None).await)?;
        fails(table::declare_table(all, "told", of(json!({})), None).await, 409, 5)?;
        fails(table::declare_table(all, "nope$told", of(json!({})), None).await, 404, 1)?;
        told(table::drop_table(all, "told", None).await)?;
        Ok(())
    });
    case!("namespace/create", "one, the same again, with a table in it", {
        told(namespace::create_namespace(all, "fresh", of(json!({ "properties": { "owner": "tests" } })), None).await)?;
        fails(namespace::create_namespace(all, "fresh", of(json!({})), None).await, 409, 2)?;
        told(create(all, "fresh$inner", first(), None).await)?;
        Ok(())
    });
    case!("namespace/drop", "one with a table, one without, one that is not there", {
        let drop = async || namespace::drop_namespace(all, "fresh", of(json!({})), None).await;
        fails(drop().await, 409, 3)?;
        told(table::drop_table(all, "fresh$inner", None).await)?;
        told(drop().await)?;
        fails(drop().await, 404, 1)
    });
    case!("insert", "rows, rows in place of all; bytes that are no rows", {
        told(insert(all, "made", first(), None).await)?;
        same(count("true").await?, 6)?;
        told(insert(all, "made", first(), Some("overwrite")).await)?;
        same(count("true").await?, 3)?;
        fails(insert(all, "made", no_rows(), None).await, 400, 13)?;
        fails(insert(all, "nope", first(), None).await, 404, 4)
    });
    case!("merge_insert", "a row that is there and one that is not; no such column", {
        let answer = told(merge(all, "made", "id", merged()).await)?;
        same((answer.num_updated_rows, answer.num_inserted_rows), (Some(1), Some(1)))?;
        same(count("text = 'merged'").await?, 2)?;
        fails(merge(all, "made", "nope", merged()).await, 404, 12)
    });
    let update = async |body: Value| table::update_table(all, "made", of(body), None).await;
    case!("update", "some rows by an expression; no SQL, no such column", {
        let answer = told(update(json!({ "predicate": "id <= 2", "updates": [["text", "'changed'"]] })).await)?;
        same(answer.updated_rows, 2)?;
        fails(update(json!({ "predicate": "id >", "updates": [["text", "'x'"]] })).await, 400, 13)?;
        fails(update(json!({ "updates": [["nope", "1"]] })).await, 404, 12)
    });
    case!("delete", "some rows; no SQL", {
        let delete = async |predicate: &str| {
            table::delete_from_table(all, "made", of(json!({ "predicate": predicate })), None).await
        };
        told(delete("id = 4").await)?;
        same(count("true").await?, 3)?;
        fails(delete("id >").await, 400, 13)
    });
    let index = async |column: &str, kind: &str| {
        table::create_table_index(all, "made", of(json!({ "column": column, "index_type": kind })), None).await
    };
    let indices = async || told(table::list_table_indices(all, "made", of(json!({})), None).await).map(|of| of.indexes.len());
    case!("create_index", "of vectors; no such column, a type that is not known", {
        told(index("vector", "IVF_FLAT").await)?;
        fails(index("nope", "BTREE").await, 404, 12)?;
        fails(index("id", "MAGIC").await, 406, 0)
    });
    case!("create_scalar_index", "of numbers", {
        let of_id = of(json!({ "column": "id", "index_type": "BTREE" }));
        told(table::create_table_scalar_index(all, "made", of_id, None).await)?;
        same(indices().await?, 2)
    });
    case!("index/{index_name}/drop", "one; one that is not there", {
        told(drop_index(all, "made", "id_idx").await)?;
        same(indices().await?, 1)?;
        fails(drop_index(all, "made", "id_idx").await, 404, 6)
    });
    case!("add_columns", "by an expression; one that is there", {
        let add = async || {
            let columns = json!({ "new_columns": [{ "name": "twice", "expression": "id * 2" }] });
            table::alter_table_add_columns(all, "made", of(columns), None).await
        };
        told(add().await)?;
        same(count("twice = 4").await?, 1)?;
        fails(add().await, 400, 20)
    });
    case!("drop_columns", "one; one that is not there", {
        let drop = async || table::alter_table_drop_columns(all, "made", of(json!({ "columns": ["twice"] })), None).await;
        told(drop().await)?;
        fails(drop().await, 404, 12)
    });
    case!("restore", "an old version; one that is not there", {
        let restore = async |version: i64| table::restore_table(all, "made", of(json!({ "version": version })), None).await;
        told(update(json!({ "updates": [["text", "'gone'"]] })).await)?;
        told(restore(1).await)?;
        same(count("text = 'gone'").await?, 0)?;
        fails(restore(999).await, 404, 11)
    });
    crate::calls::newer(world).await;
    case!("drop", "a table; once more", {
        told(table::drop_table(all, "made", None).await)?;
        fails(table::drop_table(all, "made", None).await, 404, 4)
    });
}
