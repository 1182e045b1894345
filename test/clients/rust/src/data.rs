//! Cases of tables and their rows: describe, exists, statistics, counts, plans, queries.

use lance_namespace_reqwest_client::apis::table_api as table;
use serde_json::{Value, json};

use crate::World;
use crate::case;
use crate::report::{fails, of, same, told};

const NESTED: &str = "prod$vectors$docs";

fn query(fields: Value) -> Value {
    let mut query = json!({ "k": 4, "vector": {} });
    for (name, value) in fields.as_object().into_iter().flatten() {
        query[name] = value.clone();
    }
    query
}

pub async fn run(world: &World) {
    let World {
        all,
        docs_stats,
        unknown,
        facts,
    } = world;
    let docs = &facts["docs"];
    let per_version = facts["plain"]["rowsPerVersion"].as_i64().unwrap_or_default();
    let nearest = |fields: Value| {
        let mut search = query(json!({
            "vector": { "single_vector": docs["vector"] }, "vector_column": "vector", "bypass_vector_index": true,
        }));
        for (name, value) in fields.as_object().into_iter().flatten() {
            search[name] = value.clone();
        }
        search
    };
    let describe = async |config, id: &str, body: Value| table::describe_table(config, id, of(body), None, None, None, None).await;

    case!("describe", "version, place and columns; in a namespace, at a version", {
        let answer = told(describe(all, "docs", json!({})).await)?;
        same(answer.version, docs["version"].as_i64())?;
        same(answer.location.is_some_and(|location| location.contains("docs.lance")), true)?;
        let columns: Vec<String> = answer
            .schema
            .map(|schema| schema.fields.into_iter().map(|field| field.name).collect())
            .unwrap_or_default();
        let expected: Vec<String> = docs["columns"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        same(columns.len(), expected.len())?;
        same(expected.iter().all(|name| columns.contains(name)), true)?;
        same(told(describe(all, NESTED, json!({})).await)?.version, Some(2))?;
        same(told(describe(all, "plain", json!({ "version": 3 })).await)?.version, Some(3))
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

    let stats = async |id: &str, body: Value| table::get_table_stats(all, id, of(body), None).await;
    case!("stats", "of a table, in a namespace, on a branch", {
        let answer = told(stats("docs", json!({})).await)?;
        same(
            (Some(answer.num_rows), Some(answer.total_bytes)),
            (docs["rows"].as_i64(), docs["bytes"].as_i64()),
        )?;
        same(Some(answer.fragment_stats.num_fragments), docs["fragments"].as_i64())?;
        same(
            Some(told(stats(NESTED, json!({})).await)?.num_rows),
            facts["nested"]["rows"].as_i64(),
        )?;
        same(
            Some(told(stats("docs", json!({ "branch": "experiment" })).await)?.num_rows),
            docs["branchRows"].as_i64(),
        )
    });
    case!("stats", "of a table whose id has blanks and signs", {
        // This client writes a space as a plus: only the body's id distinguishes the two.
        let parts = ["prod", "vectors", "a b+c ü", "t.1-x"];
        let answer = told(stats(&parts.join("$"), json!({ "id": parts })).await)?;
        same(Some(answer.num_rows), facts["awkward"]["rows"].as_i64())
    });
    case!("stats", "a table, a branch that is not there", {
        fails(stats("nope", json!({})).await, 404, 4)?;
        fails(stats("docs", json!({ "branch": "nope" })).await, 404, 22)
    });

    let count = async |id: &str, body: Value| table::count_table_rows(all, id, of(body), None).await;
    case!("count_rows", "all, some, at a version", {
        same(Some(told(count("docs", json!({})).await)?), docs["rows"].as_i64())?;
        same(told(count("docs", json!({ "predicate": "id < 10" })).await)?, 10)?;
        same(told(count("plain", json!({ "version": 3 })).await)?, 3 * per_version)
    });
    case!("count_rows", "no SQL, no such column, version, table", {
        fails(count("docs", json!({ "predicate": "id >" })).await, 400, 13)?;
        fails(count("docs", json!({ "predicate": "nope = 1" })).await, 404, 12)?;
        fails(count("docs", json!({ "version": 99 })).await, 404, 11)?;
        fails(count("nope", json!({})).await, 404, 4)
    });

    let explain = async |body: Value| table::explain_table_query_plan(all, "docs", of(json!({ "query": body })), None).await;
    let text = json!({ "string_query": { "query": "puppy", "columns": ["text"] } });
    case!("explain_plan", "a scan, a vector, a text", {
        same(
            told(explain(query(json!({ "filter": "id > 10" }))).await)?.starts_with("LanceRead: uri=docs.lance"),
            true,
        )?;
        same(
            told(explain(nearest(json!({}))).await)?.contains("KNNVectorDistance: metric=l2"),
            true,
        )?;
        same(
            told(explain(query(json!({ "full_text_query": text }))).await)?.contains("query=puppy"),
            true,
        )
    });
    case!("explain_plan", "no SQL, no such column, too much", {
        fails(explain(query(json!({ "filter": "id >" }))).await, 400, 13)?;
        fails(explain(query(json!({ "filter": "nope = 1" }))).await, 404, 12)?;
        fails(explain(nearest(json!({ "nprobes": 2_000_000_000 }))).await, 400, 13)
    });

    let analyze = async |config, body: Value| table::analyze_table_query_plan(config, "docs", of(body), None).await;
    case!("analyze_plan", "a scan at a version, a vector", {
        same(
            told(analyze(all, query(json!({ "version": 1 }))).await)?.contains("output_rows=4,"),
            true,
        )?;
        same(told(analyze(all, nearest(json!({}))).await)?.starts_with("AnalyzeExec"), true)
    });
    case!("analyze_plan", "no SQL, no such version, a key without the scope", {
        fails(analyze(all, query(json!({ "filter": "id >" }))).await, 400, 13)?;
        fails(analyze(all, query(json!({ "version": 99 }))).await, 404, 11)?;
        fails(analyze(docs_stats, query(json!({}))).await, 403, 15)
    });

    let select = async |body: Value| table::query_table(all, "docs", of(body), None).await;
    case!("query", "an Arrow file: of a filter, of a vector, of a text", {
        for body in [
            query(json!({ "filter": "id < 3", "columns": { "column_names": ["id"] } })),
            nearest(json!({ "columns": { "column_names": ["id", "_distance"] } })),
            query(json!({ "full_text_query": text })),
        ] {
            let response = told(select(body).await)?;
            let kind = response
                .headers()
                .get("content-type")
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            same(kind.as_deref(), Some("application/vnd.apache.arrow.file"))?;
            let bytes = response.bytes().await.map_err(|error| error.to_string())?;
            same((bytes.starts_with(b"ARROW1"), bytes.ends_with(b"ARROW1")), (true, true))?;
        }
        Ok(())
    });
    case!("query", "no SQL, no such column or version, a vector of another length", {
        fails(select(query(json!({ "filter": "id >" }))).await, 400, 13)?;
        fails(select(query(json!({ "filter": "nope = 1" }))).await, 404, 12)?;
        fails(select(query(json!({ "version": 99 }))).await, 404, 11)?;
        fails(select(nearest(json!({ "vector": { "single_vector": [1.0, 2.0] } }))).await, 400, 13)
    });
}
