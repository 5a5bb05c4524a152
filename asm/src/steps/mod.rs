//! The readers of the four JSON and YAML notations: documents to the syntax tree.
//!
//! [`crate::document`] reads text into documents, which have exact spans; this module turns them into the
//! tree of [`crate::ast`]. It reads only the canonical form: the words of the notation, each in its own
//! shape. Where it does not understand a part, it asks `crate::habits` for the canonical form and reads that
//! in its place, so that everything is read once. As for every notation, [`crate::check`] checks the meaning
//! of a program (slots, calls, flow, types).
//!
//! [`reader`] has the state of reading one function, and [`context`] what does not change meanwhile. The
//! position in the function (nesting, blocks, handlers, names of steps) is one `Copy` value, which
//! `StepReader::within` restores. Each of the other files adds the readers of one kind of construct. A file
//! imports and calls only files above it, or before it in its row:
//!
//! | file | reads |
//! |---|---|
//! | `scope`, `context`, `entries`, `step` | data: names and slots, borrowed inputs, entries by key, a step |
//! | `reader` | the state |
//! | `keys` | records by their keys |
//! | `names` | names in scope, for messages and lints |
//! | `unresolved`, `references`, `texts` | references and texts with references |
//! | `operations`, `functions`, `expressions` | operators, functions and expressions in texts |
//! | `cases`, `incomplete_merge`, `callees` | parts of values |
//! | `values` | values, and calls |
//! | `binding`, `undo`, `returns`, `kinds` | names that steps bind, rollbacks, ways out, kinds of steps |
//! | `blocks` | blocks of steps |
//! | `comprehensions`, `conditions`, `switch`, `handlers`, `calls` | steps with blocks of their own |
//! | `dispatch` | the dispatcher: the steps of a block |
//! | `signature`, `function` | programs |
//!
//! Steps contain blocks of steps. Blocks and calls reach the dispatcher through a function
//! pointer that `function` gives to the reader, so that imports go one way.

mod binding;
mod blocks;
pub(crate) mod call_forms;
mod callees;
mod calls;
mod cases;
mod comprehensions;
mod conditions;
mod context;
mod dispatch;
mod entries;
mod expressions;
mod function;
mod functions;
mod handlers;
mod incomplete_merge;
mod keys;
mod kinds;
mod let_path;
mod loop_parts;
mod names;
mod operations;
mod reader;
mod references;
mod returns;
mod scope;
mod signature;
mod step;
mod switch;
mod texts;
mod then_call;
mod undo;
mod unresolved;
mod values;
mod while_loop;

pub(crate) use function::read;
