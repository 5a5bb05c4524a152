//! Habits: references of other languages, such as unknown roots and operations inside a reference.

use super::Reading;
use super::loose_reference;
use crate::dialect::reader_habits::{Habits, Names, Seen, Surroundings, Warning};
use crate::dialect::reference::Reference;
use crate::document::Node;
use crate::span::Span;
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

/// The longest text, in bytes, in which an operation is looked for: each of its references asks for it.
const LONGEST: usize = 400;

/// What to write instead of a function call in a text.
const CALLED: &str =
    "nothing is called in a text: name what is computed in a step of its own, and refer to that";

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

    fn in_place_of_name(&self, name: &str, after: &str) -> Option<&'static str> {
        let known = NAMES.iter().find(|(names, _)| names.contains(&name)).map(|&(_, instead)| instead);
        known.or_else(|| after.starts_with('(').then_some(CALLED))
    }

    fn operation_inside<'a>(&self, text: &Node<'a>, at: &Surroundings<'_, 'a>) -> Option<String> {
        let written = text.text().filter(|text| text.len() <= LONGEST)?;
        // `$x[$y]`, which has no braces.
        if written.contains("[$") && !written.starts_with("${") {
            return at.operation_of(written, text.span);
        }
        operation(written, text.span, at)
    }

    fn step_before(&self, written: &str, place: Span, at: &Surroundings<'_, '_>) -> Option<String> {
        if written.len() > LONGEST {
            return None;
        }
        let operation = operation(written, place, at)?;
        let mut names = ["computed", "computed-2", "computed-3"].into_iter();
        let name = names.find(|name| !at.names.has(name) && !at.names.has_step(name))?;
        let step = if at.dialect.is_yaml() {
            format!("{name}: {{expr: {operation}}}")
        } else {
            format!("{{\"let\": \"{name}\", \"expr\": {operation}}}")
        };
        Some(format!("compute it in a step before, `{step}`, and write `${{{name}}}` here"))
    }
}

/// The operation that is meant by a malformed reference: `${.n + 1}`, `${len(list)}`.
fn operation(written: &str, span: Span, at: &Surroundings<'_, '_>) -> Option<String> {
    let inside = written.strip_prefix("${")?.strip_suffix('}')?;
    if inside.contains(['{', '}']) {
        return None;
    }
    let inside = format!(" {inside}").replace(" .", " $.").replace("(.", "($.");
    at.operation_of(at.arena.alloc_str(&inside), span)
}
