//! The readers of the four JSON and YAML notations: documents to the syntax tree.
//!
//! [`crate::document`] reads text into documents, which have exact spans; this module turns them into the
//! tree of [`crate::ast`]. It reads only the canonical form: the words of the notation, each in its own
//! shape. Where it does not understand a part, it asks [`habits`] for the canonical form and reads that in
//! its place. As for every notation, [`crate::check`] checks the meaning of a program (slots, calls, flow,
//! types).
//!
//! [`reader`] has `StepReader`, the state of reading one function. The position in the function (nesting,
//! blocks, handlers, names of steps) is one `Copy` value, which `StepReader::within` restores. The readers of
//! the constructs are functions that take it; those of expressions and loops are its methods. They call each
//! other, as the constructs contain each other.
//!
//! | file | reads |
//! |---|---|
//! | `scope`, `step` | data: names and slots; a step, its entries by key |
//! | `reader` | the state, and records by their keys |
//! | `references` | references and texts with references, and the names in scope |
//! | `functions`, `loops`, `expressions` | functions, loops and operators, in expressions and as steps |
//! | `binding` | names that steps bind, parts of variables, ways out |
//! | `choices`, `calls` | cases of `match`, arms of `switch`; calls, their handlers and rollbacks |
//! | `values` | values |
//! | `blocks` | blocks of steps, and the dispatcher |
//! | `function` | programs |
//! | `habits` | what is written as other languages have it, and lints |

mod binding;
mod blocks;
mod calls;
mod choices;
mod expressions;
mod function;
mod functions;
mod habits;
mod loops;
mod reader;
mod references;
mod scope;
mod step;
mod values;

pub(crate) use function::read;
