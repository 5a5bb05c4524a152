//! Reports a handler beside an expression whose outermost operation cannot fail.

use super::reader::StepReader;
use super::step::Step;
use crate::ast::{Binary, Expr, ExprKind};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::Key;
use crate::document::replacement::is_repeatable;
use crate::document::{Entry, Kind, entries, shown};
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;

/// The fallible parts of an expression.
enum Fails<'a> {
    Nothing,
    /// One part, which is always evaluated.
    Once(Expr<'a>),
    /// Several parts, or one that is evaluated on a condition.
    Several,
}

impl<'a> StepReader<'_, 'a> {
    /// Reports a handler beside an expression whose outermost operation cannot fail.
    pub(super) fn handler_nowhere(&mut self, step: &Step<'_, 'a>, handler: &Entry<'a>, value: &Expr<'a>) {
        let word = shown(&handler.key);
        let found = self.source.get(value.span.range()).unwrap_or("");
        let message = format!("`{word}` is beside an expression whose outermost part cannot fail");
        let wrong = Diagnostic::new(Code::HandlerNowhere, handler.key.span, message)
            .expected(
                "a call, or a function that can fail, as the whole expression",
                format!("`{}`", shorten(found)),
            )
            .related(value.span, "the expression");
        let fails = fails(value);
        let fix = match fails {
            Fails::Once(ref part) => self.split_off(step, handler, part),
            _ => None,
        };
        let wrong = match fails {
            Fails::Nothing => wrong.help(format!(
                "nothing in it can fail: leave `{word}` out; a fault ends the run, so test for its cause with `if` \
                 before"
            )),
            _ if fix.is_some() => wrong,
            _ => wrong.help(format!(
                "give the part that can fail a step of its own with `{word}`, and refer to its name here"
            )),
        };
        self.report(wrong.fix(fix));
    }

    /// The fix that moves the fallible part and the handler to a separate step; none if the handler continues
    /// with a value, which may be meant for the whole expression.
    fn split_off(&self, step: &Step<'_, 'a>, handler: &Entry<'a>, part: &Expr<'a>) -> Option<Fix> {
        let whole = step.keyed.span;
        if !self.leaves(step, handler) || !is_repeatable(whole) {
            return None;
        }
        let ExprKind::Apply(apply) = part.kind else { return None };
        let name = format!("{}_result", apply.function.row().name.to_lowercase());
        if self.scope.find(&name).is_some() || self.survey.used_after(&name, 0) {
            return None;
        }
        let (span, infix) = self.whole_function(part.span)?;
        let of_part = self.source.get(span.range())?;
        let reference = match (self.dialect.is_bare(), infix) {
            (true, _) => format!("\"{name}\""),
            (false, true) => format!("${{{name}}}"),
            (false, false) => format!("\"${name}\""),
        };
        let edits = vec![
            Edit::insert(step.start, self.own_step(step, handler, &name, of_part)?),
            Edit::new(span, reference),
            Edit::new(entry_with_blanks(step, handler)?, ""),
        ];
        Some(Fix { title: format!("give `{}` a step of its own", shorten(of_part)), edits })
    }

    /// The source of a function call, and whether it is infix text.
    fn whole_function(&self, span: Span) -> Option<(Span, bool)> {
        let (before, behind) =
            (self.source.get(..span.start as usize)?, self.source.get(span.end as usize..)?);
        let (open, close) = (before.trim_end(), behind.trim_start());
        if open.ends_with('{') && close.starts_with('}') {
            let close = self.source.len() - close.len() + 1;
            let start = u32::try_from(open.len() - 1).ok()?;
            return Some((Span::new(start, u32::try_from(close).ok()?), false));
        }
        let written = self.source.get(span.range())?;
        written.ends_with(')').then_some((span, true))
    }

    /// The text of a step that binds a part of an expression to a name, with the handler; it ends with the
    /// separator before the next step.
    fn own_step(
        &self,
        step: &Step<'_, 'a>,
        handler: &Entry<'a>,
        name: &str,
        of_part: &str,
    ) -> Option<String> {
        let whole = step.keyed.span;
        let expr = self.dialect.word(Key::Expr);
        let handled = self.source.get(handler.key.span.start as usize..handler.value.span.end as usize)?;
        if self.source.get(whole.range())?.starts_with('{') && step.start == whole.start {
            let (colon, comma) = (self.dialect.blank(), if self.dialect.is_bare() { "," } else { ", " });
            return Some(format!(
                "{{\"let\":{colon}\"{name}\"{comma}\"{expr}\":{colon}{of_part}{comma}{handled}}}{comma}"
            ));
        }
        // Otherwise it is under a name, with its keys on separate lines.
        let key = self.source.get(step.start as usize..whole.start as usize)?;
        let column = |at: u32| Some(self.source.get(..at as usize)?.rsplit('\n').next()?.chars().count());
        let (outer, inner) = (column(step.start)?, column(handler.key.span.start)?);
        if !key.contains(':') || inner <= outer {
            return None;
        }
        let (outer, inner) = (" ".repeat(outer), " ".repeat(inner));
        Some(format!("{name}:\n{inner}{expr}: {of_part}\n{inner}{}\n{outer}", handled.trim_end()))
    }

    /// Whether a handler never continues after its step.
    fn leaves(&self, step: &Step<'_, 'a>, handler: &Entry<'a>) -> bool {
        const WAYS: [Key; 4] = [Key::Return, Key::Ok, Key::Message, Key::Skip];
        let both = step.keyed.has(Key::Handler) && step.keyed.has(Key::Compensate);
        let leaves = |entry: &Entry<'a>| self.dialect.names(entry, &WAYS);
        !both
            && match handler.value.kind {
                Kind::Text(_) => true,
                _ => entries(&handler.value).iter().any(leaves),
            }
    }
}

/// An entry of a step, with the separator before it.
fn entry_with_blanks(step: &Step<'_, '_>, entry: &Entry<'_>) -> Option<Span> {
    let before =
        [step.form.key, Key::Let, Key::A, Key::B].into_iter().filter_map(|key| step.keyed.entry(key));
    let before = before.map(|entry| entry.value.span.end).filter(|&end| end <= entry.key.span.start).max()?;
    Some(Span::new(before, entry.value.span.end))
}

/// Finds the fallible parts of an expression.
fn fails<'a>(value: &Expr<'a>) -> Fails<'a> {
    let mut found = Fails::Nothing;
    let mut rest = vec![(*value, true)];
    while let Some((next, always)) = rest.pop() {
        if next.attempt().is_some() {
            found = match found {
                Fails::Nothing if always => Fails::Once(next),
                _ => Fails::Several,
            };
        }
        let conditional =
            matches!(next.kind, ExprKind::Binary(Binary::And | Binary::Or, ..) | ExprKind::MatchMap(_));
        next.children(|operand| rest.push((*operand, always && !conditional)));
    }
    found
}
