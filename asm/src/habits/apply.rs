//! Applies the habits to a part of a document.

use super::context::NewNodes;
use super::context::{At, Context, Entries, Rewriter, get, others};
use super::steps::{command, state};
use super::table::{HABITS, Habit};
use super::words::{kind_of_step, outer_kind};
use crate::diagnostic::Diagnostics;
use crate::dialect::document_names::names_bound_in;
use crate::dialect::reader_habits::{Asked, Rewritten, Surroundings};
use crate::dialect::step_forms::is_continue;
use crate::dialect::{
    Dialect, Form, Key, PARTS, RESULT, form_of, has_step_word, is_operation, lists_steps, second_form,
};
use crate::document::{Entry, Node, NodeKind, entries};
use crate::foreign::{self, Place};

/// What is read in place of a node that a reader does not understand.
pub(crate) fn rewrite<'a>(
    asked: Asked<'_, 'a>,
    node: &Node<'a>,
    around: &Surroundings<'_, 'a>,
) -> Rewritten<'a> {
    let Surroundings { dialect, source, arena, names, .. } = *around;
    let (named, wanted) = match asked {
        Asked::Step { name, wanted, .. } => (name.is_some(), wanted),
        _ => (false, false),
    };
    let new = NewNodes { arena, place: node.span };
    let at = Context { dialect, names, source, node: *node, new, named, wanted };
    let mut rewriter = Rewriter { at, found: Diagnostics::default(), lost: Vec::new() };
    let node = match asked {
        Asked::Step { name, last, .. } => rewriter.step(node, name, last),
        Asked::Keys(keys, what) => rewriter.keys(node, keys, what),
        Asked::Part(key) => rewriter.part(key, node),
        Asked::Value => rewriter.offer(node, At::Value),
        Asked::Formula => rewriter.offer(node, At::Formula),
        Asked::Condition => match node.kind {
            NodeKind::List(items) => rewriter.listed_operation(node, items),
            _ => rewriter.offer(node, At::Condition),
        },
    };
    Rewritten { node, found: rewriter.found, lost: rewriter.lost }
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

impl<'a> Rewriter<'_, 'a> {
    /// A step; a list of steps if it should be several steps or none. `last` says that its value is that of
    /// the function or of a branch.
    fn step(&mut self, node: &Node<'a>, name: Option<&Node<'a>>, last: bool) -> Option<Node<'a>> {
        if name.is_some_and(|name| is_continue(name.text(), node)) {
            return Some(self.with_true(Key::Skip, node));
        }
        if !matches!(node.kind, NodeKind::Record(_)) {
            return self.text_step(node);
        }
        let new = self.offer(node, At::Step);
        match new.unwrap_or(*node) {
            Node { kind: NodeKind::List(_), .. } => new,
            step => self.step_of_kind(&step, last).or(new),
        }
    }

    /// The kind of step that a record is, by the words of any notation.
    fn form(&self, list: Entries<'a>) -> Option<&'static Form> {
        let dialect = self.at.dialect;
        let found = form_of(list, |entry, keys| dialect.means(entry, keys))?;
        let has_cases = list.iter().any(|entry| dialect.means(entry, &[Key::Cases]));
        Some(if found.key == Key::Match && !has_cases { &RESULT } else { found })
    }

    /// A step in the words of the notation, by its kind.
    fn step_of_kind(&mut self, node: &Node<'a>, last: bool) -> Option<Node<'a>> {
        let list = entries(node);
        let dialect = self.at.dialect;
        let form = match self.form(list) {
            Some(form) => outer_kind(dialect, list, form).unwrap_or(form),
            None => {
                let left_out = [command, state].iter().any(|is| is(&self.at, list).is_some());
                let left_out = left_out && self.at.named && last;
                let wanted = self.at.wanted && (self.at.named || !dialect.is_yaml());
                if is_value(dialect, list, wanted) && !left_out {
                    return None;
                }
                if let Some(new) = self.offer(node, At::NoStep) {
                    let found = match new.kind {
                        NodeKind::Record(_) => self.step_of_kind(&new, last),
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
        let plain = labels.then(|| self.at.record(others(list, &["name", "id"])));
        let what = format!("a step with `{}`", dialect.word(form.key));
        self.keys(plain.as_ref().unwrap_or(node), &keys, &what).or(plain)
    }

    /// A record in the words of the notation.
    fn keys(&mut self, node: &Node<'a>, keys: &[Key], what: &str) -> Option<Node<'a>> {
        let new = self.words(node, keys, what);
        self.ways_out(&new.unwrap_or(*node), keys).or(new)
    }

    /// The value of a key.
    fn part(&mut self, key: Key, node: &Node<'a>) -> Option<Node<'a>> {
        match key {
            Key::Call => self.callee(node),
            Key::Let => self.binder(node),
            Key::For => self.element(node),
            Key::Args => self.listed_arguments(node),
            Key::Cases => self.listed_cases(node),
            Key::Compensate | Key::Rollback => self.rollback(node, key),
            Key::Handler => self.action(node).or_else(|| self.handling_steps(node)),
            Key::Return => self.outcome(node),
            Key::Input => self.inputs(node),
            Key::Output => self.type_text(node),
            Key::Deps => self.tool(node),
            _ => None,
        }
    }

    /// Tries the habits of a position on a record.
    pub(super) fn offer(&mut self, node: &Node<'a>, place: At) -> Option<Node<'a>> {
        const LONGEST: usize = 3;
        let list = entries(node);
        if !matches!(place, At::Step | At::NoStep) && list.len() > LONGEST {
            return None;
        }
        self.at.go_to(node);
        let looks = |habit: &&Habit| match place {
            At::Condition => matches!(habit.at, At::Value | At::Formula | At::Condition),
            At::Formula => matches!(habit.at, At::Value | At::Formula),
            _ => habit.at == place,
        };
        let new = HABITS.iter().filter(looks).find_map(|habit| (habit.rewrite)(&self.at, list))?;
        new.found.into_iter().for_each(|wrong| self.found.push(*wrong));
        if matches!(new.to.kind, NodeKind::List([])) {
            self.lose(node);
        }
        Some(new.to)
    }

    /// Collects the names that a removed step would have bound, so that reads of these names are not
    /// reported.
    fn lose(&mut self, node: &Node<'a>) {
        names_bound_in(node, |name| self.lost.push(name));
    }
}
