//! The ilo assembler: source to a checked program, and back.
//!
//! One way through: [`id`] reads text into the syntax tree of [`ast`], [`check`] says everything that is
//! wrong with it, [`lower`] makes the program that `ilo-spec` packs. [`disasm`] lists a program, and
//! [`mod@print`] prints a tree in any notation. [`build`] is the whole way in one call. Diagnostics are data
//! ([`diagnostic`]); rendering them is separate.
//!
//! What is absent on purpose: files and terminals (`ilo-cli` has them), running, and any knowledge of the VM.

pub mod ast;
pub mod build;
pub mod case;
pub mod catalog;
pub mod check;
pub mod diagnostic;
pub mod dialect;
pub mod disasm;
pub mod document;
pub mod explain;
pub mod format;
mod habits;
pub mod id;
pub mod ide;
pub mod lower;
mod matched;
pub mod notation;
pub mod print;
pub mod prompt;
pub mod rules;
pub mod source;
pub mod span;
pub mod steps;
mod syntax;
pub mod text;
pub mod types;
