//! Templates, which are texts with expressions in them: `Dear $c.name`, `${price * 2} EUR`.
//!
//! This module knows only the syntax. A text that is one expression ([`Template::whole`]) has its value and
//! type; all other templates are joined to a text.

use super::parser::Parser;
use super::reference::{Reference, Words};
use super::tree::{Tree, TreeKind};
use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::document::Node;
use crate::span::Span;
use bumpalo::collections::String as ArenaString;
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
    /// Text that would be a value in other languages.
    pub(crate) look_alikes: &'a [LookAlike],
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

/// Text that would be a value in other languages: `{{x}}`, `{x * 2}`, `$(x)`, `<%= x %>`, a reference with
/// more behind it (`$x.0`, `$x?.f`, `$x.upper()`), and `$x` if only `${…}` is a reference. It is text here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookAlike {
    /// Whether its beginning is a reference here too.
    pub(crate) behind: bool,
    /// Its byte range in the text, and that of the expression in it.
    pub(crate) whole: (usize, usize),
    pub(crate) inside: (usize, usize),
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
pub(super) type Setting = (Sigil, usize, u8);

/// Parses a text.
pub(super) fn template_of<'a>(
    words: &Words<'_, 'a>,
    at: Setting,
    diagnostics: &mut Diagnostics,
) -> Template<'a> {
    let only = |part: Part<'a>| -> Template<'a> {
        Template { parts: words.arena.alloc_slice_copy(&[part]), look_alikes: &[] }
    };
    if words.text.is_empty() {
        return Template { parts: &[], look_alikes: &[] };
    }
    if next_sign(words.text, 0).is_none() {
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
        text: Pending::default(),
    };
    reader.read();
    let Reader { parts, look_alikes, .. } = reader;
    Template {
        parts: words.arena.alloc_slice_copy(&parts),
        look_alikes: words.arena.alloc_slice_copy(&look_alikes),
    }
}

/// The next position at which a value may begin, here or in another language.
fn next_sign(text: &str, at: usize) -> Option<usize> {
    memchr::memchr3(b'$', b'{', b'<', text.as_bytes().get(at..)?).map(|more| at + more)
}

/// The most bytes between brackets of another language that are searched for their end.
const LONGEST: usize = 400;

/// The current text between references: a range of the source text, or a copy from the first `$$` on.
#[derive(Default)]
struct Pending<'a> {
    from: usize,
    copied: Option<ArenaString<'a>>,
    /// The position up to which it was copied.
    done: usize,
}

struct Reader<'r, 'n, 'a> {
    words: &'r Words<'n, 'a>,
    at: Setting,
    diagnostics: &'r mut Diagnostics,
    parts: SmallVec<[Part<'a>; 8]>,
    look_alikes: SmallVec<[LookAlike; 2]>,
    text: Pending<'a>,
}

impl<'a> Reader<'_, '_, 'a> {
    fn read(&mut self) {
        let mut at = 0;
        while let Some(next) = next_sign(self.words.text, at) {
            at = match (self.words.byte(next), self.words.byte(next + 1)) {
                (Some(b'$'), sign) => self.dollar(next, sign),
                (Some(b'{'), Some(b'{')) => self.brackets(next, next + 2, "}}"),
                (Some(b'{'), Some(b'%')) => self.brackets(next, next + 2, "%}"),
                (Some(b'{'), _) => self.brackets(next, next + 1, "}"),
                (_, Some(b'%')) => {
                    let value = self.words.byte(next + 2) == Some(b'=');
                    self.brackets(next, next + 2 + usize::from(value), "%>")
                }
                _ => next + 1,
            };
        }
        self.end_text(self.words.text.len());
    }

    /// Handles what begins with `$` and another sign. Returns where parsing continues.
    fn dollar(&mut self, at: usize, sign: Option<u8>) -> usize {
        match sign {
            Some(b'$') => {
                self.escaped(at);
                // A brace after it is text too.
                let brace = self.words.byte(at + 2) == Some(b'{');
                if brace {
                    self.brackets(at, at + 3, "}");
                }
                return at + 2 + usize::from(brace);
            }
            Some(b'{') => return self.braces(at),
            Some(b'(') => return self.brackets(at, at + 2, ")"),
            _ => {}
        }
        let Some((reference, end)) = self.words.dollar(at, false) else { return at + 1 };
        let long = self.words.dollar(at, true).map_or(end, |(_, long)| long);
        let behind = self.words.get(long, self.words.text.len());
        let to = if behind.starts_with("?.") {
            self.words.path_end(long + 1)
        } else if behind.starts_with("()") && self.words.get(at + 2, long).contains('.') {
            long + 2
        } else {
            long
        };
        let look_alike = |behind| LookAlike { behind, whole: (at, to), inside: (at + 1, to) };
        if self.at.0 == Sigil::Braces {
            self.look_alikes.push(look_alike(false));
            return to;
        }
        if let Some((wrong, end)) = self.words.bracket(at, long) {
            self.diagnostics.push(wrong);
            return self.part(at, Part::Bad(self.words.part(at, end)), end);
        }
        if to > end {
            self.look_alikes.push(look_alike(true));
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

    /// Notes what is in brackets of another language, which is text, if their end is near. They begin at
    /// `at`, what is in them at `from`. Returns where parsing continues.
    fn brackets(&mut self, at: usize, from: usize, close: &str) -> usize {
        let rest = self.words.get(from, self.words.text.len());
        let first = rest.trim_start();
        let behind =
            first.trim_start_matches(|c: char| c.is_alphanumeric() || "_.$".contains(c)).trim_start();
        // Another reference is read, unless it is all there is or an operand.
        let operand = close == "}}"
            && behind.len() < first.len()
            && behind.starts_with(['|', '+', '-', '*', '/', '%', '<', '>', '=', '!', '?', '&']);
        let mut open = 0_i32;
        for (length, byte) in rest.bytes().take(LONGEST).enumerate() {
            let is_end = rest.get(length..).is_some_and(|rest| rest.starts_with(close));
            if is_end && (open == 0 || close != ")") {
                let to = from + length + close.len();
                let inside = (from, from + length);
                self.look_alikes.push(LookAlike { behind: false, whole: (at, to), inside });
                return to;
            }
            open += i32::from(byte == b'(') - i32::from(byte == b')');
            let begins = rest.len() - first.len() == length;
            let escaped = rest.get(length..).is_some_and(|rest| rest.starts_with("$$"));
            let reference = byte == b'$' && (escaped || !operand && !begins);
            if matches!(byte, b'{' | b'}' | b'\n') || reference {
                break;
            }
        }
        at + 1
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
