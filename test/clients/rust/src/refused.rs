//! Operations that the service does not implement: the client must fail at once.

use lance_namespace_reqwest_client::apis::{
    materialized_view_api as view, table_api as table, transaction_api as transaction,
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
    let entry = json!({ "id": ["docs"], "version": 8, "manifest_path": "8.manifest" });
    let metadata = || [("a".to_owned(), "b".to_owned())].into();

    refused!(
        "register",
        table::register_table(all, "new", of(json!({ "location": "new.lance" })), None)
    );
    refused!("deregister", table::deregister_table(all, "docs", of(json!({})), None));
    refused!(
        "rename",
        table::rename_table(all, "docs", of(json!({ "new_table_name": "other" })), None)
    );
    case!("backfill_column", "a column that is not computed", {
        let backfill = table::alter_table_backfill_columns(all, "docs", of(json!({ "column": "id" })), None);
        fails(backfill.await, 400, 20)
    });
    refused!(
        "schema_metadata/update",
        table::update_table_schema_metadata(all, "docs", metadata(), None, None)
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
