//! Habits: parts of steps in other shapes, such as arguments and cases as lists of records, steps or a word
//! as a handler, the name of a tool as a rollback, `break` as a text, names with `$`, loops with an index,
//! and `yield` in a notation without it.

use super::context::Rewriter;
use super::words::is_for;
use crate::catalog::{ADDRESS, meant_address};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::dialect::{Dialect, HANDLER, Key};
use crate::document::replacement::Replacement;
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, json, misnamed};
use crate::foreign::{self, Place};
use crate::source::Limits;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> Rewriter<'_, 'a> {
    /// The arguments of a call as a list of records with one argument each, or as JSON in a text.
    pub(super) fn listed_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let word = self.at.dialect.word(Key::Args);
        let Kind::List(items) = node.kind else { return self.quoted_arguments(node) };
        let only = |item: &Node<'a>| match entries(item) {
            [only] if only.name().is_some() => Some(*only),
            _ => None,
        };
        let fields: Vec<Entry<'a>> = items.iter().map(only).collect::<Option<_>>()?;
        if fields.is_empty() {
            return None;
        }
        let message = format!("`{word}` is one record, not a list of records");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message);
        self.as_record(node, &fields, wrong, None, "write each argument as its name and its value");
        Some(self.record_at(&fields, node))
    }

    fn quoted_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let text = node.text()?;
        let mut found = Diagnostics::default();
        let read = json::read(text, self.at.arena, &Limits::default(), &mut found);
        let [record @ Node { kind: Kind::Record(_), .. }] = read else { return None };
        if !found.as_slice().is_empty() {
            return None;
        }
        let word = self.at.dialect.word(Key::Args);
        let message = format!("`{word}` is a record of names and values, but this is a text");
        let wrong = Diagnostic::new(Code::BadShape, node.span, message)
            .expected("a record of names and values", node.kind_name());
        self.take(if self.at.dialect.is_yaml() {
            wrong.help("write the record itself, not the text of its JSON")
        } else {
            wrong.replace(node.span, text.trim())
        });
        Some(record.placed(node.span, self.at.arena))
    }

    /// Cases as a list of records with one case each.
    pub(super) fn listed_cases(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List(items) = node.kind else { return None };
        let cases: Vec<Entry<'a>> = items.iter().map(case_of).collect::<Option<_>>()?;
        if cases.is_empty() {
            return None;
        }
        let yaml = self.at.dialect.is_yaml();
        let form = if yaml { "`gold: 20`, a line for each" } else { "`{\"gold\": 20, \"silver\": 10}`" };
        let message = "`cases` is one record, not a list of records";
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message);
        let help = format!("write each case as its key and its value: {form}");
        self.as_record(node, &cases, wrong, Some(form), &help);
        Some(self.record_at(&cases, node))
    }

    /// Reports a list of records that should be one record.
    fn as_record(
        &mut self,
        node: &Node<'a>,
        list: &[Entry<'a>],
        wrong: Diagnostic,
        form: Option<&str>,
        help: &str,
    ) {
        let dialect = self.at.dialect;
        let field = |entry: &Entry<'a>| Some((entry.name()?, Replacement::Kept(entry.value)));
        let draft = list.iter().map(field).collect::<Option<_>>().map(Replacement::Record);
        let outline = draft.as_ref().map(|draft| format!("`{}`", draft.outline(dialect.is_yaml())));
        let form = form.map_or_else(|| outline.unwrap_or_default(), str::to_owned);
        let fix =
            draft.and_then(|draft| draft.fix(node, self.at.source, dialect.is_yaml(), dialect.is_bare()));
        let wrong = wrong.expected(form, "a list of records");
        self.take(wrong.fix_or_help(fix, help));
    }
}

impl<'a> Rewriter<'_, 'a> {
    /// The name of a server's tool without all of `mcp://`.
    pub(super) fn callee(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let name = meant_address(node.text()?)?;
        let message = format!("a tool of a server is `{ADDRESS}`");
        self.take(misnamed(Code::BadShape, node, message, &name));
        Some(self.text_at(&name, node))
    }

    /// A bound name written as `$name` or `${name}`.
    pub(super) fn binder(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let text = node.text().filter(|text| text.starts_with('$'))?;
        let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        if !is_name(name) {
            return None;
        }
        self.take(misnamed(Code::BadReference, node, "a name is bound without `$`", name));
        Some(self.text_at(name, node))
    }

    /// The element of a loop, or a list of the element and its index.
    pub(super) fn element(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List([first, rest @ ..]) = node.kind else { return self.binder(node) };
        self.found.push(
            Diagnostic::new(Code::BadShape, first_of(node), "a loop names its element alone")
                .expected("a name, a text", "a list")
                .help("count in a variable that is bound to 0 before the loop, and bound again in each pass"),
        );
        self.lost.extend(rest.iter().filter_map(Node::text));
        Some(self.binder(first).unwrap_or(*first))
    }

    /// The word of an action as a handler, in a function that cannot fail with it.
    pub(super) fn action(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let action = action_as_text(node, self.at.dialect, self.at.names.in_loop())?;
        if self.at.names.result().is_some() {
            return None;
        }
        self.found.push(action.diagnostic(Code::BadShape, format!("`{}`", action.form)));
        Some(self.with_true(action.key, node))
    }

    /// A text that is meant as `break`.
    pub(super) fn text_break(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let word = dialect.word(Key::Break);
        if !self.at.names.in_loop() || node.text() != Some(word) {
            return None;
        }
        let form = if dialect.is_yaml() {
            format!("{{{word}: true}}")
        } else {
            format!("{{\"{word}\":{}true}}", dialect.blank())
        };
        let message = format!("`{word}` is a text here, and a step is a record");
        self.take(
            Diagnostic::new(Code::BadStep, node.span, message)
                .expected(format!("`{form}`"), format!("`{word}`"))
                .replace(node.span, form),
        );
        Some(self.with_true(Key::Break, node))
    }

    /// A record with one key and the value `true`.
    pub(super) fn with_true(&self, key: Key, at: &Node<'a>) -> Node<'a> {
        let value = Node { kind: Kind::Bool(true), span: at.span };
        self.record_at(&[Entry { key: self.text_at(self.at.dialect.word(key), at), value }], at)
    }

    /// What is under a rollback: a call in the words of another language, or the name of a tool.
    pub(super) fn rollback(&mut self, node: &Node<'a>, key: Key) -> Option<Node<'a>> {
        let names_a_tool =
            |entry: &Entry<'a>| entry.is(|name| is_for(name, Key::Call)) && entry.value.text().is_some();
        if entries(node).iter().any(names_a_tool) {
            return self.words(node, &[Key::Call, Key::Args], "a rollback call");
        }
        self.tool_as_rollback(node, key)
    }

    /// The name of a tool in the position of rollback calls.
    fn tool_as_rollback(&mut self, node: &Node<'a>, key: Key) -> Option<Node<'a>> {
        node.text().filter(|_| !self.at.dialect.is_yaml())?;
        let dialect = self.at.dialect;
        let (word, call, one) = (dialect.word(key), dialect.word(Key::Call), key == Key::Rollback);
        let (what, form) = if one {
            ("a call, or a list of calls", format!("`{{\"{call}\": \"tool\", …}}`"))
        } else {
            ("a list of calls", format!("`[{{\"{call}\": \"tool\", …}}]`"))
        };
        let record = Replacement::one(call, Replacement::Kept(*node));
        let new = if one { record } else { Replacement::List(vec![record]) };
        let text = new.text(self.at.source, dialect.is_bare());
        self.take(
            Diagnostic::new(Code::BadShape, node.span, format!("`{word}` is {what}"))
                .expected(form, node.kind_name())
                .replace(node.span, text),
        );
        Some(new.node(node.span, self.at.arena))
    }

    /// Steps, or one step, as a handler.
    pub(super) fn handling_steps(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let is_record = |item: &Node<'a>| matches!(item.kind, Kind::Record(_));
        let is_list = match node.kind {
            Kind::List(items) if items.iter().any(is_record) => true,
            Kind::Record(list)
                if list.iter().any(|entry| matches!(entry.name(), Some("call" | "let" | "if" | "for"))) =>
            {
                false
            }
            _ => return None,
        };
        let dialect = self.at.dialect;
        let then = dialect.word(Key::Then);
        let message = format!("`{}` takes a record with one action", dialect.word(Key::Handler));
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected(format!("a record with one of {}", dialect.listed(&HANDLER)), node.kind_name());
        let (open, close) = if is_list { ("", "}") } else { ("[", "]}") };
        self.take(if dialect.is_yaml() {
            wrong.help(format!("put steps that run when the call fails under `{then}` in it"))
        } else {
            let open = Edit::insert(node.span.start, format!("{{\"{then}\": {open}"));
            let edits = vec![open, Edit::insert(node.span.end, close)];
            wrong.fix(Fix::writes(&format!("{{\"{then}\": […]}}"), edits))
        });
        let key = self.text_at(then, node);
        Some(self.record_at(&[Entry { key, value: *node }], node))
    }
}

/// The word of an action as a text, in the position of a handler.
pub(super) struct ActionText {
    key: Key,
    text: &'static str,
    span: Span,
    /// The correct form of the action.
    pub(super) form: String,
}

impl ActionText {
    pub(super) fn diagnostic(&self, code: Code, expected: String) -> Diagnostic {
        let text = self.text;
        Diagnostic::new(code, self.span, format!("`{text}` is the message to fail with here"))
            .expected(expected, format!("`{text}`"))
            .replace(self.span, self.form.as_str())
    }
}

/// The action that a text means as a handler.
pub(super) fn action_as_text(node: &Node<'_>, dialect: Dialect, in_loop: bool) -> Option<ActionText> {
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
