//! Guided generation of ilo programs: computes what may come next, so that no invalid program can be written.
//!
//! A [`Session`] is a signature, a catalogue of tools and the registries that give names numbers. A [`Guide`]
//! follows the body of a program in ID text byte by byte, a [`ConstrainedGuide`] one in `constrained`. A
//! program that they let end passes `ilo_asm::check` without an error, and from every state a text is known
//! that ends the program ([`Guide::close`]).
//!
//! The requirements on operands come from `ilo_asm::rules` and the shapes of the catalogue, as in the
//! checker. The flow of slots, and which paths give a value, are a second implementation, which looks back
//! where the checker looks ahead; tests compare the two.

mod automaton;
mod body;
mod budget;
mod constrained;
pub mod export;
mod guide;
mod header;
mod looks;
mod show;
mod surface;
mod tokens;
mod vocab;

pub use automaton::session::{Options, Session, SessionError};
pub use body::{Body, BodyMark};
pub use budget::Short;
pub use constrained::{ConstrainedGuide, ConstrainedMark};
pub use guide::{Guide, Mark};
pub use header::{Header, HeaderMark};
pub use show::Node;
pub use tokens::Refused;
pub use vocab::{Lacks, Vocab, VocabError};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
