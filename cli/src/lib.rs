//! The command lines of ilo: [`asm`] is the program `ilo-asm`, [`vm`] the program `ilo-vm`.
//!
//! Terminals, colours, options and progress are here and in no other crate; everything that decides something
//! is in the libraries. With no default features there is `ilo-asm` alone.

pub mod asm;
mod completions;
mod diagnostic;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
#[cfg(feature = "vm")]
mod timeline;
#[cfg(feature = "vm")]
pub mod vm;
