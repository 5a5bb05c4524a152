//! The record of a call's arguments.

use super::reader::StepReader;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::Key;
use crate::document::edit::Draft;
use crate::document::{Kind, Node};
use crate::document::{entries, first_of, json};
use crate::source::Limits;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Arguments as a list of records with one each: reports it, and gives back the record that it should have been.
    pub(crate) fn listed_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
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
    pub(crate) fn no_arguments(&mut self, node: &Node<'a>) {
        let word = self.dialect.word(Key::Args);
        let what = format!("`{word}` is a record of names and values, but this is {}", node.kind_name());
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), what)
            .expected("a record of names and values", node.kind_name());
        let json = node.text().filter(|text| {
            let mut found = Diagnostics::default();
            let read = json::read(text, self.arena, &Limits::default(), &mut found);
            found.as_slice().is_empty() && matches!(read, [Node { kind: Kind::Record(_), .. }])
        });
        self.report(match json {
            Some(json) if !self.dialect.is_yaml() => wrong.replace(node.span, json.trim()),
            Some(_) => wrong.help("write the record itself, not the text of its JSON"),
            None => wrong.help("write each argument as its name and its value"),
        });
    }
}
