//! The extension module `ilo._ilo`: programs and runs for the Python package `ilo`.
//!
//! Everything here holds the interpreter's lock, except checking, building, planning and long steps of a run.
//! The loop that calls tools, and the tools, are written in Python (`python/ilo`).
//!
//! | file | contents |
//! |---|---|
//! | `source`, `diagnostic` | sources, and their diagnostics |
//! | `program`, `limits`, `problem` | programs, their plans, starting them |
//! | `tools` | signatures and policies of tools |
//! | `run`, `outcome` | runs step by step, and how they end |
//! | `quick`, `drive` | runs over tools: those that answer at once, and all others |
//! | `journal` | runs that outlive the process |
//! | `guide` | guided generation: vocabularies, sessions, guides, masks |
//! | `values`, `errors` | values and exceptions of Python |

mod diagnostic;
mod drive;
mod errors;
mod guide;
mod journal;
mod limits;
mod outcome;
mod problem;
mod program;
mod quick;
mod run;
mod source;
mod tools;
mod values;

use ilo_bindings::Words;

/// The spelling of names in messages.
const WORDS: Words = Words { function: "function=", tools: "tools=", notation: "notation=", camel: false };

/// Programs and runs.
#[pyo3::pymodule]
mod _ilo {
    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::diagnostic::Diagnostic;
    #[pymodule_export]
    use crate::drive::Drive;
    #[pymodule_export]
    use crate::guide::{Guide, GuideSession, Header, Vocab, accept_tokens, fill_masks};
    #[pymodule_export]
    use crate::journal::{JournalRun, Session, Store, Waiting};
    #[pymodule_export]
    use crate::outcome::{ErrOutcome, FaultOutcome, OkOutcome, restored};
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::program::{Core, PlannedCalls, load};
    #[pymodule_export]
    use crate::run::{Call, Run};
    #[pymodule_export]
    use crate::source::{build, card, convert, detect, explain, fix, graph, layout};
    #[pymodule_export]
    use crate::tools::Catalogue;
}
