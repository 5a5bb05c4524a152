//! The messages of the check: a constructor for each diagnostic, with the terms of the notation.
//!
//! The passes find out what is wrong and where; only this module decides the wording.

pub(super) mod blocks;
pub(super) mod given;
pub(super) mod names;
pub(super) mod naming;
pub(super) mod slots;
pub(super) mod stringified;
pub(super) mod types;
