//! Habits: names and values that are bound in other shapes.

use super::context::{Context, Entries, Fields, Rewrite, get, kept};
use crate::dialect::{Key, begins_step, changes, operator};
use crate::document::{Entry, Kind, entries};
use crate::foreign::{self, Place};

/// A name with its new value, or with the item that is added to its list: `{"set": "x", "to": 1}`,
/// `{"push": 1, "to": "xs"}`, `{"append": "xs", "value": 1}`, `{"push": {"xs": 1}}`.
pub(super) fn to_name<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let verb = list.iter().find(|entry| entry.is(changes))?;
    let grows = foreign::is(Place::Grower, verb.name()?);
    let (name, value) = match (list, entries(&verb.value)) {
        ([_], [only]) if grows && at.names.has(only.name()?) => (only.key, only.value),
        ([a, b], _) => {
            let other = if a.name() == verb.name() { b } else { a };
            match other.name()? {
                "to" | "into" if grows => (other.value, verb.value),
                word if foreign::is(Place::Held, word) => (verb.value, other.value),
                _ => return None,
            }
        }
        _ => return None,
    };
    name.text()?;
    let word = if grows { "push" } else { "value" };
    Some(at.rewrite(vec![("let", name), (word, value)]))
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

/// Names as the keys of their values: `{"let": {"x": 1}}`.
pub(super) fn by_key<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let [only] = list else { return None };
    only.name().filter(|name| foreign::is(Place::Binder, name))?;
    let step = |named: &Entry<'a>| {
        let inside = entries(&named.value);
        let mut step: Fields<'a> = vec![("let", at.word(named.name()?))];
        if inside.iter().any(|entry| entry.is(begins_step)) {
            step.extend(inside.iter().filter_map(kept));
        } else {
            step.push(("expr", named.value));
        }
        Some(at.record(step))
    };
    let steps: Vec<_> = entries(&only.value).iter().map(step).collect::<Option<_>>()?;
    (!steps.is_empty()).then(|| Rewrite::value(at.list(&steps)))
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
