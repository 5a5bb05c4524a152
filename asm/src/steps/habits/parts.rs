//! Habits: parts of steps and programs in other shapes, such as arguments and cases as lists of records,
//! steps or a word as a handler, the name of a tool as a rollback, `break` as a text, names with `$`, loops
//! with an index; returns in the words of other languages, such as `success` for `ok`;
//! inputs, types and tools in the forms of JSON Schema, of lists of declarations and of tool descriptions.

use super::context::{NewNodes, Rewriter};
use crate::catalog::meant_address;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::{Dialect, HANDLER, Key, changes, is_null, key_of};
use crate::document::{Entry, Node, NodeKind, entries, json, shown};
use crate::foreign;
use crate::foreign::Place;
use crate::source::SourceLimits;
use crate::span::Span;
use crate::steps::reader::StepReader;
use crate::text::{is_name, quoted};
use hashbrown::HashSet;
use ilo_spec::error::Code;

/// The arguments of a call as a list of records with one argument each, or as JSON in a text.
pub(crate) fn listed_arguments<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let NodeKind::List(items) = node.kind else { return quoted_arguments(at, node) };
    let only = |item: &Node<'a>| match entries(item) {
        [only] if only.name().is_some() => Some(*only),
        _ => None,
    };
    let fields: Vec<Entry<'a>> = items.iter().map(only).collect::<Option<_>>()?;
    (!fields.is_empty()).then(|| at.record_at(&fields, node))
}

fn quoted_arguments<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let text = node.text()?;
    let mut found = Diagnostics::default();
    let read = json::read(text, at.arena, &SourceLimits::default(), &mut found);
    let [record @ Node { kind: NodeKind::Record(_), .. }] = read else { return None };
    if !found.as_slice().is_empty() {
        return None;
    }
    Some(record.placed(node.span, at.arena))
}

/// Cases as a list of records with one case each.
pub(crate) fn listed_cases<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let NodeKind::List(items) = node.kind else { return None };
    let cases: Vec<Entry<'a>> = items.iter().map(case_of).collect::<Option<_>>()?;
    (!cases.is_empty()).then(|| at.record_at(&cases, node))
}

/// The name of a server's tool without all of `mcp://`.
pub(crate) fn callee<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let name = meant_address(node.text()?)?;
    Some(at.text_at(&name, node))
}

/// A bound name written as `$name` or `${name}`.
pub(crate) fn binder<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let text = node.text().filter(|text| text.starts_with('$'))?;
    let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    is_name(name).then(|| at.text_at(name, node))
}

/// The element of a loop, or a list of its index and the element.
pub(crate) fn element<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let NodeKind::List([index, item]) = node.kind else { return binder(at, node) };
    Some(at.text_at(&format!("{}, {}", index.text()?, item.text()?), node))
}

/// The word of an action as a handler, in a function that cannot fail with it.
fn action<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let action = action_as_text(node, at.dialect, at.reader.in_loop())?;
    if at.reader.is_result() {
        return None;
    }
    at.reader.report(action.diagnostic(Code::BadShape, format!("`{}`", action.form)));
    Some(with_true(at, action.key, node))
}

/// A text that is meant as `break` or `skip`.
pub(crate) fn text_step<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let key = match node.text().filter(|_| at.reader.in_loop())? {
        "break" => Key::Break,
        "skip" | "continue" => Key::Skip,
        _ => return None,
    };
    Some(with_true(at, key, node))
}

/// A record with one key and the value `true`.
pub(crate) fn with_true<'a>(at: &Rewriter<'_, 'a>, key: Key, of: &Node<'a>) -> Node<'a> {
    let value = Node { kind: NodeKind::Bool(true), span: of.span };
    at.record_at(&[Entry { key: at.text_at(at.dialect.word(key), of), value }], of)
}

/// The name of a tool in place of the call that undoes.
pub(crate) fn undoing<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    node.text().filter(|_| !at.dialect.is_yaml())?;
    let new = NewNodes { place: node.span, ..at.new };
    Some(new.one(at.dialect.word(Key::Call), *node))
}

/// A handler that is the word of an action, steps, or one step.
pub(crate) fn handler<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    action(at, node).or_else(|| handling_steps(at, node))
}

/// Steps, or one step, as a handler.
fn handling_steps<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let is_record = |item: &Node<'a>| matches!(item.kind, NodeKind::Record(_));
    let begins = |name: &str| changes(name) || matches!(name, "call" | "let" | "if" | "for" | "match");
    let (dialect, of_handler) = (at.dialect, |name: &str| key_of(name, &HANDLER).is_some());
    let named = |entry: &Entry<'a>| {
        is_record(&entry.value) && !dialect.means(entry, &HANDLER) && !entry.is(of_handler)
    };
    let are_steps = match node.kind {
        NodeKind::List(items) => items.iter().any(is_record),
        NodeKind::Record(list) => {
            list.iter().any(|entry| entry.is(begins))
                || dialect.is_yaml() && !list.is_empty() && list.iter().all(named)
        }
        _ => false,
    };
    if !are_steps {
        return None;
    }
    let then = at.dialect.word(Key::Then);
    let key = at.text_at(then, node);
    Some(at.record_at(&[Entry { key, value: *node }], node))
}

/// What the only entry of a returned record means: a success or a failure, in the words of some notation or
/// of another language.
pub(crate) fn outcome<'a>(reader: &StepReader<'a>, only: &Entry<'a>) -> Option<Key> {
    let (dialect, name) = (reader.dialect, only.name()?);
    let own = [Key::Ok, Key::Message].into_iter().find(|&key| dialect.word(key) == name);
    // `success` may be a field of the returned value.
    let tells = reader.is_result() && !matches!(only.value.kind, NodeKind::Bool(_));
    let other = || match dialect.meaning(name, &[Key::Message]) {
        _ if !dialect.has(Key::Return) => None,
        _ if tells && foreign::is(Place::Success, name) => Some(Key::Ok),
        _ if tells && foreign::is(Place::Failure, name) => Some(Key::Message),
        meant => meant.map(|(key, _)| key),
    };
    own.or_else(|| reader.of_habits(other()))
}

/// A return of both success and failure, read as the success, or as the one that is not null.
pub(crate) fn one_outcome<'d, 'a>(
    reader: &mut StepReader<'a>,
    [a, b]: [&'d Entry<'a>; 2],
) -> Option<&'d Entry<'a>> {
    let fails = |entry: &Entry<'a>| matches!(entry.name(), Some("err" | "error"));
    let both = match (a.name(), b.name()) {
        (Some("ok"), _) if fails(b) => Some((a, b)),
        (_, Some("ok")) if fails(a) => Some((b, a)),
        _ => None,
    };
    let (ok, err) = reader.of_habits(both)?;
    let is_null = |entry: &Entry<'a>| matches!(entry.value.kind, NodeKind::Null);
    if !is_null(ok) && !is_null(err) {
        let (word, found) = (shown(&ok.key), shown(&err.key));
        let message = format!("a return is `{word}` or `{found}`, not both");
        let help = format!("leave `{found}` out where it succeeds; it fails with `{found}` alone");
        reader.bad_step(err.key.span, &message, "one of them", "both", &help);
    }
    Some(if is_null(ok) && !is_null(err) { err } else { ok })
}

/// The inputs of a program.
pub(crate) fn inputs<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    match node.kind {
        NodeKind::List(items) => declarations(at, node, items),
        NodeKind::Record(list) if !list.iter().all(|entry| entry.value.is_scalar()) => schema(at, node)
            .or_else(|| {
                let typed: Vec<_> = list.iter().map(|entry| type_text(at, &entry.value)).collect();
                let input = |(entry, ty): (&Entry<'a>, &Option<Node<'a>>)| Entry {
                    key: entry.key,
                    value: ty.unwrap_or(entry.value),
                };
                let new: Vec<_> = list.iter().zip(&typed).map(input).collect();
                typed.iter().any(Option::is_some).then(|| at.record_at(&new, node))
            }),
        _ => None,
    }
}

/// Inputs as a list of records with `name` and `type`, or of names.
fn declarations<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>, items: &'a [Node<'a>]) -> Option<Node<'a>> {
    let input = |item: &'a Node<'a>| {
        if item.text().is_some() {
            return Some(Entry { key: *item, value: at.text_at("any", item) });
        }
        let key = *member(item, "name")?;
        key.text()?;
        let optional = member(item, "required").is_some_and(|of| matches!(of.kind, NodeKind::Bool(false)));
        Some(Entry { key, value: at.text_at(&declared(item, optional), member(item, "type")?) })
    };
    let inputs: Vec<Entry<'a>> = items.iter().map(input).collect::<Option<_>>()?;
    (!inputs.is_empty()).then(|| at.record_at(&inputs, node))
}

/// Inputs as a JSON Schema of an object.
fn schema<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    member(node, "type")?.text().filter(|&ty| ty == "object")?;
    let listed =
        member(node, "required").map(|all| if let NodeKind::List(all) = all.kind { all } else { &[] });
    let required: Option<HashSet<&str>> = listed.map(|all| all.iter().filter_map(Node::text).collect());
    let input = |entry: &Entry<'a>| {
        let name = entry.name()?;
        if entry.value.text().is_some() {
            return Some(*entry);
        }
        let optional = required.as_ref().is_some_and(|all| !all.contains(name));
        let value = at.text_at(&declared(&entry.value, optional), &entry.value);
        Some(Entry { key: entry.key, value })
    };
    let inputs: Vec<Entry<'a>> =
        entries(member(node, "properties")?).iter().map(input).collect::<Option<_>>()?;
    Some(at.record_at(&inputs, node))
}

/// A type as a JSON Schema, or as a list of the type of its items.
pub(crate) fn type_text<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    if node.is_scalar() || crate::dialect::input_form(node).is_some() || crate::dialect::lists_fields(node) {
        return None;
    }
    Some(at.text_at(&schema_type(node)?, node))
}

/// A tool given by its description.
pub(crate) fn tool<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<Node<'a>> {
    let name = member(node, "name").or(member(node, "tool"))?.text()?;
    Some(at.text_at(name, node))
}

/// The word of an action as a text, in the position of a handler.
pub(crate) struct ActionText {
    key: Key,
    text: &'static str,
    span: Span,
    /// The correct form of the action.
    pub(super) form: String,
}

impl ActionText {
    pub(crate) fn diagnostic(&self, code: Code, expected: String) -> Diagnostic {
        let text = self.text;
        Diagnostic::new(code, self.span, format!("`{text}` is the message to fail with here"))
            .expected(expected, format!("`{text}`"))
            .replace(self.span, self.form.as_str())
    }
}

/// The action that a text means as a handler.
pub(crate) fn action_as_text(node: &Node<'_>, dialect: Dialect, in_loop: bool) -> Option<ActionText> {
    let (text, key) = match node.text()? {
        "skip" if in_loop => ("skip", Key::Skip),
        "skip" => ("skip", Key::Ignore),
        "break" if in_loop => ("break", Key::Break),
        "ignore" => ("ignore", Key::Ignore),
        "continue" => ("continue", Key::Ignore),
        _ => return None,
    };
    let word = dialect.word(key);
    let form = if dialect.is_yaml() { format!("{{{word}: true}}") } else { format!("{{\"{word}\": true}}") };
    Some(ActionText { key, text, span: node.span, form })
}

/// The case that a record means: `{"gold": 20}`, `{"case": "gold", "value": 20}`.
fn case_of<'a>(node: &Node<'a>) -> Option<Entry<'a>> {
    match entries(node) {
        [only] => Some(*only),
        list @ [_, _] => {
            let get = |names: &[&str]| list.iter().find(|entry| entry.is(|name| names.contains(&name)));
            Some(Entry {
                key: get(foreign::words(Place::CaseKey))?.value,
                value: get(foreign::words(Place::CaseValue))?.value,
            })
        }
        _ => None,
    }
}

/// The value of a key.
fn member<'d, 'a>(node: &'d Node<'a>, name: &str) -> Option<&'d Node<'a>> {
    entries(node).iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value)
}

/// The type of an input by its schema, and what it takes besides.
fn declared(schema: &Node<'_>, optional: bool) -> String {
    let default = member(schema, "default");
    let null =
        |ty: &Node<'_>| matches!(ty.kind, NodeKind::List([a, b]) if [a, b].iter().any(|ty| is_null(ty)));
    let behind = match default.filter(|default| !matches!(default.kind, NodeKind::Null)) {
        Some(default) => format!(" = {}", default.text().map_or_else(|| shown(default), quoted)),
        None if default.is_some() || optional => "?".to_owned(),
        None if member(schema, "type").is_some_and(null) => "|nil".to_owned(),
        None => String::new(),
    };
    schema_type(schema).unwrap_or_else(|| "any".to_owned()) + &behind
}

/// The type that `{"type": "string"}` or `["text"]` means.
fn schema_type(node: &Node<'_>) -> Option<String> {
    if let NodeKind::List([item]) = node.kind {
        return Some(format!("list {}", schema_type(item).or_else(|| plain_type(item))?));
    }
    let ty = plain_type(member(node, "type")?)?;
    if ty != "array" {
        return Some(ty);
    }
    let items = member(node, "items").and_then(schema_type);
    Some(format!("list {}", items.as_deref().unwrap_or("any")))
}

/// The name of a type, in JSON Schema or in ilo, or of the one beside null.
fn plain_type(node: &Node<'_>) -> Option<String> {
    let text = match node.kind {
        NodeKind::List([ty, null] | [null, ty]) if is_null(null) => ty.text()?,
        _ => node.text()?,
    };
    let ty = foreign::word(Place::Type, text).unwrap_or(text);
    is_name(ty).then(|| ty.to_owned())
}
