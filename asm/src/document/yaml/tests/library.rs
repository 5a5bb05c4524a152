//! Random documents, whole and damaged, are read as a library for YAML 1.2 reads them. The reader accepts
//! more than the library, so only what the library accepts is compared.

use super::super::scalar::plain;
use super::documents;
use crate::document::NodeKind;
use ilo_spec::program::Number;
use proptest::prelude::*;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value, json};

/// What the library reads; `None` if it refuses the source, or there is an anchor, a tag, a key that is no
/// text or a second key of one name.
fn by_library(source: &str) -> Option<Vec<Value>> {
    enum Open {
        List(Vec<Value>),
        Record(Map<String, Value>, Option<String>),
    }
    let (mut documents, mut open) = (Vec::new(), Vec::<Open>::new());
    for event in Parser::new_from_str(source) {
        let mut done = match event.ok()?.0 {
            Event::Alias(_) => return None,
            Event::Scalar(_, _, anchor, tag) if anchor > 0 || tag.is_some() => return None,
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                return None;
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Record(Map::new(), None));
                continue;
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) => match plain(&text) {
                Ok(None) => json!(text),
                Ok(Some(NodeKind::Bool(bool))) => json!(bool),
                Ok(Some(NodeKind::Number(Number::Int(int)))) => json!(int),
                Ok(Some(NodeKind::Number(Number::Double(double)))) => json!(double),
                Ok(Some(_)) => Value::Null,
                Err(_) => return None,
            },
            Event::Scalar(text, ..) => json!(text),
            Event::SequenceEnd | Event::MappingEnd => match open.pop()? {
                Open::List(list) => Value::Array(list),
                Open::Record(record, _) => Value::Object(record),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(done),
            Some(Open::List(list)) => list.push(done),
            Some(Open::Record(record, key @ None)) => {
                let name = done.take().as_str()?.to_owned();
                if name == "<<" || record.contains_key(&name) {
                    return None;
                }
                *key = Some(name);
            }
            Some(Open::Record(record, key)) => {
                record.insert(key.take()?, done);
            }
        }
    }
    Some(documents)
}

/// Lines of a document: what begins them, and what they have.
const KEYS: [&str; 8] = ["a:", "'b c':", "\"d\\te\":", "? f", ":", "-", "- -", "- k:"];
const VALUES: [&str; 26] = [
    "",
    "x",
    "two words",
    "12",
    "~",
    "'it''s'",
    "\"a\\x41\\n\"",
    "|",
    ">-",
    "|2+",
    "[]",
    "{}",
    "[x, 'y', [z]]",
    "{k: v, l: [1]}",
    "[a: b, c]",
    "{? q : r}",
    "[x,",
    "y]",
    "{m: n,",
    "o: p}",
    "\"open",
    "close\"",
    "# note",
    "x # note",
    "http://x:80/?a=b#c",
    "-1.5",
];

fn line() -> impl Strategy<Value = String> {
    let key = prop::option::weighted(0.8, prop::sample::select(&KEYS[..]));
    (0..5_usize, key, prop::sample::select(&VALUES[..]))
        .prop_map(|(indent, key, value)| format!("{}{} {value}\n", "  ".repeat(indent), key.unwrap_or("")))
}

/// A document that is probably right: blocks whose lines are indented as YAML wants.
fn whole() -> impl Strategy<Value = String> {
    let scalar =
        prop::sample::select(
            &[
                "x",
                "two\nlines",
                "'a\n\n b'",
                "\"c \\\n d\"",
                "|\ne\n  f\n\ng",
                ">\nh\ni\n\nj",
                "[k,\n l: m]",
            ][..],
        )
        .prop_map(str::to_owned);
    scalar.prop_recursive(4, 24, 4, |inner| {
        let indented = |text: &str| text.replace('\n', "\n  ");
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(move |items| {
                items.iter().map(|item| format!("- {}", indented(item))).collect::<Vec<_>>().join("\n")
            }),
            prop::collection::vec(inner, 1..4).prop_map(move |values| {
                let entry = |(at, value): (usize, &String)| {
                    let is_block = value.starts_with("- ") || value.starts_with("k0");
                    format!("k{at}:{}{}", if is_block { "\n  " } else { " " }, indented(value))
                };
                values.iter().enumerate().map(entry).collect::<Vec<_>>().join("\n")
            }),
        ]
    })
}

proptest! {
    #[test]
    fn whole_documents_are_read_as_a_library_reads_them(source in whole()) {
        let expected = by_library(&source);
        prop_assert!(expected.is_some(), "{source}");
        let (values, found) = documents(&source);
        prop_assert_eq!(found, [], "{}", source);
        prop_assert_eq!(Some(values), expected, "{}", source);
    }

    #[test]
    fn what_a_library_reads_is_read_alike(lines in prop::collection::vec(line(), 1..7)) {
        let source = lines.concat();
        let (values, found) = documents(&source);
        if let Some(expected) = by_library(&source) && found.is_empty() {
            prop_assert_eq!(values, expected, "{}", source);
        }
    }
}
