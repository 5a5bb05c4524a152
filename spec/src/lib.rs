//! The definition of the ilo language, without anything that runs it.
//!
//! Two tables define the language: [`node`] lists the text instructions, [`isa`] the bytecode instructions;
//! everything else that names an instruction is derived from them. Around them are the [`program`] in memory,
//! its packed form ([`encode`], [`decode`]), [`types`], [`number`]s, [`limits`] and all [`error`] codes.
//!
//! The crate has no input or output, and knows nothing about assembling or running, on purpose.
#![no_std]

extern crate alloc;

pub mod bytes;
pub mod decode;
pub mod encode;
pub mod error;
pub mod format;
pub mod isa;
pub mod json;
pub mod limits;
pub mod node;
pub mod number;
pub mod operand;
pub mod program;
pub mod pure;
pub mod record_input;
pub mod types;
