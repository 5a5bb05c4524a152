//! What a tools file says of an MCP server. Starting one is the business of its client.

#![cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "without a client only names are read"))]

use crate::tool::policy::ServerPolicy;
use crate::tool::secrets::Secrets;
use ilo_drive::problem::Problem;
use ilo_spec::limits;
use std::path::PathBuf;
use std::time::Duration;

/// A server of a tools file.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Its name.
    pub(crate) name: String,
    /// How it is reached.
    pub(crate) way: Way,
    /// How long it may take to start and list its tools.
    pub(crate) timeout: Duration,
    /// Which of its tools there are, and how they may be called.
    pub(crate) policy: ServerPolicy,
    /// What of the tools file no message shows.
    pub(crate) secrets: Secrets,
    /// What it lacks to be started, such as a variable of the environment.
    pub(crate) lacks: Vec<Problem>,
}

impl Server {
    /// The time that a server has to start where the file says nothing else.
    pub(crate) const TIMEOUT: Duration = Duration::from_millis(limits::DEFAULT_CALL_MS);
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// A program that speaks over its standard input and output.
    Program {
        /// The program: a name to search for, or a path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Where it runs.
        folder: PathBuf,
        /// What the tools file adds to its environment.
        environment: Vec<(String, String)>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// What is sent with each request.
        headers: Vec<(String, String)>,
    },
    /// It cannot be reached; `lacks` says why.
    None,
}
