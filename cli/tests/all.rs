//! All tests of the crate but the conformance corpus and the server, in one binary: linking many takes long.
//!
//! `cargo test -p ilo-cli --test all vm::` runs the tests of one file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod asm;
mod canaries;
#[path = "../../asm/tests/corpus/case.rs"]
#[allow(dead_code, reason = "tests of `asm` use the rest")]
mod case;
#[cfg(feature = "vm")]
mod cases;
#[cfg(feature = "vm")]
mod consent;
mod documentation;
#[cfg(all(feature = "journal", feature = "serve", feature = "login"))]
mod help;
#[cfg(feature = "vm")]
mod invisible_characters;
#[cfg(feature = "journal")]
mod journal;
#[cfg(all(feature = "serve", feature = "mcp"))]
mod left;
#[cfg(feature = "vm")]
mod lock;
#[cfg(feature = "lsp")]
mod lsp;
mod secrets;
#[cfg(feature = "vm")]
mod vm;
