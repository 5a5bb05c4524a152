//! The wording of what checking reports: a constructor for each diagnostic, with the terms of the notation.
//!
//! The passes find out what is wrong and where; how that is put is decided here alone.

pub(super) mod given;
pub(super) mod loops;
pub(super) mod names;
pub(super) mod naming;
pub(super) mod slots;
pub(super) mod types;
pub(super) mod values;
