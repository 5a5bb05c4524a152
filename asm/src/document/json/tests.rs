//! JSON is read as RFC 8259 says; an error is reported at its byte, with its fix.

use super::*;
use crate::diagnostic::fix;
use crate::document::NESTING;
use crate::document::tests::{deep, fixes_end, in_small_thread, json_value, read_with, shown};
use proptest::prelude::*;
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

/// The one error of a source and what its fix makes of it, which must be free of errors.
#[track_caller]
fn fixes(source: &str, code: &str, fixed: &str) {
    let (_, found) = documents(source);
    assert_eq!(found.len(), 1, "{source}: {found:?}");
    assert_eq!(found[0].code.as_str(), code, "{source}");
    assert_eq!(fix::apply(source, &found), (fixed.to_owned(), 1), "{source}");
    assert_eq!(documents(fixed).1, [], "{fixed}");
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
    for (source, code, fixed) in [
        (r#"{"a": hello world}"#, "bad-json", r#"{"a": "hello world"}"#),
        (r#"{"a": ${x.y}}"#, "bad-json", r#"{"a": "${x.y}"}"#),
        (r#"["\'"]"#, "bad-string", r#"["'"]"#),
        ("[\"a\tb\"]", "bad-string", r#"["a\tb"]"#),
        ("[\"a\nb\"]", "bad-string", r#"["a\nb"]"#),
        ("[1,,2]", "bad-json", "[1,2]"),
        (r#"{"a":[1,2}"#, "bad-json", r#"{"a":[1,2]}"#),
        (r#"{"a":[1,2},"b":3}"#, "bad-json", r#"{"a":[1,2],"b":3}"#),
        (r#"{"a":[{"b":1}}]}"#, "bad-json", r#"{"a":[{"b":1}]}"#),
        (r#"{"a":1}}"#, "bad-json", r#"{"a":1}"#),
        (r#"{"a":[{"b":1}"#, "bad-json", r#"{"a":[{"b":1}]}"#),
        ("{\"a\":[{}\n{\"b\":1}", "bad-json", "{\"a\":[{}]}\n{\"b\":1}"),
        ("{\"a\":\"b,\n\"c\":\"d\"}", "bad-string", "{\"a\":\"b\",\n\"c\":\"d\"}"),
        ("{\"a\":1}\nI hope that helps!", "unexpected-text", "{\"a\":1}\n"),
    ] {
        fixes(source, code, fixed);
    }
}

/// What has one meaning is read as that, and nothing is reported.
#[test]
fn what_is_clear_is_read() {
    for (source, meant) in [
        ("[1,2,]", "[1,2]"),
        ("# why\n{\"a\":1}", "{\"a\":1}"),
        ("Here it is:\n{\"a\":1}", "{\"a\":1}"),
        (r#"{"a" 1}"#, r#"{"a": 1}"#),
        ("['it''s']", "[\"it's\"]"),
        (r#"{"a":1 "b":2}"#, r#"{"a":1, "b":2}"#),
        ("[1 2]", "[1, 2]"),
        ("{'a':1}", r#"{"a":1}"#),
        (r#"{"a":'it\'s "so"'}"#, r#"{"a":"it's \"so\""}"#),
        ("{a:1}", r#"{"a":1}"#),
        ("{user-id:1}", r#"{"user-id":1}"#),
        ("{1:2}", r#"{"1":2}"#),
        (r#"{"a"=1}"#, r#"{"a":1}"#),
        ("[1;2]", "[1,2]"),
        ("[“a”]", "[\"a\"]"),
        (r#"{"a":[{"b":{"c":1}]}"#, r#"{"a":[{"b":{"c":1}}]}"#),
        ("{\"a\":1,\n}", "{\"a\":1\n}"),
        ("{\"a\":1 // why\n}", "{\"a\":1 \n}"),
        ("{/* why */\"a\":1}", "{\"a\":1}"),
        ("[True]", "[true]"),
        ("[None]", "[null]"),
        ("[undefined]", "[null]"),
        ("{},{}", "{}{}"),
        ("```json\n{\"a\":1}\n```\n", "{\"a\":1}\n"),
        ("[1\u{a0}]", "[1 ]"),
        ("[1\0]", "[1]"),
    ] {
        assert_eq!(documents(source), documents(meant), "{source}");
        assert_eq!(documents(source).1, [], "{source}");
    }
}

/// A fix escapes the quotes inside a text if it is clear where the text ends; it reads back as written.
#[test]
fn quotes_inside_a_text_never_divide_it() {
    for (source, fixed) in [
        (r#"{"body":"Press "OK", then wait","n":1}"#, r#"{"body":"Press \"OK\", then wait","n":1}"#),
        (r#"["a "b" c","d"]"#, r#"["a \"b\" c","d"]"#),
        (r#"{"a "b" c":1}"#, r#"{"a \"b\" c":1}"#),
        (r#"[{"a":"use "}" here"}]"#, r#"[{"a":"use \"}\" here"}]"#),
        (r#"{"a":["use "]" here"]}"#, r#"{"a":["use \"]\" here"]}"#),
        (r#"["{"b":"c"}"]"#, r#"["{\"b\":\"c\"}"]"#),
    ] {
        fixes(source, "bad-string", fixed);
    }
    for source in [r#"{"a":"12" wide","b":1}"#, r#"["it is "so]"#, "['it's so']"] {
        let (_, found) = documents(source);
        assert_eq!(found[0].code.as_str(), "bad-string", "{source}: {found:?}");
        assert!(found.iter().all(|found| found.fix.is_none()), "{source}: {found:?}");
    }
}

#[test]
fn errors_without_a_single_mend_have_their_place() {
    for (source, expected) in [
        ("[9223372036854775808]", &["number-range at 1"][..]),
        ("[-9223372036854775809]", &["number-range at 1"]),
        ("[1e999]", &["number-range at 1"]),
        ("[NaN, -Infinity]", &["number-range at 1", "bad-number at 6"]),
        (r#"{"a":1,"b":2,"a":3}"#, &["duplicate-key at 13"]),
        (r#"{"a":1,"\u0061":3}"#, &["duplicate-key at 7"]),
        (r#"["\ud800"]"#, &["bad-string at 2"]),
        (r#"["\ud83dx", "\q"]"#, &["bad-string at 2", "bad-string at 13"]),
        (r#"["\u12"]"#, &["bad-string at 2"]),
        (r#"["\x41"]"#, &["bad-string at 2"]),
        ("[007, +1, .5]", &["bad-number at 1", "bad-number at 6", "bad-number at 10"]),
        ("[5., 1_000, -0x1F]", &["bad-number at 1", "bad-number at 5", "bad-number at 12"]),
        ("[\"abc", &["bad-string at 1"]),
        ("{\"a\":\"b}\n", &["bad-string at 5"]),
        (r#"{"a":}"#, &["bad-json at 5"]),
        (r#"{"a"}"#, &["bad-json at 4"]),
        (r#"{"a":,"b":1}"#, &["bad-json at 5"]),
        ("{:1}", &["bad-json at 1"]),
        ("{{}}", &["bad-json at 1"]),
        (r#"["a":1]"#, &["bad-json at 4"]),
        (r#"{"a":[{"b":"#, &["bad-json at 11"]),
        ("{\"a\":1,", &["bad-json at 7"]),
        ("[1] ] 2", &["bad-json at 4"]),
        (r#""a": 1"#, &["bad-json at 3"]),
        ("/* [1]", &["bad-json at 0"]),
        ("[\u{1}]", &["bad-character at 1"]),
        ("[1, @@, 2]", &["bad-character at 4", "bad-json at 6"]),
    ] {
        says(source, expected);
    }
}

#[test]
fn what_is_read_in_spite_of_errors_is_what_was_meant() {
    for (source, value) in [
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":1,"b":2}"#),
        ("{a:[1 2,],'b':True", r#"{"a":[1,2],"b":true}"#),
        (r#"{"a":{"b":1},"c"}"#, r#"{"a":{"b":1},"c":null}"#),
        ("{\"a\":\"b,\n\"c\":\"d\"}", r#"{"a":"b","c":"d"}"#),
    ] {
        let (values, found) = documents(source);
        assert!(!found.is_empty(), "{source}");
        assert_eq!(values, [serde_json::from_str::<Value>(value).unwrap()], "{source}");
    }
}

#[test]
fn documents_follow_each_other() {
    for (source, count) in
        [("", 0), (" \n", 0), ("\u{feff}{}", 1), ("{}\n{}", 2), ("{}[]\"a\"", 3), ("1 2\n3", 3)]
    {
        let (values, found) = documents(source);
        assert_eq!((values.len(), found.len()), (count, 0), "{source}");
    }
    // What is around all of them is left out; a text between them is not.
    says("Here:\n```json\n{\"a\":1}\n```\nor\n```\n{\"a\":2}\n```\n", &["unexpected-text at 22"]);
}

#[test]
fn depth_is_limited_and_costs_no_stack() {
    in_small_thread(|| {
        assert_eq!(documents(&deep("[", "]", NESTING)).1, []);
        assert_eq!(documents(&deep("{\"a\":", "}", NESTING).replace(":}", ":1}")).1, []);
        for (open, close) in
            [("[", "]"), ("{\"a\":", "}"), ("[", ""), ("[{\"a\":", ""), ("", "]"), ("[}", "")]
        {
            let source = deep(open, close, 100_000);
            let (_, found) = documents(&source);
            assert!(!found.is_empty() && found.len() <= 1_000, "{open}{close}");
        }
        let too_deep = format!("too-deep at {NESTING}");
        says(&deep("[", "]", NESTING + 1), &[&too_deep]);
        says(&deep("[", "]", 100_000), &[&too_deep]);
    });
}

/// Every work of the reader is done once for a byte: what would be quadratic does not end here.
#[test]
fn hostile_sources_are_read_in_one_pass() {
    let many = |text: &str| text.repeat(100_000);
    let keys: Vec<_> = (0..50_000).map(|n| format!("\"k{n}\":0,")).collect();
    let keys = keys.concat();
    for source in [
        format!("\"{}\"", many("\n")),
        format!("\"{}", many("\\\"\n")),
        format!("[{}", many("\"a\n")),
        many("{a"),
        many("/*"),
        many("//\n"),
        many("'"),
        many("[1}"),
        many("]"),
        many("a "),
        many("a\n "),
        many("{\"a\""),
        many("\u{feff}"),
        many("\\"),
        many("“a"),
        many("{}\n,"),
        many("``` "),
        many("${"),
        format!("[{}]", many("\"a\" ")),
        format!("[{}]", many("1-")),
        format!("{{{keys}\"k0\":1}}"),
        format!("{{{}\"a\":1}}", many("\"a\":0,")),
        format!("[\"{}\"]", many("\\q")),
    ] {
        let (_, found) = documents(&source);
        assert!(found.len() <= ilo_spec::limits::DIAGNOSTICS);
    }
    let large = format!("[\"{}\"]", many("é".repeat(16).as_str()));
    assert_eq!(documents(&large).1, []);
}

#[test]
fn a_source_has_its_limit_and_a_line_has_none() {
    let arena = Arena::new();
    let options = SourceLimits { source: 20, line: 5, nesting: 128 };
    let codes = |source: &str| {
        let mut diagnostics = Diagnostics::default();
        let source = arena.alloc_str(source);
        read(source, &arena, &options, &mut diagnostics);
        shown(diagnostics.as_slice())
    };
    assert_eq!(codes(&format!("{:20}", "[1]")), Vec::<String>::new());
    assert_eq!(codes(&format!("{:21}", "[1]")), ["source-too-large at 0"]);
}

/// A source is read as serde reads it. Only repeated keys and ranges of numbers are reported beyond that.
#[track_caller]
fn reads_as_serde(source: &str) {
    let (values, found) = documents(source);
    match serde_json::from_str(source) {
        Ok(value) if found.is_empty() => assert!(same(&values, &value), "{source}: {values:?}"),
        Ok(_) => {
            let only = |found: &Diagnostic| matches!(found.code, Code::DuplicateKey | Code::NumberRange);
            assert!(found.iter().all(only), "{source}: {found:?}");
        }
        Err(_) if found.is_empty() && values.len() == 1 => {
            // What else is read has one meaning that JSON does not have.
            if let Ok(plain) = serde_json::from_str(&without_final_commas(source)) {
                assert!(same(&values, &plain), "{source}: {values:?}");
            }
        }
        Err(_) => {}
    }
}

/// The source without commas before the end of a list, of a record and of the text, which have no finding.
fn without_final_commas(source: &str) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for (at, c) in source.char_indices() {
        let next = source[at + c.len_utf8()..].trim_start().chars().next();
        if quoted || c != ',' || !matches!(next, None | Some(']' | '}')) {
            text.push(c);
        }
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
    }
    text
}

/// Whether there is one document of this value. The last bit of a double is not serde's strength.
fn same(documents: &[Value], value: &Value) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= a.abs() * 1e-15;
    match (documents, value) {
        ([Value::Array(a)], Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(std::slice::from_ref(a), b))
        }
        ([Value::Object(a)], Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(std::slice::from_ref(a), b)))
        }
        ([Value::Number(a)], Value::Number(b)) if a.is_f64() && b.is_f64() => {
            a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| near(a, b))
        }
        ([a], b) => a == b,
        _ => false,
    }
}

/// The text that swallowed a comma on one line is not where the next line lacks one.
#[test]
fn a_comma_is_not_put_into_a_text_that_does_not_end() {
    let source = "[\n  {\n    \\\"ta\",\\\"t\"},\": \",\",\n    \"aa:'\\\": null,\n    \"x\": 1\n  }\n]";
    let (mut source, mut rounds) = (source.to_owned(), 0);
    loop {
        let (_, found) = documents(&source);
        let (next, applied) = fix::apply(&source, &found);
        if applied == 0 {
            break;
        }
        (source, rounds) = (next, rounds + 1);
        assert!(rounds < 4, "{source}");
    }
}

proptest! {
    #[test]
    fn json_is_read_as_serde_reads_it(value in json_value(), pretty: bool) {
        let source = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let (values, found) = documents(&source.unwrap());
        prop_assert_eq!(found, []);
        prop_assert_eq!(values, [value]);
    }

    #[test]
    fn what_is_valid_is_what_serde_finds_valid(source in r#"[\[\]{},:"\\a/u0-9.eE+\- \n\t'tfn]{0,12}|\PC{0,8}"#) {
        reads_as_serde(&source);
    }

    #[test]
    fn a_changed_byte_is_told_or_read_as_serde_does(
        value in json_value(),
        at in any::<prop::sample::Index>(),
        with in r#"[\[\]{},:"\\ a1.\n'\-]|"#,
        cut: bool,
    ) {
        let mut source = serde_json::to_string(&value).unwrap();
        let at = (0..=at.index(source.len() + 1)).rev().find(|&at| source.is_char_boundary(at)).unwrap();
        if cut {
            source.truncate(at);
            source.push_str(&with);
        } else {
            let end = source[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            source.replace_range(at..end, &with);
        }
        reads_as_serde(&source);
    }

    /// Fixes applied until none is left neither go in circles nor panic, and touch no more than what is
    /// wrong.
    #[test]
    fn mends_come_to_an_end(value in json_value(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let mut source = serde_json::to_string_pretty(&value).unwrap();
        for cut in cuts {
            let at = cut.index(source.len().max(1));
            if source.is_char_boundary(at) && source.is_char_boundary(at + 1) && at < source.len() {
                source.remove(at);
            }
        }
        fixes_end(source, documents);
    }
}
