//! The automaton: the position of the next token in a program, and what may come there.
//!
//! `state` has the growing data; `arms`, `flow`, `offers`, `operands`, `keys`, `integers`, `steps`, `blocks`
//! and `ends` implement its parts. A `session` has the fixed data,
//! `json_names` its names for bodies in JSON, `needs` the characters of its programs.
//! `formats` has those of dates, `kept` what is found once for a session.

pub(crate) mod arms;
pub(crate) mod blocks;
pub(crate) mod constants;
pub(crate) mod ends;
mod flow;
pub(crate) mod formats;
pub(crate) mod integers;
pub(crate) mod json_names;
mod kept;
pub(crate) mod keys;
pub(crate) mod needs;
pub(crate) mod numbers;
pub(crate) mod offers;
pub(crate) mod operands;
pub(crate) mod registries;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod texts;
pub(crate) mod want;
