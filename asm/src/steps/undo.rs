//! `compensate`: rollback calls.

use super::reader::StepReader;
use super::step::Item;
use crate::ast::StmtKind;
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node};
use crate::document::{entries, first_of};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Rollback calls, in their order.
    pub(crate) fn compensations(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        let call = self.dialect.word(Key::Call);
        let items = match &node.kind {
            Kind::List(nodes) => Item::listed(nodes),
            Kind::Record(list)
                if self.dialect.is_yaml() && !list.iter().any(|entry| entry.name() == Some(call)) =>
            {
                Item::named(list)
            }
            Kind::Record(_) => vec![Item { name: None, node }],
            _ => return self.no_compensations(node),
        };
        for item in items {
            self.compensation(item.node);
        }
    }

    fn compensation(&mut self, node: &Node<'a>) {
        if entries(node).is_empty() {
            return self.bad_shape(node, "a rollback", "a record with `call`");
        }
        let keyed = self.keyed(node, &[Key::Call, Key::Args], "a rollback call");
        if !keyed.has(Key::Call) {
            return self.missing(first_of(node), Key::Call, "a rollback", "`compensate` takes calls alone");
        }
        let call = self.call(&keyed);
        self.push(StmtKind::Undo(call), Span::new(node.span.start, call.span.end));
    }

    /// Reports rollbacks that are no list.
    fn no_compensations(&mut self, node: &Node<'a>) {
        let (call, args) = (self.dialect.word(Key::Call), self.dialect.word(Key::Args));
        let form = if self.dialect.is_yaml() {
            format!("`- {call}: tool`, with `{args}:`")
        } else {
            format!("`[{{\"{call}\": \"tool\", …}}]`")
        };
        let wrong = Diagnostic::new(Code::BadShape, node.span, "`compensate` is a list of calls")
            .expected(form.clone(), node.kind_name());
        let tool = node.text().filter(|_| !self.dialect.is_yaml());
        let tool = tool.and(self.source.get(node.span.range()));
        self.report(match tool {
            Some(tool) => {
                let blank = self.dialect.blank();
                wrong.replace(node.span, format!("[{{\"{call}\":{blank}{tool}}}]"))
            }
            None => wrong.help(format!("write {form}")),
        });
    }
}
