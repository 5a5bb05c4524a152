//! Expected values: what the check knows of the value of a program, compared with a JSON Schema.

use crate::compile::{Options, OutputSchema, compile};

const REPORT: &str = r##"{"type": "object", "properties": {"title": {"type": "string"}, "level": {"enum": ["low", "high"]},
    "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}}}, "required": ["title", "parts"], "additionalProperties": false,
    "$defs": {"part": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}}}"##;

fn found(source: &str, schema: &str) -> Vec<String> {
    let output: OutputSchema = schema.parse().unwrap();
    let options = Options { output: Some(&output), ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    let found: Vec<String> = diagnostics.as_slice().iter().map(|found| found.message.clone()).collect();
    assert_eq!(program.is_some(), !diagnostics.has_errors(), "{found:?}");
    found
}

fn report(value: &str) -> Vec<String> {
    let steps = format!(r#"{{"return": {value}}}"#);
    found(
        &format!(r#"{{"function": "f", "input": {{"x": "text"}}, "output": "any", "steps": [{steps}]}}"#),
        REPORT,
    )
}

#[test]
fn a_value_that_may_fit_is_built() {
    for value in [
        r#"{"title": "a", "parts": []}"#,
        r#"{"title": "$input.x", "level": "low", "parts": [{"n": 1, "more": true}]}"#,
        r#""$input.x""#,
    ] {
        assert_eq!(report(value), [""; 0], "{value}");
    }
    // What calls nothing else but the entry returns another value.
    let helper = "; fn other(n: number) -> number\nREF 0\n; fn f(n: number) -> result any, text\n; Tools: 0=other\n; Fields: 0=n\nLET 1 CALL 0 1 0 REF 0\nRET_OK REF 1\n";
    assert_eq!(found(helper, REPORT), [""; 0]);
    assert_eq!(found("; fn f() -> number\nLIT 1 1\n", "true"), [""; 0]);
}

#[test]
fn each_part_that_is_known_to_differ_is_an_error() {
    let cases = [
        (r#"{"title": "a"}"#, "the value lacks the field `parts`"),
        (
            r#"{"title": "a", "parts": [], "other": 1}"#,
            "the value has the field `other`, which its host does not expect",
        ),
        (r#"{"title": 1, "parts": []}"#, "`title` of the value is not what its host expects"),
        (
            r#"{"title": "a", "level": "mid", "parts": []}"#,
            "`level` of the value is not what its host expects",
        ),
        (r#"{"title": "a", "parts": [{"n": 10}]}"#, "`parts` of the value is not what its host expects"),
        (r#"{"title": "a", "parts": [{}]}"#, "`parts` of the value lacks the field `n`"),
    ];
    for (value, message) in cases {
        let found = report(value);
        assert!(
            found.iter().any(|found| found.contains(message) || found.contains("`parts.n` of the value")),
            "{value}: {found:?}"
        );
    }
}

#[test]
fn a_declared_type_is_compared() {
    let number = "; fn f() -> number\nLIT 1 1\n";
    assert_eq!(found(number, r#"{"type": "string"}"#)[0], "the value has another type than its host expects");
    assert_eq!(found(number, r#"{"type": "integer"}"#), [""; 0]);
    let list = "; fn f(x: list text) -> result list text, text\nRET_OK REF 0\n";
    assert_eq!(found(list, r#"{"type": "array", "items": {"type": "number"}}"#).len(), 1);
    assert_eq!(found(list, r#"{"type": ["array", "null"], "items": {"type": "string"}}"#), [""; 0]);
}

#[test]
fn what_is_no_schema_says_so() {
    for (text, why) in [("[]", "a JSON Schema is an object"), ("{", "this JSON Schema is not JSON")] {
        assert!(text.parse::<OutputSchema>().unwrap_err().contains(why), "{text}");
    }
}
