//! x
pub fn format() {}
