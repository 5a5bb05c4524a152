//! Habits: steps in other shapes. Names and values that are bound; calls as agents send them to tools, or as
//! state machines and other languages write them; conditions, assertions, switches, matches and loops; and
//! steps that no notation has, such as commands and states of state machines, of which some can be rewritten
//! and the others are reported and removed.

use super::context::{EntryList, Fields, Rewriter, bound, get, kept, others};
use super::words::{get_key, instead};
use crate::diagnostic::Diagnostics;
use crate::dialect::step_forms::is_continue;
use crate::dialect::{
    Key, STEP_KEYS, begins_step, changes, form_of, is_for, is_word, key_of, operator, other_operator,
};
use crate::document::{Entry, Node, NodeKind, entries};
use crate::expr::{self, TreeKind};
use crate::foreign;
use crate::foreign::Place;
use crate::text::is_name;
use ilo_spec::limits;

/// A name with its new value, or with the item that is added to its list: `{"set": "x", "to": 1}`,
/// `{"push": 1, "to": "xs"}`, `{"append": "xs", "value": 1}`, `{"push": {"xs": 1}}`.
pub(super) fn to_name<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let verb = list.iter().find(|entry| entry.is(changes))?;
    let grows = foreign::is(Place::Grower, verb.name()?);
    let (name, value) = match (list, entries(&verb.value)) {
        ([_], [only]) if grows && at.reader.has(only.name()?) => (only.key, only.value),
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
    Some(at.record(vec![("let", name), (word, value)]))
}

/// A name or path that an expression changes: `{"expr": "n += 1"}`, `{"expr": "xs.append(1)"}`, and
/// `{"expr": "n = 1"}`, which compares where it is named or needed, if its value does not have the name.
pub(super) fn changed<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [only] = list else { return None };
    let text = only.value.text().filter(|text| may_change(text))?;
    let (path, value) = assignment(text)
        .filter(|(path, value)| value.contains(path) || !(at.named || at.wanted))
        .map(|(path, value)| (path, at.text_at(&format!("${{{value}}}"), &only.value)))
        .or_else(|| Some((grown(at, &only.value)?, only.value)))?;
    let is_expression = only.is(|name| name == at.dialect.word(Key::Expr));
    let known = is_expression && at.reader.has(path.split(['.', '[']).next()?);
    known.then(|| at.record(vec![("let", at.word(path)), ("expr", value)]))
}

/// The path and its new value in `n = n + 1`, `n += 1` and `n++`.
fn assignment(text: &str) -> Option<(&str, String)> {
    let text = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(text).trim();
    let (left, value) = match text.strip_suffix("++").or(text.strip_suffix("--")) {
        Some(path) => (text.get(..=path.len())?, "1"),
        None => text.split_once('=')?,
    };
    let operated = left.strip_suffix(['+', '-', '*', '/']);
    let path = operated.unwrap_or(left).trim().trim_start_matches('$');
    let is_path = path.chars().all(|c| c.is_alphanumeric() || "_-.[]'".contains(c));
    let value = value.trim();
    let new = match operated {
        Some(path) => format!("{path} {} ({value})", left.get(path.len()..)?),
        None => value.to_owned(),
    };
    (is_path && !value.starts_with(['=', '>'])).then_some((path, new))
}

/// The list to which a method adds an item.
fn grown<'a>(at: &Rewriter<'_, 'a>, node: &Node<'a>) -> Option<&'a str> {
    let mut unseen = Diagnostics::default();
    let tree = expr::whole(node, at.dialect.sigil(), limits::NESTING, at.arena, &mut unseen)?;
    let TreeKind::Method(of, method, [_]) = tree.kind else { return None };
    let path = at.reader.source.get(of.span.range()).filter(|_| foreign::is(Place::Grower, method.text))?;
    Some(path.trim_start_matches('$'))
}

/// Whether the text of an expression may change a name.
pub(crate) fn may_change(text: &str) -> bool {
    let grows =
        |before: &str| before.rsplit_once('.').is_some_and(|(_, name)| foreign::is(Place::Grower, name));
    ["=", "++", "--"].into_iter().any(|sign| text.contains(sign))
        || text.rsplit_once('(').is_some_and(|(calls, _)| calls.split('(').any(grows))
}

/// A `let` with a value under the name of a step, which is enough; a text that computes nothing is a value.
pub(super) fn of_named_step<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [only] = list else { return None };
    let binds =
        at.dialect.is_yaml() && foreign::is(Place::Binder, only.name()?) && only.name() != Some("let");
    if !binds || matches!(only.value.kind, NodeKind::Record(_)) {
        return None;
    }
    let text = only.value.text().is_some_and(|text| !text.contains(['$', '+', '*', '/', '(']));
    let word = at.dialect.word(if text { Key::Value } else { Key::Expr });
    Some(at.record(vec![(word, only.value)]))
}

/// Names as the keys of their values: `{"let": {"x": 1}}`.
pub(super) fn by_key<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
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
    (!steps.is_empty()).then(|| at.list(&steps))
}

/// An operator beside `let`, and maybe a handler: `{"let": "x", "+": […]}`.
pub(super) fn operator_beside<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    const HANDLING: [Key; 2] = [Key::Handler, Key::Compensate];
    get(list, &["let"])?;
    let is_operation = |entry: &&Entry<'a>| entry.is(operator::is);
    let operation = list.iter().find(is_operation)?;
    let handles = |entry: &&Entry<'a>| at.dialect.means(entry, &HANDLING);
    if list.len() != 2 + list.iter().filter(handles).count() {
        return None;
    }
    let value = at.one(operation.name()?, operation.value);
    Some(at.instead(list, &[operation.name()?], vec![("expr", value)]))
}

/// A step whose kind is the value of a key: `{"type": "return", "value": 1}`.
pub(super) fn by_type<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let value = || get(list, foreign::words(Place::Held)).map(|entry| entry.value);
    match get(list, foreign::words(Place::Marker))?.value.text()? {
        "return" => Some(at.record(vec![(at.dialect.word(at.dialect.return_key()), value()?)])),
        "let" | "set" | "assign" => {
            let name = get(list, &["name", "var", "variable", "let"])?;
            Some(at.record(vec![("let", name.value), ("expr", value()?)]))
        }
        _ => None,
    }
}

/// A call with the steps for its success under `ok`.
pub(super) fn succeeded<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let ok = get(list, &["call"]).and(get(list, &["ok"]))?;
    let NodeKind::List(steps @ [_, ..]) = ok.value.kind else { return None };
    let is_step = |step: &Node<'a>| entries(step).iter().any(|entry| entry.is(begins_step));
    steps.iter().all(is_step).then(|| at.instead(list, &["ok"], vec![("then", ok.value)]))
}

/// A call as agents send it to a tool.
pub(super) fn called<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
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
        let from = if at.reader.has(name) { named.value.span.end } else { 0 };
        (is_name(name) && at.reader.survey.used_after(name, from)).then_some(named)
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
    let mut step = vec![(at.dialect.word(Key::Call), tool)];
    step.extend(bound.map(|entry| ("let", entry.value)));
    step.extend(put.map(|name| ("let", at.word(name))));
    step.extend(arguments.map(|entry| (at.dialect.word(Key::Args), entry.value)));
    let said = [callee, wrapper.unwrap_or(callee), arguments.unwrap_or(callee), bound.unwrap_or(callee)];
    let mut without: Vec<&str> = said.iter().filter_map(|entry| entry.name()).collect();
    without.push("let");
    without.extend(foreign::words(Place::BesideCall));
    without.extend(foreign::words(Place::Marker));
    if wrapper.is_some_and(|wrapper| wrapper.name() == Some("params")) {
        without.push("method");
    }
    Some(at.instead(list, &without, step))
}

/// A call whose arguments are beside it.
pub(super) fn loose_arguments<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    const CALL: [Key; 6] = [Key::Let, Key::Call, Key::Args, Key::Rollback, Key::Handler, Key::Compensate];
    get(list, &["call"])?.value.text()?;
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
    let beside = list.iter().filter(|entry| !loose(entry)).filter_map(kept);
    Some(at.record(beside.chain([(at.dialect.word(Key::Args), at.record(arguments))]).collect()))
}

/// A step that has only words for people.
pub(super) fn comment<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let is_comment = |entry: &Entry<'a>| entry.is(|name| foreign::is(Place::Comment, name));
    (!at.named && !list.is_empty() && list.iter().all(is_comment)).then(|| at.list(&[]))
}

/// The value of a failed call beside it: `{"call": "t", "default": 1}`.
pub(super) fn defaulted<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    get(list, &["call"])?;
    let default = get(list, &["default", "fallback"])?;
    if list.iter().any(|entry| at.dialect.means(entry, &[Key::Handler])) {
        return None;
    }
    let handler = (at.dialect.word(Key::Handler), at.one("value", default.value));
    Some(at.instead(list, &["default", "fallback"], vec![handler]))
}

/// `assert`, where an `if` returns a failure.
pub(super) fn assertion<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let assert = get(list, &["assert"]).filter(|_| !at.dialect.has(Key::Assert))?;
    let message = get_key(list, Key::Message)?;
    let failure = at.one(at.dialect.word(Key::Message), message.value);
    let step = vec![("if", at.one("not", assert.value)), (at.dialect.word(Key::Return), failure)];
    Some(at.instead(list, &["assert", message.name()?], step))
}

/// `elif` with a condition and steps, or a list of them: an `if` under `else`.
pub(super) fn otherwise_if<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    get(list, &["if"])?;
    let elif = get(list, foreign::words(Place::ElseIf))?;
    let arms: &[_] = match &elif.value.kind {
        NodeKind::List(items) => items,
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
    Some(at.instead(list, &without, vec![("else", rest?)]))
}

/// The default of a switch beside its arms; it should be the last arm.
pub(super) fn default_beside<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let arms = get(list, &["switch"])?;
    let default = get(list, &["default", "else", "otherwise"])?;
    let NodeKind::List(items) = arms.value.kind else { return None };
    let last = at.one("default", default.value);
    let arms = at.list(&[items, &[last]].concat());
    Some(at.instead(list, &["switch", "default", "else", "otherwise"], vec![("switch", arms)]))
}

/// A `switch` on a value with `cases`.
pub(super) fn switch_with_cases<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let (on, _) = (get(list, &["switch"])?, get(list, &["cases"])?);
    if matches!(on.value.kind, NodeKind::List(_)) {
        return None;
    }
    let subject =
        get(entries(&on.value), foreign::words(Place::Subject)).map_or(on.value, |entry| entry.value);
    Some(at.instead(list, &["switch"], vec![("match", subject)]))
}

/// The cases of a `match` beside it.
pub(super) fn loose_cases<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
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
    Some(at.record(step))
}

/// A record under `if` or `match` with keys that belong beside it.
pub(super) fn nested<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
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
    Some(at.record(step))
}

/// A condition beside a loop that is about its element: it filters, so it belongs into the loop.
fn condition_of_passes<'a>(
    at: &mut Rewriter<'_, 'a>,
    list: EntryList<'a>,
    condition: &'a Entry<'a>,
) -> Option<Node<'a>> {
    let element = get(list, &["for"])?.value.text().filter(|name| !name.is_empty())?;
    let body = list.iter().find(|entry| at.dialect.means(entry, &[Key::Body]))?;
    let asked = at.reader.source.get(condition.value.span.range())?;
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
        NodeKind::Record(_) if !at.dialect.is_yaml() => at.list(&[body.value]),
        _ => body.value,
    };
    let filter = at.record(vec![("if", condition.value), ("then", then)]);
    let passes = if at.dialect.is_yaml() { at.one("wanted", filter) } else { at.list(&[filter]) };
    Some(at.instead(list, &[condition.name()?, body.name()?], vec![(body.name()?, passes)]))
}

/// A condition beside a step of another kind; the step belongs under its `then`.
pub(super) fn condition_beside<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
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
    Some(at.record(record))
}

/// A loop whose element and list are in one value, or under words of another language.
pub(super) fn looped<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let marked = get(list, foreign::words(Place::Marker))
        .filter(|entry| entry.value.text().is_some_and(|text| foreign::is(Place::Loop, text)));
    let outer = get(list, foreign::words(Place::Loop)).or(marked)?;
    if matches!(outer.value.kind, NodeKind::List(_)) {
        // Several names for the element.
        return None;
    }
    let inside = entries(&outer.value);
    let word = outer.name()?;
    let element = get(list, foreign::words(Place::Element));
    let named = at.dialect.is_bare() || element.is_some_and(|entry| entry.name() == Some("as"));
    let is_list = |text: &str| {
        get_key(list, Key::In).is_none()
            && (text.starts_with('$') || named && (at.reader.has(text) || at.reader.has_input(text)))
    };
    let (variable, over, used): (Node<'a>, Node<'a>, Vec<&str>) = if let Some(text) = outer.value.text() {
        let pair = text.split_once(" in ").or_else(|| text.split_once(" of "));
        if let Some((variable, over)) = pair {
            (at.word(variable.trim().trim_start_matches('$')), at.word(over.trim()), vec![word])
        } else if is_list(text) {
            let used = [Some(word), element.and_then(Entry::name)];
            let variable = element.map_or(at.word("item"), |entry| entry.value);
            (variable, outer.value, used.into_iter().flatten().collect())
        } else if marked.is_some() {
            let (variable, over) = (element?, get_key(list, Key::In)?);
            let used = vec![word, variable.name()?, over.name()?];
            (variable.value, over.value, used)
        } else {
            return None;
        }
    } else if let [only] = inside
        && get_key(list, Key::In).is_none()
        && only.is(|name| is_name(name) && !is_for(name, Key::In))
    {
        // `{"for": {"x": "$xs"}}`
        (at.word(only.name()?), only.value, vec![word])
    } else {
        let over = get_key(inside, Key::In).or(get_key(list, Key::In))?;
        let variable = get(inside, foreign::words(Place::Element));
        let variable = variable.map_or(at.word("item"), |entry| entry.value);
        (variable, over.value, vec![word, over.name()?])
    };
    let body = get_key(inside, Key::Body).or(get_key(list, Key::Body)).or(get(list, &["then"]))?;
    let step = vec![("for", variable), ("in", over), (at.dialect.word(Key::Body), body.value)];
    Some(at.instead(list, &[&used[..], &[body.name()?]].concat(), step))
}

/// A shell command, or an action of a build system.
pub(super) fn command<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let help = format!(
        "there is no shell here, and an action of a build is no tool; a tool does it, which the tools file \
         names: {}",
        at.dialect.step_form()
    );
    Some(at.no_step(command_of(at, list)?, &help))
}

/// The entry with a command or an action.
pub(super) fn command_of<'a>(at: &Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<&'a Entry<'a>> {
    let arguments = list.iter().any(|entry| at.dialect.means(entry, &[Key::Args]));
    list.iter().find(|entry| {
        let (Some(name), Some(text)) = (entry.name(), entry.value.text()) else { return false };
        foreign::is(Place::Command, name) && (text.contains([' ', '\n']) || !arguments)
            || foreign::is(Place::Action, name) && text.contains(['@', ' '])
    })
}

/// A state of a state machine.
pub(super) fn state<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let (entry, help) = state_of(list)?;
    Some(at.no_step(entry, help))
}

/// The entry with the kind of a state, and what to write instead.
pub(super) fn state_of(list: EntryList<'_>) -> Option<(&Entry<'_>, &'static str)> {
    let entry = get(list, &["Type"])?;
    Some((entry, foreign::instead(Place::State, entry.value.text()?)?))
}

/// Steps in a group, such as those that run at the same time, in a list of steps in JSON: they run in order,
/// and calls of tools that only read at the same time by themselves.
pub(super) fn grouped<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [only] = list else { return None };
    only.name().filter(|name| foreign::is(Place::Group, name))?;
    let NodeKind::List(items @ [_, ..]) = only.value.kind else { return None };
    if at.dialect.is_yaml() || !items.iter().all(|item| matches!(item.kind, NodeKind::Record(_))) {
        return None;
    }
    Some(only.value)
}

/// `else` as a separate step.
pub(super) fn lone_else<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [only] = list else { return None };
    let help = match only.name()? {
        "else" => "write `else` beside its `if` and `then`; after a return, what follows is its else",
        "catch" | "on-error" => {
            &format!("write `{}` beside its `try` or `call`", at.dialect.word(Key::Handler))
        }
        _ => return None,
    };
    Some(at.no_step(only, help))
}

/// A step under a name that it should bind with `let`.
pub(super) fn named<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    // The word of a step names nothing.
    let name = entry.name().filter(|name| !at.named && at.dialect.meaning(name, &STEP_KEYS).is_none())?;
    let inside = entries(&entry.value);
    let form = form_of(inside, |entry, keys| at.dialect.means(entry, keys));
    let binds_name = form.is_none_or(|form| form.takes.contains(&Key::Let));
    // `{"a": {"set": 3}}` binds what is set.
    let binds = |entry: &Entry<'a>| matches!(entry.name(), Some("set" | "value" | "="));
    let mut step = if binds_name { vec![("let", at.word(name))] } else { Vec::new() };
    match inside {
        _ if form.is_some_and(|form| form.key != Key::Value) => {
            step.extend(inside.iter().filter_map(kept));
        }
        [only] if binds(only) => step.push(("expr", only.value)),
        [only] if only.is(operator::is) => step.push(("expr", entry.value)),
        _ => return None,
    }
    Some(at.record(step))
}

/// `continue` beside the condition of an `if`, or alone.
pub(super) fn continued<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let entry = get(list, &["continue"]).filter(|entry| is_continue(entry.name(), &entry.value))?;
    if list.len() > 1 && get(list, &["if"]).is_none() {
        return None;
    }
    Some(at.instead(list, &["continue"], vec![(at.dialect.word(Key::Skip), entry.value)]))
}

/// A step with a word that no notation has.
pub(super) fn absent<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let (entry, help) = list.iter().find_map(|entry| Some((entry, instead(entry.name()?, at.dialect)?)))?;
    Some(at.no_step(entry, &help))
}

/// An unbounded loop whose body has a word of a step.
pub(super) fn unbounded<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let is = |key: Key| list.iter().any(|entry| at.dialect.means(entry, &[key]));
    let loops = list.iter().any(|entry| entry.is(foreign::is_unbounded));
    if loops && is(Key::Yield) && !is(Key::For) { absent(at, list) } else { None }
}

/// An operator of another language as a step.
pub(super) fn operation<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [only] = list else { return None };
    let meant = only.name().and_then(other_operator::meant)?;
    Some(at.record(vec![(meant.spelling, only.value)]))
}

/// The message of a failure without its return: `{"error": …}`.
pub(super) fn message<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    let name = entry.name()?;
    if !matches!(name, "fail" | "throw") {
        at.dialect.meaning(name, &[Key::Message])?;
    }
    let failure = at.one(at.dialect.word(Key::Message), entry.value);
    let returns = at.dialect.has(Key::Return);
    Some(if returns { at.one(at.dialect.word(Key::Return), failure) } else { failure })
}
