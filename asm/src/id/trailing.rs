//! Values after the end of a statement on its line that were meant as part of it.
//!
//! Line breaks have no meaning here, so `CONCAT LIT 0 "a" REF 0 LIT 0 "b"` is a complete CONCAT of two values
//! and then an unused text. If that is certain, because something follows it in its block or the statement
//! before it leaves the function, it is read as part of it where only one thing can be meant.

use super::messages::PREFIX;
use super::parser::Parser;
use super::state::{Nesting, Stop};
use crate::ast::{Binary, Bound, Expr, ExprKind, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::registry;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

impl<'a> Parser<'_, 'a> {
    /// Handles the last values of the current block, which are on the line of the statement before them. The
    /// number of those that were read as part of it.
    #[cold]
    pub(crate) fn trailing_values(&mut self, values: usize, nesting: Nesting) -> u32 {
        let first = self.scratch.statements.len().saturating_sub(values);
        let (Some(stray), Some(last)) = (self.scratch.statements.get(first), self.scratch.statements.last())
        else {
            return 0;
        };
        let span = stray.span.to(last.span);
        let before =
            first.checked_sub(1).and_then(|before| self.scratch.statements.get(before)).and_then(value);
        let levels = |before: &Expr<'a>| usize::from(nesting.depth) + levels(before) + values;
        if let Some(before) = before.filter(goes_on)
            && levels(&before) <= usize::from(self.context.max_depth)
        {
            self.lengthen(first, &before, span);
            return u32::try_from(values).unwrap_or(u32::MAX);
        }
        let text = shorten(self.context.source.get(span.range()).unwrap_or(""));
        let message = "this follows the end of a statement on its line";
        let wrong = Diagnostic::new(Code::UnexpectedText, span, message)
            .expected("the end of the line", format!("`{text}`"));
        self.tolerate(wrong.help(match before.map(|before| before.kind) {
            Some(ExprKind::Call(_)) => "`CALL` counts pairs: each is a field's number and a value",
            Some(ExprKind::Record(_)) => "`OBJ` counts pairs: each is a field's number and a value",
            Some(ExprKind::Ref(_) | ExprKind::Literal(_)) => PREFIX,
            Some(_) => "bind what else is worked out, a line each",
            None => "a statement that is meant is on a line of its own",
        }));
        0
    }

    /// Makes the statements from `first` on part of the value before them.
    fn lengthen(&mut self, first: usize, before: &Expr<'a>, behind: Span) {
        let arena = self.context.arena;
        let strays: Vec<Expr<'a>> =
            self.scratch.statements.drain(first..).filter_map(|s| value(&s)).collect();
        let token_at = |start: u32| self.context.tokens.partition_point(|token| token.start < start);
        let (from, to, count) =
            (token_at(behind.start), token_at(behind.end), token_at(before.span.start) + 1);
        let kind = match before.kind {
            ExprKind::Binary(operator, ..) => {
                let add = |left: Expr<'a>, right: &Expr<'a>| Expr {
                    kind: ExprKind::Binary(operator, arena.alloc(left), arena.alloc(*right)),
                    span: before.span.to(right.span),
                };
                strays.iter().fold(*before, add).kind
            }
            ExprKind::List(items) => {
                let items: Vec<Expr<'a>> = items.iter().copied().chain(strays).collect();
                if let Some(layout) = &mut self.layout {
                    layout.counts.push((count, u32::try_from(items.len()).unwrap_or(u32::MAX)));
                }
                ExprKind::List(arena.alloc_slice_copy(&items))
            }
            kind => kind,
        };
        if let Some(layout) = &mut self.layout {
            // They begin no lines.
            let line = |token: usize| layout.lines.partition_point(|&(line, _)| line < token);
            let lines = line(from)..line(to);
            layout.lines.drain(lines);
        }
        self.replace_value(Expr { kind, span: before.span.to(behind) });
    }

    /// Gives the last statement another value.
    fn replace_value(&mut self, new: Expr<'a>) {
        let Some(last) = self.scratch.statements.last_mut() else { return };
        last.span = last.span.to(new.span);
        if let StmtKind::Let { value: Bound::Expr(value), .. }
        | StmtKind::Value(value)
        | StmtKind::Return(_, value)
        | StmtKind::Fail(value) = &mut last.kind
        {
            *value = new;
        }
    }

    /// A field behind a FIELD on its line, `FIELD 0 0 1`: read as `FIELD FIELD 0 0 1`. The statements of the
    /// block begin at `first`.
    pub(crate) fn longer_path(&mut self, first: usize, nesting: Nesting) -> Result<bool, Stop> {
        let token = self.state.current;
        if token.kind != Kind::Integer || token.first || self.scratch.statements.len() <= first {
            return Ok(false);
        }
        let before = self.scratch.statements.last().and_then(value);
        let Some(before) = before.filter(|value| matches!(value.kind, ExprKind::Field(..))) else {
            return Ok(false);
        };
        let named = super::numbers::digits(self.text(&token))
            .and_then(|id| self.names.registries.get(registry::Kind::Fields).name(id));
        let depth = usize::from(nesting.depth) + levels(&before) + 1;
        if named.is_none() || depth > usize::from(self.context.max_depth) {
            return Ok(false);
        }
        let name = self.field_name(Word::Field)?;
        let kind = ExprKind::Field(self.context.arena.alloc(before), name);
        self.replace_value(Expr { kind, span: before.span.to(name.span) });
        Ok(true)
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
}

/// Whether a value that follows can only be one more of this expression: an operator that chains, or a list.
fn goes_on(before: &Expr<'_>) -> bool {
    match before.kind {
        ExprKind::Binary(operator, _, right) => {
            matches!(operator, Binary::Add | Binary::Mul | Binary::Concat | Binary::And | Binary::Or)
                && !matches!(right.kind, ExprKind::Binary(..))
        }
        ExprKind::List(_) => true,
        _ => false,
    }
}

/// Adds what to write for a token that cannot begin a statement but follows one on its line.
pub(crate) fn behind_statement(token: &Token, wrong: Diagnostic) -> Diagnostic {
    const REMOVE: &str = "remove it, or write the instruction that it belongs to";
    wrong.help(if token.kind == Kind::Operator { PREFIX } else { REMOVE })
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

/// The levels of nesting of an expression, which is as deep as the reader allows.
fn levels(value: &Expr<'_>) -> usize {
    let mut most = 0;
    value.children(|child| most = most.max(levels(child)));
    most + 1
}
