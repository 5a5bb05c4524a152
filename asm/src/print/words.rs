//! The words of each JSON and YAML notation: a row each. Everything else about printing them is shared.

use crate::build::Notation;

/// How a notation writes what all of them have.
#[derive(Debug)]
pub(super) struct Words {
    /// Which.
    pub(super) notation: Notation,
    /// What stands before a parameter's name in a reference by itself, in a reference within a text, and in braces.
    pub(super) parameter: [&'static str; 3],
    /// The same for any other name.
    pub(super) variable: [&'static str; 3],
    /// Whether a reference by itself stands in braces as soon as a field is taken of it.
    pub(super) fields_in_braces: bool,
    /// What the failure is called in a handler.
    pub(super) failure: &'static str,
    /// The arguments of a call.
    pub(super) arguments: &'static str,
    /// The handler of a call.
    pub(super) handler: &'static str,
    /// What returns; `None` where `ok` and `failed` stand by themselves.
    pub(super) returns: Option<&'static str>,
    /// What returns a failure.
    pub(super) failed: &'static str,
    /// The body of a loop.
    pub(super) body: &'static str,
    /// Whether a handler that only fails with a message is that message.
    pub(super) short_handler: bool,
}

/// The words of a notation; `None` for the one without.
pub(super) fn of(notation: Notation) -> Option<&'static Words> {
    TABLE.iter().find(|words| words.notation == notation)
}

const TABLE: [Words; 4] = [
    Words {
        notation: Notation::ToolCalling,
        parameter: ["$input.", "$input.", "input."],
        variable: ["$", "$", ""],
        fields_in_braces: false,
        failure: "error",
        arguments: "args",
        handler: "on-error",
        returns: Some("return"),
        failed: "error",
        body: "do",
        short_handler: false,
    },
    Words {
        notation: Notation::Constrained,
        parameter: ["", "${", ""],
        variable: ["", "${", ""],
        fields_in_braces: false,
        failure: "err",
        arguments: "args",
        handler: "err",
        returns: Some("ret"),
        failed: "err",
        body: "yield",
        short_handler: true,
    },
    Words {
        notation: Notation::Workflow,
        parameter: ["$.", "$.", "."],
        variable: ["${", "${", ""],
        fields_in_braces: true,
        failure: "error",
        arguments: "args",
        handler: "catch",
        returns: Some("return"),
        failed: "error",
        body: "yield",
        short_handler: false,
    },
    Words {
        notation: Notation::Mcp,
        parameter: ["$.", "$.", "."],
        variable: ["$", "${", ""],
        fields_in_braces: true,
        failure: "err",
        arguments: "with",
        handler: "err",
        returns: None,
        failed: "err",
        body: "yield",
        short_handler: true,
    },
];
