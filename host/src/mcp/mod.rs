//! The MCP client: starts servers, lists their tools, and calls them.
//!
//! Each server has its own runtime with one thread; calls come from any thread and wait for it. This module
//! does not depend on the tools file: it takes [`server_config::Server`]s and returns tools. What a server
//! claims about its tools beyond their schemas, for example that one is harmless, is ignored. Without the
//! feature `mcp` no server is started.

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
mod network;
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

#[cfg(feature = "mcp")]
pub use answer::read_text as read_answer;
#[cfg(feature = "mcp")]
pub(crate) use connect::connections;

use crate::tool::Tool;
use ilo_drive::problem::Problem;
use server_config::Server;
use std::fmt::Debug;
use std::sync::Arc;

/// The running servers.
pub(crate) trait RunningServers: Debug + Send + Sync {
    /// The state of the servers that were started.
    fn health(&self) -> Vec<(String, Health)>;

    /// Takes the notes about answers that did not make them fail.
    fn notes(&self) -> Vec<String>;

    /// Begins to start servers and to list their tools as `mcp://server/tool`, each on its own thread.
    fn begin(self: Arc<Self>, servers: Vec<Server>) -> Box<dyn StartingServers>;
}

/// Servers that are being started in parallel.
pub(crate) trait StartingServers: Debug + Send {
    /// The servers that have not answered yet.
    fn servers(&self) -> Vec<&str>;

    /// Waits for the next server, or for the problem for which one has not started. `None` after the last.
    fn next(&mut self) -> Option<(String, Result<Started, Problem>)>;
}

/// Without the feature `mcp` no server is started, and the error says why.
#[cfg(not(feature = "mcp"))]
pub(crate) fn connections() -> Result<Arc<dyn RunningServers>, Problem> {
    let message = "MCP servers cannot be started: this build is without the feature `mcp`";
    Err(Problem::new(ilo_spec::error::Code::BadUsage, "", message))
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Whether its connection is open; a server that has ended is started again by the next call.
    pub running: bool,
    /// How many tools it listed last.
    pub tools: usize,
    /// How often it has ended or failed to start since it answered a call.
    pub ended: u32,
}

/// A running server with its tools.
pub(crate) struct Started {
    pub(crate) server: String,
    pub(crate) tools: Vec<Tool>,
    /// The listed tools that cannot be used: the name and the reason.
    pub(crate) bad: Vec<(String, String)>,
}
