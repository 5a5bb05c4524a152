//! What is YAML reads as YAML 1.2 says; what is none is reported at its byte, with its mend.

use super::*;
use crate::diagnostic::fix;
use crate::front::tree::tests::{read_with, shown};
use serde_json::{Value, json};

fn documents(source: &str) -> (Vec<Value>, Vec<Diagnostic>) {
    read_with(source, read)
}

#[track_caller]
fn is(source: &str, value: Value) {
    let (values, found) = documents(source);
    assert_eq!(found, [], "{source}");
    assert_eq!(values, [value], "{source}");
}

#[test]
fn the_core_schema_says_what_a_plain_scalar_is() {
    for (text, value) in [
        ("no", json!("no")),
        ("Yes", json!("Yes")),
        ("on", json!("on")),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("True", json!(true)),
        ("FALSE", json!(false)),
        ("12", json!(12)),
        ("+12", json!(12)),
        ("007", json!(7)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("1.10", json!(1.1)),
        (".5", json!(0.5)),
        ("5.", json!(5.0)),
        ("-1e3", json!(-1000.0)),
        ("1_000", json!("1_000")),
        ("0o8", json!("0o8")),
        ("-0x1", json!("-0x1")),
        ("12:30", json!("12:30")),
        ("1.2.3", json!("1.2.3")),
        ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ("'12'", json!("12")),
        ("\"no\"", json!("no")),
        ("$.user-id", json!("$.user-id")),
        ("${fetch.verified}", json!("${fetch.verified}")),
        ("a  # comment", json!("a")),
    ] {
        is(&format!("a: {text}"), json!({ "a": value }));
        is(&format!("- {text}\n"), json!([value]));
        is(&format!("é: 'ü'\na: {text}\r\nb:\n"), json!({ "é": "ü", "a": value, "b": null }));
    }
}
