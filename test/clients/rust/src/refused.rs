//! Operations that the service does not implement: the client must fail at once.

use lance_namespace_reqwest_client::apis::{
    materialized_view_api as view, namespace_api as namespace, table_api as table, transaction_api as transaction,
};
use serde_json::json;

use crate::World;
use crate::case;
use crate::report::{fails, of};

/// A case for a call that is refused as unsupported.
macro_rules! refused {
    ($operation:literal, $call:expr) => {
        case!($operation, stringify!($call).split("(").next().unwrap_or_default(), {
            fails($call.await, 406, 0)
        })
    };
}

pub async fn run(world: &World) {
    let all = &world.all;
    let index = || of(json!({ "column": "id", "index_type": "BTREE" }));
    let entry = json!({ "id": ["docs"], "version": 8, "manifest_path": "8.manifest" });
    let rows = || b"ARROW1".to_vec();
    let metadata = || [("a".to_owned(), "b".to_owned())].into();

    refused!("namespace/create", namespace::create_namespace(all, "new", of(json!({})), None));
    refused!("namespace/drop", namespace::drop_namespace(all, "prod", of(json!({})), None));
    refused!("create", table::create_table(all, "new", rows(), None, None, None, None));
    refused!("declare", table::declare_table(all, "new", of(json!({})), None));
    refused!(
        "register",
        table::register_table(all, "new", of(json!({ "location": "new.lance" })), None)
    );
    refused!("deregister", table::deregister_table(all, "docs", of(json!({})), None));
    refused!("drop", table::drop_table(all, "docs", None));
    refused!(
        "rename",
        table::rename_table(all, "docs", of(json!({ "new_table_name": "other" })), None)
    );
    refused!("restore", table::restore_table(all, "docs", of(json!({ "version": 1 })), None));
    refused!("insert", table::insert_into_table(all, "docs", rows(), None, None, None));
    refused!(
        "merge_insert",
        table::merge_insert_into_table(
            all,
            "docs",
            vec!["id".to_owned()],
            rows(),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None
        )
    );
    refused!(
        "update",
        table::update_table(all, "docs", of(json!({ "updates": [["id", "1"]] })), None)
    );
    refused!(
        "delete",
        table::delete_from_table(all, "docs", of(json!({ "predicate": "id = 1" })), None)
    );
    refused!(
        "add_columns",
        table::alter_table_add_columns(
            all,
            "docs",
            of(json!({ "new_columns": [{ "name": "new", "expression": "1" }] })),
            None
        )
    );
    refused!(
        "alter_columns",
        table::alter_table_alter_columns(all, "docs", of(json!({ "alterations": [{ "path": "id", "rename": "new" }] })), None)
    );
    refused!(
        "backfill_column",
        table::alter_table_backfill_columns(all, "docs", of(json!({ "column": "id" })), None)
    );
    refused!(
        "drop_columns",
        table::alter_table_drop_columns(all, "docs", of(json!({ "columns": ["id"] })), None)
    );
    refused!(
        "update_field_metadata",
        table::update_field_metadata(
            all,
            "docs",
            of(json!({ "updates": [{ "path": "id", "metadata": { "a": "b" } }] })),
            None
        )
    );
    refused!(
        "schema_metadata/update",
        table::update_table_schema_metadata(all, "docs", metadata(), None, None)
    );
    refused!("create_index", table::create_table_index(all, "docs", index(), None));
    refused!("create_scalar_index", table::create_table_scalar_index(all, "docs", index(), None));
    refused!(
        "index/{index_name}/drop",
        table::drop_table_index(all, "docs", "id_idx", None, None)
    );
    refused!(
        "branches/create",
        table::create_table_branch(all, "docs", of(json!({ "name": "new" })), None)
    );
    refused!(
        "branches/delete",
        table::delete_table_branch(all, "docs", of(json!({ "name": "experiment" })), None)
    );
    refused!("version/create", table::create_table_version(all, "docs", of(entry.clone()), None));
    refused!(
        "version/delete",
        table::batch_delete_table_versions(
            all,
            "docs",
            of(json!({ "ranges": [{ "start_version": 1, "end_version": 2 }] })),
            None
        )
    );
    refused!(
        "/table/version/batch-create",
        table::batch_create_table_versions(all, of(json!({ "entries": [entry] })), None)
    );
    refused!(
        "/table/batch-commit",
        table::batch_commit_tables(all, of(json!({ "operations": [] })), None)
    );
    refused!(
        "/transaction/{id}/describe",
        transaction::describe_transaction(all, "1", of(json!({})), None)
    );
    refused!(
        "/transaction/{id}/alter",
        transaction::alter_transaction(all, "1", of(json!({ "actions": [] })), None)
    );
    refused!(
        "/materialized_view/{id}/create",
        view::create_materialized_view(
            all,
            "new",
            of(json!({ "kind": "query", "source_query": "SELECT 1", "output_schema": "" })),
            None
        )
    );
    refused!(
        "/materialized_view/{id}/refresh",
        view::refresh_materialized_view(all, "docs", None, None)
    );
}
