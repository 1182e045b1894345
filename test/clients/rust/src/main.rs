//! The Rust client that is generated from the catalog's specification, each of its operations, on a running service.

mod data;
mod names;
mod refused;
mod report;

use std::{env, fs};

use lance_namespace_reqwest_client::apis::configuration::Configuration;
use serde_json::Value;

/// Input of every case: the client's configurations and the expected facts.
pub struct World {
    pub all: Configuration,
    pub docs_stats: Configuration,
    pub unknown: Configuration,
    pub facts: Value,
}

/// The version that the lock file pins.
fn client_version() -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let package = lock.split("name = \"lance-namespace-reqwest-client\"").nth(1).unwrap_or_default();
    package.split('"').nth(1).unwrap_or_default()
}

fn main() {
    let file = env::args().nth(1).expect("the path of the world's file");
    let facts: Value = serde_json::from_str(&fs::read_to_string(file).expect("the world's file")).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let connect = |key: &str| report::with_key(&text(&facts["endpoint"]), key);
    let world = World {
        all: connect(&text(&facts["keys"]["all"])),
        docs_stats: connect(&text(&facts["keys"]["docsStats"])),
        unknown: connect("unknown"),
        facts,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        report::introduce(client_version());
        data::run(&world).await;
        names::run(&world).await;
        refused::run(&world).await;
    });
}
