//! Parses a tools file in YAML into values, as the files of Goose and Continue are, and finds positions in
//! it.
//!
//! Anchors, aliases and merge keys are read: what they repeat counts towards the limits of the file, so that
//! a short text cannot become a large one. Tags are refused.

use super::{DEPTH, FILE, Parsed, Step, UnreadSchemas, VALUES, Wrong};
use ilo_drive::data::Data;
use ilo_drive::data::read::{ReadErrorKind, repeated};
use ilo_spec::number::{self, NumberError};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::HashMap;

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Wrong> {
    let mut reader = YamlReader::new(text, &[]);
    reader.run()?;
    Ok(Parsed { data: reader.whole.unwrap_or(Data::Nil), unread: UnreadSchemas::new() })
}

/// The offset of the value at a path, or of its nearest enclosing value in the text.
pub(super) fn locate(text: &str, path: &[Step]) -> usize {
    let mut reader = YamlReader::new(text, path);
    // The text was read before, so an error only ends the search.
    drop(reader.run());
    byte(text, reader.found)
}

/// The byte of a character by its number, by which the scanner counts.
fn byte(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// A list or record that is not complete.
struct Open {
    /// The number of its first character.
    at: usize,
    anchor: usize,
    /// Its size in values and bytes, without itself.
    size: Size,
    parts: Parts,
}

enum Parts {
    List(Vec<Data>),
    /// The fields, the key whose value comes, and what merge keys give.
    Record(Vec<(String, Data)>, Option<String>, Vec<Data>),
}

#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    bytes: usize,
}

impl Size {
    fn with(self, other: Size) -> Size {
        Size { values: self.values + other.values, bytes: self.bytes + other.bytes }
    }
}

struct YamlReader<'t> {
    text: &'t str,
    open: Vec<Open>,
    anchors: HashMap<usize, (Data, Size)>,
    total: Size,
    whole: Option<Data>,
    /// The path that is sought, how many of its steps were found, and the character of the last one.
    path: &'t [Step],
    steps: usize,
    found: usize,
    /// Whether what was found has ended.
    left: bool,
}

impl<'t> YamlReader<'t> {
    fn new(text: &'t str, path: &'t [Step]) -> YamlReader<'t> {
        YamlReader {
            text,
            open: Vec::new(),
            anchors: HashMap::new(),
            total: Size::default(),
            whole: None,
            path,
            steps: 0,
            found: 0,
            left: false,
        }
    }

    fn run(&mut self) -> Result<(), Wrong> {
        if self.text.len() > FILE {
            return Err((Some(FILE), ReadErrorKind::Bytes(FILE).to_string()));
        }
        for event in Parser::new_from_str(self.text) {
            let (event, span) = event.map_err(|error| {
                (Some(byte(self.text, error.marker().index())), format!("not YAML: {}", error.info()))
            })?;
            self.event(event, span)?;
        }
        Ok(())
    }

    fn wrong(&self, at: usize, why: impl Into<String>) -> Wrong {
        (Some(byte(self.text, at)), why.into())
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Wrong> {
        let at = span.start.index();
        match event {
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return Err(
                    self.wrong(at, "a tag (`!…`) is not read; leave it out, or write a text in quotes")
                );
            }
            Event::Scalar(text, style, anchor, None) => {
                if let Some(key) = self.awaited_key() {
                    // What a merge key gives comes from the anchor behind it.
                    *key = Some(text.into_owned());
                    self.keyed(at);
                    return Ok(());
                }
                let size = Size { values: 1, bytes: text.len() };
                let data = match style {
                    ScalarStyle::Plain => scalar(&text).map_err(|why| self.wrong(at, why))?,
                    _ => Data::Text(text.into_owned()),
                };
                self.value(data, size, anchor, at)?;
            }
            Event::Alias(anchor) => {
                let Some((data, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.wrong(at, "an alias inside of its own anchor"));
                };
                self.value(data, size, 0, at)?;
            }
            Event::SequenceStart(anchor, None) => self.begin(at, anchor, Parts::List(Vec::new()))?,
            Event::MappingStart(anchor, None) => {
                self.begin(at, anchor, Parts::Record(Vec::new(), None, Vec::new()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            Event::DocumentStart(_) if self.whole.is_some() => {
                return Err(self.wrong(at, "a second document; a tools file is one"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The place of the next key, if one comes.
    fn awaited_key(&mut self) -> Option<&mut Option<String>> {
        match &mut self.open.last_mut()?.parts {
            Parts::Record(_, key @ None, _) => Some(key),
            _ => None,
        }
    }

    /// Follows the path that is sought by a key.
    fn keyed(&mut self, at: usize) {
        let Some(Parts::Record(_, Some(key), _)) = self.open.last().map(|open| &open.parts) else { return };
        let is_next = matches!(self.path.get(self.steps), Some(Step::Key(wanted)) if wanted == key);
        self.step(is_next, at);
    }

    fn step(&mut self, is_next: bool, at: usize) {
        if is_next && !self.left && self.open.len() == self.steps + 1 {
            self.steps += 1;
            self.found = at;
        }
    }

    fn begin(&mut self, at: usize, anchor: usize, parts: Parts) -> Result<(), Wrong> {
        if self.awaited_key().is_some() {
            return Err(self.wrong(at, "a key is a text"));
        }
        if self.open.len() >= DEPTH {
            return Err(self.wrong(at, ReadErrorKind::Depth(DEPTH).to_string()));
        }
        self.indexed(at);
        self.count(Size { values: 1, bytes: 0 }, at)?;
        self.open.push(Open { at, anchor, size: Size::default(), parts });
        Ok(())
    }

    /// Follows the path that is sought by an item.
    fn indexed(&mut self, at: usize) {
        if let Some(Parts::List(items)) = self.open.last().map(|open| &open.parts) {
            let is_next =
                matches!(self.path.get(self.steps), Some(Step::Index(wanted)) if *wanted == items.len());
            self.step(is_next, at);
        }
    }

    fn end(&mut self) -> Result<(), Wrong> {
        let Some(Open { at, anchor, size, parts }) = self.open.pop() else { return Ok(()) };
        let data = match parts {
            Parts::List(items) => Data::List(items.into()),
            Parts::Record(fields, _, merged) => {
                if let Some(key) = repeated(&fields) {
                    return Err(self.wrong(at, ReadErrorKind::DuplicateKey(key.to_owned()).to_string()));
                }
                Data::Record(with_merged(fields, merged).into())
            }
        };
        self.add(data, size.with(Size { values: 1, bytes: 0 }), anchor, at)
    }

    fn value(&mut self, data: Data, size: Size, anchor: usize, at: usize) -> Result<(), Wrong> {
        if self.awaited_key().is_some() {
            return Err(self.wrong(at, "a key is a text"));
        }
        self.indexed(at);
        self.count(size, at)?;
        self.add(data, size, anchor, at)
    }

    fn count(&mut self, size: Size, at: usize) -> Result<(), Wrong> {
        self.total = self.total.with(size);
        if self.total.values > VALUES {
            return Err(self.wrong(at, ReadErrorKind::Values(VALUES).to_string()));
        }
        if self.total.bytes > FILE {
            return Err(self.wrong(at, ReadErrorKind::Bytes(FILE).to_string()));
        }
        Ok(())
    }

    /// Adds a complete value to what encloses it.
    fn add(&mut self, data: Data, size: Size, anchor: usize, at: usize) -> Result<(), Wrong> {
        if anchor != 0 {
            self.count(size, at)?;
            self.anchors.insert(anchor, (data.clone(), size));
        }
        self.left |= self.steps > 0 && self.open.len() == self.steps;
        let Some(open) = self.open.last_mut() else {
            self.whole = Some(data);
            return Ok(());
        };
        open.size = open.size.with(size);
        match &mut open.parts {
            Parts::List(items) => items.push(data),
            Parts::Record(fields, key, merged) => match key.take() {
                Some(key) if key == "<<" => match data {
                    Data::Record(_) => merged.push(data),
                    Data::List(items) if items.iter().all(|item| matches!(item, Data::Record(_))) => {
                        merged.extend(Vec::from(items));
                    }
                    _ => return Err(self.wrong(at, "`<<` merges records, and this is none")),
                },
                Some(key) => fields.push((key, data)),
                None => {}
            },
        }
        Ok(())
    }
}

/// The fields of a record with those that merge keys give and that it has not.
fn with_merged(mut fields: Vec<(String, Data)>, merged: Vec<Data>) -> Vec<(String, Data)> {
    if merged.is_empty() {
        return fields;
    }
    let mut known: std::collections::HashSet<String> = fields.iter().map(|(key, _)| key.clone()).collect();
    for data in merged {
        let Data::Record(more) = data else { continue };
        fields.extend(Vec::from(more).into_iter().filter(|(key, _)| known.insert(key.clone())));
    }
    fields
}

/// The value of a scalar without quotes. Numbers are those of JSON; all that is nothing else is a text.
fn scalar(text: &str) -> Result<Data, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Nil,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        text => match number::parse(text) {
            Ok(number) => Data::Number(number),
            Err(NumberError::Form) => Data::from(text),
            Err(NumberError::NotFinite) => return Err("a number that is not finite; write it in quotes"),
            Err(_) => return Err("a number beyond 64 bits; write it in quotes"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Step, locate, parse};

    #[track_caller]
    fn reads(text: &str, expected: &str) {
        let parsed = parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        assert_eq!(parsed.data.to_json(), expected, "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, why: &str) {
        let (_, message) = parse(text).err().unwrap_or_else(|| panic!("{text} is read"));
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
        refuses("a: &x [*x]\n", "an alias inside of its own anchor");
    }

    #[test]
    fn what_is_no_tools_file() {
        refuses("a: 1\na: 2\n", "`a`");
        refuses("a: !!str 1\n", "a tag");
        refuses("[a]: 1\n", "a key is a text");
        refuses("a: 1\n---\nb: 2\n", "a second document");
        refuses("a: 99999999999999999999\n", "beyond 64 bits");
        refuses("a: 1e999\n", "write it in quotes");
        refuses("a: [1\n", "not YAML");
        refuses("a: \"\n", "not YAML");
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
        let line = |path: &[Step]| text[..locate(text, path)].lines().count();
        let at = |path: &[Step]| text[locate(text, path)..].lines().next().unwrap().to_owned();
        assert_eq!(at(&[key("a"), key("b")]), "b: 1");
        assert_eq!(at(&[key("c"), Step::Index(1), key("d"), key("b")]), "b: 3");
        assert_eq!(at(&[key("c"), Step::Index(0), key("x")]), "b: 2");
        assert_eq!(at(&[key("a"), key("x")]), "a:");
        assert_eq!(line(&[]), 0);
    }
}
