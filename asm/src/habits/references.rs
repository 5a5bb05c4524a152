//! Habits: references of other languages, such as unknown roots and operations inside a reference.

use super::Reading;
use super::loose_reference;
use crate::dialect::reader_habits::{Habits, Names, Seen, Surroundings, Warning};
use crate::expr::reference::Reference;
use bumpalo::Bump;

/// Names of built-in values in other languages, and what to write instead.
const NAMES: [(&[&str], &str); 4] = [
    (
        &["env", "ENV", "secrets", "secret", "process", "vault"],
        "a program cannot read the environment: the tools file configures tools, and inputs hold all other values",
    ),
    (&["now", "today", "date", "uuid", "random"], "a tool gives it, in a step with `call`, or an input"),
    (
        &["prev", "previous", "last", "result", "output", "it", "_"],
        "name the step that gives it with `let`, and refer to that name",
    ),
    (
        &["index", "i", "loop"],
        "count in a variable that is bound to 0 before the loop, and bound again in each pass",
    ),
];

impl Habits for Reading {
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
        NAMES.iter().find(|(names, _)| names.contains(&name)).map(|&(_, instead)| instead)
    }
}
