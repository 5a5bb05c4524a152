//! Syntax that several modules share: types in all notations, and the tokens, headers and registries of ID
//! text.

pub(crate) mod comment_cursor;
pub(crate) mod header;
pub(crate) mod id_table;
pub(crate) mod inputs;
pub(crate) mod lexer;
mod record_type;
pub(crate) mod registry;
pub(crate) mod types;
pub(crate) mod write;

pub(crate) use inputs::input_of;
pub(crate) use types::output_of;
