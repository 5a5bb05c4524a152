//! The settings of an MCP server in a tools file.

#![cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "without a client only names are read"))]

use crate::tool::policy::ServerPolicy;
use crate::tool::secrets::{Found, Secrets};
use ilo_drive::problem::Problem;
use ilo_spec::limits;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A value that a person gives before a server starts, as the file of a client declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, by which the settings of servers refer to it.
    pub id: String,
    /// What it is for.
    pub description: String,
    /// Whether it is a secret, so that it is not shown while it is typed.
    pub is_secret: bool,
    /// The value if nothing is given.
    pub default: Option<String>,
    /// The only values, if there are such.
    pub options: Vec<String>,
}

/// A server of a tools file.
#[derive(Clone)]
pub(crate) struct Server {
    /// Its name in the names of its tools, where `/` is written `%2F`.
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
    /// The values that are asked for before it starts. Until then its settings have `${input:NAME}`.
    pub(crate) inputs: Vec<Input>,
}

impl fmt::Debug for Server {
    /// Without its settings, which have secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Server {
    /// The default time limit for starting a server.
    pub(crate) const TIMEOUT: Duration = Duration::from_millis(limits::DEFAULT_CALL_MS);

    /// The server with a value in place of `${input:NAME}`.
    pub(crate) fn given(&mut self, id: &str, value: &str) {
        let mark = format!("${{input:{id}}}");
        let mut found = Found::default();
        let fill = |text: &mut String| {
            if text.contains(&mark) {
                *text = text.replace(&mark, value);
            }
        };
        match &mut self.way {
            Way::Program { program, arguments, environment, folder } => {
                fill(program);
                arguments.iter_mut().for_each(fill);
                environment.iter_mut().for_each(|(_, text)| fill(text));
                *folder = PathBuf::from(folder.to_string_lossy().replace(&mark, value));
            }
            Way::Http { url, headers } => {
                fill(url);
                headers.iter_mut().for_each(|(_, text)| fill(text));
            }
            Way::None => {}
        }
        self.way.find_secrets(&[(id.to_owned(), value.to_owned())], &mut found);
        if self.inputs.iter().any(|input| input.id == id && input.is_secret) {
            found.header(id, value);
        }
        self.secrets = self.secrets.and(found);
        self.inputs.retain(|input| input.id != id);
    }
}

impl Way {
    /// The secrets in these settings; `expanded` are variables with their values.
    pub(crate) fn secrets(&self, expanded: &[(String, String)]) -> Secrets {
        let mut found = Found::default();
        self.find_secrets(expanded, &mut found);
        found.secrets()
    }

    fn find_secrets(&self, expanded: &[(String, String)], found: &mut Found) {
        found.expanded(expanded);
        match self {
            Way::Program { program, arguments, environment, .. } => {
                environment.iter().for_each(|(name, value)| found.environment(name, value));
                // Some write the whole command line as the program.
                found.words(program.split_whitespace().chain(arguments.iter().map(String::as_str)));
            }
            Way::Http { url, headers } => {
                found.url(url);
                headers.iter().for_each(|(name, value)| found.header(name, value));
            }
            Way::None => {}
        }
    }
}

/// Whether these headers say who calls.
pub(crate) fn has_authorization(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

/// How a server is reached.
#[derive(Clone)]
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
