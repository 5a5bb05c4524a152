//! The settings of an MCP server in a tools file.

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
    /// Its allowed tools, and their policies.
    pub(crate) policy: ServerPolicy,
    /// What of the tools file no message shows.
    pub(crate) secrets: Secrets,
    /// What is missing to start it, such as an environment variable.
    pub(crate) lacks: Vec<Problem>,
}

impl Server {
    /// The default time limit for starting a server.
    pub(crate) const TIMEOUT: Duration = Duration::from_millis(limits::DEFAULT_CALL_MS);
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// A program that communicates over its standard input and output.
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
        /// The headers of each request.
        headers: Vec<(String, String)>,
    },
    /// It cannot be reached; `lacks` says why.
    None,
}
