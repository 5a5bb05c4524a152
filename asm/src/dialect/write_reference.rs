//! Writes references in the form of each notation.

use super::Dialect;
use crate::expr::reference::{FAILURES, INPUT, Reference, Root, Step};
use crate::notation::Notation;

impl Dialect {
    /// A reference in the form of this notation; `how` is `$` for the short form, `{` for the form in braces.
    pub(crate) fn written(self, reference: &Reference<'_>, how: char) -> String {
        let plain = reference.to_string();
        let inside = match (reference.root, self.notation) {
            (Root::Input, Notation::ToolCalling) if plain != INPUT => format!("{INPUT}{plain}"),
            (Root::Input, Notation::Constrained) => plain.trim_start_matches('.').to_owned(),
            (Root::Name(name), _) if FAILURES.contains(&name.text) => {
                format!("{}{}", self.failure(), plain.get(name.text.len()..).unwrap_or(""))
            }
            _ => plain,
        };
        if how == '$' && !inside.contains('[') { format!("${inside}") } else { format!("${{{inside}}}") }
    }

    /// A reference as a whole text, or inside a longer text.
    pub(crate) fn own_form(self, reference: &Reference<'_>, inside: bool) -> String {
        let input = matches!(reference.root, Root::Input);
        let braces = match self.notation {
            Notation::Constrained if !inside => {
                let written = self.written(reference, '{');
                let bare = written.trim_start_matches("${").trim_end_matches('}').to_owned();
                return if bare.contains('[') { written } else { bare };
            }
            Notation::Constrained => true,
            // Inside a text, what follows could be read as part of the name.
            Notation::Workflow => inside || !input,
            Notation::Mcp => inside || (!input && !reference.path.is_empty()),
            Notation::ToolCalling | Notation::Id => inside,
        };
        // An index is in braces in each notation.
        let item = reference.path.iter().any(|step| matches!(step, Step::Index(..)));
        self.written(reference, if braces || item { '{' } else { '$' })
    }
}
