//! Drives runs of ilo programs, without I/O, clock or threads.
//!
//! The machine (`ilo-vm`) stops at every tool call. This crate is what every host needs around it: values
//! with their JSON, checks of inputs, policies of tools, mocks, plans, traces and their replay, and what a
//! journal records. A host adds the time, the threads and the tools: `ilo-host` is one of them.
//!
//! # Layers
//! A part (a file or folder here) imports only from parts in layers below its own.
//!
//! | layer | parts | what they do |
//! |---|---|---|
//! | 0 | `problem`, `call_slots`, `blocking` | findings; how many calls at once; whether a thread may block |
//! | 1 | `data` | values and their JSON |
//! | 2 | `failure` | why a call has no value |
//! | 2 | `input`, `validate` | values against parameters, and against the schemas of tools |
//! | 3 | `policy`, `mock` | how tools may be called; fixed answers |
//! | 4 | `plan` | what a program would do |
//! | 4 | `event`, `observer`, `recorder`, `world` | who watches, who records, and what else is around a run |
//! | 5 | `lifecycle`, `trace` | starting and ending; the record of a run |
//! | 6 | `ahead`, `replay` | calls before their turn; a run from its record |
//! | 6 | `foresight` | calls to confirm that will follow |
//! | 7 | `drive` | the run loop |

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod ahead;
pub mod blocking;
pub mod call_slots;
pub mod data;
mod drive;
pub mod entry;
pub mod event;
pub mod failure;
pub mod foresight;
pub mod input;
pub mod lifecycle;
pub mod locked;
pub mod mock;
pub mod observer;
pub mod plan;
pub mod policy;
pub mod problem;
pub mod recorder;
pub mod replay;
pub mod sent;
pub mod trace;
pub mod validate;
mod world;

pub use drive::{CallKind, CallTicket, Drive, Made, Next, Start, Turn, give};
pub use lifecycle::{End, Finished};
pub use world::World;
