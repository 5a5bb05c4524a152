//! Runs ilo programs against tools: mocks and commands from a tools file, and whatever the host adds.
//!
//! The machine itself is in `ilo-vm` and touches nothing; this crate is the one that meets files, processes and clocks.
//! It does not assemble programs: it takes bytecode that was verified.

pub(crate) mod config;
pub mod data;
pub mod file;
pub mod input;
pub mod plan;
pub mod problem;
pub mod run;
pub mod tools;
pub mod trace;

pub use run::run;
pub use tools::Tools;
