//! How each JSON and YAML notation writes references: one row for each. Words come from [`crate::dialect`].

use crate::dialect::{Dialect, Key};
use crate::notation::Notation;

/// How a notation writes references.
#[derive(Debug)]
pub(super) struct Style {
    /// The notation.
    pub(super) notation: Notation,
    /// The prefix of the name of a parameter in a whole-text reference, in a reference inside a text, and in
    /// braces.
    pub(super) parameter: [&'static str; 3],
    /// The same for any other name.
    pub(super) variable: [&'static str; 3],
    /// Whether a whole-text reference gets braces if it reads a field.
    pub(super) fields_in_braces: bool,
}

/// The style of a notation; `None` for ID text.
pub(super) fn of(notation: Notation) -> Option<&'static Style> {
    TABLE.iter().find(|words| words.notation == notation)
}

const TABLE: [Style; 4] = [
    Style {
        notation: Notation::ToolCalling,
        parameter: ["$input.", "$input.", "input."],
        variable: ["$", "$", ""],
        fields_in_braces: false,
    },
    Style {
        notation: Notation::Constrained,
        parameter: ["", "${", ""],
        variable: ["", "${", ""],
        fields_in_braces: false,
    },
    Style {
        notation: Notation::Workflow,
        parameter: ["$.", "$.", "."],
        variable: ["${", "${", ""],
        fields_in_braces: true,
    },
    Style {
        notation: Notation::Mcp,
        parameter: ["$.", "$.", "."],
        variable: ["$", "${", ""],
        fields_in_braces: true,
    },
];

impl Style {
    fn dialect(&self) -> Dialect {
        Dialect::of(self.notation)
    }

    /// The word of the notation for a key.
    pub(super) fn word(&self, key: Key) -> &'static str {
        self.dialect().word(key)
    }

    /// The word that returns, if `ok` and failures are not separate steps.
    pub(super) fn returns(&self) -> Option<&'static str> {
        self.dialect().has(Key::Return).then(|| self.word(Key::Return))
    }

    /// The name of the failure in a handler.
    pub(super) fn failure(&self) -> &'static str {
        self.dialect().failure()
    }

    /// Whether a handler that only fails with a message is written as that message.
    pub(super) fn short_handler(&self) -> bool {
        self.word(Key::Handler) == self.word(Key::Message)
    }
}
