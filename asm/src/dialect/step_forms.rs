//! How the steps of each notation are written, for messages.

use super::{Dialect, Key, STEP_KEYS};
use crate::diagnostic::Diagnostic;
use crate::document::{Kind, Node, shown};
use crate::notation::Notation;
use ilo_spec::error::Code;

/// Whether a record, or a named step, is `continue: true`, which is not a step in any notation.
pub(crate) fn is_continue(name: Option<&str>, value: &Node<'_>) -> bool {
    name == Some("continue") && matches!(value.kind, Kind::Bool(true))
}

impl Dialect {
    /// How a program is written.
    pub(crate) fn program_form(self) -> &'static str {
        match self.notation {
            Notation::Constrained => "`{\"fn\":…,\"in\":{…},\"out\":…,\"body\":[…]}`",
            Notation::Workflow => "`name:`, `input:`, `output:` and `steps:`",
            Notation::Mcp => "`{\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}, \"steps\": […]}`",
            Notation::ToolCalling | Notation::Id => {
                "`{\"function\": …, \"input\": {…}, \"output\": …, \"steps\": […]}`"
            }
        }
    }

    /// The words of the notation for some keys.
    pub(crate) fn listed(self, keys: &[Key]) -> String {
        let own = keys.iter().filter(|&&key| self.takes(key));
        let words: Vec<String> = own.map(|&key| format!("`{}`", self.word(key))).collect();
        words.join(", ")
    }

    /// The diagnostic of a key that has no meaning in a record with `keys`. `what` names the record, `word`
    /// the key that is most likely meant.
    pub(crate) fn unknown_key(
        self,
        key: &Node<'_>,
        keys: &[Key],
        what: &str,
        word: Option<&str>,
    ) -> Diagnostic {
        let found = format!("`{}`", shown(key));
        Diagnostic::new(Code::UnknownKey, key.span, format!("{found} has no meaning in {what}"))
            .expected(self.listed(keys), found)
            .nearest(word)
    }

    /// The words that identify a step.
    pub(crate) fn step_words(self) -> String {
        let keys: Vec<Key> = STEP_KEYS.into_iter().filter(|&key| key != Key::Value).collect();
        self.listed(&keys)
    }

    /// What to write instead of a record that is not a step.
    pub(crate) fn step_form(self) -> &'static str {
        if self.is_yaml() {
            "write `call: tool` with `args:`, or another step"
        } else {
            "write `{\"call\": \"tool\", …}`, or another step"
        }
    }

    /// How a loop is written.
    pub(crate) fn loop_form(self) -> String {
        let (word, list) = (self.word(Key::Body), if self.is_bare() { "list" } else { "$list" });
        if self.is_yaml() {
            format!("`for: x`, `in: ${{list}}`, `{word}: …`")
        } else {
            format!("`{{\"let\": \"v\", \"for\": \"x\", \"in\": \"{list}\", \"{word}\": […]}}`")
        }
    }

    /// How one of two values is written.
    pub(crate) fn choice_form(self) -> &'static str {
        if self.is_yaml() {
            "`let: v`, `if: condition`, `then: value`, `else: value`, and `${v}` in the steps after it"
        } else if self.is_bare() {
            "`{\"let\":\"v\",\"if\":condition,\"then\":value,\"else\":value}`, and `v` in the steps after it"
        } else {
            "`{\"let\": \"v\", \"if\": condition, \"then\": value, \"else\": value}`, and `$v` in the steps after it"
        }
    }

    /// How a value (`ok`) or a failure is returned with a word.
    pub(crate) fn return_form(self, word: &str) -> String {
        let outer = self.word(Key::Return);
        if !self.has(Key::Return) {
            format!("{{\"{word}\": …}}")
        } else if self.is_yaml() {
            format!("{outer}: {{{word}: …}}")
        } else {
            format!("{{\"{outer}\": {{\"{word}\": …}}}}")
        }
    }

    /// How a failure is returned.
    pub(crate) fn failing_form(self) -> String {
        format!("`{}`", self.return_form(self.word(Key::Message)))
    }
}
