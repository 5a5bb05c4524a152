//! YAML is read as YAML 1.2 says; an error is reported at its byte, with its fix.

mod library;

use super::*;
use crate::diagnostic::fix;
use crate::document::NESTING;
use crate::document::tests::{deep, fixes_end, in_small_thread, json_value, read_with, shown, value};
use proptest::prelude::*;
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

/// The one error of a source and what its fix makes of it, which must read as `value` without errors.
#[track_caller]
fn fixes(source: &str, code: &str, fixed: &str, value: Value) {
    let (read, found) = documents(source);
    assert_eq!(found.len(), 1, "{source}: {found:?}");
    assert_eq!(found[0].code.as_str(), code, "{source}");
    assert_eq!(fix::apply(source, &found), (fixed.to_owned(), 1), "{source}");
    is(fixed, value.clone());
    assert_eq!(read, [value], "{source}: read as if it were fixed");
}

#[test]
fn what_is_clear_is_read_as_if_it_were_quoted() {
    for (source, fixed, value) in [
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
        ("a: {name} is here", "a: \"{name} is here\"", json!({"a": "{name} is here"})),
        ("a: [draft] Hello: you", "a: \"[draft] Hello: you\"", json!({"a": "[draft] Hello: you"})),
    ] {
        is(source, value.clone());
        is(fixed, value);
    }
}

#[test]
fn what_is_not_clear_is_quoted_by_a_fix() {
    for (source, fixed, value) in [
        ("a: ,b", "a: \",b\"", json!({"a": ",b"})),
        ("a: \"b\" c", "a: '\"b\" c'", json!({"a": "\"b\" c"})),
        ("a: 'it's ok'\nb: c", "a: 'it''s ok'\nb: c", json!({"a": "it's ok", "b": "c"})),
        ("a: \"say \"hi\" now\"", "a: \"say \\\"hi\\\" now\"", json!({"a": "say \"hi\" now"})),
        ("a: \"b\nc: d\n", "a: \"b\"\nc: d\n", json!({"a": "b", "c": "d"})),
        ("é: ü\na: 'b", "é: ü\na: 'b'", json!({"é": "ü", "a": "b"})),
        ("a: \"x\": y", "a: '\"x\": y'", json!({"a": "\"x\": y"})),
        ("a: Order #5 of $.b", "a: \"Order #5 of $.b\"", json!({"a": "Order #5 of $.b"})),
    ] {
        fixes(source, "quote-it", fixed, value);
    }
}

/// A key with a `${` that is not closed is the beginning of one text.
#[test]
fn an_unclosed_reference_joins_a_key_to_its_value() {
    is("- ${a ? b: c}", json!(["${a ? b: c}"]));
    is("- a: ${b}", json!([{"a": "${b}"}]));
}

/// What is reported, as `code at byte`.
#[track_caller]
fn says(source: &str, expected: &[&str]) {
    let mut found = documents(source).1;
    found.sort_by_key(|found| found.span);
    assert_eq!(shown(&found), expected, "{source}");
}

#[test]
fn errors_have_their_place() {
    for (source, expected) in [
        (
            "a: .inf\nb: -.Inf\nc: .nan",
            &["number-range at 3", "number-range at 11", "number-range at 20"][..],
        ),
        ("a: 1e999", &["number-range at 3"]),
        ("a: 9223372036854775808", &["number-range at 3"]),
        ("a: 0xFFFFFFFFFFFFFFFFF", &["number-range at 3"]),
        ("a: &x b\nc: *x", &["yaml-feature at 3", "yaml-feature at 11"]),
        ("a: &x # a\n  b: c", &["yaml-feature at 3"]),
        ("a: !!str 5", &["yaml-feature at 3"]),
        ("é: !local\n  b: c", &["yaml-feature at 4"]),
        ("<<: {a: b}", &["yaml-feature at 0"]),
        ("a: 1\nb: 2\na: 3", &["duplicate-key at 10"]),
        ("a: {b: 1, 'b': 2}", &["duplicate-key at 10"]),
        ("1: a\n1.0: b\n'1': c", &["duplicate-key at 5"]),
        ("no: 1\nfalse: 2\nFalse: 3", &["duplicate-key at 15"]),
        ("? [a]\n: b", &["bad-yaml at 0"]),
        ("a: {[b]: c}", &["bad-yaml at 4"]),
        ("a:\n  b: 1\n c: 2", &["bad-yaml at 11"]),
        ("a: - 1", &["bad-yaml at 3"]),
        ("a: [1, 2", &["bad-yaml at 8"]),
        ("a: \"\\q\"", &["bad-yaml at 3"]),
        ("a: \"\\ud800\"", &["bad-yaml at 3"]),
        ("a: b\0c", &["bad-character at 4"]),
        ("a: \u{1}\nb: \u{7f}", &["bad-character at 3", "bad-character at 8"]),
        ("```yaml\na: b\n```\n", &[]),
        ("a: ,b\nc: {d: ${e}}\nf: g: h", &["quote-it at 3"]),
        ("a: [\n---\nb: - c\n---\nd: @e", &["bad-yaml at 5", "bad-yaml at 12"]),
        ("a: 1\nb: 2\na: @3", &["duplicate-key at 10"]),
    ] {
        says(source, expected);
    }
}

#[test]
fn how_far_a_tab_goes_is_not_guessed() {
    for (source, place) in
        [("a:\n\tb: 1\n\tc:\n\t\td: '\t'\ne: f", "bad-yaml at 3"), ("a:\n  b:\n\tc: 1\n", "bad-yaml at 8")]
    {
        let (_, found) = documents(source);
        assert_eq!(shown(&found), [place]);
        assert_eq!(found[0].fix, None);
    }
}

#[test]
fn documents_are_divided_by_dashes() {
    for (source, expected) in [
        ("", vec![]),
        ("# nothing\n", vec![]),
        ("\u{feff}a: 1", vec![json!({"a": 1})]),
        ("a: 1\n---\nb: 2\n", vec![json!({"a": 1}), json!({"b": 2})]),
        ("---\na: 1\n...\n---\nb: 2\n...\n", vec![json!({"a": 1}), json!({"b": 2})]),
        ("%YAML 1.2\n---\na: 1", vec![json!({"a": 1})]),
    ] {
        assert_eq!(documents(source), (expected, vec![]), "{source}");
    }
    let (read, found) = documents("a: 1\n---\nb: @2\n---\nc: [3\n---\nd: 4\n");
    assert_eq!(shown(&found), ["bad-yaml at 25"]);
    assert_eq!(read, [json!({"a": 1}), json!({"b": "@2"}), json!({"c": [3]}), json!({"d": 4})]);
}

#[test]
fn blocks_and_folds_read_as_yaml_says() {
    is("a: |\n  x: y\n   @z\n\nb: >-\n  c\n  d\n", json!({"a": "x: y\n @z\n", "b": "c d"}));
    is("a: x\n  y\nb: \"x\n  y\"", json!({"a": "x y", "b": "x y"}));
    is("steps:\n- a\n-   b: c\n    d: e\n", json!({"steps": ["a", {"b": "c", "d": "e"}]}));
    is("{\"a\": [1, \"b\"], 'c': ~}", json!({"a": [1, "b"], "c": null}));
}

#[test]
fn depth_is_limited_and_costs_no_stack() {
    in_small_thread(|| {
        let nested = |levels: usize| {
            let lines: Vec<_> = (0..levels).map(|level| " ".repeat(level) + "a:\n").collect();
            lines.concat()
        };
        assert_eq!(documents(&nested(NESTING)).1, []);
        assert_eq!(
            shown(&documents(&nested(NESTING + 1)).1),
            [format!("too-deep at {}", nested(NESTING).len() + NESTING)]
        );
        assert_eq!(documents(&"- ".repeat(NESTING)).1, []);
        assert_eq!(shown(&documents(&"- ".repeat(100_000)).1), [format!("too-deep at {}", 2 * NESTING)]);
        for (open, close) in
            [("[", "]"), ("{a: ", "}"), ("[", ""), ("[{a: ", ""), ("", "]"), ("? ", ""), ("- ? ", "")]
        {
            let (_, found) = documents(&deep(open, close, 100_000));
            assert_eq!(found.len(), 1, "{open}{close}: {found:?}");
        }
    });
}

/// No stage of reading does work for each byte more than once.
#[test]
fn hostile_sources_are_read_in_linear_time() {
    let many = |text: &str| text.repeat(10_000);
    let keys: Vec<_> = (0..20_000).map(|n| format!("k{n}: 0\n")).collect();
    let keys = keys.concat();
    for source in [
        many("a: @b\n"),
        many("- {a: ${b}}\n"),
        many("- a: b: c\n"),
        many("---\na: [\n"),
        many("\ta: b\n"),
        many("'"),
        many("\""),
        many("- 'a\n"),
        many("{a: "),
        format!("- [{}a]", many("a, 'b', ")),
        format!("- [{}a]", many("{b: f(x, y)}, ")),
        format!("- {{k: {}", many("${c, ")),
        many("&a "),
        many("*a "),
        many("!a "),
        many("- &a [*a, *a]\n"),
        many("\0"),
        many("a: #1\n"),
        many("a\n"),
        many("# a\n"),
        many(" "),
        many("\n"),
        many("é: {"),
        many("? "),
        many("a: |\n"),
        many("- >\n  a\n"),
        many("%A\n"),
        many(","),
        many("x") + ": 1",
        format!("a: {}", many("b ")),
        format!("[{}]", many("a, ")),
        format!("{{{}}}", many("${a}, ")),
        format!("a: \"{}\"", many("\\u00e9\n")),
        format!("{keys}k0: 1"),
    ] {
        let (_, found) = documents(&source);
        assert!(found.len() <= ilo_spec::limits::DIAGNOSTICS);
    }
}

proptest! {
    #[test]
    fn json_is_yaml(value in json_value(), pretty: bool) {
        let source = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        // DEL is allowed in JSON, not in YAML.
        prop_assume!(!source.contains('\u{7f}'));
        let (values, found) = documents(&source);
        prop_assert_eq!(found, []);
        prop_assert_eq!(values, [value]);
    }

    #[test]
    fn every_text_can_be_quoted(text in r#"[a-z"'\\ {}$:#@`%*&!|>,?\-\[\]]{1,10}"#) {
        is(&format!("a: {}\nb: 1", recovery::quoted(&text)), json!({"a": text, "b": 1}));
    }

    /// Whatever follows a key: it is read, or reported, and fixes come to an end.
    #[test]
    fn mends_come_to_an_end(lines in prop::collection::vec(r#" {0,4}(- )?([a-c]: )?[a-c"'{}$:#@|>,\[\] -]{0,8}"#, 1..6)) {
        fixes_end(lines.join("\n"), documents);
    }
}

#[test]
fn files_of_other_programs_may_repeat_values() {
    let read = |source: &str| {
        let arena = Arena::new();
        let documents = crate::document::read_values(source, true, &arena).map_err(|wrong| wrong.message)?;
        Ok::<_, String>(Value::Array(documents.iter().map(value).collect()))
    };
    for (source, expected) in [
        ("a: &x 1\nb: *x", json!([{"a":1,"b":1}])),
        ("a: &x\n  k: 1\nb: {c: *x, d: [*x]}", json!([{"a":{"k":1},"b":{"c":{"k":1},"d":[{"k":1}]}}])),
        ("- &x [a, &y {b: c}]\n- *x\n- *y", json!([[["a", {"b": "c"}], ["a", {"b": "c"}], {"b": "c"}]])),
        ("a: &x\nb: *x", json!([{"a":null,"b":null}])),
        ("&k a: &x 1\nb: *x", json!([{"a":1,"b":1}])),
        ("a: *.json", json!([{"a":"*.json"}])),
    ] {
        assert_eq!(read(source), Ok(expected), "{source}");
    }
    for source in ["a: &x [*x]", "a: &x 1\nb: *y", "a: !!str 1", "a: 1\na: 2"] {
        assert!(read(source).is_err(), "{source}");
    }
}
