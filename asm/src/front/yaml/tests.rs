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

/// The one error of a source and what its mend makes of it, which must read as `value` without errors.
#[track_caller]
fn mends(source: &str, code: &str, mended: &str, value: Value) {
    let (read, found) = documents(source);
    assert_eq!(found.len(), 1, "{source}: {found:?}");
    assert_eq!(found[0].code.as_str(), code, "{source}");
    assert_eq!(fix::apply(source, &found), (mended.to_owned(), 1), "{source}");
    is(mended, value.clone());
    assert_eq!(read, [value], "{source}: read as if it were mended");
}

#[test]
fn what_yaml_trips_over_is_quoted() {
    for (source, mended, value) in [
        ("a: {user-id: ${x}}", "a: {user-id: \"${x}\"}", json!({"a": {"user-id": "${x}"}})),
        (
            "a: {b: ${x.y}, c: 1}\nd: 2",
            "a: {b: \"${x.y}\", c: 1}\nd: 2",
            json!({"a": {"b": "${x.y}", "c": 1}, "d": 2}),
        ),
        ("error: Send failed: ${e}", "error: \"Send failed: ${e}\"", json!({"error": "Send failed: ${e}"})),
        ("a: b: c: d", "a: \"b: c: d\"", json!({"a": "b: c: d"})),
        ("a: key:", "a: \"key:\"", json!({"a": "key:"})),
        (
            "a: {error: Send failed: ${e}}",
            "a: {error: \"Send failed: ${e}\"}",
            json!({"a": {"error": "Send failed: ${e}"}}),
        ),
        ("a: @b", "a: \"@b\"", json!({"a": "@b"})),
        ("- @b # c", "- \"@b\" # c", json!(["@b"])),
        ("a: `b`", "a: \"`b`\"", json!({"a": "`b`"})),
        ("a: %b", "a: \"%b\"", json!({"a": "%b"})),
        ("a: *b", "a: \"*b\"", json!({"a": "*b"})),
        ("a: & b", "a: \"& b\"", json!({"a": "& b"})),
        ("if: >= 3", "if: \">= 3\"", json!({"if": ">= 3"})),
        ("a: ,b", "a: \",b\"", json!({"a": ",b"})),
        ("a: {name} is here", "a: \"{name} is here\"", json!({"a": "{name} is here"})),
        ("a: [draft] Hello: you", "a: \"[draft] Hello: you\"", json!({"a": "[draft] Hello: you"})),
        ("a: \"b\" c", "a: '\"b\" c'", json!({"a": "\"b\" c"})),
        ("a: 'it's ok'\nb: c", "a: 'it''s ok'\nb: c", json!({"a": "it's ok", "b": "c"})),
        ("a: \"say \"hi\" now\"", "a: \"say \\\"hi\\\" now\"", json!({"a": "say \"hi\" now"})),
        ("a: \"b\nc: d\n", "a: \"b\"\nc: d\n", json!({"a": "b", "c": "d"})),
        ("é: ü\na: 'b", "é: ü\na: 'b'", json!({"é": "ü", "a": "b"})),
        ("a: \"x\": y", "a: '\"x\": y'", json!({"a": "\"x\": y"})),
        ("a: Order #5 of $.b", "a: \"Order #5 of $.b\"", json!({"a": "Order #5 of $.b"})),
    ] {
        mends(source, "quote-it", mended, value);
    }
}
