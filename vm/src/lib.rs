//! Verifies and runs ilo bytecode.
//!
//! [`Program::load`] decodes and verifies once; the result is shared between threads. A [`Run`] is started
//! with arguments and driven by [`Run::step`]: each step ends with the [`Outcome`], or yields a [`Call`] that
//! the host answers at once or later.
//!
//! The crate has no input or output, no clock, no threads, no randomness and no access to the environment, on
//! purpose. The same program, arguments and answers give the same outcome, calls and fuel everywhere.
//!
//! # Layers
//! A part (a file or folder here) imports only from parts in layers below its own.
//!
//! | layer | parts | what they do |
//! |---|---|---|
//! | 0 | `value`, `number`, `host_value` | values |
//! | 0 | `json`, `calendar`, `hash_index`, `inline_stack`, `register_set` | plain algorithms and containers |
//! | 1 | `fault`, `facts`, `field_matrix`, `liveness`, `decimal` | errors; what analysis finds out |
//! | 2 | `budget`, `verify` | limits and charges; the verifier |
//! | 3 | `program`, `frame` | the verified program; register windows |
//! | 4 | `shape_table` | names and shapes of a run |
//! | 5 | `heap` | arenas and their compaction |
//! | 6 | `render`, `rollbacks` | values as text; what undoes the effects of a run |
//! | 7 | `machine` | the state of a program that runs |
//! | 8 | `ops`, `copy_in`, `host_view`, `gc`, `snapshot` | instructions; values in and out; snapshots |
//! | 9 | `interp` | the interpreter loop |
//! | 10 | `run` | start, step, answer, roll back, suspend, outcome |
//! | 11 | `look_ahead` | look-ahead |
#![no_std]
#![allow(
    clippy::inline_always,
    reason = "bodies belong in the loop, whatever their size; the benches say so"
)]

extern crate alloc;

mod budget;
pub mod calendar;
mod copy_in;
mod decimal;
mod facts;
mod fault;
mod field_matrix;
mod frame;
mod gc;
mod hash_index;
mod heap;
mod host_value;
mod host_view;
mod inline_stack;
mod input;
mod interp;
mod json;
mod liveness;
mod look_ahead;
mod machine;
mod number;
mod ops;
mod program;
mod register_set;
mod render;
mod rollbacks;
mod run;
mod shape_table;
mod snapshot;
mod type_check;
mod value;
mod verify;

pub use budget::Limits;
pub use fault::{Fault, StartError};
pub use host_value::{Datum, Shape, Shaped};
pub use host_view::{Kind, View};
pub use ilo_spec::operand::FunctionId;
pub use ilo_spec::program::Number;
pub use input::{Field, Fields, Input};
pub use json::{JsonError, JsonErrorKind, JsonEvent, JsonReader, JsonText};
pub use look_ahead::{Ahead, Scout};
pub use program::{LoadError, Program};
pub use run::{
    BuildError, Builder, Call, JsonRefused, Misuse, NotWaiting, Outcome, Run, Status, Step, Waiting,
};
pub use snapshot::{RestoreError, seal};
pub use verify::{Rule, VerifyError};
