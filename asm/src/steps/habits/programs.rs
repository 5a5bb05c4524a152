//! Habits: whole documents, such as programs inside other records or without their frame, calls of tools,
//! state machines and builds.

use super::context::NewNodes;
use super::context::{EntryList, Fields, kept};
use super::words::get_key;
use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::document_names::within;
use crate::dialect::{Dialect, Key, UNNAMED, detect, has_step_word, is_for, is_spelling};
use crate::document::{Entry, Node, NodeKind, entries, first_of, shown};
use crate::foreign::{self, Means, Place};
use crate::notation::Notation;
use ilo_spec::error::Code;

/// The programs of a source, taken out of enclosing records, with what is left out around their steps, and
/// without documents of other formats; `None` if nothing changes.
pub(crate) fn programs<'a>(
    programs: &[Node<'a>],
    dialect: Dialect,
    arena: &'a Arena,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Node<'a>>> {
    let outer = match programs {
        [first, ..] if are_steps(programs, dialect) => {
            let new = NewNodes { arena, place: first_of(first) };
            let named = dialect.is_yaml() && programs.len() == 1 && !has_step_word(first);
            let steps = if named { *first } else { new.list(programs) };
            Some(vec![new.one(dialect.word(Key::Steps), steps)])
        }
        [whole] => inside(whole, dialect),
        _ => None,
    };
    let mut changed = outer.is_some();
    let mut programs = outer.unwrap_or_else(|| programs.to_vec());
    let single = programs.len() == 1;
    for program in &mut programs {
        let new = NewNodes { arena, place: first_of(program) };
        if let Some(whole) = completed(entries(program), single, dialect, new) {
            (*program, changed) = (whole, true);
        }
    }
    programs.retain(|node| {
        let Some(wrong) = other_kind(node, dialect) else { return true };
        diagnostics.push(wrong);
        changed = true;
        false
    });
    changed.then_some(programs)
}

/// Whether documents are steps and no programs: all are records, and one is a step.
fn are_steps(documents: &[Node<'_>], dialect: Dialect) -> bool {
    let calls = |entry: &Entry<'_>| entry.is(detect::calls) || has_step_word(&entry.value);
    let is_step = |node: &Node<'_>| has_step_word(node) || entries(node).first().is_some_and(calls);
    let is_other = |node: &Node<'_>| is_program(node, dialect) || !matches!(node.kind, NodeKind::Record(_));
    !documents.iter().any(is_other) && documents.iter().any(is_step)
}

/// A program with what it leaves out: the name of a `single` one, and the last step where the value that it
/// returns is beside the steps, under `return` or in the place of the type.
fn completed<'a>(list: EntryList<'a>, single: bool, dialect: Dialect, new: NewNodes<'a>) -> Option<Node<'a>> {
    let steps = get_key(list, Key::Steps)?;
    let meta = list.iter().find(|entry| dialect.names(entry, &[Key::Meta]));
    let head = meta.map_or(list, |meta| entries(&meta.value));
    let value = head.iter().chain(list).find(|entry| returns(entry, dialect));
    let of_mcp = dialect.notation == Notation::Mcp;
    let named = of_mcp && meta.is_some() || !single || get_key(head, Key::Name).is_some();
    if named && value.is_none() {
        return None;
    }
    let moved = [value, Some(steps), meta];
    let stays = |entry: &&Entry<'a>| !moved.iter().flatten().any(|moved| core::ptr::eq(*moved, *entry));
    let others = |list: EntryList<'a>| list.iter().filter(stays).filter_map(kept).collect();
    let mut fields: Fields<'a> = others(head);
    if !named {
        fields.insert(0, (dialect.word(Key::Name), new.word(UNNAMED)));
    }
    if of_mcp {
        fields = vec![(dialect.word(Key::Meta), new.record(fields))];
        fields.extend(meta.map(|_| others(list)).unwrap_or_default());
    }
    let word = dialect.word(dialect.return_key());
    let step = |value: &Entry<'a>| NewNodes { place: value.key.span, ..new }.one(word, value.value);
    let last = value.map(step);
    let all = match steps.value.kind {
        NodeKind::List(items) => new.list(&[items, last.as_slice()].concat()),
        NodeKind::Record(named) => {
            let last = last.map(|last| (word, last));
            new.record(named.iter().filter_map(kept).chain(last).collect())
        }
        _ => steps.value,
    };
    fields.push((dialect.word(Key::Steps), all));
    Some(new.record(fields))
}

/// Whether an entry of a program holds the value that it returns: the type of an output has no reference.
fn returns(entry: &Entry<'_>, dialect: Dialect) -> bool {
    let refers = |text: &str| text.contains("${") || !dialect.is_bare() && text.starts_with('$');
    let is_value = |node: &Node<'_>| node.text().is_some_and(refers);
    entry.is(|name| {
        [Key::Return, Key::Ok].iter().any(|&key| is_spelling(name, key))
            || is_for(name, Key::Output) && within(&entry.value).any(|node| is_value(&node))
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
        NodeKind::List(items) => items.to_vec(),
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
    let (list, form) = (entries(node), dialect.program_form());
    let (entry, message, help) =
        list.iter().find_map(|entry| match foreign::meaning(Place::Document, entry.name()?) {
            Some(Means::Advice(help)) => Some((
                entry,
                "this is of another format, and no program",
                format!("write {form} instead: {help}"),
            )),
            _ if begins_call(entry, list) => {
                let help = format!(
                    "write {form}: each call is a step in it, which begins with `{}`",
                    dialect.word(Key::Call)
                );
                Some((entry, "this is a call of a tool, and no program", help))
            }
            _ => None,
        })?;
    let wrong = Diagnostic::new(Code::BadShape, entry.key.span, message);
    Some(wrong.expected(form, format!("`{}`", shown(&entry.key))).help(help))
}
