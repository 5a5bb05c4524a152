//! Parts of steps in other shapes: arguments and cases as lists of records, steps as a handler, names with `$`, loops
//! with an index, `switch` where a notation has steps with `if`, and `yield` where it has none.

use super::walk::Walk;
use crate::catalog::{ADDRESS, meant_address};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::dialect::{HANDLER, Key, operator};
use crate::document::edit::{Replacement, is_repeatable};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, json, rename, shown};
use crate::source::Limits;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> Walk<'_, 'a> {
    /// The arguments of a call as a list of records with one each, or as the text of their JSON.
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
        if !found.as_slice().is_empty() || !matches!(read, [Node { kind: Kind::Record(_), .. }]) {
            return None;
        }
        let word = self.at.dialect.word(Key::Args);
        let message = format!("`{word}` is a record of names and values, but this is a text");
        let wrong = Diagnostic::new(Code::BadShape, node.span, message)
            .expected("a record of names and values", node.kind_name());
        self.diagnostics.push(if self.at.dialect.is_yaml() {
            wrong.help("write the record itself, not the text of its JSON")
        } else {
            wrong.replace(node.span, text.trim())
        });
        Some(self.record_at(&[], node))
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
        let fix = draft.and_then(|draft| draft.fix(node, self.source, dialect.is_yaml(), dialect.is_bare()));
        let wrong = wrong.expected(form, "a list of records");
        self.diagnostics.push(match fix {
            Some(fix) => wrong.fix(fix),
            None => wrong.help(help),
        });
    }

    /// Warns of a switch where the notation has steps with `if`, one behind the other. It is read all the same.
    pub(super) fn switch_for_ifs(&mut self, step: &Node<'a>) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let is = |entry: &&Entry<'a>, key: Key| {
            entry.name().is_some_and(|name| dialect.meaning(name, &[key]).is_some())
        };
        let switch = entries(step).iter().find(|entry| is(entry, Key::Switch))?;
        let Kind::List(arms) = switch.value.kind else { return None };
        if dialect.is_yaml() {
            return None;
        }
        let binds = entries(step).iter().any(|entry| is(&entry, Key::Let));
        let steps: Option<Vec<String>> = arms.iter().map(|arm| self.arm_as_if(arm)).collect();
        let steps = steps.filter(|steps| !steps.is_empty() && !binds && is_repeatable(step.span));
        let message = "`switch` is another notation's word for steps with `if`, and read as those";
        let warning = Diagnostic::new(Code::SisterWord, switch.key.span, message)
            .expected("a step with `if` for each arm, one behind the other", "`switch`");
        self.diagnostics.push(match steps {
            Some(steps) => warning.replace(step.span, steps.join(", ")),
            None => warning.help("a value for each condition is a step with `let`, `if`, `then` and `else`"),
        });
        Some(*step)
    }

    /// The text of the step that an arm is, where it ends the function.
    fn arm_as_if(&self, arm: &Node<'a>) -> Option<String> {
        const LEAVES: [Key; 3] = [Key::Return, Key::Ok, Key::Message];
        let leaves = |name: &str| self.at.dialect.meaning(name, &LEAVES).is_some();
        let leaves = |node: &Node<'a>| entries(node).iter().any(|entry| entry.name().is_some_and(leaves));
        let text = |node: &Node<'a>| self.source.get(node.span.range()).map(str::to_owned);
        match entries(arm).iter().find(|entry| entry.name() == Some("default")) {
            None if leaves(arm) => text(arm),
            Some(default) if leaves(&default.value) => text(&default.value),
            Some(Entry { value: Node { kind: Kind::Null, .. }, .. }) if leaves(arm) => {
                let rest = entries(arm).iter().filter(|entry| entry.name() != Some("default"));
                let rest =
                    rest.filter_map(|entry| Some((entry.name()?, Replacement::Kept(entry.value)))).collect();
                Some(Replacement::Record(rest).text(self.source, self.at.dialect.is_bare()))
            }
            _ => None,
        }
    }

    /// `yield` as the last step of a pass, where the notation has the value of the last step alone.
    pub(super) fn yielded(&mut self, step: &Node<'a>) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let is = |name: &str| dialect.meaning(name, &[Key::Yield]).is_some();
        let entry = entries(step).iter().find(|entry| entry.name().is_some_and(is))?;
        if dialect.has(Key::Yield) {
            return None;
        }
        let operates = |name: &str| operator::find(name).is_some();
        let record = matches!(entry.value.kind, Kind::Record(_))
            && !matches!(entries(&entry.value), [only] if only.name().is_some_and(operates));
        let word = dialect.word(if record { Key::Obj } else { Key::Value });
        let message = format!("the last step of a loop is what it yields: `{word}` does here");
        let fix = rename(&entry.key, word);
        let found = dialect.word(Key::Yield);
        self.other_form(entry.key.span, message, word, found, fix);
        let own = Entry { key: self.text_at(word, &entry.key), value: entry.value };
        Some(self.record_at(&[own], step))
    }
}

impl<'a> Walk<'_, 'a> {
    /// The name of a server's tool without all of `mcp://`.
    pub(super) fn callee(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let name = meant_address(node.text()?)?;
        let message = format!("a tool of a server is `{ADDRESS}`");
        let mut wrong = Diagnostic::new(Code::BadShape, node.span, message)
            .expected(format!("`{name}`"), format!("`{}`", shown(node)));
        wrong.fix = rename(node, &name);
        self.diagnostics.push(wrong);
        Some(self.text_at(&name, node))
    }

    /// A name that is bound as `$name` or `${name}`.
    pub(super) fn binder(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let text = node.text().filter(|text| text.starts_with('$'))?;
        let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        if !is_name(name) {
            return None;
        }
        let mut wrong = Diagnostic::new(Code::BadReference, node.span, "a name is bound without `$`")
            .expected(format!("`{name}`"), format!("`{}`", shown(node)));
        wrong.fix = rename(node, name);
        self.diagnostics.push(wrong);
        Some(self.text_at(name, node))
    }

    /// The element of a loop, also as a list of it and its index.
    pub(super) fn element(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List([first, rest @ ..]) = node.kind else { return self.binder(node) };
        self.diagnostics.push(
            Diagnostic::new(Code::BadShape, first_of(node), "a loop names its element alone")
                .expected("a name, a text", "a list")
                .help("count in a variable that is bound to 0 before the loop, and bound again in each pass"),
        );
        self.lost.extend(rest.iter().filter_map(Node::text));
        Some(self.binder(first).unwrap_or(*first))
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
        let edit = |at, text: String| Edit { span: Span::at(at), text };
        self.diagnostics.push(if dialect.is_yaml() {
            wrong.help(format!("put steps that run when the call fails under `{then}` in it"))
        } else {
            let open = edit(node.span.start, format!("{{\"{then}\": {open}"));
            let edits = vec![open, edit(node.span.end, close.to_owned())];
            wrong.fix(Fix { title: format!("write `{{\"{then}\": […]}}`"), edits })
        });
        let key = self.text_at(then, node);
        Some(self.record_at(&[Entry { key, value: *node }], node))
    }
}

/// The case that a record is: `{"gold": 20}`, `{"case": "gold", "value": 20}`.
fn case_of<'a>(node: &Node<'a>) -> Option<Entry<'a>> {
    const KEYS: [&str; 6] = ["case", "when", "key", "if", "is", "equals"];
    const VALUES: [&str; 5] = ["value", "then", "return", "result", "do"];
    match entries(node) {
        [only] => Some(*only),
        list @ [_, _] => {
            let get = |names: &[&str]| {
                list.iter().find(|entry| entry.name().is_some_and(|name| names.contains(&name)))
            };
            Some(Entry { key: get(&KEYS)?.value, value: get(&VALUES)?.value })
        }
        _ => None,
    }
}
