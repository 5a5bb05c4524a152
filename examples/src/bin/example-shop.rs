//! A shop of three tools, chosen by the first argument: `reserve` an item, `charge` a payment, `release` a
//! reservation.
//!
//! A reservation is a file in the folder that the second argument names, so that a rollback can be seen.

use ilo_examples::{serve, text};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    serve(|arguments| match words.as_slice() {
        [verb, folder] => match verb.as_str() {
            "reserve" => reserve(Path::new(folder), arguments),
            "charge" => charge(arguments),
            "release" => release(Path::new(folder), arguments),
            other => Err(format!("no such tool: {other}")),
        },
        _ => Err("usage: example-shop reserve|charge|release FOLDER".to_owned()),
    })
}

/// A name that is safe as a file name.
fn plain<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = text(arguments, name)?;
    let safe = !value.is_empty()
        && value.len() <= 64
        && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if safe { Ok(value) } else { Err(format!("`{name}` has to be letters, digits and hyphens")) }
}

fn reserve(folder: &Path, arguments: &Map<String, Value>) -> Result<Value, String> {
    let item = plain(arguments, "item")?;
    let id = format!("reservation-{item}");
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    File::create_new(folder.join(&id)).map_err(|_| format!("{item} is reserved already"))?;
    Ok(json!({ "reservation-id": id }))
}

fn charge(arguments: &Map<String, Value>) -> Result<Value, String> {
    let payment = plain(arguments, "payment-id")?;
    let amount = arguments.get("amount").and_then(Value::as_f64).ok_or("`amount` has to be a number")?;
    if payment.starts_with("bad") {
        return Err(format!("card declined for {amount}"));
    }
    Ok(json!({ "charge-id": format!("charge-{payment}") }))
}

fn release(folder: &Path, arguments: &Map<String, Value>) -> Result<Value, String> {
    let id = plain(arguments, "reservation-id")?;
    fs::remove_file(folder.join(id)).map_err(|_| format!("no such reservation: {id}"))?;
    Ok(Value::Null)
}
