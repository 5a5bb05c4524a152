//! The tests that `cargo test` runs. They are unit tests of the library, so that one binary is linked for
//! them all, and none for the programs in `src/bin`, which cargo builds for a package with tests in `tests`.
//!
//! `cargo test -p ilo-fuzz tests::oracle::` runs those of one file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod ahead;
mod break_loops;
mod conversion;
mod corpora;
mod format;
mod generated;
mod limits;
mod memory;
mod oracle;
mod slices;
