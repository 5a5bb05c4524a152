//! The YAML reader (YAML 1.2, core schema): one or more documents, separated by `---`, to values with spans.
//!
//! It is one pass over the source with an explicit stack. Where YAML has an error, but what is meant is
//! clear, such as `a: b: c` or `{a: ${b}}`, that is read; another wrong value is reported with its fix, and
//! reading continues as if it were fixed. What is wrong with the structure of a document ends it. Tags are
//! refused, and in programs anchors and merge keys, so that a program is no larger than its text. This module
//! knows nothing about programs.
//!
//! This file has the structure that indents give; `brackets` reads `{}` and `[]`, `scalar` texts.

mod brackets;
mod recovery;
mod scalar;
#[cfg(test)]
mod tests;

use super::builder::{Container, NodeStack};
use super::json::offset;
use super::{Node, NodeKind, Style, Text};
use crate::arena::Arena;
use crate::diagnostic::whole_source::program;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::SourceLimits;
use crate::span::Span;
use core::ops::Range;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// The most control characters that are reported.
const CONTROLS: usize = 64;
/// How often a line is searched in vain for the end of parentheses; a limit keeps reading linear.
const LOOKS: u8 = 8;

/// Why a document is not read further.
type Fatal = Box<Diagnostic>;

/// Reads all documents of a source. What could be read is returned even if there are errors.
pub(crate) fn read<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> &'a [Node<'a>] {
    read_as(source, false, arena, options, diagnostics)
}

/// Like [`read`]; `repeats` says whether anchors, aliases and merge keys are read.
pub(super) fn read_as<'a>(
    source: &'a str,
    repeats: bool,
    arena: &'a Arena,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> &'a [Node<'a>] {
    let Some(Range { start, end }) = program(source, options, diagnostics) else { return &[] };
    controls(source).take(CONTROLS).for_each(|control| diagnostics.push(control));
    let source = source.get(..end).unwrap_or("");
    let mark = source.get(start..).is_some_and(|rest| rest.starts_with('\u{feff}'));
    let start = start + if mark { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = BlockReader {
        source,
        at: start,
        line: start,
        arena,
        diagnostics,
        built: NodeStack::new(arena),
        blocks: Vec::new(),
        last: offset(start),
        is_whole: false,
        is_cut: false,
        repeats,
        anchors: HashMap::new(),
        unnamed: Vec::new(),
        looks: LOOKS,
    };
    while let Err(wrong) = reader.lines() {
        reader.diagnostics.push(*wrong);
        reader.is_cut = true;
        reader.end_document();
        // The line break before this line, if it begins with the dashes.
        let from = reader.at - usize::from(reader.at == reader.line && reader.at > 0);
        let Some(next) = source.get(from..).and_then(|rest| rest.find("\n---")) else { break };
        let next = from + next + 1;
        (reader.at, reader.line) = (next, next);
    }
    reader.end_document();
    reader.built.finish()
}

/// Reports control characters, which YAML does not allow, not even in quotes.
fn controls(source: &str) -> impl Iterator<Item = Diagnostic> + '_ {
    let bad = |&(_, byte): &(usize, u8)| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    source.bytes().enumerate().filter(bad).map(|(at, byte)| {
        let span = Span::new(offset(at), offset(at) + 1);
        let name = format!("U+{byte:04X}");
        Diagnostic::new(Code::BadCharacter, span, format!("the character {name} is not part of YAML"))
            .expected("an escape in double quotes, or nothing", name)
            .replace(span, "")
    })
}

/// An open list or record without brackets.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    /// The column of its dashes or keys, in bytes.
    column: usize,
    record: bool,
    /// Whether its last dash, colon or `?` has no node yet.
    expects: bool,
}

struct BlockReader<'a, 'd> {
    source: &'a str,
    at: usize,
    /// The start of the line at the cursor.
    line: usize,
    arena: &'a Arena,
    diagnostics: &'d mut Diagnostics,
    built: NodeStack<'a>,
    blocks: Vec<OpenBlock>,
    /// The end of the last node or sign.
    last: u32,
    /// Whether the current document is complete.
    is_whole: bool,
    /// Whether its rest is not read.
    is_cut: bool,
    /// Whether anchors, aliases and merge keys are read.
    repeats: bool,
    /// What the anchors of the document name, if that is read; without any, `*` begins a text.
    anchors: HashMap<&'a str, Option<Node<'a>>>,
    /// The anchors whose value has not ended, each with the number of open lists and records around it.
    unnamed: Vec<(usize, &'a str)>,
    /// How often a line may still be searched for the end of parentheses, without success.
    looks: u8,
}

impl<'a> BlockReader<'a, '_> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or("")
    }

    /// The byte at a position; the end is a line end.
    fn byte(&self, at: usize) -> u8 {
        self.source.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r')
    }

    /// Whether the byte here begins a comment, if it is `#`.
    fn begins_comment(&self, at: usize) -> bool {
        self.byte(at) == b'#' && (at == self.line || at == 0 || self.is_blank(at - 1))
    }

    /// The end of the line of a position.
    fn line_end(&self, at: usize) -> usize {
        let rest = self.source.as_bytes().get(at..).unwrap_or_default();
        at + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
    }

    /// Skips blanks; false if nothing but a comment follows on the line.
    fn more_in_line(&mut self) -> bool {
        while matches!(self.byte(self.at), b' ' | b'\t') {
            self.at += 1;
        }
        !self.is_blank(self.at) && !self.begins_comment(self.at)
    }

    /// Goes to the next character that is no blank, line end or comment; false at the end.
    fn content(&mut self) -> bool {
        while !self.more_in_line() {
            self.at = self.line_end(self.at);
            if self.at >= self.source.len() {
                return false;
            }
            self.at += 1;
            self.line = self.at;
        }
        true
    }

    /// Whether a line begins with the dashes or dots that end a document.
    fn is_marker(&self, line: usize) -> bool {
        let rest = self.source.get(line..).unwrap_or("");
        (rest.starts_with("---") || rest.starts_with("...")) && self.is_blank(line + 3)
    }

    /// Whether a sign with a blank behind it is here.
    fn is_sign(&self, sign: u8) -> bool {
        self.byte(self.at) == sign && self.is_blank(self.at + 1)
    }

    /// The column of the innermost block: what belongs to it is right of this.
    fn parent(&self) -> Option<usize> {
        self.blocks.last().map(|block| block.column)
    }

    /// Reads lines up to the end.
    fn lines(&mut self) -> Result<(), Fatal> {
        while self.content() {
            if self.at == self.line && self.is_marker(self.at) {
                self.end_document();
                self.at += 3;
            } else if self.at == self.line
                && self.byte(self.at) == b'%'
                && !self.is_whole
                && self.blocks.is_empty()
            {
                self.at = self.line_end(self.at);
            } else {
                self.entry()?;
            }
        }
        Ok(())
    }

    /// Closes a document. What was read is kept, even if it is not complete.
    fn end_document(&mut self) {
        // What an error left open in brackets.
        while self.built.frames().len() > self.blocks.len() {
            self.pop(self.last);
        }
        while !self.blocks.is_empty() {
            self.end_block();
        }
        (self.is_whole, self.is_cut) = (false, false);
        self.anchors.clear();
        self.unnamed.clear();
    }

    /// Reads what a line begins, up to the end of its last value.
    fn entry(&mut self) -> Result<(), Fatal> {
        let indent = self.source.get(self.line..self.at).unwrap_or("");
        if indent.contains('\t') {
            return Err(recovery::tabs(self.line, indent));
        }
        let column = self.at - self.line;
        let is_dash = self.is_sign(b'-');
        let ends =
            |block: &OpenBlock| block.column > column || block.column == column && !block.record && !is_dash;
        while self.blocks.last().is_some_and(ends) {
            self.end_block();
        }
        // Whether a list or record may begin here: not behind a key on its line.
        let mut begins = true;
        loop {
            let is_item = begins && self.is_sign(b'-');
            let is_value = self.is_sign(b':') && self.has_key_at(column);
            if is_item {
                self.begin_entry(self.at, false)?;
                self.at += 1;
            } else if is_value {
                self.at += 1;
            } else if begins && self.is_sign(b'?') {
                self.marked_key()?;
            } else if !self.node(begins)? {
                return Ok(());
            }
            self.last = offset(self.at);
            if !self.more_in_line() {
                self.commented();
                return Ok(());
            }
            begins = is_item || is_value;
        }
    }

    /// Whether the line is at the column of a record whose last key is one of [`Self::marked_key`] and waits
    /// for its value.
    fn has_key_at(&self, column: usize) -> bool {
        let waits = |block: &OpenBlock| block.record && block.expects && block.column == column;
        let key = self.built.frames().last().and_then(|frame| frame.key);
        self.at == self.line + column
            && self.blocks.last().is_some_and(waits)
            && key
                .and_then(|key| self.source.get(..key.span.start as usize))
                .is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('?'))
    }

    /// Reads `? key`. The value follows on a line of its own, after `: `.
    fn marked_key(&mut self) -> Result<(), Fatal> {
        let start = self.at;
        let column = start - self.line;
        self.begin_entry(start, true)?;
        self.at += 1;
        let is_text = self.more_in_line()
            && !matches!(self.byte(self.at), b'{' | b'[' | b'|' | b'>')
            && !self.is_sign(b'-')
            && !self.is_sign(b'?');
        let node = match self.byte(self.at) {
            _ if !is_text => None,
            b'"' | b'\'' => self.quoted(Some(column)),
            _ => {
                let key = self.at;
                self.at = self.plain_end(key).0;
                Some(self.plain(key..self.at))
            }
        };
        let Some(node) = node.filter(|_| !self.more_in_line()) else {
            return Err(recovery::no_key(start, b'?'));
        };
        self.value(node);
        Ok(())
    }

    /// Whether a node may begin here; the error if not.
    fn may_begin(&self, at: usize, dash: bool) -> Result<(), Fatal> {
        let column = at - self.line;
        let fits = match self.blocks.last() {
            None => !self.is_whole,
            Some(block) => block.expects && (column > block.column || dash && block.record),
        };
        if fits { Ok(()) } else { Err(recovery::out_of_place(at, column, self.blocks.last(), dash)) }
    }

    /// Begins an entry here of the list or record at this column, which is opened if it is not the innermost.
    fn begin_entry(&mut self, at: usize, record: bool) -> Result<(), Fatal> {
        let column = at - self.line;
        let is_here = |block: &OpenBlock| block.record == record && block.column == column;
        if self.blocks.last().is_some_and(is_here) {
            self.omitted();
        } else {
            self.may_begin(at, !record)?;
            self.open(record, offset(at))?;
            self.blocks.push(OpenBlock { column, record, expects: false });
        }
        self.blocks.last_mut().into_iter().for_each(|block| block.expects = true);
        Ok(())
    }

    /// Completes the last entry of the innermost block, if its value was left out.
    fn omitted(&mut self) {
        if let Some(&OpenBlock { expects: true, .. }) = self.blocks.last() {
            let key = self.built.frames().last().and_then(|frame| frame.key);
            self.value(null(key.map_or(self.last, |key| key.span.end)));
        }
    }

    fn end_block(&mut self) {
        self.omitted();
        self.blocks.pop();
        self.pop(self.last);
    }

    /// Ends the innermost list or record.
    fn pop(&mut self, end: u32) {
        if let Some(node) = self.closed(end) {
            self.value(node);
        }
    }

    /// The innermost list or record, which ends.
    fn closed(&mut self, end: u32) -> Option<Node<'a>> {
        let &Container { open, key, .. } = self.built.frames().last()?;
        if let Some(key) = key {
            self.built.value(null(key.span.end));
        }
        self.built.close(end.max(open), self.diagnostics)
    }

    /// Adds a complete value: a key, the value of a key, an element or a document.
    fn value(&mut self, node: Node<'a>) {
        self.last = self.last.max(node.span.end);
        let depth = self.built.frames().len();
        while let Some((_, name)) = self.unnamed.pop_if(|(around, _)| *around == depth) {
            self.anchors.insert(name, Some(node));
        }
        if self.built.frames().last().is_some_and(|frame| frame.record && frame.key.is_none()) {
            self.check_key(&node);
            self.built.innermost().into_iter().for_each(|frame| frame.key = Some(node));
            return;
        }
        self.is_whole |= depth == 0;
        if let Some(block) = self.blocks.get_mut(depth.wrapping_sub(1)) {
            block.expects = false;
        }
        self.built.value(node);
    }

    /// Reports a key that is a list, a record or a merge key (`<<`).
    fn check_key(&mut self, node: &Node<'a>) {
        match node.kind {
            NodeKind::Text(Text { text: "<<", style: Style::Plain, .. }) if !self.repeats => {
                self.refuse(node.span, "a merge key", "write the entries out, or use the step `merge`");
            }
            NodeKind::List(_) | NodeKind::Record(_) if !self.is_cut => {
                self.diagnostics.push_with(Code::BadYaml, || {
                    Diagnostic::new(Code::BadYaml, node.span, "a key is a text")
                        .expected("a text", node.kind_name())
                        .help("put quotes around a text that begins with `{` or `[`")
                });
            }
            _ => {}
        }
    }

    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        self.diagnostics.push_with(Code::YamlFeature, || {
            Diagnostic::new(Code::YamlFeature, span, format!("{what} is not part of this notation"))
                .expected("a plain value", what)
                .help(help)
        });
    }

    /// Reads the anchors before a value, and an alias in place of one, whose node it returns; refuses them in
    /// a program, and tags. `!` before a reference begins a text. Also whether the value is on this line.
    fn features(&mut self) -> (bool, Option<Node<'a>>) {
        loop {
            let rest = self.rest();
            let word = rest.split([' ', '\t', '\n', '\r', ',', ']', '}']).next().unwrap_or(rest);
            let name = word.get(1..).unwrap_or("");
            let what = match self.byte(self.at) {
                b'&' if !name.is_empty() => "an anchor",
                b'*' if !self.anchors.is_empty() => "an alias",
                b'!' if !word.starts_with("!$") => "a tag",
                _ => return (true, None),
            };
            let span = Span::new(offset(self.at), offset(self.at + word.len()));
            self.at += word.len();
            self.last = span.end;
            if !self.repeats || what == "a tag" {
                self.refuse(span, what, "leave it out, or put quotes around the text");
            } else if what == "an alias" {
                let named = self.anchors.get(name).copied().flatten();
                if named.is_none() {
                    self.refuse(span, "an alias of what is not complete before it", "write the value");
                }
                return (true, named.or_else(|| Some(null(span.start))));
            }
            if what == "an anchor" {
                self.anchors.insert(name, None);
                self.unnamed.push((self.built.frames().len(), name));
            }
            if !self.more_in_line() {
                return (false, None);
            }
        }
    }

    /// Reads the key or the value here; true if it is a key, whose value may follow on the line. A key may be
    /// here where a record may begin.
    fn node(&mut self, begins: bool) -> Result<bool, Fatal> {
        let (start, unnamed) = (self.at, self.unnamed.len());
        let (true, alias) = self.features() else { return Ok(false) };
        if alias.is_none() && begins && (matches!(self.byte(self.at), b'}' | b']') || self.is_sign(b'?')) {
            return Err(recovery::no_key(self.at, self.byte(self.at)));
        }
        if alias.is_none()
            && begins
            && let Some(node) = self.key()
        {
            self.begin_entry(start, true)?;
            // An anchor on its line names the key.
            self.unnamed.truncate(unnamed);
            self.value(node);
            return Ok(true);
        }
        self.may_begin(self.at, false)?;
        if !begins && self.is_sign(b'-') && self.line_end(self.at) > self.at + 1 {
            return Err(recovery::out_of_place(self.at, 0, None, true));
        }
        let text = match alias {
            None if !begins => self.nested_keys(self.plain_end(self.at).0)?,
            alias => alias,
        };
        let is_bracket = matches!(self.byte(self.at), b'{' | b'[') && !self.is_text_in_brackets();
        let node = match self.byte(self.at) {
            _ if let Some(text) = text => text,
            b'"' | b'\'' => self.quoted_value()?,
            b'{' | b'[' if is_bracket => self.doubled().map_or_else(|| self.brackets(), Ok)?,
            b'|' | b'>' if let Some(text) = self.block_text() => text,
            _ => self.plain_value()?,
        };
        self.value(node);
        self.end_pairs();
        // Other values take the rest of their line.
        if is_bracket { self.end_of_line().map(|()| false) } else { Ok(false) }
    }

    /// Reports what follows a complete value on its line.
    fn end_of_line(&mut self) -> Result<(), Fatal> {
        if self.more_in_line() { Err(recovery::no_key(self.at, self.byte(self.at))) } else { Ok(()) }
    }

    /// The key on this line; the cursor goes behind its colon.
    fn key(&mut self) -> Option<Node<'a>> {
        let start = self.at;
        let quote = matches!(self.byte(start), b'"' | b'\'');
        let end = match self.byte(start) {
            b'{' | b'[' => return None,
            _ if quote => self.quote_end(start)?,
            _ => self.key_end(start)?,
        };
        let colon =
            end + (self.source.get(end..)?.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count());
        if self.byte(colon) != b':' || !self.is_blank(colon + 1) {
            return None;
        }
        let node = if quote { self.quoted(None)? } else { self.plain(start..end) };
        self.at = colon + 1;
        Some(node)
    }

    /// Further keys in a value behind its key, where a record with them is meant, as in `return: error: no`:
    /// reports them and begins the records. The last value, if it is a text with signs of YAML.
    fn nested_keys(&mut self, end: usize) -> Result<Option<Node<'a>>, Fatal> {
        let start = self.at;
        let value = self.source.get(start..end).unwrap_or("").trim_end();
        let before = self.source.get(self.line..start).unwrap_or("");
        let Some(nested) = recovery::nested_keys(before, value, start) else { return Ok(None) };
        self.diagnostics.push(nested.wrong);
        for key in nested.keys {
            self.open(true, offset(start + key.start))?;
            let key = self.plain(start + key.start..start + key.end);
            self.value(key);
        }
        self.at = start + nested.rest;
        Ok(nested.is_text.then(|| {
            self.at = end;
            self.text(start + nested.rest..start + value.len())
        }))
    }

    /// Opens a list or record.
    fn open(&mut self, record: bool, at: u32) -> Result<(), Fatal> {
        self.last = self.last.max(at);
        if self.built.open(record, at) {
            Ok(())
        } else {
            Err(Box::new(crate::document::too_deep(Span::at(at))))
        }
    }

    /// Ends the records that are neither blocks nor in braces.
    fn end_pairs(&mut self) {
        while let Some(frame) = self.built.frames().get(self.blocks.len()..).and_then(<[_]>::last)
            && frame.record
            && self.byte(frame.open as usize) != b'{'
        {
            self.pop(self.last);
        }
    }

    /// Reports a text after a key that YAML takes for a comment: `channel: #general`.
    fn commented(&mut self) {
        let value = self.source.get(self.at..self.line_end(self.at)).unwrap_or("").trim_end();
        if value.strip_prefix('#').is_some_and(|rest| rest.starts_with(char::is_alphanumeric)) {
            let span = Span::new(offset(self.at), offset(self.at + value.len()));
            self.diagnostics.push(recovery::comment(span, value));
        }
    }
}

/// A value that is left out.
fn null<'a>(at: u32) -> Node<'a> {
    Node { kind: NodeKind::Null, span: Span::at(at) }
}
