//! Parses a tools file into values, and finds positions in it: TOML, and, both as programs are read, YAML, as
//! the files of Goose and Continue are, and JSON with comments and final commas, as those of others are.
//!
//! Anchors, aliases and merge keys are read: what they repeat counts towards the limits of the file, so that
//! a short text cannot become a large one. Tags are refused.

use super::{DEPTH, FILE, Form, Parsed, Step, UnreadSchemas, VALUES, Wrong};
use ilo_asm::arena::Arena;
use ilo_asm::document::{Entry, Node, NodeKind, Style, Text, read_values};
use ilo_asm::span::Span;
use ilo_drive::data::Data;
use ilo_drive::data::read::{ReadErrorKind, repeated};
use ilo_spec::number;
use ilo_spec::program::Number;
use std::collections::HashSet;
use toml::de::{DeTable, DeValue};

/// Reads a text.
pub(super) fn parse(text: &str, form: Form) -> Result<Parsed, Wrong> {
    if text.len() > FILE {
        return Err((Some(FILE), ReadErrorKind::Bytes(FILE).to_string()));
    }
    let arena = Arena::new();
    let mut reader = ValueReader { text, form, values: 0, bytes: 0 };
    let data = match documents(text, form, &arena)? {
        [] => Data::Nil,
        [document] => reader.data(document, DEPTH)?,
        [_, second, ..] => return Err(wrong(second, "a second document; a tools file is one")),
    };
    Ok(Parsed { data, unread: UnreadSchemas::new() })
}

/// The offset of the value at a path, or of its nearest enclosing value in the text.
pub(super) fn locate(text: &str, form: Form, path: &[Step]) -> usize {
    let arena = Arena::new();
    // The text was read before, so there is no error.
    let Ok([document, ..]) = documents(text, form, &arena) else { return 0 };
    let (mut inside, mut found) = (document, 0);
    for step in path {
        let next = match (step, inside.kind) {
            (Step::Key(key), NodeKind::Record(entries)) => {
                let entry = entries.iter().find(|entry| name(text, entry) == Some(key));
                entry.map(|entry| (&entry.value, entry.key.span))
            }
            (Step::Index(index), NodeKind::List(items)) => items.get(*index).map(|item| (item, item.span)),
            _ => None,
        };
        let Some((value, span)) = next else { break };
        (inside, found) = (value, span.start as usize);
    }
    found
}

/// The documents of a text with their positions.
fn documents<'a>(text: &'a str, form: Form, arena: &'a Arena) -> Result<&'a [Node<'a>], Wrong> {
    if form == Form::Toml {
        let table = DeTable::parse(text)
            .map_err(|error| (error.span().map(|span| span.start), error.message().to_owned()))?;
        return Ok(arena.alloc_slice_copy(&[of_table(table.get_ref(), 0, arena)?]));
    }
    read_values(text, form == Form::Yaml, arena)
        .map_err(|wrong| (Some(wrong.span.start as usize), wrong.message))
}

/// A node of TOML at an offset.
fn node(kind: NodeKind<'_>, start: usize) -> Node<'_> {
    Node { kind, span: Span::at(u32::try_from(start).unwrap_or(u32::MAX)) }
}

fn of_text<'a>(text: &str, arena: &'a Arena) -> NodeKind<'a> {
    NodeKind::Text(Text { text: arena.alloc_str(text), style: Style::Double, start: None })
}

/// The node of a table. The TOML parser limits the nesting and thereby this recursion.
fn of_table<'a>(table: &DeTable<'_>, start: usize, arena: &'a Arena) -> Result<Node<'a>, Wrong> {
    let entries = table.iter().map(|(key, value)| {
        let key = node(of_text(key.get_ref(), arena), key.span().start);
        Ok(Entry { key, value: of_value(value.get_ref(), value.span().start, arena)? })
    });
    let entries = entries.collect::<Result<Vec<_>, Wrong>>()?;
    Ok(node(NodeKind::Record(arena.alloc_slice_copy(&entries)), start))
}

fn of_value<'a>(value: &DeValue<'_>, start: usize, arena: &'a Arena) -> Result<Node<'a>, Wrong> {
    let wrong = |why: &str| (Some(start), why.to_owned());
    let kind = match value {
        DeValue::String(text) => of_text(text, arena),
        DeValue::Boolean(value) => NodeKind::Bool(*value),
        DeValue::Integer(int) => i64::from_str_radix(int.as_str(), int.radix())
            .map(|int| NodeKind::Number(Number::Int(int)))
            .map_err(|_| wrong("an integer beyond 64 bits"))?,
        DeValue::Float(float) => {
            let text = float.as_str().replace('_', "");
            let number = number::parse(text.strip_prefix('+').unwrap_or(&text));
            NodeKind::Number(number.map_err(|_| wrong("a number that is not finite"))?)
        }
        DeValue::Datetime(date) => of_text(&date.to_string(), arena),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| of_value(item.get_ref(), item.span().start, arena));
            NodeKind::List(arena.alloc_slice_copy(&items.collect::<Result<Vec<_>, Wrong>>()?))
        }
        DeValue::Table(table) => return of_table(table, start, arena),
    };
    Ok(node(kind, start))
}

fn wrong(node: &Node<'_>, why: impl Into<String>) -> Wrong {
    (Some(node.span.start as usize), why.into())
}

/// The name of an entry, as it is written; `None` if it is a list or record.
fn name<'t>(text: &'t str, entry: &Entry<'t>) -> Option<&'t str> {
    match entry.key.kind {
        NodeKind::Text(key) => Some(key.text),
        NodeKind::List(_) | NodeKind::Record(_) => None,
        _ => text.get(entry.key.span.range()),
    }
}

/// Makes values of nodes. An alias is read again, so that it counts.
struct ValueReader<'t> {
    text: &'t str,
    form: Form,
    values: usize,
    bytes: usize,
}

impl ValueReader<'_> {
    fn count(&mut self, at: u32, bytes: usize) -> Result<(), Wrong> {
        (self.values, self.bytes) = (self.values + 1, self.bytes + bytes);
        let beyond = match () {
            () if self.values > VALUES => ReadErrorKind::Values(VALUES),
            () if self.bytes > FILE => ReadErrorKind::Bytes(FILE),
            () => return Ok(()),
        };
        Err((Some(at as usize), beyond.to_string()))
    }

    /// The value of a node that may nest `depth` levels.
    fn data(&mut self, node: &Node<'_>, depth: usize) -> Result<Data, Wrong> {
        let inside =
            || depth.checked_sub(1).ok_or_else(|| wrong(node, ReadErrorKind::Depth(DEPTH).to_string()));
        let at = node.span.start;
        self.count(at, node.text().map_or(0, str::len))?;
        Ok(match node.kind {
            NodeKind::Null => Data::Nil,
            NodeKind::Bool(value) => Data::Bool(value),
            // Numbers in YAML are those of JSON; other ones are texts.
            NodeKind::Number(number) => match self.text.get(node.span.range()).unwrap_or_default() {
                written if self.form == Form::Yaml && number::parse(written).is_err() => Data::from(written),
                _ => Data::Number(number),
            },
            NodeKind::Text(text) => Data::from(text.text),
            NodeKind::List(items) => {
                let depth = inside()?;
                let items = items.iter().map(|item| self.data(item, depth));
                Data::List(items.collect::<Result<_, _>>()?)
            }
            NodeKind::Record(entries) => {
                let depth = inside()?;
                let (mut fields, mut merged) = (Vec::new(), Vec::new());
                for entry in entries {
                    let Some(key) = name(self.text, entry) else {
                        return Err(wrong(&entry.key, "a key is a text"));
                    };
                    self.bytes += key.len();
                    match self.data(&entry.value, depth)? {
                        data if key != "<<" => fields.push((key.to_owned(), data)),
                        Data::Record(more) => merged.extend(Vec::from(more)),
                        Data::List(items) if items.iter().all(|item| matches!(item, Data::Record(_))) => {
                            let records = Vec::from(items).into_iter();
                            merged.extend(records.flat_map(|item| match item {
                                Data::Record(more) => Vec::from(more),
                                _ => Vec::new(),
                            }));
                        }
                        _ => return Err(wrong(&entry.value, "`<<` merges records, and this is none")),
                    }
                }
                if let Some(key) = repeated(&fields) {
                    return Err(wrong(node, ReadErrorKind::DuplicateKey(key.to_owned()).to_string()));
                }
                if !merged.is_empty() {
                    let mut known: HashSet<String> = fields.iter().map(|(key, _)| key.clone()).collect();
                    fields.extend(merged.into_iter().filter(|(key, _)| known.insert(key.clone())));
                }
                Data::Record(fields.into())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Form;
    use super::{Step, locate, parse};

    #[track_caller]
    fn reads(text: &str, expected: &str) {
        let parsed = parse(text, Form::Yaml).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        assert_eq!(parsed.data.to_json(), expected, "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, why: &str) {
        let (_, message) = parse(text, Form::Yaml).err().unwrap_or_else(|| panic!("{text} is read"));
        assert!(message.contains(why), "{text}: {message}");
    }

    #[test]
    fn values() {
        reads(
            "a: 1\nb: 0.5\nc: true\nd: ~\ne:\nf: yes\n",
            r#"{"a":1,"b":0.5,"c":true,"d":null,"e":null,"f":"yes"}"#,
        );
        reads("- '1'\n- \"a\\tb\"\n- >\n  x\n  y\n- |\n  z\n", r#"["1","a\tb","x y\n","z\n"]"#);
        reads("# c\n{a: [1, {b: c}], 'd': {}} # e\n", r#"{"a":[1,{"b":"c"}],"d":{}}"#);
        reads("1: x\ntrue: y\n", r#"{"1":"x","true":"y"}"#);
        reads("", "null");
        reads("---\na: 1\n...\n", r#"{"a":1}"#);
    }

    #[test]
    fn anchors_aliases_and_merge_keys() {
        reads("a: &x [1]\nb: *x\n", r#"{"a":[1],"b":[1]}"#);
        reads("d: &d {k: 1, m: 2}\ne:\n  <<: *d\n  k: 3\n", r#"{"d":{"k":1,"m":2},"e":{"k":3,"m":2}}"#);
        reads("e:\n  <<: [{k: 1}, {k: 2, m: 3}]\n", r#"{"e":{"k":1,"m":3}}"#);
        refuses("a: {<<: 1}\n", "`<<` merges records");
        refuses("a: &x [*x]\n", "an alias of what is not complete");
    }

    #[test]
    fn json_with_comments_and_final_commas() {
        for (text, expected) in [
            ("// é\n{\"a\": 1, /* b\n */}", r#"{"a":1}"#),
            ("[1, // x\n 2,\t]", "[1,2]"),
            ("{\"//\": \"/* \\\" // */,]\"}", r#"{"//":"/* \" // */,]"}"#),
            ("[[1,],]//", "[[1]]"),
            ("[1] /* a **/", "[1]"),
        ] {
            let parsed = parse(text, Form::Json).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
            assert_eq!(parsed.data.to_json(), expected, "{text}");
        }
        for text in ["[1,,]", "[,]", "{\"a\":,}", "[1] /*", "/", "[1", "{\"a\": 1, \"a\": 2}", "[1] [2]"] {
            assert!(parse(text, Form::Json).is_err(), "{text}");
        }
        let text = "{ // a\n \"a\": [0, {\"b\": 1,}]}";
        let path = [Step::Key("a".to_owned()), Step::Index(1), Step::Key("b".to_owned())];
        assert_eq!(locate(text, Form::Json, &path), text.find("\"b\"").unwrap());
        assert!(parse(&"[1,/**/]".repeat(100_000), Form::Json).is_err());
    }

    #[test]
    fn what_is_no_tools_file() {
        refuses("a: 1\na: 2\n", "`a`");
        refuses("a: !!str 1\n", "a tag");
        refuses("[a]: 1\n", "something follows");
        refuses("a: 1\n---\nb: 2\n", "a second document");
        refuses("a: 99999999999999999999\n", "does not fit into 64 bits");
        refuses("a: 1e999\n", "beyond what a double holds");
        refuses("a: [1\n", "not complete");
        refuses("a: \"\n", "not closed");
        refuses(&"[".repeat(5_000), "");
    }

    #[test]
    fn a_short_text_does_not_become_a_large_one() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let item = format!("*a{}", level - 1);
            let items = [item.as_str(); 10].join(", ");
            text.extend(["a", &level.to_string(), ": &a", &level.to_string(), " [", &items, "]\n"]);
        }
        refuses(&text, "values");
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 20].join(", "));
        refuses(&long, "bytes");
    }

    #[test]
    fn the_place_of_a_value_is_found() {
        let text = "é: 0\na:\n  b: 1\nc:\n  - b: 2\n  - d:\n      b: 3\n";
        let key = |name: &str| Step::Key(name.to_owned());
        let line = |path: &[Step]| text[..locate(text, Form::Yaml, path)].lines().count();
        let at = |path: &[Step]| text[locate(text, Form::Yaml, path)..].lines().next().unwrap().to_owned();
        assert_eq!(at(&[key("a"), key("b")]), "b: 1");
        assert_eq!(at(&[key("c"), Step::Index(1), key("d"), key("b")]), "b: 3");
        assert_eq!(at(&[key("c"), Step::Index(0), key("x")]), "b: 2");
        assert_eq!(at(&[key("a"), key("x")]), "a:");
        assert_eq!(line(&[]), 0);
    }
}
