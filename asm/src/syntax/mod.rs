//! The comment syntax that several notations share: types, and in instruction text headers and registries.

pub(crate) mod cursor;
pub(crate) mod header;
pub(crate) mod ids;
pub(crate) mod registry;
pub(crate) mod types;

pub(crate) use types::{output_of, type_of};
