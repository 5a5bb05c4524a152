//! Replaces the client in a build without the feature `mcp`: no server is started, and the error says why.

use super::server_config::Server;
use super::{Health, Started};
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use std::convert::Infallible;
use std::sync::Arc;

/// The running servers: always empty.
#[derive(Debug)]
pub(crate) struct Connections(Infallible);

impl Connections {
    /// No server was started.
    pub(crate) fn health(&self) -> Vec<(String, Health)> {
        match self.0 {}
    }

    /// The reason why there are none.
    pub(crate) fn new() -> Result<Arc<Connections>, Problem> {
        let message = "MCP servers cannot be started: this build is without the feature `mcp`";
        Err(Problem::new(Code::BadUsage, "", message))
    }

    /// There are no notes.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Starts nothing.
    pub(crate) fn begin(self: &Arc<Self>, _servers: Vec<Server>) -> Starting {
        match self.0 {}
    }
}

/// The servers that are being started: there are none.
#[derive(Debug)]
pub(crate) struct Starting(Infallible);

impl Starting {
    /// There are none.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        match self.0 {}
        #[allow(unreachable_code, reason = "the type of the iterator")]
        std::iter::empty()
    }

    /// None arrives.
    pub(crate) fn next(&mut self) -> Option<(String, Result<Started, Problem>)> {
        match self.0 {}
    }
}
