//! The bodies of the fuzz targets: functions that take any bytes and panic if a promise is broken.
//!
//! The fuzz targets call them, and the tests run them on the committed corpora. They do not decide what a
//! program means. They check that different ways through the code agree and that all of them end.

mod answers;
pub mod conversion;
pub mod corpus;
pub mod data;
pub mod differential;
mod drive;
pub mod every_byte;
pub mod generate;
pub mod generated_tools;
#[cfg(feature = "host")]
mod host_targets;
pub mod oracle;
pub mod seeds;
pub mod shrink;
mod snapshots;
mod source_targets;
#[cfg(test)]
mod tests;

pub use answers::answers;
pub use conversion::{conversion, round_trip};
#[cfg(feature = "host")]
pub use host_targets::{json, mcp_answer, mcp_messages, tools_file};
pub use snapshots::{snapshot, snapshots, suspending};
pub use source_targets::{
    bytecode, constrained, differential, expression, id_text, mcp, mutated, tool_calling, workflow,
};
