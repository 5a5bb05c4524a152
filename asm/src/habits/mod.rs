//! What writers bring from other languages, as data.

pub(crate) mod tokens;
