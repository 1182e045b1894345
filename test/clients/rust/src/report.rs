//! The program's input, its cases, and the results of calls of the generated client.

use std::fmt::Debug;
use std::io::{Write, stdin, stdout};

use lance_namespace_reqwest_client::apis::Error;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::CLIENT;

/// Result of a case: an error has a text.
pub type Outcome = Result<(), String>;

fn print(line: &Value) {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("stdout is read");
    drop(out);
    // The acknowledgement, see test/clients/result.ts; there is none after the last case.
    stdin().read_line(&mut String::new()).ok();
}

pub fn introduce(version: &str) {
    print(&json!({ "client": CLIENT, "version": format!("lance-namespace-reqwest-client {version}") }));
}

pub fn say(operation: &str, case: &str, outcome: Outcome) {
    let detail = outcome.as_ref().err().map_or("", |fault| fault.get(..400).unwrap_or(fault));
    print(&json!({ "client": CLIENT, "operation": operation, "case": case, "ok": outcome.is_ok(), "detail": detail }));
}

/// A request or a part of it, as in the specification.
pub fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of the client's own model")
}

pub fn same<T: PartialEq + Debug>(actual: T, expected: T) -> Outcome {
    if actual == expected {
        Ok(())
    } else {
        Err(format!("{actual:?} is not {expected:?}"))
    }
}

/// The response of a call.
pub fn told<T, E: Debug>(answer: Result<T, Error<E>>) -> Result<T, String> {
    answer.map_err(|error| format!("{error:?}"))
}

/// A call that must fail, with a status and with an error that the client can read: its own type with a code.
pub fn fails<T: Debug, E: Debug + Serialize>(answer: Result<T, Error<E>>, status: u16, code: i64) -> Outcome {
    let Error::ResponseError(response) = answer.err().ok_or("it was expected to fail")? else {
        return Err("it failed without an answer".to_owned());
    };
    let entity = response
        .entity
        .ok_or_else(|| format!("an error that the client cannot read: {}", response.content))?;
    if !format!("{entity:?}").starts_with("Status") {
        return Err(format!("an error that the client does not know: {}", response.content));
    }
    let told = serde_json::to_value(&entity).map_err(|error| error.to_string())?;
    same((response.status.as_u16(), told["code"].as_i64()), (status, Some(code)))
}

/// Runs a block that may return early with an error, as a case.
#[macro_export]
macro_rules! case {
    ($operation:expr, $name:expr, $body:block) => {{
        let outcome: $crate::report::Outcome = async { $body }.await;
        $crate::report::say($operation, $name, outcome);
    }};
}
