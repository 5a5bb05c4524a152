//! What is called, with which arguments, and rollbacks, which are calls alone.

use super::keys::Keyed;
use super::reader::Reader;
use super::refer::inner;
use super::steps::{Item, named};
use crate::ast::{Call, Name, StmtKind};
use crate::catalog::{ADDRESS, meant_address, own_function, own_function_address};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::Key;
use crate::document::edit::Draft;
use crate::document::{Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> Reader<'_, 'a> {
    /// The call of a step or value.
    pub(crate) fn call(&mut self, keyed: &Keyed<'_, 'a>) -> &'a Call<'a> {
        let span = keyed.place(Key::Call);
        let tool = keyed.get(Key::Call).map_or(Name { text: "", span }, |node| self.tool(node));
        let arguments = match keyed.get(Key::Args) {
            Some(node) if matches!(node.kind, Kind::Null) => &[],
            Some(node) => {
                let listed = self.listed_arguments(node);
                if listed.is_none() && !matches!(node.kind, Kind::Record(_)) {
                    self.no_arguments(node);
                }
                self.fields(listed.as_ref().unwrap_or(node))
            }
            None => &[],
        };
        self.new_call(tool, arguments, span)
    }

    /// Arguments as a list of records with one each: reports it, and gives back the record that it should have been.
    fn listed_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List(items) = node.kind else { return None };
        let only = |item: &Node<'a>| match entries(item) {
            [only] => Some((only.name()?, Draft::Kept(only.value))),
            _ => None,
        };
        let fields: Vec<(&'a str, Draft<'a>)> = items.iter().map(only).collect::<Option<_>>()?;
        if fields.is_empty() {
            return None;
        }
        let draft = Draft::Record(fields);
        let yaml = self.dialect.is_yaml();
        let word = self.dialect.word(Key::Args);
        let message = format!("`{word}` is one record, not a list of records");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected(format!("`{}`", draft.outline(yaml)), "a list of records");
        self.report(match draft.fix(node, self.source, yaml, self.dialect.is_bare()) {
            Some(fix) => wrong.fix(fix),
            None => wrong.help("write each argument as its name and its value"),
        });
        Some(draft.node(first_of(node), self.arena))
    }

    /// Reports arguments that are no record; a record as the text of its JSON is one without the quotes.
    fn no_arguments(&mut self, node: &Node<'a>) {
        let word = self.dialect.word(Key::Args);
        let what = format!("`{word}` is a record of names and values, but this is {}", node.kind_name());
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), what)
            .expected("a record of names and values", node.kind_name());
        let json = node.text().filter(|text| {
            let mut found = Diagnostics::default();
            let read =
                crate::document::json::read(text, self.arena, &crate::source::Limits::default(), &mut found);
            found.as_slice().is_empty() && matches!(read, [Node { kind: Kind::Record(_), .. }])
        });
        self.report(match json {
            Some(json) if !self.dialect.is_yaml() => wrong.replace(node.span, json.trim()),
            Some(_) => wrong.help("write the record itself, not the text of its JSON"),
            None => wrong.help("write each argument as its name and its value"),
        });
    }

    fn tool(&mut self, node: &Node<'a>) -> Name<'a> {
        let Kind::Text(text) = node.kind else {
            self.bad_shape(node, "what is called", "the name of a tool or function, a text");
            return Name { text: "", span: node.span };
        };
        if text.text.is_empty() || text.text.contains("${") {
            let message = "what is called is a name that is there before the program runs";
            self.report(
                Diagnostic::new(Code::BadShape, node.span, message)
                    .expected("the name of a tool or function", format!("`{}`", shown(node)))
                    .help("choose between tools with `if`, each with a `call` of its own"),
            );
        }
        if let Some(meant) = meant_address(text.text) {
            let message = format!("a tool of a server is `{ADDRESS}`");
            let mut wrong = Diagnostic::new(Code::BadShape, node.span, message)
                .expected(format!("`{meant}`"), format!("`{}`", shown(node)));
            wrong.fix = crate::document::rename(node, &meant);
            self.report(wrong);
            return Name { text: self.arena.alloc_str(&meant), span: inner(node) };
        }
        self.meant_function(Name { text: text.text, span: inner(node) }, true)
    }

    /// `mcp://self/name`: the function of that name, or the only other one without a name.
    pub(crate) fn meant_function(&mut self, name: Name<'a>, warns: bool) -> Name<'a> {
        let Some(own) = own_function(name.text) else { return name };
        let list = self.functions.list;
        if list.iter().any(|&(known, given)| given && known == own) {
            return name;
        }
        let mut others =
            list.iter().enumerate().filter(|&(at, &(_, given))| !given && at != self.functions.own);
        let (Some((_, &(only, _))), None) = (others.next(), others.next()) else { return name };
        let warning = || {
            Diagnostic::new(
                Code::UnnamedSelf,
                name.span,
                format!(
                    "no function is named `{own}`; the only other function, which has no name, is called"
                ),
            )
            .expected(format!("a function with `\"name\": \"{own}\"` in its `meta`"), "one without a name")
            .help(format!("write `\"name\": \"{own}\"` into the `meta` of the function that is meant"))
        };
        if warns {
            self.report(warning());
        }
        Name { text: self.arena.alloc_str(&own_function_address(only)), span: name.span }
    }

    /// Rollback calls, in their order.
    pub(crate) fn compensations(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        let single;
        let items: Vec<Item<'_, 'a>> = match &node.kind {
            Kind::List(nodes) => nodes.iter().map(|node| Item { name: None, node }).collect(),
            Kind::Record(list)
                if self.dialect.is_yaml() && !list.iter().any(|entry| entry.name() == Some("call")) =>
            {
                named(list)
            }
            Kind::Record(_) => {
                single = Item { name: None, node };
                vec![single]
            }
            _ => {
                let form = if self.dialect.is_yaml() {
                    "`- call: tool`, with `args:`"
                } else {
                    "`[{\"call\": \"tool\", …}]`"
                };
                let wrong = Diagnostic::new(Code::BadShape, node.span, "`compensate` is a list of calls")
                    .expected(form, node.kind_name());
                let tool = node.text().filter(|_| !self.dialect.is_yaml());
                let written = tool.and(self.source.get(node.span.range()));
                self.report(match written {
                    Some(tool) => {
                        let blank = if self.dialect.is_bare() { "" } else { " " };
                        wrong.replace(node.span, format!("[{{\"call\":{blank}{tool}}}]"))
                    }
                    None => wrong.help(format!("write {form}")),
                });
                return;
            }
        };
        for item in items {
            if entries(item.node).is_empty() {
                self.bad_shape(item.node, "a rollback", "a record with `call`");
                continue;
            }
            let keyed = self.keyed(item.node, &[Key::Call, Key::Args], "a rollback call");
            if !keyed.has(Key::Call) {
                self.missing(first_of(item.node), Key::Call, "a rollback", "`compensate` takes calls alone");
                continue;
            }
            let call = self.call(&keyed);
            self.push(StmtKind::Undo(call), Span::new(item.node.span.start, call.span.end));
        }
    }
}
