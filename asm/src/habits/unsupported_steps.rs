//! Habits: steps that no notation has, such as commands, states of state machines, and words of other
//! languages. Some of them can be rewritten; the others are reported and removed.

use super::context::{Context, Entries, Rewrite, get, kept, others};
use super::words::instead;
use crate::diagnostic::Diagnostic;
use crate::dialect::step_forms::is_continue;
use crate::dialect::{Key, STEP_KEYS, begins_step, operator, other_operator};
use crate::document::{Entry, Kind, entries, shown};
use crate::foreign::{self, Place};
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::error::Code;

fn bad_step(span: Span, message: &str, expected: &str, found: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::BadStep, span, message).expected(expected, found).help(help)
}

/// A shell command, or an action of a build system.
pub(super) fn command<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let is_arguments = |entry: &Entry<'a>| at.dialect.means(entry, &[Key::Args]);
    let arguments = list.iter().any(is_arguments);
    let (entry, action) = list.iter().find_map(|entry| {
        let (name, text) = (entry.name()?, entry.value.text()?);
        let command = foreign::is(Place::Command, name) && (text.contains([' ', '\n']) || !arguments);
        let action = foreign::is(Place::Action, name) && text.contains(['@', ' ']);
        (command || action).then_some((entry, action))
    })?;
    let found = format!("`{}`", shown(&entry.key));
    let message = if action {
        format!("an action of a build is not a tool, and {found} is not a step")
    } else {
        format!("there is no shell here: {found} is not a step, and a command is not a tool")
    };
    let help = format!("a tool does it, which the tools file names: {}", at.dialect.step_form());
    Some(at.removed(bad_step(entry.key.span, &message, "a `call` of a tool", &found, &help)))
}

/// A state of a state machine.
pub(super) fn state<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let entry = list.iter().find(|entry| entry.name() == Some("Type"))?;
    let kind = entry.value.text()?;
    let help = match kind {
        "Task" => at.dialect.step_form().to_owned(),
        "Choice" => "write a step with `if` for each choice, one after the other".to_owned(),
        "Map" => format!("write a loop: {}", at.dialect.loop_form()),
        "Pass" if at.dialect.is_yaml() => "write its value under `expr:` or `value:`".to_owned(),
        "Pass" => "name the value: `{\"let\": \"v\", \"expr\": …}`".to_owned(),
        "Fail" => format!("write {}", at.dialect.failing_form()),
        "Succeed" => "return the value in a step of its own".to_owned(),
        "Wait" | "Parallel" => "leave it out: steps run one after the other".to_owned(),
        _ => return None,
    };
    let message = format!("a state of a state machine is not a step: `{kind}`");
    let expected = format!("a record with {}", at.dialect.step_words());
    Some(at.removed(bad_step(entry.key.span, &message, &expected, "`Type`", &help)))
}

/// Steps in a group, such as those that run at the same time, in a list of steps in JSON: they run in order,
/// and calls of tools that only read at the same time by themselves.
pub(super) fn grouped<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    only.name().filter(|name| foreign::is(Place::Group, name))?;
    let Kind::List(items @ [_, ..]) = only.value.kind else { return None };
    if at.dialect.is_yaml() || !items.iter().all(|item| matches!(item.kind, Kind::Record(_))) {
        return None;
    }
    Some(Rewrite::value(only.value))
}

/// `else` as a separate step.
pub(super) fn lone_else<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    let help = "write `else` beside the `if` and `then` of that step; after an `if` that returns, what follows is its \
                else";
    let wrong = bad_step(only.key.span, "`else` is not a step", "`else` beside an `if`", "it alone", help);
    (only.name() == Some("else")).then(|| at.removed(wrong))
}

/// A step under a name that it should bind with `let`.
pub(super) fn named<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [entry] = list else { return None };
    // The word of a step names nothing.
    let name = entry.name().filter(|name| !at.named && at.dialect.meaning(name, &STEP_KEYS).is_none())?;
    let inside = entries(&entry.value);
    // `{"a": {"set": 3}}` binds what is set.
    let binds = |entry: &Entry<'a>| matches!(entry.name(), Some("set" | "value" | "="));
    let mut step = vec![("let", at.word(name))];
    match inside {
        _ if inside.iter().any(|entry| entry.is(begins_step)) => {
            step.extend(inside.iter().filter_map(kept));
        }
        [only] if binds(only) => step.push(("expr", only.value)),
        [only] if only.is(operator::is) => step.push(("expr", entry.value)),
        _ => return None,
    }
    Some(at.rewrite(step))
}

/// `continue` beside the condition of an `if`, or alone.
pub(super) fn continued<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let entry = get(list, &["continue"]).filter(|entry| is_continue(entry.name(), &entry.value))?;
    if list.len() > 1 && get(list, &["if"]).is_none() {
        return None;
    }
    let mut step = others(list, &["continue"]);
    step.push((at.dialect.word(Key::Skip), entry.value));
    Some(at.rewrite(step))
}

/// A step with a word that no notation has.
pub(super) fn absent<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let (entry, help) = list.iter().find_map(|entry| Some((entry, instead(entry.name()?, at.dialect)?)))?;
    let found = format!("`{}`", shown(&entry.key));
    let expected = format!("a record with {}", at.dialect.step_words());
    let wrong = bad_step(entry.key.span, &format!("{found} is not a step"), &expected, &found, &help);
    Some(at.removed(wrong))
}

/// An unbounded loop whose body has a word of a step.
pub(super) fn unbounded<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let is = |key: Key| list.iter().any(|entry| at.dialect.means(entry, &[key]));
    let loops = list.iter().any(|entry| entry.is(foreign::is_unbounded));
    if loops && is(Key::Yield) && !is(Key::For) { absent(at, list) } else { None }
}

/// An operator of another language as a step.
pub(super) fn operation<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    let meant = only.name().and_then(other_operator::meant)?;
    Some(at.rewrite(vec![(meant.spelling, only.value)]))
}

/// The message of a failure without its return: `{"error": …}`.
pub(super) fn message<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [entry] = list else { return None };
    let name = entry.name()?;
    if !matches!(name, "fail" | "throw") {
        at.dialect.meaning(name, &[Key::Message])?;
    }
    let word = at.dialect.word(Key::Message);
    let record = if at.dialect.notation == Notation::Mcp {
        vec![(word, entry.value)]
    } else {
        let step = at.dialect.word(Key::Return);
        vec![(step, at.one(word, entry.value))]
    };
    Some(at.rewrite(record))
}
