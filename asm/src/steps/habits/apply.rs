//! Applies the habits to a part of a document.

use super::context::{EntryList, NewNodes, Rewriter, Spot, get, others};
use super::operations::listed_operation;
use super::step_parts::{
    action, binder, callee, element, handling_steps, inputs, listed_arguments, listed_cases, outcome,
    rollback, text_step, tool, type_text, ways_out, with_true,
};
use super::steps::{command_of, state_of};
use super::table::{HABITS, Habit};
use super::words::{kind_of_step, outer_kind, words};
use crate::dialect::document_names::names_bound_in;
use crate::dialect::step_forms::is_continue;
use crate::dialect::{
    Dialect, Form, Key, PARTS, RESULT, form_of, has_step_word, is_operation, lists_steps, second_form,
};
use crate::document::{Entry, Node, NodeKind, entries, first_of};
use crate::foreign::{self, Place};
use crate::steps::reader::StepReader;

/// The place of what a reader does not understand.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'k, 'a> {
    /// The place of a step: its name, in YAML; whether its value is needed, so that it could be data; whether
    /// that is the value of a function or of a branch.
    Step { name: Option<&'k Node<'a>>, wanted: bool, last: bool },
    /// A record that may have these keys; the text names it in messages.
    Keys(&'k [Key], &'k str),
    /// The value of a key of a step, a handler or a program.
    Part(Key),
    /// A record as a value.
    Value,
    /// A record as a value that is computed: under `expr`, or as an operand.
    Formula,
    /// A record or list as a condition, or as what `and`, `or` and `not` join in one.
    Condition,
}

/// What is read in place of a node that a reader does not understand. A list in the place of a step is several
/// steps or none.
pub(crate) fn rewrite<'a>(
    reader: &mut StepReader<'a>,
    asked: Asked<'_, 'a>,
    node: &Node<'a>,
) -> Option<&'a Node<'a>> {
    let (dialect, arena, canonical) = (reader.dialect, reader.arena, reader.canonical);
    let before = reader.diagnostics.mark();
    let (named, wanted) = match asked {
        Asked::Step { name, wanted, .. } => (name.is_some(), wanted),
        _ => (false, false),
    };
    let new = NewNodes { arena, place: node.span };
    let mut at = Rewriter { reader, dialect, node: *node, new, named, wanted };
    let node = match asked {
        Asked::Step { name, last, .. } => step(&mut at, node, name, last),
        Asked::Keys(keys, what) => in_words(&mut at, node, keys, what),
        Asked::Part(key) => part(&mut at, key, node),
        Asked::Value => offer(&mut at, node, Spot::Value),
        Asked::Formula => offer(&mut at, node, Spot::Formula),
        Asked::Condition => match node.kind {
            NodeKind::List(items) => listed_operation(&mut at, node, items),
            _ => offer(&mut at, node, Spot::Condition),
        },
    };
    if let Some(left_out) = canonical {
        left_out.set(left_out.get() || node.is_some());
        reader.diagnostics.rewind(before);
        return None;
    }
    node.map(|node| &*arena.alloc(node))
}

/// Whether a record without a word of a step is a value: one is `wanted`, and none of its keys belongs to a
/// step.
pub(crate) fn is_value(dialect: Dialect, list: &[Entry<'_>], wanted: bool) -> bool {
    let wanted = wanted && !(list.is_empty() && dialect.is_yaml());
    let part = |entry: &Entry<'_>| entry.name() == Some("let") || dialect.names(entry, &PARTS);
    let acts = matches!(list, [only] if only.is(|name| foreign::is(Place::Act, name)));
    let is_step = |entry: &Entry<'_>| part(entry) || holds_steps(dialect, entry);
    (wanted || is_operation(list)) && !acts && !list.iter().any(is_step)
}

/// Whether a key has steps or the arms of a choice, which no data has: `"then": [{"call": "t"}]`.
fn holds_steps(dialect: Dialect, entry: &Entry<'_>) -> bool {
    let asks = |it: &Entry<'_>| it.is(|name| name == "conditions" || foreign::is(Place::Condition, name));
    let acts = |it: &Entry<'_>| it.is(|name| name == "then" || foreign::is(Place::Group, name));
    let is_arm = |it: &Node<'_>| entries(it).iter().any(asks) && entries(it).iter().any(acts);
    let is_block = || dialect.means(entry, &[Key::Then, Key::Else, Key::Do, Key::Body]);
    match entry.value.kind {
        NodeKind::List(items @ [first, ..]) => is_arm(first) || is_block() && lists_steps(items),
        _ => is_block() && has_step_word(&entry.value),
    }
}

/// A step; a list of steps if it should be several steps or none. `last` says that its value is that of
/// the function or of a branch.
fn step<'a>(
    at: &mut Rewriter<'_, 'a>,
    node: &Node<'a>,
    name: Option<&Node<'a>>,
    last: bool,
) -> Option<Node<'a>> {
    if name.is_some_and(|name| is_continue(name.text(), node)) {
        return Some(with_true(at, Key::Skip, node));
    }
    if !matches!(node.kind, NodeKind::Record(_)) {
        return text_step(at, node);
    }
    let new = offer(at, node, Spot::Step);
    match new.unwrap_or(*node) {
        Node { kind: NodeKind::List(_), .. } => new,
        step => step_of_kind(at, &step, last).or(new),
    }
}

/// The kind of step that a record is, by the words of any notation.
fn form<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<&'static Form> {
    let dialect = at.dialect;
    let found = form_of(list, |entry, keys| dialect.means(entry, keys))?;
    let has_cases = list.iter().any(|entry| dialect.means(entry, &[Key::Cases]));
    Some(if found.key == Key::Match && !has_cases { &RESULT } else { found })
}

/// A step in the words of the notation, by its kind.
fn step_of_kind<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>, last: bool) -> Option<Node<'a>> {
    let list = entries(node);
    let dialect = at.dialect;
    let form = match form(at, list) {
        Some(form) => outer_kind(dialect, list, form).unwrap_or(form),
        None => {
            let left_out = command_of(at, list).is_some() || state_of(list).is_some();
            let left_out = left_out && at.named && last;
            let wanted = at.wanted && (at.named || !dialect.is_yaml());
            if is_value(dialect, list, wanted) && !left_out {
                return None;
            }
            if let Some(new) = offer(at, node, Spot::NoStep) {
                let found = match new.kind {
                    NodeKind::Record(_) => step_of_kind(at, &new, last),
                    _ => None,
                };
                return found.or(Some(new));
            }
            kind_of_step(list)?
        }
    };
    let mut keys = form.keys();
    if let Some((_, other)) = second_form(list, &keys, |entry, keys| dialect.means(entry, keys)) {
        keys.extend(other.keys());
    }
    // A name that it cannot bind: `{"name": "a", "return": 1}`.
    let labels = !form.takes.contains(&Key::Let) && get(list, &["name", "id"]).is_some();
    let plain = labels.then(|| at.record(others(list, &["name", "id"])));
    let what = format!("a step with `{}`", dialect.word(form.key));
    in_words(at, plain.as_ref().unwrap_or(node), &keys, &what).or(plain)
}

/// A record in the words of the notation.
fn in_words<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>, keys: &[Key], what: &str) -> Option<Node<'a>> {
    let new = words(at, node, keys, what);
    ways_out(at, &new.unwrap_or(*node), keys).or(new)
}

/// The value of a key.
fn part<'a>(at: &mut Rewriter<'_, 'a>, key: Key, node: &Node<'a>) -> Option<Node<'a>> {
    match key {
        Key::Call => callee(at, node),
        Key::Let => binder(at, node),
        Key::For => element(at, node),
        Key::Args => listed_arguments(at, node),
        Key::Cases => listed_cases(at, node),
        Key::Compensate | Key::Rollback => rollback(at, node, key),
        Key::Handler => action(at, node).or_else(|| handling_steps(at, node)),
        Key::Return => outcome(at, node),
        Key::Input => inputs(at, node),
        Key::Output => type_text(at, node),
        Key::Deps => tool(at, node),
        _ => None,
    }
}

/// Tries the habits of a position on a record.
pub(super) fn offer<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>, place: Spot) -> Option<Node<'a>> {
    const LONGEST: usize = 3;
    let list = entries(node);
    if !matches!(place, Spot::Step | Spot::NoStep) && list.len() > LONGEST {
        return None;
    }
    at.node = *node;
    at.new.place = list.first().map_or(first_of(node), |entry| entry.key.span);
    let looks = |habit: &&Habit| match place {
        Spot::Condition => matches!(habit.at, Spot::Value | Spot::Formula | Spot::Condition),
        Spot::Formula => matches!(habit.at, Spot::Value | Spot::Formula),
        _ => habit.at == place,
    };
    let new = HABITS.iter().filter(looks).find_map(|habit| (habit.rewrite)(at, list))?;
    if matches!(new.kind, NodeKind::List([])) {
        // Reads of the names that a removed step would have bound are not reported.
        names_bound_in(node, |name| at.reader.scope.lose(name));
    }
    Some(new)
}
