//! What is JSON reads as RFC 8259 says; what is none is reported at its byte, with its mend.

use super::*;
use crate::diagnostic::fix;
use crate::front::tree::tests::{read_with, shown};
use serde_json::Value;

/// The documents of a source as serde's values, and what was reported.
fn documents(source: &str) -> (Vec<Value>, Vec<Diagnostic>) {
    read_with(source, read)
}

/// What is reported, as `code at byte`.
#[track_caller]
fn says(source: &str, expected: &[&str]) {
    assert_eq!(shown(&documents(source).1), expected, "{source}");
}

/// The one error of a source and what its mend makes of it, which must be free of errors.
#[track_caller]
fn mends(source: &str, code: &str, mended: &str) {
    let (_, found) = documents(source);
    assert_eq!(found.len(), 1, "{source}: {found:?}");
    assert_eq!(found[0].code.as_str(), code, "{source}");
    assert_eq!(fix::apply(source, &found), (mended.to_owned(), 1), "{source}");
    assert_eq!(documents(mended).1, [], "{mended}");
}

#[test]
fn values_are_those_of_json() {
    for source in [
        r#"{"a":[1,-2,3.5,1e3,-0.0],"b":{"c":null,"d":true,"":false},"e":"x\ty \u00e9 \ud83d\ude00 \/"}"#,
        "[]",
        "{}",
        "[[],{},[{}]]",
        " \t\r\n\"é😀\" ",
        "9223372036854775807",
        "-9223372036854775808",
        "123456789012345678",
        "\"\\u0000\"",
    ] {
        let (values, found) = documents(source);
        assert_eq!(found, [], "{source}");
        assert_eq!(values, [serde_json::from_str::<Value>(source).unwrap()], "{source}");
    }
}
#[test]
fn mends_are_single_and_lead_to_json() {
    for (source, code, mended) in [
        (r#"{"a":1 "b":2}"#, "bad-json", r#"{"a":1, "b":2}"#),
        ("[1 2]", "bad-json", "[1, 2]"),
        ("[1,2,]", "bad-json", "[1,2]"),
        ("{\"a\":1,\n}", "bad-json", "{\"a\":1\n}"),
        ("{'a':1}", "bad-string", r#"{"a":1}"#),
        (r#"{"a":'it\'s "so"'}"#, "bad-string", r#"{"a":"it's \"so\""}"#),
        ("{a:1}", "bad-json", r#"{"a":1}"#),
        ("{user-id:1}", "bad-json", r#"{"user-id":1}"#),
        ("{1:2}", "bad-json", r#"{"1":2}"#),
        (r#"{"a": hello world}"#, "bad-json", r#"{"a": "hello world"}"#),
        (r#"{"a": ${x.y}}"#, "bad-json", r#"{"a": "${x.y}"}"#),
        ("{\"a\":1 // why\n}", "bad-json", "{\"a\":1 \n}"),
        ("{/* why */\"a\":1}", "bad-json", "{\"a\":1}"),
        ("# why\n{\"a\":1}", "bad-json", "\n{\"a\":1}"),
        (r#"{"a" 1}"#, "bad-json", r#"{"a": 1}"#),
        (r#"{"a"=1}"#, "bad-character", r#"{"a":1}"#),
        ("[1;2]", "bad-character", "[1,2]"),
        ("[True]", "bad-json", "[true]"),
        ("[None]", "bad-json", "[null]"),
        ("[undefined]", "bad-json", "[null]"),
        (r#"["\'"]"#, "bad-string", r#"["'"]"#),
        (r#"["\x41"]"#, "bad-string", r#"["\u0041"]"#),
        ("[\"a\tb\"]", "bad-string", r#"["a\tb"]"#),
        ("[\"a\nb\"]", "bad-string", r#"["a\nb"]"#),
        ("[007]", "bad-number", "[7]"),
        ("[+1]", "bad-number", "[1]"),
        ("[.5]", "bad-number", "[0.5]"),
        ("[5.]", "bad-number", "[5.0]"),
        ("[1_000]", "bad-number", "[1000]"),
        ("[-0x1F]", "bad-number", "[-31]"),
        ("[1,,2]", "bad-json", "[1,2]"),
        ("{},{}", "bad-json", "{}{}"),
        (r#"{"a":[1,2}"#, "bad-json", r#"{"a":[1,2]}"#),
        (r#"{"a":[1,2},"b":3}"#, "bad-json", r#"{"a":[1,2],"b":3}"#),
        (r#"{"a":[{"b":1}}]}"#, "bad-json", r#"{"a":[{"b":1}]}"#),
        (r#"{"a":1}}"#, "bad-json", r#"{"a":1}"#),
        (r#"{"a":[{"b":1}"#, "bad-json", r#"{"a":[{"b":1}]}"#),
        ("{\"a\":[{}\n{\"b\":1}", "bad-json", "{\"a\":[{}]}\n{\"b\":1}"),
        ("{\"a\":\"b,\n\"c\":\"d\"}", "bad-string", "{\"a\":\"b\",\n\"c\":\"d\"}"),
        ("```json\n{\"a\":1}\n```\n", "bad-character", "{\"a\":1}\n"),
        ("Here it is:\n{\"a\":1}", "unexpected-text", "\n{\"a\":1}"),
        ("{\"a\":1}\nI hope that helps!", "unexpected-text", "{\"a\":1}\n"),
        ("[1\u{a0}]", "bad-character", "[1 ]"),
        ("[1\0]", "bad-character", "[1]"),
        ("[“a”]", "bad-string", "[\"a\"]"),
    ] {
        mends(source, code, mended);
    }
}
