//! Cases of tags, versions, branches, indices, tables and namespaces.

use lance_namespace_reqwest_client::apis::{namespace_api as namespace, table_api as table};
use serde_json::{Value, json};

use crate::World;
use crate::case;
use crate::report::{fails, of, same, told};

fn sorted<T: Ord>(names: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut names: Vec<T> = names.into_iter().collect();
    names.sort();
    names
}

async fn tags(world: &World) {
    let World { all, .. } = world;
    let create = async |body: Value| table::create_table_tag(all, "docs", of(body), None).await;
    let version = async |tag: &str| table::get_table_tag_version(all, "docs", of(json!({ "tag": tag })), None).await;
    let update = async |body: Value| table::update_table_tag(all, "docs", of(body), None).await;
    let delete = async |tag: &str| table::delete_table_tag(all, "docs", of(json!({ "tag": tag })), None).await;
    let list = async |page: Option<&str>, limit| table::list_table_tags(all, "docs", None, page, limit).await;

    case!("tags/create", "a name for a version", {
        told(create(json!({ "tag": "v1", "version": 1 })).await)?;
        same(told(version("v1").await)?.version, 1)
    });
    case!("tags/create", "a name that is taken or cannot be, a version that is not there", {
        fails(create(json!({ "tag": "v1", "version": 2 })).await, 409, 9)?;
        fails(create(json!({ "tag": "../x", "version": 1 })).await, 400, 13)?;
        fails(create(json!({ "tag": "late", "version": 99 })).await, 404, 11)
    });
    case!("tags/version", "one that is there, one that is not", {
        same(told(version("v1").await)?.version, 1)?;
        fails(version("nope").await, 404, 8)
    });
    case!("tags/list", "names and versions, in pages", {
        told(create(json!({ "tag": "v2", "version": 2 })).await)?;
        let every = told(list(None, None).await)?.tags;
        same(
            sorted(every.iter().map(|(name, tag)| (name.clone(), tag.version))),
            vec![("v1".to_owned(), 1), ("v2".to_owned(), 2)],
        )?;
        let first = told(list(None, Some(1)).await)?;
        let token = first.page_token;
        let second = told(list(token.as_deref(), Some(1)).await)?;
        same(
            sorted(first.tags.into_keys().chain(second.tags.into_keys())),
            vec!["v1".to_owned(), "v2".to_owned()],
        )
    });
    case!("tags/update", "another version; a tag or version that is not there", {
        told(update(json!({ "tag": "v2", "version": 3 })).await)?;
        same(told(version("v2").await)?.version, 3)?;
        fails(update(json!({ "tag": "nope", "version": 1 })).await, 404, 8)?;
        fails(update(json!({ "tag": "v2", "version": 99 })).await, 404, 11)
    });
    case!("tags/delete", "a tag, and once more", {
        told(delete("v1").await)?;
        told(delete("v2").await)?;
        fails(delete("v1").await, 404, 8)
    });
}

async fn lists(world: &World) {
    let World { all, facts, .. } = world;
    let docs = &facts["docs"];
    let versions = facts["plain"]["versions"].as_i64().unwrap_or_default();

    case!("version/list", "all, from the end in pages; a table that is not there", {
        let list =
            async |id: &str, page: Option<&str>, limit| table::list_table_versions(all, id, None, None, page, limit, Some(true)).await;
        let every: Vec<i64> = told(list("plain", None, None).await)?
            .versions
            .iter()
            .map(|entry| entry.version)
            .collect();
        same(every, (1..=versions).rev().collect())?;
        let first = told(list("plain", None, Some(4)).await)?;
        let token = first.page_token;
        let second = told(list("plain", token.as_deref(), Some(4)).await)?;
        same(second.versions.iter().map(|entry| entry.version).collect(), vec![6, 5, 4, 3])?;
        fails(list("nope", None, None).await, 404, 4)
    });
    case!("version/describe", "one, and one that is not there", {
        let describe = async |version: i64| table::describe_table_version(all, "plain", of(json!({ "version": version })), None).await;
        same(told(describe(3).await)?.version.version, 3)?;
        fails(describe(99).await, 404, 11)
    });
    case!("branches/list", "the branches; a table that is not there", {
        let list = async |id: &str| table::list_table_branches(all, id, None, None, None).await;
        same(
            told(list("docs").await)?.branches.into_keys().collect(),
            vec!["experiment".to_owned()],
        )?;
        fails(list("nope").await, 404, 4)
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

async fn namespaces(world: &World) {
    let World { all, docs_stats, .. } = world;
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();

    case!(
        "namespace/table/list",
        "of the root, of a namespace, in pages, what a key permits; of one that is not there",
        {
            let list = async |config, id: &str, page: Option<&str>, limit| table::list_tables(config, id, None, page, limit, None).await;
            same(told(list(all, "$", None, None).await)?.tables, names(&["docs", "plain"]))?;
            same(told(list(all, "prod$vectors", None, None).await)?.tables, names(&["docs"]))?;
            let token = told(list(all, "$", None, Some(1)).await)?.page_token;
            same(told(list(all, "$", token.as_deref(), Some(1)).await)?.tables, names(&["plain"]))?;
            same(told(list(docs_stats, "$", None, None).await)?.tables, names(&["docs"]))?;
            fails(list(all, "nope", None, None).await, 404, 1)
        }
    );
    case!("/table", "every table by its whole id", {
        let every = told(table::list_all_tables(all, None, None, None, None).await)?.tables;
        same(every, names(&["docs", "plain", "prod$vectors$a b+c ü$t.1-x", "prod$vectors$docs"]))
    });
    case!("namespace/list", "of the root, of a namespace; of one that is not there", {
        let list = async |id: &str| namespace::list_namespaces(all, id, None, None, None).await;
        same(told(list("$").await)?.namespaces, names(&["prod"]))?;
        same(told(list("prod").await)?.namespaces, names(&["vectors"]))?;
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

pub async fn run(world: &World) {
    tags(world).await;
    lists(world).await;
    namespaces(world).await;
}
