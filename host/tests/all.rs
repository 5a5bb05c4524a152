//! All tests of the crate but those of MCP servers, in one binary: linking many takes long.
//!
//! `cargo test -p ilo-host --test all plan::` runs the tests of one file.

mod ahead;
mod calls;
mod config;
mod plan;
mod rollback;
mod run;
mod small_stack;
mod support;
mod validate;
