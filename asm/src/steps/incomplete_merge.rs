//! Messages for a merge that lacks one of its two parts.

use super::reader::StepReader;
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Reports a merge that does not have both of its parts.
    pub(crate) fn incomplete_merge(&mut self, node: &Node<'a>, at: Span) {
        let (word, set) = (self.dialect.word(Key::Merge), self.dialect.word(Key::Set));
        let form = match (word, self.dialect.is_yaml(), self.dialect.is_bare()) {
            ("$merge", ..) => format!("{{\"{word}\": [record, {{…}}]}}"),
            (_, true, _) => format!("{word}: record, {set}: {{…}}"),
            (_, _, true) => format!("{{\"{word}\":record,\"{set}\":{{…}}}}"),
            _ => format!("{{\"{word}\": record, \"{set}\": {{…}}}}"),
        };
        let found = match node.kind {
            Kind::List([_]) => "a list of one".to_owned(),
            Kind::List(items) => format!("a list of {}", items.len()),
            _ => "the record alone".to_owned(),
        };
        let message = "a merge is of a record and of the fields that it sets, whose names are written out";
        let wrong = Diagnostic::new(Code::BadShape, at, message).expected(format!("`{form}`"), found);
        self.report(wrong.help(format!(
            "write `{form}`; of another record, its fields by name, as in `{{\"total\": {}}}`",
            if self.dialect.is_bare() { "\"b.total\"" } else { "\"${b.total}\"" }
        )));
    }
}
