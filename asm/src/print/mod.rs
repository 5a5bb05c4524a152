//! Prints the syntax tree in each notation.
//!
//! Instruction text has a separate printer ([`id`]). The other four notations share one: a function becomes a
//! document in the words of its notation, and `document::print` lays it out.
//!
//! | file | prints |
//! |---|---|
//! | `function` | the program around the steps |
//! | `steps` | statements |
//! | `handlers` | a call with its MATCH, as the handler of the call or as a step with `match` |
//! | `value`, `infix`, `text` | expressions, also as infix texts; references and texts |
//! | `names` | names of slots, reads and bindings |
//!
//! What a notation cannot express is reported, never omitted silently.

mod function;
mod handlers;
mod id;
pub(crate) mod infix;
mod names;
mod steps;
mod text;
mod value;

use crate::ast::{File, Function, PartSet, Slot};
use crate::diagnostic::Diagnostics;
use crate::dialect::Dialect;
use crate::notation::Notation;
use crate::span::Span;
use hashbrown::{HashMap, HashSet};
use names::Names;
use names::Usage;

pub use id::{print as id, registry};

/// Prints all functions of a file in a notation. What the notation cannot express is reported and omitted.
// So that it is built as this crate is, not as that of its caller.
#[inline(never)]
pub fn print(file: &File<'_>, notation: Notation, diagnostics: &mut Diagnostics) -> String {
    match notation {
        Notation::Id => id::print(file),
        _ => function::print(file, Dialect::of(notation), diagnostics),
    }
}

/// The function that is being printed.
struct Printer<'p, 'a> {
    words: Dialect,
    /// The names of the file's functions.
    functions: &'p HashSet<&'a str>,
    function: &'p Function<'a>,
    /// The steps that set a part of a variable, by the path.
    parts: HashMap<Span, PartSet<'a>>,
    names: Names<'a>,
    uses: Usage<'a>,
    /// Inputs that have been bound again; from then on they are ordinary names.
    rebound: HashSet<Slot>,
    /// Whether an OK arm must not become part of the current block, because a call in it would be read as a
    /// rollback.
    literal: bool,
    /// The number of TRYs whose blocks enclose what is printed.
    tries: u32,
    /// Whether the current steps are in a list without names.
    in_list: bool,
    /// The start of the outermost enclosing loop.
    loop_start: Option<u32>,
    /// The current position in the source.
    printed_until: u32,
    /// The slots of the failures of the enclosing handlers, the innermost last; none for a failure with a
    /// name.
    failures: Vec<Option<Slot>>,
    /// The current nesting, as a reader will count it.
    depth: usize,
    diagnostics: &'p mut Diagnostics,
}
