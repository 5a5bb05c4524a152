//! Compares expected and found values as JSON: 1 and 1.0 are equal, and the order of fields does not matter.

use super::shortened;
use ilo_host::data::Data;
use std::collections::BTreeMap;

/// The most differences that are listed.
const MOST: usize = 10;
/// The most characters of a value that a difference shows.
const SHOWN: usize = 120;
/// Members of a fault that are compared only if the case has them.
const OPTIONAL: [&str; 2] = ["message", "at"];
/// Members of a call that differ from run to run, or that only a file of a trace has.
const UNCOMPARED: [&str; 3] = ["start_ms", "duration_ms", "number"];

/// The differences of two values, each with the path to it.
pub(super) fn differences(expected: &Data, found: &Data) -> Vec<String> {
    let mut differences = Vec::new();
    let mut pairs = vec![(String::new(), Some(expected), Some(found))];
    while let Some((path, expected, found)) = pairs.pop() {
        if differences.len() == MOST {
            differences.push("and more".to_owned());
            break;
        }
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match (expected, found) {
            (Some(Data::Record(fields)), Some(Data::Record(others))) => {
                let mut left: BTreeMap<&str, &Data> =
                    others.iter().map(|(name, value)| (name.as_str(), value)).collect();
                let both: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| (name, Some(value), left.remove(name.as_str())))
                    .collect();
                let more = others.iter().filter(|(name, _)| left.contains_key(name.as_str())).rev();
                pairs.extend(more.map(|(name, value)| (below(name), None, Some(value))));
                pairs.extend(both.into_iter().rev().map(|(name, value, found)| (below(name), value, found)));
            }
            (Some(Data::List(items)), Some(Data::List(others))) if items.len() == others.len() => {
                let both = items.iter().zip(others).enumerate().rev();
                pairs.extend(
                    both.map(|(at, (item, other))| (below(&at.to_string()), Some(item), Some(other))),
                );
            }
            (Some(Data::List(items)), Some(Data::List(others))) => {
                let (expected, found) = (items.len(), others.len());
                let same = items.iter().zip(others).take_while(|(a, b)| a.same(b)).count();
                let place = if path.is_empty() { "the list" } else { &path };
                differences.push(format!(
                    "{place}: expected {expected} items, found {found}; the first {same} are equal"
                ));
            }
            (Some(expected), Some(found)) if expected.same(found) => {}
            _ => {
                let colon = if path.is_empty() { "" } else { ": " };
                let show = |side: Option<&Data>| side.map_or_else(|| "no such field".to_owned(), show);
                differences.push(format!("{path}{colon}expected {}, found {}", show(expected), show(found)));
            }
        }
    }
    differences
}

fn show(value: &Data) -> String {
    shortened(&value.to_json(), SHOWN)
}

/// The differences of two outcomes: of a fault, message and place count only as far as the case gives them.
pub(super) fn outcomes(expected: &Data, found: &Data) -> Vec<String> {
    let mut left = found.clone();
    if let Data::Record(fields) = &mut left {
        for name in OPTIONAL {
            match (expected.get(name), fields.iter().position(|(field, _)| field == name)) {
                (None, Some(at)) => drop(fields.remove(at)),
                (Some(Data::Record(given)), Some(at)) => {
                    if let Some((_, Data::Record(members))) = fields.get_mut(at) {
                        members.retain(|(member, _)| given.iter().any(|(name, _)| name == member));
                    }
                }
                _ => {}
            }
        }
    }
    differences(expected, &left)
}

/// A call in the form for comparison: without its times, and without its number if the case has none.
pub(super) fn call(mut call: Data, without_number: bool) -> Data {
    if let Data::Record(fields) = &mut call {
        let left_out = |name: &str| UNCOMPARED.contains(&name) || without_number && name == "seq";
        fields.retain(|(name, _)| !left_out(name));
    }
    call
}

/// The differences of two lists of calls, by the first call that differs.
pub(super) fn calls(expected: &[Data], found: &[Data]) -> Vec<String> {
    let mut differing = Vec::new();
    for (at, expected) in expected.iter().enumerate() {
        let number = at + 1;
        match found.get(at) {
            None => {
                differing.push(format!("call {number}: expected {}, found no more calls", brief(expected)));
                break;
            }
            Some(found) => {
                let found = call(found.clone(), expected.get("seq").is_none());
                let lines = differences(expected, &found);
                differing.extend(lines.into_iter().map(|line| format!("call {number}: {line}")));
            }
        }
        if !differing.is_empty() {
            return differing;
        }
    }
    if let Some(more) = found.get(expected.len()).filter(|_| differing.is_empty()) {
        let number = expected.len() + 1;
        differing.push(format!("call {number}: expected no more calls, found {}", brief(more)));
    }
    differing
}

/// The expected calls as lines. A call that equals a found one is written like that one, so that only
/// differing calls are shown as different, even after a missing or an extra call.
pub(super) fn in_layout_of(expected: &[Data], found: &[Data], lines: &str) -> String {
    let without_number: Vec<Data> = found.iter().map(|found| call(found.clone(), true)).collect();
    let lines: Vec<&str> = lines.lines().collect();
    let mut next = 0;
    let mut text = String::new();
    for expected in expected {
        let found = if expected.get("seq").is_none() { &without_number } else { found };
        let at = (next..found.len()).find(|&at| expected.same(&found[at]));
        match at.and_then(|at| Some((at, lines.get(at)?))) {
            Some((at, line)) => {
                next = at + 1;
                text.push_str(line);
            }
            None => text.push_str(&expected.to_json()),
        }
        text.push('\n');
    }
    text
}

/// A short form of a call.
fn brief(call: &Data) -> String {
    let tool = match call.get("tool") {
        Some(Data::Text(tool)) => shortened(tool, SHOWN),
        _ => String::new(),
    };
    format!("`{tool}` with {}", call.get("args").map_or_else(|| "{}".to_owned(), show))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ilo_host::data::read::{Bounds, read};

    fn data(text: &str) -> Data {
        read(text.as_bytes(), &Bounds::default()).unwrap()
    }

    #[test]
    fn a_difference_has_its_path() {
        for (expected, found, lines) in [
            ("1", "1.0", &[][..]),
            (r#"{"a":1,"b":[]}"#, r#"{"b":[],"a":1}"#, &[]),
            ("1", "\"1\"", &["expected 1, found \"1\""]),
            (
                r#"{"a":{"b":[1,{"c":2}]},"d":0}"#,
                r#"{"a":{"b":[1,{"c":3}]},"e":0}"#,
                &[
                    "a.b.1.c: expected 2, found 3",
                    "d: expected 0, found no such field",
                    "e: expected no such field, found 0",
                ],
            ),
            ("[1,2,3]", "[1,2]", &["the list: expected 3 items, found 2; the first 2 are equal"]),
        ] {
            assert_eq!(differences(&data(expected), &data(found)), lines, "{expected} {found}");
        }
        let many = format!("[{}1]", "1,".repeat(100));
        assert_eq!(differences(&data(&many), &data(&many.replace('1', "2"))).len(), MOST + 1);
    }

    #[test]
    fn the_message_and_the_place_of_a_fault_count_where_they_are_given() {
        let found = data(r#"{"status":"fault","code":"fuel","message":"m","at":{"line":3,"column":1}}"#);
        for (expected, count) in [
            (r#"{"status":"fault","code":"fuel"}"#, 0),
            (r#"{"status":"fault","code":"fuel","at":{"line":3}}"#, 0),
            (r#"{"status":"fault","code":"fuel","at":{"line":4}}"#, 1),
            (r#"{"status":"fault","code":"fuel","message":"n"}"#, 1),
            (r#"{"status":"fault","code":"memory"}"#, 1),
            (r#"{"status":"fault","code":"fuel","compensation_failures":[]}"#, 1),
        ] {
            assert_eq!(outcomes(&data(expected), &found).len(), count, "{expected}");
        }
    }

    #[test]
    fn the_first_call_that_differs_is_named() {
        let a = data(r#"{"seq":0,"tool":"a","args":{"x":1},"ok":1}"#);
        let b = data(r#"{"tool":"a","args":{"x":1},"ok":1}"#);
        let c = data(r#"{"seq":0,"tool":"c","args":{"x":1},"ok":1}"#);
        assert_eq!(calls(std::slice::from_ref(&b), std::slice::from_ref(&a)), [""; 0]);
        assert_eq!(
            calls(std::slice::from_ref(&c), std::slice::from_ref(&a)),
            [r#"call 1: tool: expected "c", found "a""#]
        );
        assert_eq!(
            calls(&[a.clone(), c], std::slice::from_ref(&a)),
            [r#"call 2: expected `c` with {"x":1}, found no more calls"#]
        );
        assert_eq!(calls(&[], &[a]), [r#"call 1: expected no more calls, found `a` with {"x":1}"#]);
    }

    #[test]
    fn calls_that_differ_in_layout_alone_are_shown_as_equal() {
        let a = r#"{"seq":0,"tool":"a","args":{"x":1,"y":2},"ok":1}"#;
        let b = r#"{"seq":1,"tool":"b","args":{},"ok":1}"#;
        let expected = [
            data(r#"{"tool": "a", "ok": 1.0, "args": {"y": 2, "x": 1}}"#),
            data(r#"{"tool": "c", "args": {}}"#),
            data(r#"{"tool": "d"}"#),
        ];
        let shown = in_layout_of(&expected, &[data(a), data(b)], &format!("{a}\n{b}\n"));
        let c = r#"{"tool":"c","args":{}}"#;
        assert_eq!(shown, format!("{a}\n{c}\n{{\"tool\":\"d\"}}\n"));
    }

    #[test]
    fn calls_behind_a_missing_one_are_shown_as_equal() {
        let found = [r#"{"seq":0,"tool":"a","ok":1}"#, r#"{"seq":1,"tool":"b","ok":1}"#];
        let expected = [r#"{"tool":"n"}"#, r#"{"ok":1.0,"tool":"a"}"#, r#"{"ok":1.0,"tool":"b"}"#].map(data);
        let shown = in_layout_of(&expected, &found.map(data), &found.join("\n"));
        assert_eq!(shown, format!("{{\"tool\":\"n\"}}\n{}\n{}\n", found[0], found[1]));
        let shown = in_layout_of(&expected[2..], &found.map(data), &found.join("\n"));
        assert_eq!(shown, format!("{}\n", found[1]));
    }
}
