//! Calls whose parameters differ between releases of the client, and operations that only this one has.

use lance_namespace_reqwest_client::apis::{Error, configuration::Configuration, table_api as table};
use lance_namespace_reqwest_client::models;
use serde_json::json;

use crate::World;
use crate::case;
use crate::report::{fails, of, same, told};

type Answer<T, E> = Result<T, Error<E>>;

pub async fn create(
    all: &Configuration,
    id: &str,
    rows: Vec<u8>,
    mode: Option<&str>,
) -> Answer<models::CreateTableResponse, table::CreateTableError> {
    table::create_table(all, id, rows, None, mode, None, None).await
}

pub async fn insert(
    all: &Configuration,
    id: &str,
    rows: Vec<u8>,
    mode: Option<&str>,
) -> Answer<models::InsertIntoTableResponse, table::InsertIntoTableError> {
    table::insert_into_table(all, id, rows, None, None, mode).await
}

/// Updates rows of the same key, and inserts the others.
pub async fn merge(
    all: &Configuration,
    id: &str,
    on: &str,
    rows: Vec<u8>,
) -> Answer<models::MergeInsertIntoTableResponse, table::MergeInsertIntoTableError> {
    let key = vec![on.to_owned()];
    table::merge_insert_into_table(
        all,
        id,
        key,
        rows,
        None,
        None,
        Some(true),
        None,
        Some(true),
        None,
        None,
        None,
        None,
    )
    .await
}

pub async fn drop_index(
    all: &Configuration,
    id: &str,
    name: &str,
) -> Answer<models::DropTableIndexResponse, table::DropTableIndexError> {
    table::drop_table_index(all, id, name, None, None).await
}

pub async fn newer(world: &World) {
    let all = &world.all;
    case!("alter_columns", "another name; no such column", {
        let rename = async |path: &str, name: &str| {
            let alteration = json!({ "alterations": [{ "path": path, "rename": name }] });
            table::alter_table_alter_columns(all, "made", of(alteration), None).await
        };
        told(rename("text", "words").await)?;
        told(rename("words", "text").await)?;
        fails(rename("nope", "x").await, 404, 12)
    });
    case!("update_field_metadata", "of a column; no such column", {
        let update = async |path: &str| {
            let metadata = json!({ "updates": [{ "path": path, "metadata": { "unit": "none" } }] });
            table::update_field_metadata(all, "made", of(metadata), None).await
        };
        told(update("id").await)?;
        fails(update("nope").await, 404, 12)
    });
    case!("branches/create", "one; the same again", {
        let branch = async || table::create_table_branch(all, "made", of(json!({ "name": "side" })), None).await;
        told(branch().await)?;
        fails(branch().await, 409, 23)
    });
    case!("branches/delete", "one; one that is not there", {
        let delete = async || table::delete_table_branch(all, "made", of(json!({ "name": "side" })), None).await;
        told(delete().await)?;
        same(
            told(table::list_table_branches(all, "made", None, None, None).await)?.branches.len(),
            0,
        )?;
        fails(delete().await, 404, 22)
    });
}
