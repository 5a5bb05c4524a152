//! What the ilo language is, and nothing that runs it.
//!
//! Two tables carry the whole language: [`node`] lists the text instructions, [`isa`] the bytecode instructions.
//! Everything else that names an instruction derives from them. Around the tables stand the [`program`] in memory, its
//! packed form ([`encode`], [`decode`]), [`types`], [`number`]s, [`limits`] and the codes of every [`error`].
//!
//! What is absent on purpose: input and output, an allocator choice, source positions finer than line and column, and
//! any knowledge of assembling or running.
#![no_std]

extern crate alloc;

pub mod bytes;
pub mod decode;
pub mod encode;
pub mod error;
pub mod format;
pub mod isa;
pub mod limits;
pub mod node;
pub mod number;
pub mod operand;
pub mod program;
pub mod types;
