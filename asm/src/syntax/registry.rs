//! Reads registry comments: the names of slots, tools and fields, into tables in which an id is usually the
//! place of its entry.
//!
//! `; Vars: 0=a 1=b`, `; Tools: …` and `; Fields: …`, in any order, several in one comment, after `Registry:`
//! or not, with notes (`0=order(input)`) and quoted names. Other case, the singular and commas between
//! entries are accepted. A comment that begins like a registry but has no entry (`; Tools: none`) stays a
//! comment.

use super::comment_cursor::{Cursor, is_name_char};
use crate::arena::Arena;
use crate::ast::{Slot, SlotInfo};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// The slots of a function in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct SlotTable<'a> {
    list: Vec<SlotInfo<'a>>,
    /// The slots whose number is not their place.
    moved: HashMap<u32, Slot>,
}

impl<'a> SlotTable<'a> {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.moved.clear();
    }

    pub(crate) fn list(&self) -> &[SlotInfo<'a>] {
        &self.list
    }

    /// The slot with this number in the source, if it has occurred.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<Slot> {
        let in_place = self.list.get(number as usize).is_some_and(|info| info.number == Some(number));
        if in_place { Some(Slot(number)) } else { self.moved.get(&number).copied() }
    }

    /// The slot with this number in the source. At its first occurrence a new slot is created.
    pub(crate) fn slot(&mut self, number: u32, name: impl FnOnce() -> Option<&'a str>) -> Slot {
        self.find(number).unwrap_or_else(|| {
            let slot = Slot(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
            if slot.0 != number {
                self.moved.insert(number, slot);
            }
            self.list.push(SlotInfo { number: Some(number), name: name() });
            slot
        })
    }
}

/// The three registries, in the order in which the formatter writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Vars,
    Tools,
    Fields,
}

impl NameKind {
    pub(crate) const ALL: [NameKind; 3] = [NameKind::Vars, NameKind::Tools, NameKind::Fields];

    /// The words for each registry, its name first, and what its entries name.
    const WORDS: [(&[&str], &str); 3] = [
        (&["Vars", "Var", "Variables", "SlotTable", "Args", "Params"], "slot"),
        (&["Tools", "Tool"], "tool"),
        (&["Fields", "Field"], "field"),
    ];

    pub(crate) fn name(self) -> &'static str {
        NameKind::WORDS[self as usize].0[0]
    }

    /// What its entries name.
    pub(crate) fn of_one(self) -> &'static str {
        NameKind::WORDS[self as usize].1
    }

    fn from_word(word: &str) -> Option<NameKind> {
        let is = |kind: &NameKind| {
            NameKind::WORDS[*kind as usize].0.iter().any(|it| word.eq_ignore_ascii_case(it))
        };
        let exact = NameKind::ALL.into_iter().find(|kind| kind.name() == word);
        exact.or_else(|| NameKind::ALL.into_iter().find(is))
    }
}

/// An entry of a registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) id: u32,
    pub(crate) name: &'a str,
    pub(crate) span: Span,
    /// The span of the name and its note.
    pub(crate) written: &'a str,
}

/// One registry.
#[derive(Debug)]
pub(crate) struct Registry<'a> {
    pub(crate) entries: Vec<Named<'a>>,
    /// The places of entries whose id is not their place.
    moved: HashMap<u32, usize>,
}

impl<'a> Registry<'a> {
    pub(crate) fn name(&self, id: u32) -> Option<&'a str> {
        self.entry(id).map(|entry| entry.name)
    }

    #[inline]
    fn entry(&self, id: u32) -> Option<&Named<'a>> {
        let in_place = self.entries.get(id as usize).filter(|entry| entry.id == id);
        in_place.or_else(|| self.entries.get(*self.moved.get(&id)?))
    }

    /// The id of a name, if it is unique. For diagnostics only: it searches all entries.
    pub(crate) fn id(&self, name: &str) -> Option<u32> {
        let mut found = self.entries.iter().filter(|entry| entry.name == name);
        found.next().filter(|_| found.next().is_none()).map(|entry| entry.id)
    }

    #[inline]
    fn add(&mut self, entry: Named<'a>, diagnostics: &mut Diagnostics) {
        match self.entry(entry.id) {
            Some(before) if before.name == entry.name => {}
            Some(before) => diagnostics.push(
                Diagnostic::new(
                    Code::DuplicateId,
                    entry.span,
                    format!("id {} is `{}` already", entry.id, before.name),
                )
                .expected("an id that is free", format!("{}", entry.id))
                .related(before.span, "first named here")
                .help("give one of them another id"),
            ),
            None => {
                if entry.id as usize != self.entries.len() {
                    self.moved.insert(entry.id, self.entries.len());
                }
                self.entries.push(entry);
            }
        }
    }
}

/// The registries of a function, by their kinds.
#[derive(Debug)]
pub(crate) struct Registries<'a>([Registry<'a>; 3]);

impl<'a> Registries<'a> {
    pub(crate) fn new() -> Registries<'a> {
        Registries([(); 3].map(|()| Registry { entries: Vec::new(), moved: HashMap::new() }))
    }

    #[inline]
    pub(crate) fn get(&self, kind: NameKind) -> &Registry<'a> {
        &self.0[kind as usize]
    }

    pub(crate) fn clear(&mut self) {
        for registry in &mut self.0 {
            registry.entries.clear();
            registry.moved.clear();
        }
    }

    /// Reads the registries of a comment; false if it is an ordinary comment.
    pub(crate) fn read(
        &mut self,
        mut cursor: Cursor<'a>,
        arena: &'a Arena,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        if cursor.rest().is_empty() {
            return false;
        }
        let mut first = keyword(cursor, NameKind::from_word);
        if first.is_none()
            && let Some(((), after)) = keyword(cursor, prefix)
        {
            first = keyword(after, NameKind::from_word);
        }
        let Some((mut kind, after)) = first else { return false };
        cursor = after;
        let means_entries = cursor.rest().is_empty()
            || cursor.peek().is_some_and(|c| c.is_ascii_digit())
            || cursor.rest().contains('=')
            || keyword(cursor, NameKind::from_word).is_some();
        if !means_entries {
            return false;
        }
        loop {
            cursor.take(|c| c.is_whitespace() || matches!(c, ',' | ';' | '|'));
            if cursor.rest().is_empty() {
                return true;
            }
            let may_name = |c: char| c.is_ascii_alphabetic();
            if cursor.peek().is_some_and(may_name)
                && let Some((next, after)) = keyword(cursor, NameKind::from_word)
            {
                (kind, cursor) = (next, after);
                continue;
            }
            if !self.plain_entries(kind, &mut cursor, diagnostics) {
                self.entry(kind, &mut cursor, arena, diagnostics);
            }
        }
    }

    /// Reads entries of the usual form, `0=name` with one blank between them. Returns whether there was one.
    fn plain_entries(
        &mut self,
        kind: NameKind,
        cursor: &mut Cursor<'a>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let rest = cursor.rest();
        let registry = &mut self.0[kind as usize];
        let (mut next, mut offset, mut end) = (0, cursor.offset(), 0);
        while let Some((id, before, length)) = rest.as_bytes().get(next..).and_then(plain)
            && let Some(name) = rest.get(next + before..next + length)
        {
            let bytes = u32::try_from(length).unwrap_or(u32::MAX);
            let span = Span::new(offset, offset.saturating_add(bytes));
            registry.add(Named { id, name, span, written: name }, diagnostics);
            end = next + length;
            (next, offset) = (end + 1, span.end.saturating_add(1));
        }
        cursor.skip(end);
        end > 0
    }

    /// Reads one `id=name(note)`.
    fn entry(
        &mut self,
        kind: NameKind,
        cursor: &mut Cursor<'a>,
        arena: &'a Arena,
        diagnostics: &mut Diagnostics,
    ) {
        let start = cursor.offset();
        let digits = cursor.take(|c| c.is_ascii_digit());
        cursor.skip_blanks();
        let named = !digits.is_empty() && (cursor.eat('=') || cursor.eat(':'));
        cursor.skip_blanks();
        let from = *cursor;
        let name = if named { cursor.name(is_name_char, arena, diagnostics) } else { None };
        let Some(name) = name else {
            cursor.take(|c| !c.is_whitespace() && !matches!(c, ',' | ';'));
            diagnostics.push(not_an_entry(cursor.since(start), *cursor, kind));
            return;
        };
        let span = cursor.since(start);
        let mut end = *cursor;
        cursor.skip_blanks();
        if cursor.eat('(') {
            cursor.take(|c| c != ')');
            cursor.eat(')');
            end = *cursor;
        }
        let length = (end.offset() - from.offset()) as usize;
        let written = from.rest().get(..length).unwrap_or(name);
        let Ok(id) = digits.parse() else {
            diagnostics.push(id_range(span, digits));
            return;
        };
        self.0[kind as usize].add(Named { id, name, span, written }, diagnostics);
    }
}

/// An entry of the usual form, `0=name` before a blank and another entry or at the end: its id, and the range
/// of its name. Other entries are read character by character.
fn plain(bytes: &[u8]) -> Option<(u32, usize, usize)> {
    const DIGITS: usize = 9;
    let (mut digits, mut id) = (0, 0);
    for byte in bytes.iter().take(DIGITS).take_while(|byte| byte.is_ascii_digit()) {
        id = id * 10 + u32::from(byte - b'0');
        digits += 1;
    }
    let before = digits + 1;
    let name = bytes
        .get(before..)?
        .iter()
        .take_while(|&&byte| byte.is_ascii() && is_name_char(char::from(byte)))
        .count();
    let plain = digits > 0
        && name > 0
        && bytes[digits] == b'='
        && matches!(bytes[before + name..], [] | [b' ', b'0'..=b'9', ..]);
    plain.then_some((id, before, before + name))
}

/// Whether a word may come before registries.
fn prefix(word: &str) -> Option<()> {
    ["Registry", "Registries", "Names"].iter().any(|name| word.eq_ignore_ascii_case(name)).then_some(())
}

/// A known word with a colon, and the position after it.
#[inline]
fn keyword<T>(mut cursor: Cursor<'_>, meaning: impl Fn(&str) -> Option<T>) -> Option<(T, Cursor<'_>)> {
    let word = cursor.letters();
    if word.is_empty() {
        return None;
    }
    cursor.skip_blanks();
    let meaning = meaning(word).filter(|_| cursor.eat(':'))?;
    cursor.skip_blanks();
    Some((meaning, cursor))
}

/// The diagnostic of a malformed entry.
fn not_an_entry(span: Span, after: Cursor<'_>, kind: NameKind) -> Diagnostic {
    let text = after.text(span);
    let shown = crate::text::shorten(text);
    Diagnostic::new(Code::BadRegistry, span, format!("`{shown}` is not an entry of a registry"))
        .expected("`id=name`", format!("`{shown}`"))
        .help(format!(
            "an entry is a number, `=` and a name, such as `; {}: 0=user 1=\"First Name\"`",
            kind.name()
        ))
}

/// The diagnostic of an id beyond 32 bits.
pub(crate) fn id_range(span: Span, found: &str) -> Diagnostic {
    let shown = crate::text::shorten(found);
    Diagnostic::new(Code::IdRange, span, format!("`{shown}` is not an id"))
        .expected("a number from 0 to 4294967295", format!("`{shown}`"))
        .help("number slots, tools and fields from 0")
}
