//! Input of every case.

use std::{env, fs};

use lance_namespace_reqwest_client::apis::configuration::Configuration;
use serde_json::Value;

/// The client's configurations and the expected facts.
pub struct World {
    pub all: Configuration,
    pub docs_stats: Configuration,
    pub unknown: Configuration,
    pub facts: Value,
}

fn with_key(endpoint: &str, key: &str) -> Configuration {
    Configuration {
        base_path: endpoint.to_owned(),
        bearer_access_token: Some(key.to_owned()),
        ..Configuration::default()
    }
}

impl World {
    /// An Arrow IPC stream of the world.
    pub fn stream(&self, name: &str) -> Vec<u8> {
        let digits = self.facts["streams"][name].as_str().unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| str::from_utf8(pair).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        digits.chunks(2).map(|pair| byte(pair).expect("two hexadecimal digits")).collect()
    }

    /// Reads the file that the program's argument names.
    pub fn read() -> World {
        let file = env::args().nth(1).expect("the path of the world's file");
        let facts: Value = serde_json::from_str(&fs::read_to_string(file).expect("the world's file")).expect("JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let connect = |key: &str| with_key(&text(&facts["endpoint"]), key);
        World {
            all: connect(&text(&facts["keys"]["all"])),
            docs_stats: connect(&text(&facts["keys"]["docsStats"])),
            unknown: connect("unknown"),
            facts,
        }
    }
}

/// The client's version that a lock file pins.
pub fn client_version(lock: &str) -> &str {
    let package = lock.split("name = \"lance-namespace-reqwest-client\"").nth(1).unwrap_or_default();
    package.split('"').nth(1).unwrap_or_default()
}

/// Runs a future on this thread.
pub fn block_on(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future);
}
