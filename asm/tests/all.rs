//! All tests of the crate but the conformance corpus, in one binary: linking many takes long.
//!
//! `cargo test -p ilo-asm --test all print::` runs the tests of one file.

mod ceilings;
mod common;
mod document;
mod document_hostile;
mod explain;
mod format;
mod growth;
mod id;
mod id_blocks;
mod id_format;
mod id_hostile;
mod id_layers;
mod id_text;
mod ide;
mod print;
mod prompt;
mod steps;
