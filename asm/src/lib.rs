//! The ilo assembler: source to a checked program, and back.
//!
//! [`mod@compile`] runs all stages in one call. [`id`] and [`steps`] read a source into the syntax tree of
//! [`ast`], [`check`] reports everything that is wrong with it, and [`lower`] makes the program that
//! `ilo-spec` encodes. [`disasm`] prints a listing of bytecode, and [`mod@print`] prints a tree in any
//! notation. Diagnostics are data ([`diagnostic`]); rendering them is separate.
//!
//! The crate does not read files, use terminals or run programs, and does not depend on the VM. `ilo-cli` has
//! the command line.

pub mod arena;
pub mod ast;
pub mod case;
pub mod catalog;
pub mod check;
pub mod compile;
pub mod diagnostic;
pub mod dialect;
pub mod disasm;
pub mod document;
pub mod explain;
pub mod expr;
pub(crate) mod foreign;
pub mod format;
pub mod id;
pub mod ide;
pub mod lower;
mod matched;
pub mod notation;
pub mod print;
pub mod prompt;
pub mod rules;
pub mod sorting;
pub mod source;
pub mod span;
pub mod steps;
mod syntax;
pub mod text;
pub mod types;

/// The name of [`compile`] in earlier versions.
pub use compile as build;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Whether this is the package of a registry, which comes without the corpus. Cargo writes this file into it.
#[cfg(test)]
fn is_package() -> bool {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml.orig").exists()
}
