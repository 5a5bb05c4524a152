//! The five notations and their names.

use std::fmt;
use std::str::FromStr;

/// A notation that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// Integer-ID instruction text.
    Id,
    /// Extended tool calling, JSON.
    ToolCalling,
    /// Minified JSON for constrained decoding.
    Constrained,
    /// Workflow, YAML.
    Workflow,
    /// MCP composition, JSON.
    Mcp,
}

impl Notation {
    /// Every notation with its name; the one list of them.
    pub const ALL: [(Notation, &'static str); 5] = [
        (Notation::Id, "id"),
        (Notation::ToolCalling, "tool-calling"),
        (Notation::Constrained, "constrained"),
        (Notation::Workflow, "workflow"),
        (Notation::Mcp, "mcp"),
    ];
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Notation::ALL.iter().find(|(notation, _)| notation == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Notation {
    type Err = String;

    fn from_str(name: &str) -> Result<Notation, String> {
        let found = Notation::ALL.iter().find(|(_, known)| *known == name);
        found.map(|&(notation, _)| notation).ok_or_else(|| {
            let names = Notation::ALL.map(|(_, name)| format!("`{name}`")).join(", ");
            format!("`{name}` is not a notation; there are {names}")
        })
    }
}
