//! The habits, as the readers of steps ask for them.

use super::DocumentHabits;
use super::loose_reference;
use crate::diagnostic::Diagnostics;
use crate::dialect::Dialect;
use crate::dialect::reader_habits::{Asked, Habits, Names, Rewritten, Seen, Surroundings, Warning};
use crate::document::Node;
use crate::expr::reference::Reference;
use crate::foreign;
use bumpalo::Bump;

impl Habits for DocumentHabits {
    fn programs<'a>(
        &self,
        programs: &[Node<'a>],
        dialect: Dialect,
        arena: &'a Bump,
        found: &mut Diagnostics,
    ) -> Option<Vec<Node<'a>>> {
        super::programs::programs(programs, dialect, arena, found)
    }

    fn rewrite<'a>(&self, asked: Asked<'_, 'a>, node: &Node<'a>, at: &Surroundings<'_, 'a>) -> Rewritten<'a> {
        super::apply::rewrite(asked, node, at)
    }

    fn lint<'a>(&self, seen: &Seen<'_, 'a>, at: &Surroundings<'_, 'a>, warnings: &mut Vec<Warning>) {
        super::lints::lint(seen, at, warnings);
    }

    fn reference<'a>(
        &self,
        reference: &Reference<'a>,
        names: &dyn Names<'a>,
        arena: &'a Bump,
    ) -> Option<Reference<'a>> {
        let is_value = |name: &str| names.has(name) || names.has_step(name);
        loose_reference::resolve(reference, &|name| names.has_input(name), &is_value, arena)
    }

    fn in_place_of_name(&self, name: &str, _after: &str) -> Option<&'static str> {
        match foreign::meaning(foreign::Place::Name, name)? {
            foreign::Means::Advice(instead) => Some(instead),
            _ => None,
        }
    }
}
