//! Reports values after the end of a statement on its line that were meant as part of it.
//!
//! Line breaks have no meaning here, so `CONCAT LIT 0 "a" REF 0 LIT 0 "b"` is a complete CONCAT of two values
//! and then an unused text. If that is certain, because something follows it in its block or the statement
//! before it leaves the function, it is an error that says what to write.

use super::parser::{Parser, Refusal};
use super::state::Stop;
use crate::ast::{Binary, Bound, Expr, ExprKind, Stmt, StmtKind};
use crate::diagnostic::{Diagnostic, Fix};
use crate::span::Span;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::unknown_token::Place;
use crate::text::shorten;
use ilo_spec::error::Code;

impl<'a> Parser<'_, 'a> {
    /// Rejects the last values of the current block: they are on the line of the statement before them.
    #[cold]
    pub(crate) fn trailing_values(&mut self, values: usize) -> Result<(), Stop> {
        let first = self.scratch.statements.len().saturating_sub(values);
        let (Some(stray), Some(last)) = (self.scratch.statements.get(first), self.scratch.statements.last())
        else {
            return Ok(());
        };
        let span = stray.span.to(last.span);
        let text = shorten(self.context.source.get(span.range()).unwrap_or(""));
        let wrong =
            Diagnostic::new(Code::UnexpectedText, span, "this follows the end of a statement on its line")
                .expected("the end of the line", format!("`{text}`"));
        let before =
            first.checked_sub(1).and_then(|before| self.scratch.statements.get(before)).and_then(value);
        let wrong = match before {
            Some(before) => self.longer(wrong, &before, values),
            None => wrong.help("a statement that is meant is on a line of its own"),
        };
        self.tolerate(wrong)
    }

    /// Whether the statement before this number of values leaves the function.
    pub(crate) fn left_before(&self, values: usize) -> bool {
        let before = self
            .scratch
            .statements
            .len()
            .checked_sub(values + 1)
            .and_then(|before| self.scratch.statements.get(before));
        before.is_some_and(|before| matches!(before.kind, StmtKind::Return(..) | StmtKind::Fail(_)))
    }

    /// How to write an expression with this number of additional values.
    fn longer(&self, wrong: Diagnostic, value: &Expr<'a>, more: usize) -> Diagnostic {
        let Some((word, next)) = self.word_at(value.span.start) else { return wrong };
        let chain = match value.kind {
            ExprKind::Binary(operator, _, right) => {
                let chains =
                    matches!(operator, Binary::Add | Binary::Mul | Binary::Concat | Binary::And | Binary::Or);
                chains && !matches!(right.kind, ExprKind::Binary(..))
            }
            ExprKind::List(items) => {
                let count = (items.len() + more).to_string();
                return wrong
                    .help("the count is the number of values that follow")
                    .replace(next.span(), count);
            }
            ExprKind::Call(_) | ExprKind::Record(_) => {
                return wrong.help(format!("`{word}` counts pairs: each is a field's number and a value"));
            }
            ExprKind::Ref(_) | ExprKind::Literal(_) => {
                return wrong.help("an operator comes before its operands: `CONCAT REF 0 REF 1`");
            }
            _ => false,
        };
        let takes = match value.kind {
            ExprKind::Binary(..) => "two values",
            _ => "one value",
        };
        if !chain {
            return wrong.help(format!("`{word}` takes {takes}: bind what else is worked out, a line each"));
        }
        let wrong = wrong.help(format!("`{word}` takes two values; for three, write `{word} {word} …`"));
        let text = format!("{word} ").repeat(more);
        let form = shorten(&format!("{text}{word}"));
        wrong.fix(Fix::write(&form, Span::at(value.span.start), text))
    }

    /// The word at a position, and the next token.
    fn word_at(&self, start: u32) -> Option<(&'a str, &Token)> {
        let at = self.context.tokens.partition_point(|token| token.start < start);
        Some((self.text(self.token(at)?), self.token(at + 1)?))
    }

    /// Adds what to write for a token that cannot begin a statement but follows one on its line.
    pub(crate) fn behind_statement(&mut self, token: &Token, Refusal(wrong): Refusal) -> Refusal {
        const REMOVE: &str = "remove it, or write the instruction that it belongs to";
        let Some(value) = self.scratch.statements.last().and_then(value) else {
            return Refusal(wrong.help(REMOVE));
        };
        match value.kind {
            ExprKind::Field(..) if token.kind == Kind::Integer => Refusal(
                wrong
                    .help("a field of a field is `FIELD FIELD <slot> <field> <field>`")
                    .replace(Span::at(value.span.start), "FIELD "),
            ),
            _ => {
                let found = self.habit_behind(Place::End, value.span);
                Refusal(wrong).advised(found, token.span(), || REMOVE.to_owned())
            }
        }
    }
}

/// The value with which a statement ends.
pub(crate) fn value<'a>(statement: &Stmt<'a>) -> Option<Expr<'a>> {
    match statement.kind {
        StmtKind::Let { value: Bound::Expr(value), .. }
        | StmtKind::Value(value)
        | StmtKind::Return(_, value)
        | StmtKind::Fail(value) => Some(value),
        _ => None,
    }
}

/// Whether a statement is only a value, without calls.
pub(crate) fn is_value(statement: &Stmt<'_>) -> bool {
    matches!(statement.kind, StmtKind::Value(value) if !value.calls())
}
