//! Snapshots: the state of a machine that waits at a tool call, written to bytes and read back.

mod error;
mod format;
mod read;
mod rollbacks;
mod tables;
mod write;

pub use error::RestoreError;
pub use format::seal;
pub(crate) use read::Header;
pub(crate) use rollbacks::EndFault;
pub(crate) use tables::Tables;
pub(crate) use write::write;
