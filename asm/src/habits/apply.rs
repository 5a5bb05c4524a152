//! Applies the habits to the records of a document, and reports what they rewrite.

use super::context::{At, Report, Rewrite, Walk, kept};
use super::table::{HABITS, Habit, is_canonical};
use crate::diagnostic::Diagnostic;
use crate::dialect::document_names::names_bound_in;
use crate::document::replacement::{Replacement, is_repeatable};
use crate::document::{Node, entries, first_of};
use crate::text::shorten;
use ilo_spec::error::Code;

impl<'a> Walk<'_, 'a> {
    /// Warns that something is read as what it means.
    pub(super) fn take(&mut self, wrong: Diagnostic) {
        self.diagnostics.push(wrong.taken());
    }

    /// Tries the habits of a position on a record. A rewrite is reported.
    pub(super) fn offer(&mut self, node: &Node<'a>, place: At) -> Option<Node<'a>> {
        const LONGEST: usize = 3;
        let list = entries(node);
        let passed = match place {
            At::Step => is_canonical(&self.at, list),
            At::NoStep => false,
            At::Value | At::Formula | At::Condition => list.len() > LONGEST,
        };
        if passed {
            return None;
        }
        self.at.node = *node;
        let looks = |habit: &&Habit| match place {
            At::Condition => matches!(habit.at, At::Value | At::Formula | At::Condition),
            At::Formula => matches!(habit.at, At::Value | At::Formula),
            _ => habit.at == place,
        };
        let found = HABITS.iter().filter(looks).find_map(|habit| (habit.rewrite)(&self.at, list))?;
        Some(self.report(node, found))
    }

    /// Reports the correct form of a record, and returns it.
    pub(super) fn report(&mut self, node: &Node<'a>, found: Rewrite<'a>) -> Node<'a> {
        let place = entries(node).first().map_or(first_of(node), |entry| entry.key.span);
        let removed = matches!(&found.to, Replacement::List(steps) if steps.is_empty());
        match found.report {
            Report::Silent => {}
            Report::Refused(wrong) => self.diagnostics.push(*wrong),
            // What is left out has no meaning; everything else has one.
            Report::Whole(wrong) if removed || wrong.code == Code::UnknownOperator && wrong.fix.is_none() => {
                self.diagnostics.push(*wrong);
            }
            Report::Whole(wrong) => self.take(*wrong),
            Report::Shape(code, message) => {
                let wrong = self.shape(node, Diagnostic::new(code, place, message), &found.to);
                self.take(wrong);
            }
        }
        if removed {
            self.lose(node);
        }
        found.to.node(place, self.at.arena)
    }

    /// Reports the shape that a record should have.
    fn shape(&self, node: &Node<'a>, wrong: Diagnostic, to: &Replacement<'a>) -> Diagnostic {
        let (yaml, tight) = (self.at.dialect.is_yaml(), self.at.dialect.is_bare());
        if let Replacement::List(steps) = to {
            let expected = "a step with `let` and `expr` for each";
            let wrong = wrong.expected(expected, format!("{} names in one", steps.len()));
            return if !yaml && is_repeatable(node.span) {
                let text = |step: &Replacement<'a>| step.text(self.source, tight);
                wrong.replace(node.span, steps.iter().map(text).collect::<Vec<_>>().join(", "))
            } else {
                wrong.help("write a step for each, with its name and `expr`")
            };
        }
        let found = Replacement::Record(entries(node).iter().filter_map(kept).collect()).outline(yaml);
        let expected = format!("`{}`", to.outline(yaml));
        let wrong = wrong.expected(expected.clone(), format!("`{}`", shorten(&found)));
        wrong.fix_or_help(to.fix(node, self.source, yaml, tight), format!("write {expected}"))
    }

    /// Collects the names that a removed step would have bound, so that reads of these names are not
    /// reported.
    fn lose(&mut self, node: &Node<'a>) {
        self.lost.extend_from_slice(&self.naming);
        names_bound_in(node, |name| self.lost.push(name));
    }
}
