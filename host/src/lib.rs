//! Runs ilo programs against tools: mocks, commands and MCP servers from a tools file, and whatever the host adds.
//!
//! The machine itself is in `ilo-vm` and touches nothing; this crate is the one that meets files, processes and clocks.
//! It does not assemble programs: it takes bytecode that was verified.
//!
//! ```no_run
//! use ilo_host::{Tools, data::Data, run::Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let program = ilo_vm::Program::load(&std::fs::read("notify.ilob")?)?;
//! let tools = Tools::from_file("tools.json".as_ref()).map_err(|problems| problems[0].clone())?;
//! let input = Data::Record(vec![("user-id".into(), "u1".into()), ("message".into(), "hi".into())]);
//! let function = program.function("notify").ok_or("no such function")?;
//! let mut finished = ilo_host::run(&program, function, &input, &tools, &Options::default(), &mut ())
//!     .map_err(|problems| problems[0].clone())?;
//! if let Some(value) = finished.outcome().and_then(|outcome| outcome.ok()) {
//!     println!("{value}");
//! }
//! # Ok(())
//! # }
//! ```

pub(crate) mod config;
pub mod data;
pub mod entry;
pub mod file;
mod input;
pub mod interrupt;
pub mod lock;
pub mod plan;
pub mod problem;
pub mod run;
pub mod serve;
pub mod tools;
pub mod trace;

pub use run::run;
pub use tools::Tools;
