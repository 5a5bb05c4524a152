//! Tools of MCP servers: starting the servers, listing what they offer, calling it.
//!
//! Each server has a runtime of its own with one thread; calls come from any thread and wait for it.
//! Nothing here knows the tools file: it is given [`server_config::Server`]s and gives back tools. What a
//! server says of its own tools beyond their schemas (hints that one is harmless, say) is not believed.
//! Without the feature `mcp` no server is started.

#[cfg(feature = "mcp")]
mod access;
#[cfg(feature = "mcp")]
mod answer;
#[cfg(feature = "mcp")]
mod child;
#[cfg(feature = "mcp")]
mod client_handler;
#[cfg(feature = "mcp")]
mod connect;
#[cfg(feature = "mcp")]
mod guard;
#[cfg(feature = "mcp")]
mod link;
#[cfg(feature = "mcp")]
mod listing;
#[cfg(feature = "mcp")]
mod members;
#[cfg(feature = "mcp")]
mod pending;
#[cfg(feature = "mcp")]
mod reason;
pub(crate) mod server_config;
#[cfg(feature = "mcp")]
mod server_tool;
#[cfg(feature = "mcp")]
mod stderr;
#[cfg(feature = "mcp")]
mod transport;
#[cfg(feature = "mcp")]
mod web;
#[cfg(not(feature = "mcp"))]
mod without_feature;

#[cfg(feature = "mcp")]
pub use answer::read_text as read_answer;
#[cfg(feature = "mcp")]
pub(crate) use connect::Connections;
#[cfg(not(feature = "mcp"))]
pub(crate) use without_feature::Connections;

use crate::tool::Tool;

/// How a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Whether its connection is open; a server that has ended is started again by the next call.
    pub running: bool,
    /// How many tools it listed last.
    pub tools: usize,
    /// How often it has ended, or did not start, since it answered a call.
    pub ended: u32,
}

/// A server that runs, with the tools that it offers.
pub(crate) struct Started {
    pub(crate) server: String,
    pub(crate) tools: Vec<Tool>,
    /// What it lists and cannot be used: the name, and why.
    pub(crate) bad: Vec<(String, String)>,
}
