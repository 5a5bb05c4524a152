//! Runs ilo programs against tools: mocks, commands and MCP servers from a tools file, and whatever the host
//! adds.
//!
//! The machine in `ilo-vm` has no side effects; this crate accesses files, processes and clocks. It does not
//! assemble programs: it takes verified bytecode.
//!
//! ```no_run
//! use ilo_host::{Tools, data::Data, run::Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let program = ilo_vm::Program::load(&std::fs::read("notify.ilob")?)?;
//! let tools = Tools::from_file("tools.json".as_ref())?;
//! let input = Data::record([("user-id", "u1"), ("message", "hi")]);
//! let function = program.function("notify").ok_or("no such function")?;
//! let finished = ilo_host::run(&program, function, &input, &tools, &Options::default(), &mut ())?;
//! if let Some(value) = finished.outcome().and_then(|outcome| outcome.ok()) {
//!     println!("{value}");
//! }
//! # Ok(())
//! # }
//! ```

//! Calls of tools with [`Policy::read_only`](tools::Policy) may start before their turn, as soon as their
//! arguments are known. This changes only the time that a run takes; [`run::CallSlots`] limits the number of
//! these calls. So a host declares for each of its own tools whether the tool changes something. A function
//! can be a tool; a tool that needs more is a [`tools::Provider`]:
//!
//! ```
//! use ilo_host::data::Data;
//! use ilo_host::run::{CallSlots, Options};
//! use ilo_host::tools::{Request, Tool, Tools};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = "; fn prices(items: list text) -> list text\n; Tools: 0=price\n; Fields: 0=item\n\
//!     FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  CONCAT REF 1 CONCAT LIT 0 \": \" REF 2\n";
//! let program = ilo_asm::compile::compile(source, &Default::default()).0.ok_or("it does not build")?;
//! let program = ilo_vm::Program::new(program)?;
//! let mut tools = Tools::new();
//! let mut price = Tool::new("price", Box::new(|_request: &Request<'_>| {
//!     std::thread::sleep(std::time::Duration::from_millis(10));
//!     Ok(Data::from("12.50"))
//! }));
//! price.policy.read_only = true;
//! tools.add(price);
//! let input = Data::record([("items", Data::list(["lamp", "desk", "rug"]))]);
//! let options = Options { slots: CallSlots::new(8), ..Options::default() };
//! let function = program.function("prices").ok_or("no such function")?;
//! let finished = ilo_host::run(&program, function, &input, &tools, &options, &mut ())?;
//! let outcome = finished.outcome().ok_or("interrupted")?.to_string();
//! assert_eq!(outcome, r#"{"status":"ok","value":["lamp: 12.50","desk: 12.50","rug: 12.50"]}"#);
//! # Ok(())
//! # }
//! ```
//!
//! `run` blocks its thread. A host on tokio awaits `run_async`, a function of the feature `tokio`, whose
//! tools may be asynchronous functions with typed arguments and answers:
//!
//! ```
//! # #[cfg(feature = "tokio")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use ilo_host::tools::{AsyncRequest, Policy, Tools};
//! use ilo_host::{AsyncOptions, run_async};
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! let mut tools = Tools::new();
//! type Arguments = BTreeMap<String, String>;
//! tools.add_async("price", Policy::reads(), |arguments: Arguments, _: AsyncRequest| async move {
//!     let item = arguments.get("item").ok_or("no item")?;
//!     Ok::<_, &str>(format!("{item} costs 12.50"))
//! });
//! let source = "; fn f(item: text) -> text\n; Tools: 0=price\n; Fields: 0=item\n\
//!     LET 1 CALL 0 1 0 REF 0\nRET REF 1\n";
//! let program = ilo_asm::compile::compile(source, &Default::default()).0.ok_or("it does not build")?;
//! let program = ilo_vm::Program::new(program)?;
//! let input = BTreeMap::from([("item", "lamp")]);
//! let finished = run_async(&program, &input, AsyncOptions::new(&Arc::new(tools))).await?;
//! let outcome = finished.outcome().ok_or("interrupted")?.to_string();
//! assert_eq!(outcome, r#"{"status":"ok","value":"lamp costs 12.50"}"#);
//! # Ok(())
//! # }
//! # #[cfg(feature = "tokio")]
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # #[cfg(feature = "tokio")]
//! # runtime.block_on(example()).unwrap();
//! ```
//!
//! A host that has its own loop calls `ilo_drive::Drive`, whose documentation has the rules.

#[cfg(all(doctest, feature = "schemars", feature = "tokio"))]
#[doc = include_str!("../README.md")]
mod readme {}

mod blocking;
mod builtin;
mod command;
mod config;
pub mod file;
#[cfg(any(feature = "mcp", feature = "serve", feature = "telemetry"))]
mod https;
pub mod interrupt;
mod json;
pub mod lock;
#[cfg(feature = "login")]
pub mod login;
mod mcp;
mod mock;
pub mod recording;
pub mod run;
#[cfg(feature = "serve")]
pub mod serve;
mod spans;
pub mod telemetry;
#[cfg(feature = "login")]
mod tokens;
mod tool;
pub mod tools;
pub mod trace;
mod trace_context;

pub use ilo_drive::{data, entry, plan, problem};
pub use run::run;
#[cfg(feature = "tokio")]
pub use run::{AsyncOptions, run_async};
pub use tools::Tools;
