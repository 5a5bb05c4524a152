//! Habits: names and values that are bound in other shapes.

use super::context::{Context, Entries, Fields, Rewrite, get, kept};
use crate::dialect::operator;
use crate::dialect::{Key, begins_step};
use crate::document::{Entry, Kind, entries};
use crate::foreign::{self, Place};

/// Several names under one word: `{"let": {"a": 1, "b": 2}}`.
pub(super) fn several<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    let inner = entries(&only.value);
    if !foreign::is(Place::Binder, only.name()?) || inner.len() < 2 {
        return None;
    }
    let step =
        |entry: &Entry<'a>| Some(at.record(vec![("let", at.word(entry.name()?)), ("expr", entry.value)]));
    let steps: Vec<_> = inner.iter().filter_map(step).collect();
    Some(Rewrite::value(at.list(&steps)))
}

/// A `let` with a value under the name of a step, which is enough; a text that computes nothing is a value.
pub(super) fn of_named_step<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    let binds =
        at.dialect.is_yaml() && foreign::is(Place::Binder, only.name()?) && only.name() != Some("let");
    if !binds || matches!(only.value.kind, Kind::Record(_)) {
        return None;
    }
    let text = only.value.text().is_some_and(|text| !text.contains(['$', '+', '*', '/', '(']));
    let word = at.dialect.word(if text { Key::Value } else { Key::Expr });
    Some(at.rewrite(vec![(word, only.value)]))
}

/// A name as the key of its value: `{"let": {"x": 1}}`.
pub(super) fn by_key<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    let [named] = entries(&only.value) else { return None };
    if !foreign::is(Place::Binder, only.name()?) {
        return None;
    }
    let inside = entries(&named.value);
    let mut step: Fields<'a> = vec![("let", at.word(named.name()?))];
    if inside.iter().any(|entry| entry.is(begins_step)) {
        step.extend(inside.iter().filter_map(kept));
    } else {
        step.push(("expr", named.value));
    }
    Some(at.rewrite(step))
}

/// An operator beside `let`, and maybe a handler: `{"let": "x", "+": […]}`.
pub(super) fn operator_beside<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    const HANDLING: [Key; 2] = [Key::Handler, Key::Compensate];
    let name = get(list, &["let"])?;
    let is_operation = |entry: &&Entry<'a>| entry.is(operator::is);
    let operation = list.iter().find(is_operation)?;
    let handles = |entry: &&Entry<'a>| at.dialect.means(entry, &HANDLING);
    let handlers: Fields<'a> = list.iter().filter(handles).filter_map(kept).collect();
    if list.len() != 2 + handlers.len() {
        return None;
    }
    let value = at.one(operation.name()?, operation.value);
    let mut step: Fields<'a> = vec![("let", name.value), ("expr", value)];
    step.extend(handlers);
    Some(at.rewrite(step))
}

/// A step whose kind is the value of a key: `{"type": "return", "value": 1}`.
pub(super) fn by_type<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let value = || get(list, foreign::words(Place::Held)).map(|entry| entry.value);
    match get(list, foreign::words(Place::Marker))?.value.text()? {
        "return" => Some(at.rewrite(vec![(at.dialect.word(at.dialect.return_key()), value()?)])),
        "let" | "set" | "assign" => {
            let name = get(list, &["name", "var", "variable", "let"])?;
            Some(at.rewrite(vec![("let", name.value), ("expr", value()?)]))
        }
        _ => None,
    }
}
