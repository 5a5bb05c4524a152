//! All tests of the crate in one binary: linking many takes long.
//!
//! `cargo test -p ilo-guide --test all walks::` runs the tests of one file.

mod bad;
mod bad_constrained;
mod bad_positions;
mod bad_tokens;
mod bad_vocab;
mod both;
mod common;
mod conditions;
mod constrained;
mod constrained_corpus;
mod corpus;
mod every_program;
mod grammars;
mod helpers;
mod masks;
mod rules;
mod token_walks;
mod unions;
mod walks;
