//! Habits: calls in other forms, as agents send them to tools, or as state machines and other languages write
//! them.

use super::context::{Context, Entries, Fields, MARKERS, Rewrite, bound, get, kept, others};
use super::words::{instead, key_of};
use crate::dialect::{Key, begins_step, is_word};
use crate::document::replacement::Replacement;
use crate::document::{Entry, entries};
use crate::text::is_name;

/// Keys for the name of the callee.
const CALLEES: [&str; 14] = [
    "uses",
    "tool",
    "function",
    "name",
    "tool_name",
    "toolName",
    "action",
    "recipient_name",
    "method",
    "fn",
    "command",
    "call",
    "use",
    "Resource",
];
/// Keys for a whole call.
const WRAPPERS: [&str; 9] =
    ["function", "tool_call", "toolCall", "call", "tool", "params", "function_call", "tool_use", "invoke"];
/// Keys for arguments.
const ARGUMENTS: [&str; 15] = [
    "args",
    "with",
    "arguments",
    "parameters",
    "params",
    "input",
    "inputs",
    "action_input",
    "tool_input",
    "kwargs",
    "payload",
    "data",
    "body",
    "Parameters",
    "Arguments",
];
/// Values that mark a record as a call.
const CALLS: [&str; 9] =
    ["function", "tool_use", "tool_call", "call", "tool", "action", "function_call", "2.0", "Task"];

/// A call as agents send it to a tool.
pub(super) fn called<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let marked =
        get(list, &MARKERS).is_some_and(|entry| entry.value.text().is_some_and(|text| CALLS.contains(&text)));
    let wrapper = get(list, &WRAPPERS).filter(|entry| get(entries(&entry.value), &CALLEES).is_some());
    let inner = wrapper.map_or(list, |entry| entries(&entry.value));
    let callee = get(inner, &CALLEES)?;
    let text = callee.value.text().filter(|text| !text.is_empty())?;
    let own = at.dialect.meaning(callee.name()?, &[Key::Call]).is_some();
    let arguments = get(inner, &ARGUMENTS)
        .or_else(|| get(list, &ARGUMENTS))
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
        let named = get(list, &["id", "as", "save_as", "result", "output", "store", "assign", "name"])?;
        let name = named.value.text().filter(|_| !core::ptr::eq(named, callee))?;
        (is_name(name) && at.names.survey.used_after(name, named.value.span.end)).then_some(named)
    });
    // The path at which a state machine stores the answer: `$.user`.
    let put = get(list, &["ResultPath"]).and_then(|entry| entry.value.text()?.strip_prefix("$."));
    let put = put.filter(|name| is_name(name) && bound.is_none() && !at.dialect.is_yaml());
    let server = get(inner, &["server", "server_name"]).and_then(|entry| entry.value.text());
    let tool = match server {
        Some(server) if !text.contains("://") => {
            Replacement::Word(at.arena.alloc_str(&crate::catalog::address(server, text)))
        }
        _ => Replacement::Kept(callee.value),
    };
    let mut step = Vec::new();
    step.extend(bound.map(|entry| ("let", Replacement::Kept(entry.value))));
    step.extend(put.map(|name| ("let", Replacement::Word(name))));
    step.push((at.dialect.word(Key::Call), tool));
    step.extend(arguments.map(|entry| (at.dialect.word(Key::Args), Replacement::Kept(entry.value))));
    let said = [callee, wrapper.unwrap_or(callee), arguments.unwrap_or(callee), bound.unwrap_or(callee)];
    let mut without: Vec<&str> = said.iter().filter_map(|entry| entry.name()).collect();
    without.extend([
        "let",
        "name",
        "id",
        "call_id",
        "tool_call_id",
        "description",
        "server",
        "server_name",
        "Next",
        "End",
        "Comment",
        "ResultPath",
    ]);
    without.extend(MARKERS);
    if wrapper.is_some_and(|wrapper| wrapper.name() == Some("params")) {
        without.push("method");
    }
    step.extend(others(list, &without));
    Some(Rewrite::step("this is another language's form of a call", step))
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
    if arguments.is_empty() {
        return None;
    }
    let mut step: Fields<'a> = bound(list);
    step.push(("call", Replacement::Kept(call.value)));
    step.push((at.dialect.word(Key::Args), Replacement::Record(arguments)));
    let rest = list.iter().filter(|entry| !loose(entry) && !matches!(entry.name(), Some("let" | "call")));
    step.extend(rest.filter_map(kept));
    Some(Rewrite::step("the arguments of a call belong in a record of their own", step))
}

/// The value of a failed call beside it: `{"call": "t", "default": 1}`.
pub(super) fn defaulted<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    get(list, &["call"])?;
    let default = get(list, &["default", "fallback"])?;
    if list.iter().any(|entry| at.dialect.means(entry, &[Key::Handler])) {
        return None;
    }
    let mut step = others(list, &["default", "fallback"]);
    step.push((at.dialect.word(Key::Handler), Replacement::one("value", Replacement::Kept(default.value))));
    Some(Rewrite::step("what a failed call gives instead is the `value` of its handler", step))
}
