//! Tools of MCP servers: starting the servers, listing what they offer, calling it.
//!
//! Servers live on a runtime of their own with one thread; calls come from any thread and wait for it.
//! Nothing here knows the tools file: it is given [`server_config::Server`]s and gives back tools. What a
//! server says of its own tools beyond their schemas (hints that one is harmless, say) is not believed.
//! Without the feature `mcp` no server is started.

#[cfg(feature = "mcp")]
mod answer;
#[cfg(feature = "mcp")]
mod child;
#[cfg(feature = "mcp")]
mod client_handler;
#[cfg(feature = "mcp")]
mod connect;
#[cfg(feature = "mcp")]
mod connection;
#[cfg(feature = "mcp")]
mod guard;
#[cfg(feature = "mcp")]
mod reason;
pub(crate) mod server_config;
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

/// A server that runs, with the tools that it offers.
pub(crate) struct Started {
    pub(crate) server: String,
    pub(crate) tools: Vec<Tool>,
}
