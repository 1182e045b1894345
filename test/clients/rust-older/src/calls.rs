//! Calls whose parameters differ between releases of the client.

use lance_namespace_reqwest_client::apis::{Error, configuration::Configuration, table_api as table};
use lance_namespace_reqwest_client::models;
use serde_json::json;

use crate::World;
use crate::case;
use crate::report::{fails, of, told};

type Answer<T, E> = Result<T, Error<E>>;

pub async fn create(
    all: &Configuration,
    id: &str,
    rows: Vec<u8>,
    mode: Option<&str>,
) -> Answer<models::CreateTableResponse, table::CreateTableError> {
    table::create_table(all, id, rows, None, mode).await
}

pub async fn insert(
    all: &Configuration,
    id: &str,
    rows: Vec<u8>,
    mode: Option<&str>,
) -> Answer<models::InsertIntoTableResponse, table::InsertIntoTableError> {
    table::insert_into_table(all, id, rows, None, mode).await
}

/// Updates rows of the same key, and inserts the others.
pub async fn merge(
    all: &Configuration,
    id: &str,
    on: &str,
    rows: Vec<u8>,
) -> Answer<models::MergeInsertIntoTableResponse, table::MergeInsertIntoTableError> {
    table::merge_insert_into_table(all, id, on, rows, None, Some(true), None, Some(true), None, None, None, None).await
}

pub async fn drop_index(
    all: &Configuration,
    id: &str,
    name: &str,
) -> Answer<models::DropTableIndexResponse, table::DropTableIndexError> {
    table::drop_table_index(all, id, name, None).await
}

/// This release always sends a type, too.
pub async fn newer(world: &World) {
    let all = &world.all;
    case!("alter_columns", "another type; no such column", {
        let alter = async |path: &str| {
            let alteration = json!({ "alterations": [{ "path": path, "data_type": { "type": "large_utf8" } }] });
            table::alter_table_alter_columns(all, "made", of(alteration), None).await
        };
        told(alter("text").await)?;
        fails(alter("nope").await, 404, 12)
    });
}
