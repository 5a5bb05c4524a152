//! What JSON and YAML have in common: values with places. Documents borrow from the source or the arena.
//!
//! A reader promises that no key of a record is given twice and that nesting is at most [`NESTING`], which is what lets
//! passes over documents recurse. It knows nothing of programs.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::id;
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;
use ilo_spec::number::NumberError;
use ilo_spec::program::Number;
use std::cmp::Ordering;

/// How deep lists and records may nest in a document. A block or an operand of a program is two or three levels of
/// JSON, so this lets [`ilo_spec::limits::NESTING`] of a program be written.
pub const NESTING: usize = 512;

/// A value and its place: from its first byte to its last, quotes and brackets included.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The value.
    pub kind: Kind<'a>,
    /// Where it was written.
    pub span: Span,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// A text.
    Text(Text<'a>),
    /// A list.
    List(&'a [Node<'a>]),
    /// A record, in the order of the source.
    Record(&'a [Entry<'a>]),
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The key: always a text in JSON; in YAML also null, a bool or a number.
    pub key: Node<'a>,
    /// The value; null where YAML leaves it out.
    pub value: Node<'a>,
}

/// A text as it reads, escapes undone.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// What it says.
    pub text: &'a str,
    /// How it was written.
    pub style: Style,
    /// Where its first byte stood, when every byte stands in the source as it reads; `None` after escapes or folding.
    pub start: Option<u32>,
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In double quotes; every text of JSON.
    Double,
    /// In YAML's single quotes.
    Single,
    /// Without quotes, in YAML.
    Plain,
    /// As a block of YAML, `|` or `>`.
    Block,
}

impl<'a> Node<'a> {
    /// The text, where it is one.
    pub fn text(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Text(text) => Some(text.text),
            _ => None,
        }
    }

    /// The place of some bytes of its text: of the whole node where they cannot be told apart.
    pub fn part(&self, bytes: core::ops::Range<usize>) -> Span {
        let place = |start: u32| {
            let from = u32::try_from(bytes.start).ok()?.checked_add(start)?;
            let to = u32::try_from(bytes.end).ok()?.checked_add(start)?;
            Some(Span::new(from, to))
        };
        match self.kind {
            Kind::Text(Text { start: Some(start), .. }) => place(start).unwrap_or(self.span),
            _ => self.span,
        }
    }

    /// What a message calls a value of this kind.
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a bool",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Record(_) => "a record",
        }
    }
}

impl<'a> Entry<'a> {
    /// The key, where it is a text.
    pub fn name(&self) -> Option<&'a str> {
        self.key.text()
    }
}

/// A key as it is compared: 1 and 1.0 are one key, "1" is another.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(u64),
    Text(&'a str),
    /// A list or record, which is no key.
    None,
}

impl<'a> Key<'a> {
    fn of(node: &Node<'a>) -> Key<'a> {
        match node.kind {
            Kind::Null => Key::Null,
            Kind::Bool(bool) => Key::Bool(bool),
            Kind::Number(Number::Int(int)) => Key::Int(int),
            Kind::Number(Number::Double(double)) => Key::double(double),
            Kind::Text(text) => Key::Text(text.text),
            Kind::List(_) | Kind::Record(_) => Key::None,
        }
    }

    fn double(double: f64) -> Key<'a> {
        // Only the integer that is exactly this double is written so.
        match format!("{double:.0}").parse() {
            Ok(int) if double.fract() == 0.0 => Key::Int(int),
            _ => Key::Double(double.to_bits()),
        }
    }
}

/// Moves the entries with a key of their own to the front, in order, and says how many there are; reports each other
/// one. Costs no more than their number.
pub(super) fn keep_first(entries: &mut [Entry<'_>], diagnostics: &mut Diagnostics) -> usize {
    const FEW: usize = 12;
    let mut kept = 0;
    let mut seen: HashMap<Key<'_>, usize> = HashMap::new();
    for at in 0..entries.len() {
        let entry = entries[at];
        let first = if entries.len() <= FEW {
            let key = Key::of(&entry.key);
            entries[..kept].iter().position(|earlier| Key::of(&earlier.key) == key)
        } else {
            match seen.entry(Key::of(&entry.key)) {
                hashbrown::hash_map::Entry::Occupied(earlier) => Some(*earlier.get()),
                hashbrown::hash_map::Entry::Vacant(free) => {
                    free.insert(kept);
                    None
                }
            }
        };
        match first {
            Some(first) => {
                let first = entries[first].key.span;
                diagnostics.push_with(Code::DuplicateKey, || duplicate(&entry.key, first));
            }
            None => {
                entries[kept] = entry;
                kept += 1;
            }
        }
    }
    kept
}

fn duplicate(key: &Node<'_>, first: Span) -> Diagnostic {
    let what = key.text().map_or("this key".to_owned(), |name| format!("`{}`", shorten(name)));
    Diagnostic::new(Code::DuplicateKey, key.span, format!("{what} is given twice"))
        .related(first, "it is given here first")
        .help("leave one of them out, or rename it")
}

/// Whether two lists of documents say the same, wherever and however it is written.
pub(super) fn same(a: &[Node<'_>], b: &[Node<'_>]) -> bool {
    let same_node = |(a, b): (&Node<'_>, &Node<'_>)| match (a.kind, b.kind) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Number(a), Kind::Number(b)) => a == b,
        (Kind::Text(a), Kind::Text(b)) => a.text == b.text,
        (Kind::List(a), Kind::List(b)) => same(a, b),
        (Kind::Record(a), Kind::Record(b)) => {
            let same_entry = |(a, b): (&Entry<'_>, &Entry<'_>)| same(&[a.key, a.value], &[b.key, b.value]);
            a.len() == b.len() && a.iter().zip(b).all(same_entry)
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same_node)
}

/// A text for a message, cut to a length that a line holds.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST).map(|(at, _)| at.cmp(&text.len())) {
        Some(Ordering::Less) => text.chars().take(LONGEST).chain(['…']).collect(),
        _ => text.to_owned(),
    }
}

/// The nesting that goes one too deep at a bracket.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::new(Code::TooDeep, at, format!("lists and records nest deeper than {NESTING} here"))
        .expected(format!("at most {NESTING} levels"), "one more")
}

/// What is wrong with a number, and how to write it where that is clear.
pub(super) fn bad_number(span: Span, text: &str, error: NumberError) -> Diagnostic {
    let shown = shorten(text);
    match error {
        NumberError::Form => {
            let wrong = Diagnostic::new(Code::BadNumber, span, format!("`{shown}` is no number"))
                .expected("a number, such as `42`, `-0.5` or `1e9`", format!("`{shown}`"));
            match number_meant(text) {
                Some(meant) => wrong.replace(span, meant),
                None => wrong.help("write the number with digits, or put quotes around the text"),
            }
        }
        NumberError::Beyond64Bits => {
            Diagnostic::new(Code::NumberRange, span, format!("`{shown}` does not fit into 64 bits"))
                .expected("-9223372036854775808 to 9223372036854775807", format!("`{shown}`"))
                .help("write a double, such as `1e20`, where it need not be exact")
        }
        NumberError::NotFinite => {
            Diagnostic::new(Code::NumberRange, span, format!("`{shown}` is beyond what a double holds"))
                .expected("at most 1.7976931348623157e308", format!("`{shown}`"))
        }
    }
}

/// The number that `+1`, `.5`, `5.`, `007`, `1_000` or `0x1f` means.
fn number_meant(text: &str) -> Option<String> {
    const LONGEST: usize = 400;
    if text.len() > LONGEST {
        return None;
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "");
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let plain = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        return i64::from_str_radix(hex, 16).ok().filter(|_| plain).map(|int| format!("{sign}{int}"));
    }
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = digits.split_at_checked(whole)?;
    let trimmed = whole.trim_start_matches('0');
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let rest = match rest.strip_prefix('.') {
        Some(after) if !after.starts_with(|c: char| c.is_ascii_digit()) => format!(".0{after}"),
        _ => rest.to_owned(),
    };
    let meant = format!("{sign}{whole}{rest}");
    let has_digit = digits.starts_with(|c: char| c.is_ascii_digit())
        || digits.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (has_digit && ilo_spec::number::parse(&meant).is_ok()).then_some(meant)
}

/// The part of a source that is not a byte order mark or a Markdown fence around it; a fence is reported.
pub(super) fn inside(source: &str, what: &str, diagnostics: &mut Diagnostics) -> (usize, usize) {
    let (mut start, mut end) = (if source.starts_with('\u{feff}') { 3 } else { 0 }, source.len());
    if let Some(fence) = id::fenced(source, what) {
        if let Some([open, rest @ ..]) = fence.fix.as_ref().map(|fix| fix.edits.as_slice()) {
            start = open.span.end as usize;
            end = rest.first().map_or(end, |close| close.span.start as usize);
        }
        diagnostics.push(fence);
    }
    (start, end)
}

#[cfg(test)]
pub(super) mod tests {
    //! What the tests of both readers need.

    use super::*;
    use bumpalo::Bump;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Brackets within brackets.
    pub(crate) fn deep(open: &str, close: &str, levels: usize) -> String {
        open.repeat(levels) + &close.repeat(levels)
    }

    /// Runs a test on a stack that recursion would soon overflow.
    pub(crate) fn in_small_thread(test: fn()) {
        std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
    }

    /// A value as JSON may have it, with keys that differ.
    pub(crate) fn json_value() -> impl Strategy<Value = Value> {
        let number = prop_oneof![any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from)];
        let text = prop_oneof!["\\PC{0,6}", "[a-z\"\\\\\n\t$ {}\\[\\]:#,'-]{0,8}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number,
            text.clone().prop_map(Value::from)
        ];
        leaf.prop_recursive(5, 60, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    /// What `read` makes of a source, as serde's values, and what it reports.
    pub(crate) fn read_with(
        source: &str,
        read: for<'a> fn(&'a str, &'a Bump, &id::Options, &mut Diagnostics) -> &'a [Node<'a>],
    ) -> (Vec<Value>, Vec<Diagnostic>) {
        let arena = Bump::new();
        let mut diagnostics = Diagnostics::default();
        let options = id::Options { source: usize::MAX, line: 80, nesting: 128 };
        let documents = read(source, &arena, &options, &mut diagnostics);
        documents.iter().for_each(|document| check_places(source, document));
        (documents.iter().map(value).collect(), diagnostics.as_slice().to_vec())
    }

    pub(crate) fn shown(found: &[Diagnostic]) -> Vec<String> {
        found.iter().map(|found| format!("{} at {}", found.code, found.span.start)).collect()
    }

    /// Every node lies in the source, within its parent and behind its neighbour; a text that knows its place is there.
    pub(crate) fn check_places(source: &str, node: &Node<'_>) {
        assert!(source.get(node.span.range()).is_some(), "{node:?}");
        if let Kind::Text(Text { text, start: Some(start), .. }) = node.kind {
            let range = start as usize..start as usize + text.len();
            assert_eq!(source.get(range), Some(text), "{node:?}");
        }
        let mut at = node.span.start;
        let mut child = |child: &Node<'_>| {
            assert!(at <= child.span.start && child.span.end <= node.span.end, "{child:?} in {node:?}");
            at = child.span.end;
            check_places(source, child);
        };
        match node.kind {
            Kind::List(nodes) => nodes.iter().for_each(child),
            Kind::Record(entries) => entries.iter().for_each(|entry| {
                child(&entry.key);
                child(&entry.value);
            }),
            _ => {}
        }
    }

    fn value(node: &Node<'_>) -> Value {
        match node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(bool) => Value::Bool(bool),
            Kind::Number(Number::Int(int)) => Value::from(int),
            Kind::Number(Number::Double(double)) => Value::from(double),
            Kind::Text(text) => Value::from(text.text),
            Kind::List(nodes) => nodes.iter().map(value).collect(),
            Kind::Record(entries) => {
                let key = |entry: &Entry<'_>| match entry.key.kind {
                    Kind::Text(text) => text.text.to_owned(),
                    Kind::List(_) | Kind::Record(_) => entry.key.kind_name().to_owned(),
                    _ => format!("{}", value(&entry.key)),
                };
                Value::Object(entries.iter().map(|entry| (key(entry), value(&entry.value))).collect())
            }
        }
    }

    #[test]
    fn equal_keys_are_given_once() {
        fn text(text: &str) -> Kind<'_> {
            Kind::Text(Text { text, style: Style::Plain, start: None })
        }
        for many in [0, 40] {
            let fill: Vec<String> = (0..many).map(|n| format!("k{n}")).collect();
            let number = |number| Kind::Number(number);
            let value = Node { kind: Kind::Null, span: Span::at(0) };
            let kinds = [
                number(Number::Int(1)),
                text("1"),
                number(Number::Double(1.0)),
                number(Number::Double(1.5)),
                Kind::Null,
                text("a"),
                text("a"),
                Kind::Bool(true),
                number(Number::Double(-0.0)),
                number(Number::Int(0)),
            ];
            let mut entries: Vec<_> = kinds
                .into_iter()
                .chain(fill.iter().map(|name| text(name)))
                .map(|kind| Entry { key: Node { kind, ..value }, value })
                .collect();
            let mut diagnostics = Diagnostics::default();
            let kept = keep_first(&mut entries, &mut diagnostics);
            assert_eq!(kept, 7 + many);
            assert_eq!(shown(diagnostics.as_slice()), ["duplicate-key at 0"; 3]);
        }
    }
}
