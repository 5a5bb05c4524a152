//! Tools of MCP servers: starting the servers, listing what they offer, calling it.
//!
//! Servers live on a runtime of their own with one thread; calls come from any thread and wait for it.
//! Nothing here knows the tools file: it is given [`server::Server`]s and gives back tools. What a server
//! says of its own tools beyond their schemas (hints that one is harmless, say) is not believed. Without the
//! feature `mcp` no server is started.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod answer;
#[cfg(feature = "mcp")]
mod child;
#[cfg(feature = "mcp")]
mod connect;
#[cfg(feature = "mcp")]
mod guard;
#[cfg(feature = "mcp")]
mod link;
#[cfg(feature = "mcp")]
mod reason;
pub(crate) mod server;
#[cfg(feature = "mcp")]
mod stderr;
#[cfg(feature = "mcp")]
mod transport;
#[cfg(feature = "mcp")]
mod watcher;
#[cfg(feature = "mcp")]
mod web;

#[cfg(not(feature = "mcp"))]
pub(crate) use absent::Connections;
#[cfg(feature = "mcp")]
pub use answer::read_text as read_answer;
#[cfg(feature = "mcp")]
pub(crate) use connect::Connections;

use crate::tool::Tool;

/// A server that runs, with the tools that it offers.
pub(crate) struct Started {
    pub(crate) server: String,
    pub(crate) tools: Vec<Tool>,
}
