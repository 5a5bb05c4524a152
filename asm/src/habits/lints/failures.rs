//! Warnings about failures and messages of handlers that mean something else in other languages.

use super::Lints;
use crate::diagnostic::Diagnostic;
use crate::document::Node;
use crate::expr::reference::{Reference, Step};
use crate::habits::step_parts::action_as_text;
use crate::text::shorten;
use ilo_spec::error::Code;

impl<'a> Lints<'_, 'a> {
    /// Warns about `$error.message`: the failure of a tool is a text.
    pub(crate) fn field_of_failure(&mut self, reference: &Reference<'a>) {
        let [Step::Field(field)] = reference.path else { return };
        let written = self.at.source.get(reference.span.range()).unwrap_or("");
        let text = written.replacen(&format!(".{}", field.text), "", 1);
        let message = format!("what a tool fails with is a text, which has no field `{}`", field.text);
        let warning = Diagnostic::new(Code::FailureField, reference.span, message)
            .expected(format!("`{text}`"), format!("`{}`", shorten(written)));
        self.warn(warning.replace(reference.span, text));
    }

    /// Warns about a message that is the word of an action: `"skip"`.
    pub(crate) fn message(&mut self, node: &Node<'a>) {
        if let Some(action) = action_as_text(node, self.at.dialect, self.at.names.in_loop()) {
            self.warn(action.diagnostic(Code::HandlerText, format!("a message, or `{}`", action.form)));
        }
    }
}
