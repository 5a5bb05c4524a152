//! The automaton of ID text: where in a program the next byte belongs, and what may come there.
//!
//! `state` holds what grows; `flow`, `offers`, `operands`, `keys`, `integers`, `steps`, `blocks` and `ends`
//! are parts of its implementation. `lex` has the bytes around it, `close` ends a program. A `session` is
//! what does not change.

mod blocks;
pub(crate) mod close;
pub(crate) mod constants;
mod ends;
mod flow;
pub(crate) mod integers;
pub(crate) mod keys;
pub(crate) mod lex;
pub(crate) mod numbers;
pub(crate) mod offers;
pub(crate) mod operands;
mod registries;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod texts;
pub(crate) mod want;
