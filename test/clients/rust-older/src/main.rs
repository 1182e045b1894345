//! An older release of the Rust client that is generated from the catalog's specification: the operations that it has.

mod calls;
#[path = "../../rust/src/report.rs"]
mod report;
#[path = "../../rust/src/world.rs"]
mod world;
#[path = "../../rust/src/writes.rs"]
mod writes;

use lance_namespace_reqwest_client::apis::{namespace_api as namespace, table_api as table, transaction_api as transaction};
use serde_json::{Value, json};

use report::{fails, of, same, told};
use world::World;

/// The client's name in the matrix.
pub const CLIENT: &str = "Rust generated 0.4";

fn sorted<T: Ord>(names: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut names: Vec<T> = names.into_iter().collect();
    names.sort();
    names
}

async fn metadata(world: &World) {
    let World {
        all,
        docs_stats,
        unknown,
        facts,
    } = world;
    let docs = &facts["docs"];
    let describe = async |config, id: &str, body: Value| table::describe_table(config, id, of(body), None, None, None).await;

    case!("describe", "version, place and columns; at a version", {
        let answer = told(describe(all, "docs", json!({})).await)?;
        same(answer.version, docs["version"].as_i64())?;
        same(answer.location.is_some_and(|location| location.contains("docs.lance")), true)?;
        same(
            answer.schema.map(|schema| schema.fields.len()),
            docs["columns"].as_object().map(|columns| columns.len()),
        )?;
        same(told(describe(all, "plain", json!({ "version": 3 })).await)?.version, Some(3))
    });
    case!("describe", "with the figures of the manifest", {
        let answer = told(table::describe_table(all, "plain", of(json!({})), None, Some(true), Some(true)).await)?;
        same(answer.table_uri.is_some_and(|uri| uri.starts_with("file://")), true)?;
        same(answer.stats.map(|stats| stats.num_deleted_rows), Some(0))
    });
    case!("describe", "a table, a namespace, a version that is not there", {
        fails(describe(all, "nope", json!({})).await, 404, 4)?;
        fails(describe(all, "nope$docs", json!({})).await, 404, 1)?;
        fails(describe(all, "docs", json!({ "version": 99 })).await, 404, 11)
    });
    case!("describe", "an unknown key, one that does not permit it", {
        fails(describe(unknown, "docs", json!({})).await, 401, 16)?;
        fails(describe(docs_stats, "plain", json!({})).await, 403, 15)
    });
    case!("exists", "one that is there, one that is not", {
        told(table::table_exists(all, "docs", of(json!({})), None).await)?;
        fails(table::table_exists(all, "nope", of(json!({})), None).await, 404, 4)
    });
    case!("stats", "of a table; one that is not there", {
        let answer = told(table::get_table_stats(all, "docs", of(json!({})), None).await)?;
        same(
            (Some(answer.num_rows), Some(answer.total_bytes)),
            (docs["rows"].as_i64(), docs["bytes"].as_i64()),
        )?;
        fails(table::get_table_stats(all, "nope", of(json!({})), None).await, 404, 4)
    });
    case!("version/list", "all, with their times, in pages; a table that is not there", {
        let list = async |id: &str, page: Option<&str>, limit| table::list_table_versions(all, id, None, page, limit).await;
        let every = told(list("plain", None, None).await)?.versions;
        let count = facts["plain"]["versions"].as_i64().unwrap_or_default();
        same(
            every.iter().map(|entry| entry.version).collect::<Vec<_>>(),
            (1..=count).collect::<Vec<_>>(),
        )?;
        same(
            every
                .iter()
                .all(|entry| entry.timestamp.ends_with('Z') && entry.timestamp.contains('T')),
            true,
        )?;
        let first = told(list("plain", None, Some(2)).await)?;
        let token = first.page_token;
        let second = told(list("plain", token.as_deref(), Some(2)).await)?;
        same(second.versions.iter().map(|entry| entry.version).collect(), vec![3, 4])?;
        fails(list("nope", None, None).await, 404, 4)
    });
    case!("index/list", "names; none; a table that is not there", {
        let list = async |id: &str| table::list_table_indices(all, id, of(json!({})), None).await;
        let names = told(list("docs").await)?.indexes.into_iter().map(|index| index.index_name);
        let expected = docs["indices"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|index| index["name"].as_str().unwrap_or_default().to_owned());
        same(sorted(names), sorted(expected))?;
        same(told(list("plain").await)?.indexes.len(), 0)?;
        fails(list("nope").await, 404, 4)
    });
    case!("index/{index_name}/stats", "of a vector index; one that is not there", {
        let stats = async |name: &str| table::describe_table_index_stats(all, "docs", name, of(json!({})), None).await;
        let answer = told(stats("vector_idx").await)?;
        same(answer.num_indexed_rows, docs["vectorIndex"]["numIndexedRows"].as_i64())?;
        same(answer.index_type.as_deref(), docs["vectorIndex"]["indexType"].as_str())?;
        fails(stats("nope").await, 404, 6)
    });
}

async fn queries(world: &World) {
    let World {
        all, docs_stats, facts, ..
    } = world;
    let docs = &facts["docs"];
    let per_version = facts["plain"]["rowsPerVersion"].as_i64().unwrap_or_default();
    // The client sends an empty vector with every query.
    let query = |fields: Value| {
        let mut query = json!({ "k": 4, "vector": {} });
        for (name, value) in fields.as_object().into_iter().flatten() {
            query[name] = value.clone();
        }
        query
    };
    let nearest = query(json!({
        "vector": { "single_vector": docs["vector"] }, "vector_column": "vector", "bypass_vector_index": true,
    }));
    let text = json!({ "string_query": { "query": "puppy", "columns": ["text"] } });

    let count = async |id: &str, body: Value| table::count_table_rows(all, id, of(body), None).await;
    case!("count_rows", "all, some, at a version; no SQL, no such column", {
        same(Some(told(count("docs", json!({})).await)?), docs["rows"].as_i64())?;
        same(told(count("docs", json!({ "predicate": "id < 10" })).await)?, 10)?;
        same(told(count("plain", json!({ "version": 3 })).await)?, 3 * per_version)?;
        fails(count("docs", json!({ "predicate": "id >" })).await, 400, 13)?;
        fails(count("docs", json!({ "predicate": "nope = 1" })).await, 404, 12)
    });

    let explain = async |body: Value| table::explain_table_query_plan(all, "docs", of(json!({ "query": body })), None).await;
    case!("explain_plan", "a scan, a vector, a text; no SQL", {
        same(
            told(explain(query(json!({ "filter": "id > 10" }))).await)?.starts_with("LanceRead: uri=docs.lance"),
            true,
        )?;
        same(told(explain(nearest.clone()).await)?.contains("KNNVectorDistance: metric=l2"), true)?;
        same(
            told(explain(query(json!({ "full_text_query": text }))).await)?.contains("query=puppy"),
            true,
        )?;
        fails(explain(query(json!({ "filter": "id >" }))).await, 400, 13)
    });

    let analyze = async |config, body: Value| table::analyze_table_query_plan(config, "docs", of(body), None).await;
    case!(
        "analyze_plan",
        "a scan at a version, a vector; no such version, a key without the scope",
        {
            same(
                told(analyze(all, query(json!({ "version": 1 }))).await)?.contains("output_rows=4,"),
                true,
            )?;
            same(told(analyze(all, nearest.clone()).await)?.starts_with("AnalyzeExec"), true)?;
            fails(analyze(all, query(json!({ "version": 99 }))).await, 404, 11)?;
            fails(analyze(docs_stats, query(json!({}))).await, 403, 15)
        }
    );

    let select = async |body: Value| table::query_table(all, "docs", of(body), None).await;
    case!("query", "an Arrow file: of a filter, of a vector, of a text; no such version", {
        for body in [
            query(json!({ "filter": "id < 3", "columns": { "column_names": ["id"] } })),
            nearest.clone(),
            query(json!({ "full_text_query": text })),
        ] {
            let bytes = told(select(body).await)?.bytes().await.map_err(|error| error.to_string())?;
            same((bytes.starts_with(b"ARROW1"), bytes.ends_with(b"ARROW1")), (true, true))?;
        }
        fails(select(query(json!({ "version": 99 }))).await, 404, 11)
    });
}

async fn tags(world: &World) {
    let World { all, .. } = world;
    let create = async |body: Value| table::create_table_tag(all, "docs", of(body), None).await;
    let version = async |tag: &str| table::get_table_tag_version(all, "docs", of(json!({ "tag": tag })), None).await;
    let update = async |body: Value| table::update_table_tag(all, "docs", of(body), None).await;
    let delete = async |tag: &str| table::delete_table_tag(all, "docs", of(json!({ "tag": tag })), None).await;

    case!(
        "tags/create",
        "a name for a version; one that is taken, a version that is not there",
        {
            told(create(json!({ "tag": "v1", "version": 1 })).await)?;
            fails(create(json!({ "tag": "v1", "version": 2 })).await, 409, 9)?;
            fails(create(json!({ "tag": "late", "version": 99 })).await, 404, 11)
        }
    );
    case!("tags/version", "one that is there, one that is not", {
        same(told(version("v1").await)?.version, 1)?;
        fails(version("nope").await, 404, 8)
    });
    case!("tags/list", "names and versions", {
        let every = told(table::list_table_tags(all, "docs", None, None, None).await)?.tags;
        same(
            sorted(every.into_iter().map(|(name, tag)| (name, tag.version))),
            vec![("v1".to_owned(), 1)],
        )
    });
    case!("tags/update", "another version; a tag that is not there", {
        told(update(json!({ "tag": "v1", "version": 3 })).await)?;
        same(told(version("v1").await)?.version, 3)?;
        fails(update(json!({ "tag": "nope", "version": 1 })).await, 404, 8)
    });
    case!("tags/delete", "a tag, and once more", {
        told(delete("v1").await)?;
        fails(delete("v1").await, 404, 8)
    });
}

async fn namespaces(world: &World) {
    let World { all, docs_stats, .. } = world;
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();

    case!(
        "namespace/table/list",
        "of the root, in pages, what a key permits; of one that is not there",
        {
            let list = async |config, id: &str, page: Option<&str>, limit| table::list_tables(config, id, None, page, limit).await;
            let first = told(list(all, "$", None, Some(1)).await)?;
            same(first.tables, names(&["docs"]))?;
            same(
                told(list(all, "$", first.page_token.as_deref(), Some(1)).await)?.tables,
                names(&["plain"]),
            )?;
            same(told(list(docs_stats, "$", None, None).await)?.tables, names(&["docs"]))?;
            fails(list(all, "nope", None, None).await, 404, 1)
        }
    );
    case!("/table", "every table by its whole id", {
        let every = told(table::list_all_tables(all, None, None, None).await)?.tables;
        same(every, names(&["docs", "plain", "prod$vectors$a b+c ü$t.1-x", "prod$vectors$docs"]))
    });
    case!("namespace/list", "of the root; of one that is not there", {
        let list = async |id: &str| namespace::list_namespaces(all, id, None, None, None).await;
        same(told(list("$").await)?.namespaces, names(&["prod"]))?;
        fails(list("nope").await, 404, 1)
    });
    case!("namespace/describe", "one; one that is not there", {
        told(namespace::describe_namespace(all, "prod", of(json!({})), None).await)?;
        fails(namespace::describe_namespace(all, "nope", of(json!({})), None).await, 404, 1)
    });
    case!("namespace/exists", "one; one that is not there", {
        told(namespace::namespace_exists(all, "prod$vectors", of(json!({})), None).await)?;
        fails(namespace::namespace_exists(all, "nope", of(json!({})), None).await, 404, 1)
    });
}

/// A case for a call that is refused as unsupported: the client must fail at once.
macro_rules! refused {
    ($operation:literal, $call:expr) => {
        case!($operation, stringify!($call).split("(").next().unwrap_or_default(), {
            fails($call.await, 406, 0)
        })
    };
}

async fn refusals(world: &World) {
    let all = &world.all;
    refused!("create-empty", table::create_empty_table(all, "new", of(json!({})), None));
    refused!(
        "register",
        table::register_table(all, "new", of(json!({ "location": "new.lance" })), None)
    );
    refused!("deregister", table::deregister_table(all, "docs", of(json!({})), None));
    refused!(
        "rename",
        table::rename_table(all, "docs", of(json!({ "new_table_name": "other" })), None)
    );
    refused!(
        "schema_metadata/update",
        table::update_table_schema_metadata(all, "docs", [("a".to_owned(), "b".to_owned())].into(), None)
    );
    refused!(
        "/transaction/{id}/describe",
        transaction::describe_transaction(all, "1", of(json!({})), None)
    );
    refused!(
        "/transaction/{id}/alter",
        transaction::alter_transaction(all, "1", of(json!({ "actions": [] })), None)
    );
}

fn main() {
    let world = World::read();
    world::block_on(async {
        report::introduce(world::client_version(include_str!("../Cargo.lock")));
        metadata(&world).await;
        queries(&world).await;
        tags(&world).await;
        namespaces(&world).await;
        writes::run(&world).await;
        refusals(&world).await;
    });
}
