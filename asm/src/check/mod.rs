//! The check: everything that can be reported about a program before it runs.
//!
//! [`check`] resolves names, analyses the flow of slots, infers types, and reports everything that is wrong.
//! Its result, [`Checked`], is what lowering needs. Each function is walked once into a list of slot events
//! (`slot_events`). The same walk determines which blocks have values. `liveness` and `webs` walk
//! that list backwards and `flow` forwards; `types` walks the tree again. Everything is linear in the
//! source, and recursion is no deeper than the nesting that the reader allows.
//!
//! Not tracked, on purpose: the values of constants, the fields of records that the program builds, the
//! lengths of lists.
//!
//! A file imports only from rows above its own:
//!
//! | row | files |
//! |---|---|
//! | 0 | `slot_set`, `facts`, `value_info`, `report` |
//! | 1 | `fixes`: what several findings say in the same way |
//! | 2 | `messages`: the findings about types that are worded apart from where they are made |
//! | 3 | `arguments`; after it `resolve`; last `slot_events`, which also says which blocks have values |
//! | 4 | `liveness` (with `webs`), `flow` (with `unset`), `answer_fields`, `types` (with `kept`, last) |
//! | 5 | `function`: one function; what is known of slots, for editors |
//! | 6 | this file: whole files |

mod answer_fields;
mod arguments;
mod facts;
mod fixes;
mod flow;
mod function;
mod kept;
mod liveness;
mod messages;
mod report;
mod resolve;
mod slot_events;
mod slot_set;
mod types;
mod unset;
mod value_info;
mod webs;

#[cfg(test)]
mod tests;

pub(crate) use arguments::text_of;
pub use facts::{Answer, CallFacts, Checked, Facts};
pub use function::KnownSlots;
pub use resolve::entry;
pub(crate) use resolve::{Target, by_name, target};
pub(crate) use slot_events::Events;
pub use slot_events::Gives;
pub(crate) use types::misfit;
pub use value_info::{KnownSlot, Part, Seen, ValueInfo};

use crate::ast::File;
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostics;
use report::Report;
use resolve::Edges;
use resolve::Names;

/// Checks a file. If `catalog` is `None`, tools are unknown.
///
/// `diagnostics` already has the diagnostics of reading the file. In a function that was not read completely
/// only the names in its calls are checked, since everything else would be a guess.
// So that it is built as this crate is, not as that of its caller.
#[inline(never)]
pub fn check(file: &File<'_>, catalog: Option<&Catalog>, diagnostics: &mut Diagnostics) -> Checked {
    let names = Names::new(file, catalog);
    let errors = function::read_errors(diagnostics);
    let mut report = Report::new(diagnostics);
    let mut edges: Edges = Vec::with_capacity(file.functions.len());
    let mut functions = Vec::with_capacity(file.functions.len());
    let mut events = Events::default();
    names.repeated(&mut report);
    let ends = file.functions.iter().skip(1).map(|next| next.span.start).chain([u32::MAX]);
    for (function, end) in file.functions.iter().zip(ends) {
        events.walk(function);
        let (facts, calls) = match errors.as_deref() {
            Some(errors) => {
                let errors = function::within(errors, function.span.start, end);
                function::check(file, function, &mut events, errors, &names, &mut report)
            }
            None => (Facts::default(), Vec::new()),
        };
        functions.push(facts);
        edges.push(calls);
    }
    Checked { order: resolve::order(file, &edges, &mut report), functions }
}
