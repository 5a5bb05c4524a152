//! Applies the habits to a part of a document.

use super::context::{NewNodes, Rewriter, Spot};
use super::operations::listed_operation;
use super::parts::{text_step, with_true};
use super::steps::{command_of, state_of};
use super::table::{HABITS, Habit};
use super::words::{kind_of_step, outer_kind};
use crate::dialect::document_names::names_bound_in;
use crate::dialect::step_forms::is_continue;
use crate::dialect::{Dialect, Form, Key, PARTS, has_step_word, is_operation, kind_of, lists_steps};
use crate::document::{Entry, Node, NodeKind, entries, first_of};
use crate::foreign::{self, Place};
use crate::steps::reader::StepReader;
use crate::steps::step::RawStep;

/// What has another shape than a reader expects is read as by such a function.
pub(crate) type Shape<'a> = for<'w> fn(&mut Rewriter<'w, 'a>, &Node<'a>) -> Option<Node<'a>>;

/// What is read in place of a node that is not understood.
pub(crate) fn rewrite<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    read: Shape<'a>,
) -> Option<&'a Node<'a>> {
    apply(reader, node, (false, false), |at| read(at, node))
}

/// The value of a key; if it has another shape, what is read in its place.
pub(crate) fn shaped<'d, 'a>(
    reader: &mut StepReader<'a>,
    node: &'d Node<'a>,
    read: Shape<'a>,
) -> &'d Node<'a> {
    rewrite(reader, node, read).unwrap_or(node)
}

/// What is read in place of a record or list as a value.
pub(crate) fn value<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, place: Spot) -> Option<&'a Node<'a>> {
    apply(reader, node, (false, false), |at| match node.kind {
        NodeKind::List(items) => listed_operation(at, node, items),
        _ => offer(at, node, place),
    })
}

/// What is read in place of a step that is not one in the words of the notation, and its kind by the words of
/// any language. A list is several steps or none. `last` says that its value is that of the function or of a
/// branch, `own` is its kind by the words of the notation.
pub(crate) fn step<'a>(
    reader: &mut StepReader<'a>,
    item: &RawStep<'_, 'a>,
    own: Option<&'static Form>,
    (wanted, last): (bool, bool),
) -> (Option<&'a Node<'a>>, Option<&'static Form>) {
    let mut kind = None;
    let new = apply(reader, item.node, (item.name.is_some(), wanted), |at| {
        let (new, form) = step_at(at, item, last);
        kind = form;
        new
    });
    if let Some(left_out) = reader.canonical {
        left_out.set(left_out.get() || kind.map(|form| form.key) != own.map(|form| form.key));
        return (None, own);
    }
    (new, kind)
}

/// Rewrites a node that is `named` in YAML, and whose value is `wanted`.
fn apply<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    (named, wanted): (bool, bool),
    read: impl FnOnce(&mut Rewriter<'_, 'a>) -> Option<Node<'a>>,
) -> Option<&'a Node<'a>> {
    let (dialect, arena, canonical) = (reader.dialect, reader.arena, reader.canonical);
    let before = reader.diagnostics.mark();
    let new = NewNodes { arena, place: node.span };
    let node = read(&mut Rewriter { reader, dialect, node: *node, new, named, wanted });
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

fn step_at<'a>(
    at: &mut Rewriter<'_, 'a>,
    item: &RawStep<'_, 'a>,
    last: bool,
) -> (Option<Node<'a>>, Option<&'static Form>) {
    let node = item.node;
    if item.name.is_some_and(|name| is_continue(name.text(), node)) {
        return (Some(with_true(at, Key::Skip, node)), None);
    }
    if !matches!(node.kind, NodeKind::Record(_)) {
        return (text_step(at, node), None);
    }
    let new = offer(at, node, Spot::Step);
    if new.is_some_and(|new| matches!(new.kind, NodeKind::List(_))) {
        return (new, None);
    }
    let (more, form) = kind_at(at, &new.unwrap_or(*node), last);
    (more.or(new), form)
}

/// The kind of step that a record is, or that is read in its place.
fn kind_at<'a>(
    at: &mut Rewriter<'_, 'a>,
    node: &Node<'a>,
    last: bool,
) -> (Option<Node<'a>>, Option<&'static Form>) {
    let (list, dialect) = (entries(node), at.dialect);
    if let Some(form) = kind_of(list, |entry, keys| dialect.means(entry, keys)) {
        let form = outer_kind(dialect, list, form).unwrap_or(form);
        return (None, Some(form).filter(|form| dialect.takes_foreign(form.key, &form.keys())));
    }
    let left_out = command_of(at, list).is_some() || state_of(list).is_some();
    let left_out = left_out && at.named && last;
    let wanted = at.wanted && (at.named || !dialect.is_yaml());
    if is_value(dialect, list, wanted) && !left_out {
        return (None, None);
    }
    let Some(new) = offer(at, node, Spot::NoStep) else { return (None, kind_of_step(list)) };
    let (more, form) = match new.kind {
        NodeKind::Record(_) => kind_at(at, &new, last),
        _ => (None, None),
    };
    (more.or(Some(new)), form)
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
