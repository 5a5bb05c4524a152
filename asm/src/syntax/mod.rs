//! Syntax that several modules share: types in all notations, and the tokens, headers and registries of ID
//! text.

pub(crate) mod comment_cursor;
pub(crate) mod header;
pub(crate) mod lexer;
pub(crate) mod registry;
pub(crate) mod types;

pub(crate) use types::input_of;
pub(crate) use types::output_of;
