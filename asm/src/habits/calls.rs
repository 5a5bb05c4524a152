//! Habits: calls in other forms, as agents send them to tools, or as state machines and other languages write
//! them.

use super::context::{Context, Entries, Fields, Rewrite, bound, get, kept, others};
use super::words::{get_key, instead, key_of};
use crate::dialect::{Key, begins_step, is_word};
use crate::document::{Entry, Kind, Node, entries};
use crate::foreign::{self, Place};
use crate::text::is_name;

/// A call with the steps for its success under `ok`.
pub(super) fn succeeded<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let ok = get(list, &["call"]).and(get(list, &["ok"]))?;
    let Kind::List(steps @ [_, ..]) = ok.value.kind else { return None };
    let is_step = |step: &Node<'a>| entries(step).iter().any(|entry| entry.is(begins_step));
    let mut step = others(list, &["ok"]);
    step.push(("then", ok.value));
    steps.iter().all(is_step).then(|| at.rewrite(step))
}

/// A call as agents send it to a tool.
pub(super) fn called<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let marked = get(list, foreign::words(Place::Marker))
        .is_some_and(|entry| entry.value.text().is_some_and(|text| foreign::is(Place::CallMark, text)));
    let wrapper = get(list, foreign::words(Place::Wrapper))
        .filter(|entry| get(entries(&entry.value), foreign::words(Place::Callee)).is_some());
    let inner = wrapper.map_or(list, |entry| entries(&entry.value));
    let callee = get(inner, foreign::words(Place::Callee))?;
    let text = callee.value.text().filter(|text| !text.is_empty())?;
    let own = at.dialect.meaning(callee.name()?, &[Key::Call]).is_some();
    let arguments = get_key(inner, Key::Args)
        .or_else(|| get_key(list, Key::Args))
        .filter(|entry| !core::ptr::eq(*entry, callee));
    if text.contains([' ', '\n', '@']) {
        // A command or an action of a build system, which is not a tool.
        return None;
    }
    let known = wrapper.is_some() || marked || arguments.is_some();
    let steps = |entry: &Entry<'a>| {
        entry.is(|name| name != callee.name().unwrap_or("") && begins_step(name))
            && !wrapper.is_some_and(|wrapper| core::ptr::eq(wrapper, entry))
    };
    if !known || own && wrapper.is_none() && !marked || list.iter().any(steps) {
        return None;
    }
    let bound = get(list, &["let"]).or_else(|| {
        let named = get(list, foreign::words(Place::Answer))?;
        let name = named.value.text().filter(|_| !core::ptr::eq(named, callee))?;
        let from = if at.names.has(name) { named.value.span.end } else { 0 };
        (is_name(name) && at.names.is_used_after(name, from)).then_some(named)
    });
    // The path at which a state machine stores the answer: `$.user`.
    let put = get(list, &["ResultPath"]).and_then(|entry| entry.value.text()?.strip_prefix("$."));
    let put = put.filter(|name| is_name(name) && bound.is_none() && !at.dialect.is_yaml());
    let server = get(inner, &["server", "server_name"]).and_then(|entry| entry.value.text());
    let tool = match server {
        Some(server) if !text.contains("://") => {
            at.word(at.arena.alloc_str(&crate::catalog::address(server, text)))
        }
        _ => callee.value,
    };
    let mut step = Vec::new();
    step.extend(bound.map(|entry| ("let", entry.value)));
    step.extend(put.map(|name| ("let", at.word(name))));
    step.push((at.dialect.word(Key::Call), tool));
    step.extend(arguments.map(|entry| (at.dialect.word(Key::Args), entry.value)));
    let said = [callee, wrapper.unwrap_or(callee), arguments.unwrap_or(callee), bound.unwrap_or(callee)];
    let mut without: Vec<&str> = said.iter().filter_map(|entry| entry.name()).collect();
    without.push("let");
    without.extend(foreign::words(Place::BesideCall));
    without.extend(foreign::words(Place::Marker));
    if wrapper.is_some_and(|wrapper| wrapper.name() == Some("params")) {
        without.push("method");
    }
    step.extend(others(list, &without));
    Some(at.rewrite(step))
}

/// A call whose arguments are beside it.
pub(super) fn loose_arguments<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    const CALL: [Key; 6] = [Key::Let, Key::Call, Key::Args, Key::Rollback, Key::Handler, Key::Compensate];
    let call = get(list, &["call"])?;
    call.value.text()?;
    let has = |key: &Key| list.iter().any(|entry| at.dialect.means(entry, &[*key]));
    let free: Vec<Key> = CALL.iter().filter(|key| !has(key)).copied().collect();
    let loose = |entry: &&Entry<'a>| {
        entry.is(|name| {
            key_of(name, &free).is_none()
                && at.dialect.nearest(name, &free).is_none()
                && instead(name, at.dialect).is_none()
                && !is_word(name)
        })
    };
    if at.wanted && !at.named || list.iter().any(|entry| at.dialect.means(entry, &[Key::Args])) {
        return None;
    }
    let arguments: Fields<'a> = list.iter().filter(loose).filter_map(kept).collect();
    // What may be a comment may be an argument as well.
    if arguments.is_empty() || list.iter().any(|entry| entry.is(|name| foreign::is(Place::Comment, name))) {
        return None;
    }
    let mut step: Fields<'a> = bound(list);
    step.push(("call", call.value));
    step.push((at.dialect.word(Key::Args), at.record(arguments)));
    let rest = list.iter().filter(|entry| !loose(entry) && !matches!(entry.name(), Some("let" | "call")));
    step.extend(rest.filter_map(kept));
    Some(at.rewrite(step))
}

/// The value of a failed call beside it: `{"call": "t", "default": 1}`.
pub(super) fn defaulted<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    get(list, &["call"])?;
    let default = get(list, &["default", "fallback"])?;
    if list.iter().any(|entry| at.dialect.means(entry, &[Key::Handler])) {
        return None;
    }
    let mut step = others(list, &["default", "fallback"]);
    step.push((at.dialect.word(Key::Handler), at.one("value", default.value)));
    Some(at.rewrite(step))
}
