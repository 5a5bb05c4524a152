//! Templates, which are texts with expressions in them: `Dear $c.name`, `${price * 2} EUR`.
//!
//! This module knows only the syntax. A text that is one expression ([`Template::whole`]) has its value and
//! type; all other templates are joined to a text.

use super::parser::Parser;
use super::reference::{Reference, Root, Words};
use super::tree::{Tree, TreeKind};
use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::Node;
use crate::span::Span;
use crate::text::name_end;
use bumpalo::collections::String as ArenaString;
use ilo_spec::error::Code;
use smallvec::SmallVec;

/// The forms of references in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sigil {
    /// `$name.field`, `$.input` and `${…}`: tool calling, workflow, MCP.
    Dollar,
    /// Only `${…}`: constrained.
    Braces,
}

/// A parsed template.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// Texts and values in order, without adjacent or empty texts.
    pub parts: &'a [Part<'a>],
    /// Text that would be a reference in other languages.
    pub look_alikes: &'a [LookAlike<'a>],
}

/// A part of a template.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Text with `$$` replaced by `$`, and its position.
    Text(&'a str, Span),
    /// A reference in the form of the notation, without braces.
    Reference(Reference<'a>),
    /// What braces hold.
    Value(&'a Tree<'a>),
    /// Something that was reported.
    Bad(Span),
}

/// What a piece of text would be in other languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A reference.
    Reference,
    /// More than a reference: `{{x * 2}}`, `{{x | upper}}`, `{len(x)}`, `$x.upper()`, `$x?.f`.
    Computed,
    /// A reference with an index, of which the part before the index is a reference here: `$x.0.name`.
    Indexed,
    /// A reference behind `$$`: `$${x}`.
    Escaped,
}

/// Text that would be a reference in other languages: `{{x}}`, `{x}`, `$(x)`, and `$x` if only `${…}` is a
/// reference.
///
/// It is text here. If its name is in scope, [`LookAlike::warning`] says what was probably meant.
#[derive(Clone, Copy, Debug)]
pub struct LookAlike<'a> {
    /// What it looks like.
    pub look: Look,
    /// The reference that it would be.
    pub reference: Reference<'a>,
    /// Its byte range in the text.
    from: usize,
    to: usize,
}

impl<'a> Template<'a> {
    /// The part that is the whole text, if it is no text.
    pub fn whole(&self) -> Option<Part<'a>> {
        match self.parts {
            [Part::Text(..)] => None,
            [part] => Some(*part),
            _ => None,
        }
    }

    /// The expressions in it.
    pub(crate) fn values(&self) -> impl Iterator<Item = Tree<'a>> + use<'a> {
        self.parts.iter().filter_map(Part::tree)
    }

    /// Whether a part was reported.
    pub(crate) fn is_bad(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Bad(_)))
    }

    /// The text, if it has no references.
    pub fn text(&self) -> Option<&'a str> {
        match self.parts {
            [] => Some(""),
            [Part::Text(text, _)] => Some(text),
            _ => None,
        }
    }
}

impl<'a> Part<'a> {
    /// The expression, if it is one.
    pub fn tree(&self) -> Option<Tree<'a>> {
        match self {
            Part::Value(tree) => Some(**tree),
            Part::Reference(reference) => {
                let (kind, levels) = (TreeKind::Path(*reference), reference.path.len() + 1);
                Some(Tree { kind, span: reference.span, levels })
            }
            Part::Text(..) | Part::Bad(_) => None,
        }
    }
}

impl LookAlike<'_> {
    /// Whether it is the whole text.
    pub fn is_whole(&self, node: &Node<'_>) -> bool {
        self.from == 0 && node.text().is_some_and(|text| text.len() == self.to)
    }

    /// The text that contains it, after escapes.
    pub(crate) fn shown<'n>(&self, node: &Node<'n>) -> &'n str {
        node.text().and_then(|text| text.get(self.from..self.to)).unwrap_or("")
    }

    /// Its span; `node` is the node from which the template was read.
    pub(crate) fn span(&self, node: &Node<'_>) -> Span {
        node.part(self.from..self.to)
    }

    /// The warning that this text is not a reference; `node` is the node from which the template was read,
    /// `meant` the correct form of the reference or expression.
    pub fn warning(&self, node: &Node<'_>, meant: &str) -> Diagnostic {
        let arena = Arena::new();
        let (span, shown) = (self.span(node), self.shown(node));
        let but = match self.look {
            _ if shown.starts_with('$') && !meant.starts_with('$') => "is text here: names have no `$`",
            Look::Reference | Look::Indexed | Look::Escaped => "is text here, not a reference",
            Look::Computed => "is text here: nothing is computed in it",
        };
        let wrong = Diagnostic::new(Code::TextReference, span, format!("`{shown}` {but}"))
            .expected(format!("`{meant}` for the value"), format!("`{shown}`"))
            .help(format!("write `{meant}`"));
        match Words::of(node, &arena) {
            Some(words) => words.fix(wrong, self.from, self.to, meant),
            None => wrong,
        }
    }
}

/// Parses the text of a node, of at most `nesting` levels. A node that is not a text has no parts.
///
/// What is wrong in braces is reported, and a part of its own. Time and memory are linear in the text.
pub fn template<'a>(
    node: &Node<'a>,
    sigil: Sigil,
    nesting: usize,
    arena: &'a Arena,
    diagnostics: &mut Diagnostics,
) -> Template<'a> {
    match Words::of(node, arena) {
        Some(words) => template_of(&words, (sigil, nesting, 0), diagnostics),
        None => Template { parts: &[], look_alikes: &[] },
    }
}

/// Where a text is read: its sigil, the allowed nesting, and the number of braces around it.
pub(super) type At = (Sigil, usize, u8);

/// Parses a text.
pub(super) fn template_of<'a>(words: &Words<'_, 'a>, at: At, diagnostics: &mut Diagnostics) -> Template<'a> {
    let only = |part: Part<'a>| -> Template<'a> {
        Template { parts: words.arena.alloc_slice_copy(&[part]), look_alikes: &[] }
    };
    if words.text.is_empty() {
        return Template { parts: &[], look_alikes: &[] };
    }
    if !words.text.bytes().any(|byte| matches!(byte, b'$' | b'{')) {
        return only(Part::Text(words.text, words.part(0, words.text.len())));
    }
    if at.0 == Sigil::Dollar
        && words.text.starts_with('$')
        && let Some((reference, end)) = words.dollar(0, true)
    {
        if end == words.text.len() {
            return only(Part::Reference(reference));
        }
        if words.byte(end) == Some(b'[')
            && let Some(path) = super::parser::bracketed(words, at)
        {
            return only(Part::Value(words.arena.alloc(path)));
        }
    }
    let mut reader = Reader {
        words,
        at,
        diagnostics,
        parts: SmallVec::new(),
        look_alikes: SmallVec::new(),
        text: Run::default(),
    };
    reader.read();
    let Reader { parts, look_alikes, .. } = reader;
    Template {
        parts: words.arena.alloc_slice_copy(&parts),
        look_alikes: words.arena.alloc_slice_copy(&look_alikes),
    }
}

/// The most bytes between brackets of another language that are searched for their end.
const LONGEST: usize = 400;

/// The current text between references: a range of the source text, or a copy from the first `$$` on.
#[derive(Default)]
struct Run<'a> {
    from: usize,
    copied: Option<ArenaString<'a>>,
    /// The position up to which it was copied.
    done: usize,
}

struct Reader<'r, 'n, 'a> {
    words: &'r Words<'n, 'a>,
    at: At,
    diagnostics: &'r mut Diagnostics,
    parts: SmallVec<[Part<'a>; 8]>,
    look_alikes: SmallVec<[LookAlike<'a>; 2]>,
    text: Run<'a>,
}

impl<'a> Reader<'_, '_, 'a> {
    fn read(&mut self) {
        let mut at = 0;
        loop {
            let rest = self.words.text.as_bytes().get(at..).unwrap_or_default();
            let Some(next) = rest.iter().position(|byte| matches!(byte, b'$' | b'{')) else { break };
            at += next;
            at = if self.words.byte(at) == Some(b'{') { self.brace(at) } else { self.dollar(at) };
        }
        self.end_text(self.words.text.len());
    }

    /// Handles what begins with `$`. Returns where parsing continues.
    fn dollar(&mut self, at: usize) -> usize {
        match self.words.byte(at + 1) {
            Some(b'$') => {
                self.escaped(at);
                // A brace after it is text too.
                let brace = self.words.byte(at + 2) == Some(b'{');
                if brace {
                    self.escaped_reference(at);
                }
                return at + 2 + usize::from(brace);
            }
            Some(b'{') => return self.braces(at),
            Some(b'(') => return self.look_alike(at, at + 2, ")"),
            _ => {}
        }
        let Some((reference, end)) = self.words.dollar(at, false) else { return at + 1 };
        let long = self.longer(at, end);
        if self.at.0 == Sigil::Braces {
            if self.look_alikes.last().is_none_or(|last| last.from != at) {
                self.look_alikes.push(LookAlike { look: Look::Reference, reference, from: at, to: end });
            }
            return end;
        }
        if let Some((wrong, end)) = self.words.bracket(at, end).or_else(|| self.words.bracket(at, long?)) {
            self.diagnostics.push(wrong);
            return self.part(at, Part::Bad(self.words.part(at, end)), end);
        }
        self.part(at, Part::Reference(reference), end)
    }

    /// `${E}`.
    fn braces(&mut self, at: usize) -> usize {
        let place = self.words;
        match Parser::braced(place, at, self.at, self.diagnostics) {
            Ok((tree, end)) => self.part(at, Part::Value(place.arena.alloc(tree)), end),
            Err(end) => self.part(at, Part::Bad(place.part(at, end)), end),
        }
    }

    /// Notes that `$$` is before a reference in braces, which is text.
    fn escaped_reference(&mut self, at: usize) {
        let before = self.look_alikes.len();
        let to = self.look_alike(at + 2, at + 3, "}");
        if let Some(found) = self.look_alikes.get_mut(before) {
            *found = LookAlike { look: Look::Escaped, from: at, to, ..*found };
        }
    }

    /// Notes syntax of another language behind a reference; returns where it ends before brackets.
    fn longer(&mut self, at: usize, end: usize) -> Option<usize> {
        let (reference, to) = self.words.dollar(at, true)?;
        if self.words.byte(to) == Some(b'[') {
            return Some(to);
        }
        let behind = self.words.get(to, self.words.text.len());
        if behind.starts_with("?.") {
            let to = self.words.path_end(to + 1);
            self.look_alikes.push(LookAlike { look: Look::Computed, reference, from: at, to });
            return None;
        }
        let called = behind.starts_with("()");
        if called && !reference.path.is_empty() {
            self.look_alikes.push(LookAlike { look: Look::Computed, reference, from: at, to: to + 2 });
        } else if to > end {
            self.look_alikes.push(LookAlike { look: Look::Indexed, reference, from: at, to });
        }
        None
    }

    /// Handles what begins with `{`.
    fn brace(&mut self, at: usize) -> usize {
        if self.words.byte(at + 1) == Some(b'{') {
            self.look_alike(at, at + 2, "}}")
        } else {
            self.look_alike(at, at + 1, "}")
        }
    }

    /// A name with fields between brackets of another language: it is text, and noted.
    fn look_alike(&mut self, at: usize, inside: usize, close: &str) -> usize {
        let start = self.words.blanks(inside);
        // The reader of references skips one byte before the name, normally `$`.
        let sigil = if self.words.byte(start) == Some(b'$') { start } else { start - 1 };
        if (name_end(self.words.text, sigil + 1).is_some() || self.words.byte(sigil + 1) == Some(b'.'))
            && let Some((reference, end)) = self.words.dollar(sigil, true)
        {
            let end = self.words.blanks(end);
            let rest = self.words.get(end, self.words.text.len());
            if rest.starts_with(close) {
                let to = end + close.len();
                self.look_alikes.push(LookAlike { look: Look::Reference, reference, from: at, to });
                return to;
            }
            return self.computed(at, end, close, Some(reference));
        }
        self.computed(at, start, close, None)
    }

    /// Notes what is in brackets and is more than a reference, up to the next bracket, if that is near.
    fn computed(&mut self, at: usize, from: usize, close: &str, begins: Option<Reference<'a>>) -> usize {
        let rest = self.words.get(from, self.words.text.len());
        // Another reference is read, unless it is an operand.
        let operator = rest.starts_with(['|', '+', '-', '*', '/', '%', '<', '>', '=', '!', '?', '&']);
        let whole = operator && close == "}}" && begins.is_some();
        let mut open = 0_i32;
        let ends = |byte: u8| {
            open += i32::from(byte == b'(') - i32::from(byte == b')');
            matches!(byte, b'{' | b'}' | b'\n') || (byte == b'$' && !whole) || (open < 0 && close == ")")
        };
        let found = rest.bytes().take(LONGEST).position(ends).map(|more| from + more);
        match found.filter(|&to| self.words.get(to, to + close.len()) == close) {
            Some(end) => {
                let (to, span) = (end + close.len(), self.words.part(at, end));
                let reference = begins.unwrap_or(Reference { root: Root::Input, path: &[], span });
                self.look_alikes.push(LookAlike { look: Look::Computed, reference, from: at, to });
                to
            }
            None => at + 1,
        }
    }

    fn part(&mut self, at: usize, part: Part<'a>, end: usize) -> usize {
        self.end_text(at);
        self.parts.push(part);
        self.text.from = end;
        end
    }

    /// `$$`: the text before it and one `$` are copied.
    fn escaped(&mut self, at: usize) {
        let from = if self.text.copied.is_some() { self.text.done } else { self.text.from };
        let arena = self.words.arena;
        let copied = self.text.copied.get_or_insert_with(|| ArenaString::new_in(&arena.0));
        copied.push_str(self.words.get(from, at + 1));
        self.text.done = at + 2;
    }

    /// Ends the text before `at`.
    fn end_text(&mut self, at: usize) {
        let text = match self.text.copied.take() {
            Some(mut copied) => {
                copied.push_str(self.words.get(self.text.done, at));
                copied.into_bump_str()
            }
            None => self.words.get(self.text.from, at),
        };
        if !text.is_empty() {
            self.parts.push(Part::Text(text, self.words.part(self.text.from, at)));
        }
    }
}
