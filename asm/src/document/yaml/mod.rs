//! The YAML reader (YAML 1.2, core schema): one or more documents, separated by `---`, to values with spans.
//!
//! `saphyr-parser` scans; this module turns its events into values. Anchors, aliases, tags and merge keys are
//! refused, so that a document is no larger than its text. The scanner stops at its first error. If quotes
//! would fix that error, the message says so, the fix is applied, and the document is read again, so that all
//! errors of a file are reported together. This module knows nothing about programs.

mod recovery;
mod scalar;
#[cfg(test)]
mod tests;

use super::builder::{Builder, Frame};
use super::{Node, NodeKind, Style, Text};
use crate::arena::Arena;
use crate::diagnostic::whole_source::program;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Mark};
use crate::sorting::sort_by_key;
use crate::source::SourceLimits;
use crate::span::Span;
use core::ops::Range;
use ilo_spec::error::Code;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span as Marks};
use scalar::ScannedPart;

/// The most times that a document is read again after a fix.
const ROUNDS: usize = 64;
/// The most bytes that are copied and read again because of fixes.
const REREAD: usize = 32 << 20;
/// The most control characters that are reported.
const CONTROLS: usize = 64;

/// Reads all documents of a source. What could be read is returned even if there are errors.
pub(crate) fn read<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> &'a [Node<'a>] {
    let Some(Range { mut start, end }) = program(source, options, diagnostics) else { return &[] };
    let mut edits = Vec::new();
    for control in controls(source).take(CONTROLS) {
        edits.extend(control.fix.iter().flat_map(|fix| fix.edits.iter().cloned()));
        diagnostics.push(control);
    }
    let (mut rounds, mut budget, ascii) = (ROUNDS, REREAD, source.is_ascii());
    let mut built = Builder::new(arena);
    // Fixes are kept separately: the diagnostics of a document that is read again are dropped.
    let mut fixes = Diagnostics::default();
    loop {
        let seen = ScannedPart::new(source, start..end, &edits, ascii);
        let mut reader = Reader::new(source, &seen, start, arena, diagnostics, &mut built);
        let Err(error) = reader.run() else { break };
        let at = seen.offset(error.marker().index()) as usize;
        let Began { at: began, documents: complete, mark } = reader.began;
        let next = next_document(source.get(..end).unwrap_or(""), at.max(began + 1));
        let found = recovery::explain(source, at, error.info());
        let new: Vec<Edit> = found
            .iter()
            .filter_map(|found| found.diagnostic.fix.as_ref())
            .flat_map(|fix| fix.edits.iter().cloned())
            .collect();
        let left = budget.checked_sub(end - start);
        if rounds > 0 && left.is_some() && !new.is_empty() && new.iter().all(|edit| is_free(&edits, edit)) {
            rounds -= 1;
            budget = left.unwrap_or(0);
            reader.diagnostics.rewind(mark);
            built.rewind(complete);
            let unclear = found.into_iter().filter(|found| !found.clear);
            unclear.for_each(|found| fixes.push(found.diagnostic));
            edits.extend(new);
            sort_by_key(&mut edits, |edit| edit.span);
            start = began;
            continue;
        }
        reader.abandon();
        found.into_iter().for_each(|found| fixes.push(found.diagnostic));
        if fixes.is_full() {
            break;
        }
        // The documents after this one can still be read.
        if !edits.is_empty() {
            let Some(left) = left else { break };
            budget = left;
        }
        let Some(next) = next else { break };
        start = next;
    }
    diagnostics.append(fixes);
    built.finish()
}

/// The start of the next line of dashes.
fn next_document(source: &str, from: usize) -> Option<usize> {
    let rest = source.get(from..)?;
    let at_line = source.get(..from).is_some_and(|before| before.ends_with('\n'));
    if at_line && rest.starts_with("---") {
        return Some(from);
    }
    rest.find("\n---").map(|next| from + next + 1)
}

/// Whether an edit does not overlap any of the given edits.
fn is_free(edits: &[Edit], edit: &Edit) -> bool {
    let next = edits.partition_point(|other| other.span.end <= edit.span.start && other.span != edit.span);
    edits.get(next).is_none_or(|other| edit.span.end <= other.span.start && other.span != edit.span)
}

/// Reports control characters, which YAML does not allow, not even in quotes.
fn controls(source: &str) -> impl Iterator<Item = Diagnostic> + '_ {
    let bad = |&(_, byte): &(usize, u8)| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    source.bytes().enumerate().filter(bad).map(|(at, byte)| {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let name = format!("U+{byte:04X}");
        Diagnostic::new(
            Code::BadCharacter,
            Span::new(at, at + 1),
            format!("the character {name} is not part of YAML"),
        )
        .expected("an escape in double quotes, or nothing", name)
        .replace(Span::new(at, at + 1), "")
    })
}

/// The start of the current document, and the state before it.
#[derive(Clone, Copy, Debug)]
struct Began {
    at: usize,
    documents: usize,
    mark: Mark,
}

struct Reader<'a, 'd> {
    source: &'a str,
    seen: &'d ScannedPart<'a>,
    arena: &'a Arena,
    diagnostics: &'d mut Diagnostics,
    built: &'d mut Builder<'a>,
    began: Began,
    /// The end of the last event.
    last: u32,
    /// Whether the rest of the document is skipped.
    stopped: bool,
}

impl<'a, 'd> Reader<'a, 'd> {
    fn new(
        source: &'a str,
        seen: &'d ScannedPart<'a>,
        start: usize,
        arena: &'a Arena,
        diagnostics: &'d mut Diagnostics,
        built: &'d mut Builder<'a>,
    ) -> Reader<'a, 'd> {
        Reader {
            source,
            seen,
            arena,
            began: Began { at: start, documents: built.documents(), mark: diagnostics.mark() },
            diagnostics,
            built,
            stopped: false,
            last: u32::try_from(start).unwrap_or(u32::MAX),
        }
    }

    fn run(&mut self) -> Result<(), ScanError> {
        let mut parser = Parser::new_from_str(&self.seen.text);
        while let Some(next) = parser.next_event() {
            let (event, marks) = next?;
            if !self.event(event, marks) {
                break;
            }
        }
        Ok(())
    }

    /// Closes a document that cannot be read further; keeps what was read.
    fn abandon(&mut self) {
        self.stopped = true;
        while !self.built.frames().is_empty() {
            self.pop(self.last);
        }
    }

    /// Handles an event; false if reading cannot continue.
    fn event(&mut self, event: Event<'_>, marks: Marks) -> bool {
        let span = self.seen.span(marks);
        match event {
            Event::DocumentStart(_) => {
                let (documents, mark) = (self.built.documents(), self.diagnostics.mark());
                self.began = Began { at: span.start as usize, documents, mark };
            }
            // A document without content, as after a last line of dashes, is not a program.
            Event::Scalar(text, ScalarStyle::Plain, ..)
                if text.is_empty() && self.built.frames().is_empty() => {}
            Event::Scalar(text, style, anchor, tag) => {
                let negated = self.feature(span, anchor, tag.is_some());
                let node = match negated.and_then(|start| self.negated(start, span)) {
                    Some(text) => text,
                    None => self.scalar(&text, style, span),
                };
                if text.is_empty() && matches!(style, ScalarStyle::Plain) {
                    self.commented(node.span.end);
                }
                self.value(node);
            }
            Event::SequenceStart(anchor, tag) => {
                self.feature(span, anchor, tag.is_some());
                return self.open(span, false);
            }
            Event::MappingStart(anchor, tag) => {
                self.feature(span, anchor, tag.is_some());
                return self.open(span, true);
            }
            Event::SequenceEnd | Event::MappingEnd => self.pop(span.end),
            Event::Alias(_) => {
                self.refuse(span, "an alias", "write the value out, or put quotes around the text");
                self.value(Node { kind: NodeKind::Null, span });
            }
            _ => {}
        }
        true
    }

    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        self.diagnostics.push_with(Code::YamlFeature, || {
            Diagnostic::new(Code::YamlFeature, span, format!("{what} is not part of this notation"))
                .expected("a plain value", what)
                .help(help)
        });
    }

    /// The text that `!` before a reference begins, which YAML takes for a tag.
    fn negated(&self, start: u32, span: Span) -> Option<Node<'a>> {
        let text = self.source.get(start as usize..span.end.max(self.last) as usize)?.trim_end();
        let end = start + u32::try_from(text.len()).ok()?;
        let kind = NodeKind::Text(Text { text, style: Style::Plain, start: Some(start) });
        (!text.contains(['\n', '#'])).then_some(Node { kind, span: Span::new(start, end) })
    }

    /// Refuses an anchor and a tag before a value. A tag that is `!` before a reference is a text: its start.
    fn feature(&mut self, span: Span, anchor: usize, tag: bool) -> Option<u32> {
        let mut negated = None;
        for (present, mark, what) in [(anchor != 0, '&', "an anchor"), (tag, '!', "a tag")] {
            if !present {
                continue;
            }
            let before =
                self.source.get(self.last as usize..span.start.max(self.last) as usize).unwrap_or("");
            let found = before.rfind(mark).and_then(|at| {
                let rest = before.get(at..)?;
                let length = rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                let start = self.last + u32::try_from(at).ok()?;
                Some(Span::new(start, start + u32::try_from(length).ok()?))
            });
            let place = found.unwrap_or(span);
            let written = self.source.get(place.range()).unwrap_or("").trim_end();
            if written.starts_with("!$") && mark == '!' {
                negated = Some(place.start);
                continue;
            }
            self.refuse(place, what, "leave it out, or put quotes around the text");
        }
        negated
    }

    fn open(&mut self, span: Span, record: bool) -> bool {
        // The content of a block begins at the start of the block; the content of brackets begins after the
        // opening bracket.
        self.last = self.last.max(span.start);
        if !self.built.open(record, self.last) {
            self.diagnostics.push(crate::document::too_deep(span));
            self.abandon();
            return false;
        }
        self.last = self.last.max(span.end);
        true
    }

    /// Ends the innermost list or record.
    fn pop(&mut self, end: u32) {
        let Some(&Frame { open, key, .. }) = self.built.frames().last() else { return };
        // A block ends at the start of the next token; brackets end with the closing bracket.
        let bracket = self.source.as_bytes().get(open as usize);
        let flow = matches!(bracket, Some(b'{' | b'[')) && end > self.last;
        let end = if flow { end } else { self.last.max(open) };
        if let Some(key) = key {
            self.built.value(Node { kind: NodeKind::Null, span: Span::at(key.span.end) });
        }
        let mark = self.diagnostics.mark();
        let Some(node) = self.built.close(end, self.diagnostics) else { return };
        let whole = if flow { self.with_commas(&node) } else { None };
        if whole.is_some() {
            self.diagnostics.rewind(mark);
        }
        let whole = whole.or_else(|| self.joined(&node)).or_else(|| self.braced_twice(&node));
        self.value(whole.unwrap_or(node));
    }

    /// Whether two braces open directly behind each other where a key begins.
    fn is_doubled(&self, key: &Node<'a>) -> bool {
        let start = key.span.start.saturating_sub(1) as usize;
        self.source
            .get(start..key.span.end as usize + 1)
            .is_some_and(|text| text.starts_with("{{") && text.ends_with("}}"))
    }

    /// A record in braces in which keys without values close the parenthesis of a text: the commas between
    /// them belong to the text, as in `{expr: min(a, b)}`.
    fn with_commas(&self, node: &Node<'a>) -> Option<Node<'a>> {
        let open = |text: &str| {
            text.bytes().fold(0_i32, |open, byte| open + i32::from(byte == b'(') - i32::from(byte == b')'))
        };
        let plain = |node: &Node<'a>| match node.kind {
            NodeKind::Text(Text { text, style: Style::Plain, start: Some(start) }) => Some((text, start)),
            _ => None,
        };
        let list = super::entries(node);
        let begins = |entry: &super::Entry<'a>| plain(&entry.value).filter(|(text, _)| open(text) > 0);
        list.iter().find_map(begins)?;
        let (mut new, mut rest) = (Vec::with_capacity(list.len()), list);
        while let Some((entry, behind)) = rest.split_first() {
            rest = behind;
            let Some((_, start)) = begins(entry) else {
                new.push(*entry);
                continue;
            };
            let is_part = |entry: &&super::Entry<'a>| {
                matches!(entry.value.kind, NodeKind::Null)
                    && entry.value.span.start >= entry.value.span.end
                    && entry.key.is_scalar()
            };
            let parts = behind.iter().take_while(is_part);
            let (count, text) = parts.enumerate().find_map(|(at, part)| {
                let text = self.source.get(start as usize..part.key.span.end as usize)?;
                (open(text) == 0 && !text.contains('\n')).then_some((at + 1, text))
            })?;
            let kind = NodeKind::Text(Text { text, style: Style::Plain, start: Some(start) });
            let span = Span::new(start, start + u32::try_from(text.len()).ok()?);
            new.push(super::Entry { key: entry.key, value: Node { kind, span } });
            rest = behind.get(count..).unwrap_or_default();
        }
        Some(Node { kind: NodeKind::Record(self.arena.alloc_slice_copy(&new)), span: node.span })
    }

    /// A record whose only key has a `${` that is not closed: one text with its value.
    fn joined(&self, node: &Node<'a>) -> Option<Node<'a>> {
        let [only] = super::entries(node) else { return None };
        let NodeKind::Text(Text { text, style: Style::Plain, start: Some(start) }) = only.key.kind else {
            return None;
        };
        let open = text.rfind("${").filter(|&at| !text.get(at..).unwrap_or("").contains('}'));
        let end = only.value.span.end;
        let text = self.source.get(start as usize..end as usize)?;
        open.filter(|_| only.value.is_scalar() && !text.contains('\n'))?;
        Some(Node {
            kind: NodeKind::Text(Text { text, style: Style::Plain, start: Some(start) }),
            span: Span::new(start, end),
        })
    }

    /// Adds a complete value: a key, the value of a key, an element or a document.
    fn value(&mut self, node: Node<'a>) {
        self.last = self.last.max(node.span.end);
        let is_key = self.built.frames().last().is_some_and(|frame| frame.record && frame.key.is_none());
        if !is_key {
            return self.built.value(node);
        }
        let node = self.key(node);
        if let Some(frame) = self.built.innermost() {
            frame.key = Some(node);
        }
    }

    /// Reports a text after a key that YAML takes for a comment: `channel: #general`.
    fn commented(&mut self, from: u32) {
        let line = self.source.get(from as usize..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let Some(value) = line.strip_prefix(": ").map(str::trim) else { return };
        if !value.strip_prefix('#').is_some_and(|rest| rest.starts_with(char::is_alphanumeric)) {
            return;
        }
        let start = from + u32::try_from(line.find('#').unwrap_or(0)).unwrap_or(0);
        let span = Span::new(start, start + u32::try_from(value.len()).unwrap_or(0));
        let instead = recovery::quoted(value);
        self.diagnostics.push(recovery::quote_it(span, recovery::COMMENT, value, instead));
    }

    /// `{{ name }}` of other languages, which YAML takes for a record in a record: read as `${name}`.
    fn braced_twice(&self, node: &Node<'a>) -> Option<Node<'a>> {
        let [only] = super::entries(node) else { return None };
        let shown = self.source.get(node.span.range()).filter(|shown| !shown.contains('\n'))?;
        let inside = shown.strip_prefix("{{")?.strip_suffix("}}")?.trim();
        if !matches!((only.key.kind, only.value.kind), (NodeKind::Record(_), NodeKind::Null)) {
            return None;
        }
        let meant = format!("${{{inside}}}");
        Some(Node::of_text(self.arena.alloc_str(&meant), node.span))
    }

    /// Reads a key. A list, a record or a merge key (`<<`) is an error.
    fn key(&mut self, node: Node<'a>) -> Node<'a> {
        match node.kind {
            NodeKind::Text(Text { text: "<<", style: Style::Plain, .. }) => {
                self.refuse(node.span, "a merge key", "write the entries out, or use the step `merge`");
            }
            // The record that it is the only key of may be `{{ name }}`.
            NodeKind::Record(_) if !self.stopped && self.is_doubled(&node) => {}
            NodeKind::List(_) | NodeKind::Record(_) if !self.stopped => {
                self.diagnostics.push_with(Code::BadYaml, || {
                    Diagnostic::new(Code::BadYaml, node.span, "a key is a text")
                        .expected("a text", node.kind_name())
                        .help("put quotes around a text that begins with `{` or `[`")
                });
            }
            _ => {}
        }
        node
    }
}
