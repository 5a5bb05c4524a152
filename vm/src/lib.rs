//! Verifies and runs ilo bytecode.
//!
//! [`Program::load`] decodes and verifies once; the result is shared between threads. A [`Run`] is started with
//! arguments and driven by [`Run::step`]: each step ends with the [`Outcome`] or hands over a [`Call`] that the host
//! answers now or later.
//!
//! What is absent on purpose: input and output, a clock, threads, randomness, the environment. The same program,
//! arguments and answers give the same outcome, calls and fuel everywhere.
#![no_std]
#![allow(
    clippy::inline_always,
    reason = "bodies belong in the loop, whatever their size; the benches say so"
)]

extern crate alloc;

mod budget;
mod build;
mod call;
mod compact;
mod datum;
mod fault;
mod frame;
mod heap;
mod index;
mod interp;
mod live;
mod ops;
mod program;
mod render;
mod restore;
mod run;
mod scout;
mod set;
mod shape;
mod shapes;
mod small;
mod snapshot;
mod value;
mod verify;
mod view;

pub use budget::Limits;
pub use build::{BuildError, Builder, Misuse};
pub use call::{Call, Outcome, Status};
pub use datum::Datum;
pub use fault::{Fault, StartError};
pub use ilo_spec::operand::FunctionId;
pub use ilo_spec::program::Number;
pub use program::{LoadError, Program};
pub use restore::RestoreError;
pub use run::{Run, Step};
pub use scout::{Ahead, Scout};
pub use shape::{Shape, Shaped};
pub use snapshot::{NotWaiting, seal};
pub use verify::{Rule, VerifyError};
pub use view::{Kind, View};
