//! The canonical layout of the JSON and YAML notations.
//!
//! JSON is printed again, in the layout of `print`. YAML has comments, so its lines stay and only their
//! indentation changes. The result is read again: if it does not give the same documents, the source is left
//! unchanged.

mod id;
mod yaml;

pub use id::format as id_text;

use crate::diagnostic::Diagnostics;
use crate::document::{json, print, same, yaml as reader};
use crate::notation::Notation;

use crate::arena::Arena;
use crate::source::SourceLimits;

/// The result of formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formatted {
    /// The canonical layout.
    Text(String),
    /// The source is not JSON or YAML; the errors are among the diagnostics.
    Refused,
    /// Another layout would change its meaning, or lose comments.
    LeftAlone,
}

/// Formats a source in one of the JSON and YAML notations. Linear in its length.
pub fn format(
    source: &str,
    notation: Notation,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> Formatted {
    let arena = Arena::new();
    let yaml = notation == Notation::Workflow;
    let read = if yaml { reader::read } else { json::read };
    let (documents, comments) = if yaml {
        (read(source, &arena, options, diagnostics), false)
    } else {
        json::read_with_comments(source, &arena, options, diagnostics)
    };
    if comments {
        return Formatted::LeftAlone;
    }
    if diagnostics.has_errors() {
        diagnostics.sort();
        return Formatted::Refused;
    }
    let text = match notation {
        Notation::Workflow => yaml::layout(source, documents),
        _ => print::documents(documents, notation),
    };
    let mut errors = Diagnostics::default();
    // Indents may make it exceed the limit on the size of sources.
    let options = SourceLimits { source: usize::MAX, ..*options };
    let again = read(arena.alloc_str(&text), &arena, &options, &mut errors);
    if errors.has_errors() || !same(documents, again) { Formatted::LeftAlone } else { Formatted::Text(text) }
}
