//! The syntax tree back to text, in each notation.

mod id;

pub use id::print as id;
