//! The four JSON and YAML notations: documents to the syntax tree.
//!
//! [`crate::document`] reads text into documents, which keep the place of everything to the byte; this room turns them
//! into the tree of [`crate::ast`]. It reads the canonical form: [`crate::habits`] rewrites what writers bring from
//! elsewhere. What a program means (slots, calls, flow, types) is the business of [`crate::check`], as for every notation.

mod binding;
mod blocks;
mod callees;
mod cases;
mod conditions;
mod context;
mod function;
mod handlers;
mod keyed;
mod keys;
mod kinds;
mod merges;
mod operations;
mod reader;
mod references;
mod results;
mod returns;
mod scope;
mod signature;
mod step;
mod steps;
mod switch;
mod texts;
mod undo;
mod unresolved;
mod values;

pub(crate) use function::read;
