//! Habits: conditions, assertions, switches and matches in other shapes.

use super::context::{Context, Entries, Fields, Rewrite, bound, get, kept, others};
use super::words::get_key;
use crate::dialect::{Key, begins_step, changes, is_word};
use crate::document::{Entry, Kind, entries};
use crate::foreign::{self, Place};

/// `assert`, where an `if` returns a failure.
pub(super) fn assertion<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let assert = get(list, &["assert"]).filter(|_| !at.dialect.has(Key::Assert))?;
    let message = get_key(list, Key::Message)?;
    let mut step = vec![("if", at.one("not", assert.value))];
    step.extend(others(list, &["assert", message.name()?]));
    let failure = at.one(at.dialect.word(Key::Message), message.value);
    step.push((at.dialect.word(Key::Return), failure));
    Some(at.rewrite(step))
}

/// `elif` with a condition and steps, or a list of them: an `if` under `else`.
pub(super) fn otherwise_if<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    get(list, &["if"])?;
    let elif = get(list, foreign::words(Place::ElseIf))?;
    let arms: &[_] = match &elif.value.kind {
        Kind::List(items) => items,
        _ => core::slice::from_ref(&elif.value),
    };
    let last = get_key(list, Key::Else).filter(|entry| entry.name() != elif.name());
    let mut rest = last.map(|entry| entry.value);
    for arm in arms.iter().rev() {
        let inner = entries(arm);
        let condition = get_key(inner, Key::If)?;
        if inner.len() < 2 || rest.is_some() && get_key(inner, Key::Else).is_some() {
            return None;
        }
        let mut step: Fields<'a> = vec![("if", condition.value)];
        step.extend(others(inner, &[condition.name()?]));
        step.extend(rest.map(|rest| ("else", rest)));
        let step = at.record(step);
        rest = Some(if at.dialect.is_yaml() { step } else { at.list(&[step]) });
    }
    let without: Vec<&str> = [Some(elif), last].into_iter().flatten().filter_map(Entry::name).collect();
    let mut step = others(list, &without);
    step.push(("else", rest?));
    Some(at.rewrite(step))
}

/// The default of a switch beside its arms; it should be the last arm.
pub(super) fn default_beside<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let arms = get(list, &["switch"])?;
    let default = get(list, &["default", "else", "otherwise"])?;
    let Kind::List(items) = arms.value.kind else { return None };
    let last = at.one("default", default.value);
    let items = [items, &[last]].concat();
    let mut step = others(list, &["switch", "default", "else", "otherwise"]);
    step.push(("switch", at.list(&items)));
    Some(at.rewrite(step))
}

/// A `switch` on a value with `cases`.
pub(super) fn switch_with_cases<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let (on, _) = (get(list, &["switch"])?, get(list, &["cases"])?);
    if matches!(on.value.kind, Kind::List(_)) {
        return None;
    }
    let subject =
        get(entries(&on.value), foreign::words(Place::Subject)).map_or(on.value, |entry| entry.value);
    let mut step = bound(list);
    step.push(("match", subject));
    step.extend(others(list, &["let", "switch"]));
    Some(at.rewrite(step))
}

/// The cases of a `match` beside it.
pub(super) fn loose_cases<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    const BESIDE: [&str; 8] = ["cases", "as", "then", "else", "catch", "on-error", "err", "compensate"];
    let subject = get(list, &["match"]).filter(|_| get(list, &BESIDE).is_none())?;
    let own = |entry: &&Entry<'a>| matches!(entry.name(), Some("let" | "match" | "default" | "_"));
    let is_case = |entry: &Entry<'a>| {
        let plain = |name: &str| !is_word(name) && !foreign::is(Place::Cases, name);
        !own(&entry) && entry.is(plain)
    };
    let cases: Fields<'a> = list.iter().filter(|entry| is_case(entry)).filter_map(kept).collect();
    if cases.len() < 2 || !list.iter().all(|entry| own(&entry) || is_case(entry)) {
        return None;
    }
    let mut step = bound(list);
    step.extend([("match", subject.value), ("cases", at.record(cases))]);
    step.extend(get(list, &["default", "_"]).map(|entry| ("default", entry.value)));
    Some(at.rewrite(step))
}

/// A record under `if` or `match` with keys that belong beside it.
pub(super) fn nested<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let outer = get(list, &["if", "match"])?;
    let inner = entries(&outer.value);
    let word = outer.name()?;
    let (head, beside): (_, &[&str]) = if word == "if" {
        let beside = &["then", "else", "return", "ret", "ok", "err"];
        (get_key(inner, Key::If).or(get(inner, &["expr"]))?, beside)
    } else if get(list, &["cases"]).is_none() {
        (get(inner, foreign::words(Place::Subject))?, &["cases"])
    } else {
        // The subject of a `match` may be another `match`.
        return None;
    };
    // The value may be such a record itself, beside the keys of the step.
    if get(inner, beside).is_none() || get(list, beside).is_some() {
        return None;
    }
    let mut step = bound(list);
    step.push((word, head.value));
    step.extend(others(inner, &[head.name()?]));
    step.extend(others(list, &[word, "let"]));
    Some(at.rewrite(step))
}

/// A condition beside a loop that is about its element: it filters, so it belongs into the loop.
fn condition_of_passes<'a>(
    at: &Context<'_, 'a>,
    list: Entries<'a>,
    condition: &'a Entry<'a>,
) -> Option<Rewrite<'a>> {
    let element = get(list, &["for"])?.value.text().filter(|name| !name.is_empty())?;
    let body = list.iter().find(|entry| at.dialect.means(entry, &[Key::Body]))?;
    let asked = at.source.get(condition.value.span.range())?;
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let names_element = asked.match_indices(element).any(|(from, _)| {
        let (before, after) = (asked.get(..from), asked.get(from + element.len()..));
        !before.is_some_and(|text| text.ends_with(|c| letter(c) || c == '.'))
            && !after.is_some_and(|text| text.starts_with(letter))
    });
    if !names_element {
        return None;
    }
    let then = match body.value.kind {
        Kind::Record(_) if !at.dialect.is_yaml() => at.list(&[body.value]),
        _ => body.value,
    };
    let filter = at.record(vec![("if", condition.value), ("then", then)]);
    let passes = if at.dialect.is_yaml() { at.one("wanted", filter) } else { at.list(&[filter]) };
    let mut step = others(list, &[condition.name()?]);
    let (_, value) = step.iter_mut().find(|(key, _)| Some(*key) == body.name())?;
    *value = passes;
    Some(at.rewrite(step))
}

/// A condition beside a step of another kind; the step belongs under its `then`.
pub(super) fn condition_beside<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    const ENDS: [&str; 10] =
        ["then", "return", "ret", "ok", "err", "error", "default", "switch", "skip", "break"];
    let condition = get(list, foreign::words(Place::Condition))?;
    if get(list, &ENDS).is_some() {
        return None;
    }
    let word = condition.name()?;
    if let Some(rewrite) = condition_of_passes(at, list, condition) {
        return Some(rewrite);
    }
    let inner = || list.iter().filter(|entry| entry.name() != Some("else") && entry.name() != Some(word));
    inner().find(|entry| entry.is(|name| begins_step(name) || changes(name)))?;
    let step = at.record(inner().filter_map(kept).collect());
    let then = if at.dialect.is_yaml() { step } else { at.list(&[step]) };
    let mut record = vec![("if", condition.value), ("then", then)];
    record.extend(get(list, &["else"]).and_then(kept));
    Some(at.rewrite(record))
}
