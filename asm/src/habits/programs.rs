//! Habits: whole documents, such as programs inside other records, steps without a program, calls of tools,
//! state machines and builds.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::{Dialect, Key, has_step_word};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::foreign::{self, Means, Place};
use ilo_spec::error::Code;

/// The programs of a source, taken out of enclosing records and without documents of other formats; `None` if
/// nothing changes.
pub(super) fn programs<'a>(
    programs: &[Node<'a>],
    dialect: Dialect,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Node<'a>>> {
    let is_step = |node: &Node<'a>| !is_program(node, dialect) && has_step_word(node);
    match programs {
        [first, ..] if programs.iter().all(is_step) => {
            diagnostics.push(
                Diagnostic::new(
                    Code::BadShape,
                    first_of(first),
                    "these are steps without a program around them",
                )
                .expected(dialect.program_form(), "steps alone")
                .help("a program has a name, inputs and an output, and its steps in a list"),
            );
            return Some(Vec::new());
        }
        [whole] => {
            if let Some(inner) = inside(whole, dialect) {
                return Some(inner);
            }
        }
        _ => {}
    }
    let found: Vec<Option<Diagnostic>> = programs.iter().map(|node| other_kind(node, dialect)).collect();
    found.iter().any(Option::is_some).then(|| {
        let kept = programs.iter().zip(&found).filter(|(_, other)| other.is_none());
        let kept = kept.map(|(program, _)| *program).collect();
        found.into_iter().flatten().for_each(|wrong| diagnostics.push(wrong));
        kept
    })
}

fn is_program(node: &Node<'_>, dialect: Dialect) -> bool {
    let own = |name: &str| dialect.meaning(name, &[Key::Steps, Key::Meta]).is_some();
    entries(node).iter().any(|entry| entry.is(own))
}

/// The programs under the only key of a record.
fn inside<'a>(whole: &Node<'a>, dialect: Dialect) -> Option<Vec<Node<'a>>> {
    let [only] = entries(whole) else { return None };
    let inner: Vec<Node<'a>> = match only.value.kind {
        Kind::List(items) => items.to_vec(),
        _ => vec![only.value],
    };
    (!inner.is_empty() && inner.iter().all(|node| is_program(node, dialect))).then_some(inner)
}

/// Whether an entry shows that its record calls a tool, in the form in which models call the tools of a host.
fn begins_call(entry: &Entry<'_>, list: &[Entry<'_>]) -> bool {
    let has = |name: &str| list.iter().any(|entry| entry.name() == Some(name));
    match entry.name() {
        Some("arguments") => has("name"),
        Some("type") => matches!(entry.value.text(), Some("tool_use" | "function")),
        Some("tool_calls") => true,
        _ => false,
    }
}

/// The diagnostic of a call, a state machine or a build workflow in the position of a program.
fn other_kind(node: &Node<'_>, dialect: Dialect) -> Option<Diagnostic> {
    if is_program(node, dialect) {
        return None;
    }
    let kind = |entry: &Entry<'_>| match foreign::meaning(Place::Document, entry.name()?) {
        Some(Means::Advice(help)) => Some(help),
        _ => None,
    };
    let list = entries(node);
    let form = dialect.program_form();
    if let Some(entry) = list.iter().find(|entry| begins_call(entry, list)) {
        let call = dialect.word(Key::Call);
        let wrong =
            Diagnostic::new(Code::BadShape, entry.key.span, "this is a call of a tool, and no program")
                .expected(form, format!("`{}`", shown(&entry.key)));
        return Some(
            wrong.help(format!("write {form}: each call is a step in it, which begins with `{call}`")),
        );
    }
    let (entry, help) = list.iter().find_map(|entry| Some((entry, kind(entry)?)))?;
    let wrong = Diagnostic::new(Code::BadShape, entry.key.span, "this is of another format, and no program")
        .expected(form, format!("`{}`", shown(&entry.key)));
    Some(wrong.help(format!("write {form} instead: {help}")))
}
