//! The names that a text may refer to, for the survey of a program before it is read.
//!
//! This is not a parser: what cannot be read as an expression has names too, so that a mistake in an
//! expression is not followed by messages that nothing reads its names. Each byte is read once.

use super::reference::INPUT;
use crate::text::name_end;
use smallvec::SmallVec;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used<'a> {
    /// It may be the name of a step.
    Name(&'a str),
    /// It is written as an input: `.x`, `$.x`, `input.x`; `input` for all inputs.
    Input(&'a str),
    /// It is in quotes in an expression.
    Quoted(&'a str),
}

/// What a position is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    /// A text; in an expression, with the quote that ends it.
    Text(Option<u8>),
    /// `f'…{x}…'`, with the quote that ends it.
    Marked(u8),
    /// An expression.
    Expression,
}

/// Passes on the names in a text, and the words in quotes. If `whole` is set, the text itself is an
/// expression.
pub(crate) fn used<'a>(text: &'a str, whole: bool, each: &mut dyn FnMut(Used<'a>)) {
    // Most texts have no sign that begins a reference.
    let signs = text.bytes().position(|byte| matches!(byte, b'$' | b'{'));
    let Some(at) = (if whole { Some(0) } else { signs }) else { return };
    let mut within = SmallVec::new();
    within.push(if whole { In::Expression } else { In::Text(None) });
    let mut scan = Scan { text, at, within };
    while scan.at < text.len() {
        match scan.within.last() {
            Some(In::Expression) => scan.expression(each),
            Some(&In::Text(quote)) => scan.plain(quote, false, each),
            Some(&In::Marked(quote)) => scan.plain(Some(quote), true, each),
            None => return,
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    within: SmallVec<[In; 8]>,
}

impl<'a> Scan<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Moves over one character.
    fn skip(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        self.at += rest.chars().next().map_or(1, char::len_utf8);
    }

    /// In a text: names behind `$`, and braces; in a marked one also braces without `$`.
    fn plain(&mut self, quote: Option<u8>, marked: bool, each: &mut dyn FnMut(Used<'a>)) {
        let next = self.byte(self.at + 1);
        match self.byte(self.at) {
            Some(byte) if quote == Some(byte) => {
                self.within.pop();
                self.at += 1;
            }
            Some(b'\\') if quote.is_some() => {
                self.at += 1;
                self.skip();
            }
            Some(b'$') if next == Some(b'$') => self.at += 2,
            Some(b'$' | b'{') if next == Some(b'{') => self.enter(2),
            Some(b'{') if marked => self.enter(1),
            Some(b'$') => {
                self.at += 1;
                self.name(each);
            }
            _ => self.skip(),
        }
    }

    /// Enters the braces whose signs are at the cursor.
    fn enter(&mut self, signs: usize) {
        self.within.push(In::Expression);
        self.at += signs;
    }

    /// In an expression.
    fn expression(&mut self, each: &mut dyn FnMut(Used<'a>)) {
        match self.byte(self.at) {
            Some(quote @ (b'\'' | b'"')) => {
                let marked = matches!(self.at.checked_sub(1).and_then(|at| self.byte(at)), Some(b'f' | b'F'));
                self.within.push(if marked { In::Marked(quote) } else { In::Text(Some(quote)) });
                self.at += 1;
                if let Some(end) = name_end(self.text, self.at).filter(|end| self.byte(*end) == Some(quote)) {
                    each(Used::Quoted(self.part(self.at, end)));
                }
            }
            Some(b'{') => self.enter(1),
            Some(b'}') => {
                // One of the text itself closes nothing.
                if self.within.len() > 1 {
                    self.within.pop();
                }
                self.at += 1;
            }
            Some(b'0'..=b'9') => self.number(),
            Some(b'$') => self.at += 1,
            // The dots of `...x` begin no input.
            Some(b'.') if self.part(self.at, self.at + 3) == "..." => self.at += 3,
            Some(b'.') if self.follows_value() => {
                self.at += 1;
                let field = name_end(self.text, self.at);
                match field {
                    Some(end) => self.at = end,
                    None => self.number(),
                }
            }
            _ => self.name(each),
        }
    }

    fn number(&mut self) {
        while self.byte(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            self.at += 1;
        }
    }

    /// Whether a value ends directly before the cursor, so that a dot begins a field.
    fn follows_value(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("").chars().next_back();
        before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '}' | '?' | '"' | '\''))
    }

    /// A name at the cursor, or one character.
    fn name(&mut self, each: &mut dyn FnMut(Used<'a>)) {
        let mut input = self.byte(self.at) == Some(b'.');
        let mut start = self.at + usize::from(input);
        let Some(mut end) = self.end(start) else { return self.skip() };
        let root = self.part(start, end);
        if !input && root == INPUT {
            input = true;
            if matches!(self.byte(end), Some(b'.' | b'[')) {
                start = end + usize::from(self.byte(end) == Some(b'.'));
                end = self.end(start).unwrap_or(end);
            }
        }
        let found = self.part(start, end);
        let name = found
            .strip_prefix("[\"")
            .or(found.strip_prefix("['"))
            .map_or(found, |found| found.trim_end_matches(']').trim_end_matches(['"', '\'']));
        let name = if name.is_empty() { INPUT } else { name };
        each(if input { Used::Input(name) } else { Used::Name(name) });
        self.at = end.max(self.at + 1);
    }

    fn part(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// The end of a name, or of `["any name"]`.
    fn end(&self, start: usize) -> Option<usize> {
        name_end(self.text, start).or_else(|| {
            let quote = self.byte(start + 1).filter(|byte| matches!(byte, b'"' | b'\''))?;
            let rest = self.text.as_bytes().get(start + 2..).filter(|_| self.byte(start) == Some(b'['))?;
            let length = rest.iter().take(256).position(|byte| *byte == quote)?;
            (rest.get(length + 1) == Some(&b']')).then_some(start + 2 + length + 2)
        })
    }
}
