//! What follows a value: `.f`, `.0`, `?.f`, `[E]`, `[E:E]`, `.f(E, …)`.

use super::lexer::Token;
use super::parser::{CHOICE, Parser, tree};
use super::reference::{Reference, Root, Step};
use super::tree::{Kind, Tree};
use crate::ast::{Literal, Name};
use crate::text::name_end;
use ilo_spec::program::Number;

impl<'a> Parser<'_, '_, 'a> {
    /// Reads what follows a value that begins at byte `start`. The steps of a path are added to it at once.
    pub(super) fn postfix(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        let mut value = value;
        let mut steps: Vec<Step<'a>> = Vec::new();
        loop {
            if let Some((step, end)) = self.step(&value) {
                steps.push(step);
                self.go_to(end);
                continue;
            }
            value = self.with_steps(start, value, &mut steps);
            value = match self.token {
                Token::Symbol("." | "?.") if self.joined() => self.member(start, value, level)?,
                Token::Symbol("[") if self.joined() => self.brackets(start, value, level)?,
                Token::Symbol("(") if self.joined() => {
                    self.not_callable();
                    return None;
                }
                _ => return Some(value),
            };
        }
    }

    /// A path with further steps.
    fn with_steps(&mut self, start: usize, value: Tree<'a>, steps: &mut Vec<Step<'a>>) -> Tree<'a> {
        let Kind::Path(reference) = value.kind else { return value };
        if steps.is_empty() {
            return value;
        }
        let all: Vec<Step<'a>> = reference.path.iter().copied().chain(steps.drain(..)).collect();
        let span = self.words.part(start, self.before);
        let path = self.words.arena.alloc_slice_copy(&all);
        tree(Kind::Path(Reference { path, span, ..reference }), span, path.len())
    }

    /// The next step of a path at the cursor, and its end: a field, an item, or `["any name"]`.
    fn step(&self, value: &Tree<'a>) -> Option<(Step<'a>, usize)> {
        if !matches!(value.kind, Kind::Path(_)) || !self.joined() {
            return None;
        }
        match self.token {
            Token::Symbol(".") => {
                let (step, end) = self.words.dotted_step(self.from, true)?;
                let called = self.words.byte(end) == Some(b'(');
                // The path `input.0` is no input.
                (!called).then_some((step, end))
            }
            Token::Symbol("[") => self
                .words
                .any_name(self.from)
                .map(|(name, end)| (Step::Field(name), end))
                .or_else(|| self.words.item(self.from)),
            _ => None,
        }
    }

    /// `.f`, `.0`, `?.f` and `.f(…)` behind the value.
    fn member(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        let question = self.is("?.");
        // What follows an absent field is absent too.
        let optional = question || matches!(value.kind, Kind::Field(_, _, true));
        let at = self.to;
        if question && self.words.byte(at) == Some(b'[') {
            // `a?.[0]`: the brackets follow.
            self.go_to(at);
            return self.brackets(start, value, level);
        }
        if let Some(end) = name_end(self.words.text, at) {
            let name = Name { text: self.words.get(at, end), span: self.words.part(at, end) };
            if self.words.byte(end) == Some(b'(') {
                self.go_to(end + 1);
                let operands = self.operands(level)?;
                let levels = operands.iter().map(|operand| operand.value.levels).max().unwrap_or(0);
                let levels = levels.max(value.levels);
                let of = &*self.words.arena.alloc(value);
                return self.checked(Kind::Method(of, name, operands), self.until(start), levels);
            }
            self.go_to(end);
            let of = &*self.words.arena.alloc(value);
            return self.checked(Kind::Field(of, name, optional), self.until(start), of.levels);
        }
        let digits = self.words.get(at, self.words.text.len());
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(index) = self.words.get(at, at + length).parse::<i64>() {
            let span = self.words.part(at, at + length);
            let index = tree(Kind::Literal(Literal::Number(Number::Int(index))), span, 0);
            self.go_to(at + length);
            let mut item = self.pair(Kind::Item, value, index)?;
            item.span = self.until(start);
            return Some(item);
        }
        self.no_field();
        None
    }

    /// `[E]` and `[E:E]` behind the value.
    fn brackets(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        self.bump();
        let first = if self.is(":") { None } else { Some(self.expression(CHOICE, level + 1)?) };
        if !self.is(":") {
            self.close("]", "a bracket is not closed")?;
            let mut item = self.pair(Kind::Item, value, first?)?;
            item.span = self.until(start);
            return Some(item);
        }
        self.bump();
        let second = if self.is("]") { None } else { Some(self.expression(CHOICE, level + 1)?) };
        self.close("]", "a bracket is not closed")?;
        let arena = self.words.arena;
        let ends = [first, second].map(|end| end.map(|end| &*arena.alloc(end)));
        let levels = ends.iter().flatten().map(|end| end.levels).max().unwrap_or(0).max(value.levels);
        let of = &*arena.alloc(value);
        self.checked(Kind::Slice(of, ends), self.until(start), levels)
    }

    /// The span from a byte to the end of the last token.
    fn until(&self, start: usize) -> crate::span::Span {
        self.words.part(start, self.before)
    }
}

impl<'a> Tree<'a> {
    /// The name, if the expression is only that.
    pub(crate) fn name(&self) -> Option<Name<'a>> {
        match self.kind {
            Kind::Path(Reference { root: Root::Name(name), path: [], .. }) => Some(name),
            _ => None,
        }
    }
}
