//! What hostile input is thrown at: one function an entrance, each taking any bytes and panicking where a
//! promise is broken.
//!
//! The fuzz targets call these, and so do the tests, on the committed corpora. Nothing here decides what a
//! program means; what is held is that the ways through the code agree with each other and that all of them
//! end.

mod answers;
mod bodies;
pub mod conversion;
pub mod corpus;
pub mod data;
pub mod differential;
mod drive;
pub mod generate;
pub mod oracle;
#[cfg(feature = "host")]
mod outside;
pub mod seeds;
pub mod shrink;
mod snapshots;
pub mod sweep;
pub mod world;

pub use answers::answers;
pub use bodies::{bytecode, constrained, differential, id_text, mcp, mutated, tool_calling, workflow};
pub use conversion::{conversion, round_trip};
#[cfg(feature = "host")]
pub use outside::{json, mcp_answer, mcp_messages, tools_file};
pub use snapshots::{snapshot, snapshots, suspending};
