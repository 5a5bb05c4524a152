//! The bodies of the fuzz targets: functions that take any bytes and panic if a promise is broken.
//!
//! The fuzz targets call them, and the tests run them on the committed corpora. They do not decide what a
//! program means. They check that different ways through the code agree and that all of them end.

mod answers;
mod bodies;
pub mod conversion;
pub mod corpus;
pub mod data;
pub mod differential;
mod drive;
pub mod every_byte;
pub mod generate;
pub mod generated_tools;
pub mod oracle;
#[cfg(feature = "host")]
mod outside;
pub mod seeds;
pub mod shrink;
mod snapshots;

pub use answers::answers;
pub use bodies::{bytecode, constrained, differential, id_text, mcp, mutated, tool_calling, workflow};
pub use conversion::{conversion, round_trip};
#[cfg(feature = "host")]
pub use outside::{json, mcp_answer, mcp_messages, tools_file};
pub use snapshots::{snapshot, snapshots, suspending};
