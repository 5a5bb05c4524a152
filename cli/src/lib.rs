//! The command lines of ilo: [`asm`] is the program `ilo-asm`, [`vm`] the program `ilo-vm`.
//!
//! Only this crate has terminals, colours, options and progress; all decisions are made in the libraries.
//! Without default features there is only `ilo-asm`.

pub mod asm;
mod completions;
mod diagnostic;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod output_schema;
#[cfg(feature = "vm")]
mod timeline;
#[cfg(feature = "vm")]
pub mod vm;
