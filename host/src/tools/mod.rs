//! The table of tools: finds the tool for a name. `servers` decides which MCP servers are started.

mod mcp_server;
mod servers;

pub use crate::mcp::Health;
#[cfg(feature = "mcp")]
pub use crate::mcp::read_answer;
pub use crate::mcp::server_config::Input;
pub use crate::tool::secrets::hidden_of_all as without_secrets;
pub use crate::tool::{
    CallLimits, Failure, Policy, Provider, Request, Schema, Source, Tool, consent, process_mark,
};

#[cfg(feature = "tokio")]
pub use crate::tool::asynchronous::AsyncRequest;
pub use mcp_server::McpServer;
pub use servers::{Arrived, Prompt, Starting};

use ilo_asm::catalog::{Catalog, Lookup, ToolSignature, server_and_tool};
use ilo_drive::data::Data;
use ilo_drive::locked::locked;
use ilo_drive::plan::changed;
pub use ilo_drive::policy::{OnDoubt, Policies, Rate};
use ilo_drive::problem::{MOST, Problem, did_you_mean};
use ilo_spec::error::Code;
use ilo_vm::{Program, Run};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The most answers of a run that are noted.
const MOST_NOTES: usize = 100;

/// The tools that programs can call.
///
/// A copy shares the running servers, the rates and the notes with the original, and has a table of its own.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    entries: BTreeMap<String, Tool>,
    servers: servers::Servers,
    catalog: Catalog,
    /// Notes about answers that do not fit and were accepted.
    accepted: Arc<Mutex<Vec<String>>>,
    /// Calls of the tools that were left behind.
    #[cfg(feature = "tokio")]
    pub(crate) left: crate::tool::left::Left,
}

impl Tools {
    /// Notes an answer that does not fit its schema and was accepted.
    pub(crate) fn note_accepted(&self, tool: &str, why: &str) {
        let mut notes = locked(&self.accepted);
        if notes.len() < MOST_NOTES {
            notes.push(format!("an answer of `{tool}` does not fit: {why}"));
        }
    }

    /// A table without tools.
    pub fn new() -> Tools {
        Tools::default()
    }

    /// Adds a tool. One of the same name is replaced and returned.
    pub fn add(&mut self, tool: Tool) -> Option<Tool> {
        let signature = tool.signature();
        let replaced = self.entries.insert(tool.name.clone(), tool);
        if replaced.is_none() {
            self.catalog.insert(signature);
        } else {
            self.list_again();
        }
        replaced
    }

    /// Rebuilds the catalogue.
    fn list_again(&mut self) {
        self.catalog = Catalog::default();
        self.servers.list(&mut self.catalog);
        for tool in self.entries.values() {
            self.catalog.insert(tool.signature());
        }
    }

    /// The catalogue: the signatures of the tools, for the check, and the resolution of names.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.entries.values()
    }

    /// The servers that the file names.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.names()
    }

    /// The tool to which a name resolves.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        match self.catalog.lookup(name) {
            Lookup::Found(tool) => self.entries.get(&tool.name),
            _ => None,
        }
    }

    /// A call in the form for a question to a person: the name of the tool's entry, with its origin if that
    /// is informative, and the arguments as the tool gets them, without secrets.
    pub fn asked(&self, name: &str, arguments: &Data) -> (String, Data) {
        self.get(name).map_or_else(|| (name.to_owned(), arguments.clone()), |tool| tool.asked(arguments))
    }

    /// Calls a tool. The time limit is that of the tool, otherwise that of the limits; the call ends at the
    /// latest at `until`, the end of the run.
    ///
    /// A tool with `confirm` is called only after a person has agreed. A failed call is repeated if the tool
    /// is idempotent and has retries left. A call that exceeds its own time limit is a failure that the
    /// program can handle; [`Failure::TimedOut`] means that the time of the run is over.
    ///
    /// # Errors
    /// The failure of the tool, or the limit that was exceeded.
    pub fn call(
        &self,
        name: &str,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Result<Data, Failure> {
        let called = self.callable(name).and_then(|tool| tool.call(name, arguments, limits, until));
        called.unwrap_or_else(|| Err(self.uncallable(name)))
    }

    /// The tool of this name, if programs may call it.
    pub(crate) fn callable(&self, name: &str) -> Option<&Tool> {
        if self.disguised(name).is_some() { None } else { self.get(name) }
    }

    /// Why a tool of this name cannot be called.
    pub(crate) fn uncallable(&self, name: &str) -> Failure {
        let why = self.problems([name]).into_iter().next().map_or_else(String::new, |told| told.message);
        Failure::text(format!("tool `{name}`: {why}"))
    }

    /// Adds a tool that is a function of the host: [`Tool::typed`] with a policy. One of the same name is
    /// replaced.
    pub fn add_blocking<A, R, E>(
        &mut self,
        name: impl Into<String>,
        policy: Policy,
        function: impl Fn(A, &Request<'_>) -> Result<R, E> + Send + Sync + 'static,
    ) where
        A: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        self.add(Tool::typed(name, function).with_policy(policy));
    }

    /// Adds a tool that is an asynchronous function of the host: [`Tool::asynchronous`] with a policy. One of
    /// the same name is replaced. The check knows no more of it than its name; [`Tools::add`] takes a tool
    /// with a description and schemas (`Tool::described_by`, of the feature `schemars`).
    #[cfg(feature = "tokio")]
    pub fn add_async<A, R, E, F>(
        &mut self,
        name: impl Into<String>,
        policy: Policy,
        function: impl Fn(A, AsyncRequest) -> F + Send + Sync + 'static,
    ) where
        A: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.add(Tool::asynchronous(name, function).with_policy(policy));
    }

    /// The signature of the tool that a program calls by this name.
    pub fn signature(&self, name: &str) -> Option<&ToolSignature> {
        match self.catalog().lookup(name) {
            Lookup::Found(tool) => Some(tool),
            _ => None,
        }
    }

    /// The signatures of the tools that a program names, to be stored with a run.
    pub fn signatures(&self, program: &Program) -> String {
        changed::signatures(program, &|name| self.signature(name))
    }

    /// What no longer fits of the calls that a run has not made yet. `stored` is what
    /// [`Tools::signatures`] gave when it was started; `is_made` says whether the call at which it waits may
    /// have been made.
    pub fn misfits(&self, run: &Run, stored: &str, is_made: bool) -> Vec<Problem> {
        changed::misfits(run, stored, is_made, &|name| self.signature(name))
    }

    /// The problems that prevent calls of these tools: unknown names, tools without their program, and tools
    /// of servers that are not running. At most a hundred are returned.
    pub fn problems<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<Problem> {
        names.into_iter().flat_map(|name| self.problems_of(name)).take(MOST).collect()
    }

    /// What is missing to call any of the tools and servers, such as a program or an environment variable. It
    /// affects only programs that call them.
    pub fn lacking(&self) -> impl Iterator<Item = &Problem> {
        self.entries.values().flat_map(|tool| &tool.lacks).chain(self.servers.lacking())
    }

    /// The unusable schemas of the tools file. Finding them reads all schemas.
    pub fn schema_problems(&self) -> impl Iterator<Item = Problem> {
        self.entries.values().flat_map(Tool::schema_problems)
    }

    /// The tool that a name reaches though the file has no server of the name's, if its calls ask a person:
    /// the person would decide on a server that is not there. A mock is in place of any server.
    fn disguised<'t>(&'t self, name: &'t str) -> Option<(&'t str, &'t Tool)> {
        let (server, _) = server_and_tool(name)?;
        let tool = self.get(name).filter(|tool| tool.name != name)?;
        (tool.policy.confirm && tool.source != Source::Mock).then_some((server, tool))
    }

    fn problems_of(&self, name: &str) -> Vec<Problem> {
        let place = format!("tool `{name}`");
        let unknown = |why: String| vec![Problem::new(Code::UnknownTool, place.clone(), why)];
        let later = |server: &str| {
            let lacking: Vec<Problem> = self.servers.lacking_of(server).cloned().collect();
            if !lacking.is_empty() {
                return lacking;
            }
            let why = format!("the MCP server `{server}` would answer it, and is not started");
            vec![Problem::new(Code::BadUsage, place.clone(), why)]
        };
        if let Some((server, tool)) = self.disguised(name) {
            let own = &tool.name;
            return unknown(format!(
                "the tools file has no server `{server}`, and `{own}` asks a person (`confirm`); write `{own}`"
            ));
        }
        match self.catalog.lookup(name) {
            Lookup::Found(tool) => match self.entries.get(&tool.name) {
                Some(Tool { lacks, .. }) if !lacks.is_empty() => lacks.clone(),
                Some(tool) if let Some(problem) = tool.schema_problems().next() => vec![problem],
                Some(Tool { source: Source::Server(target), provider: None, .. }) => {
                    later(server_and_tool(target).map_or(target, |(server, _)| server))
                }
                _ => Vec::new(),
            },
            Lookup::Unlisted => later(server_and_tool(name).map_or(name, |(server, _)| server)),
            Lookup::Withheld(_) => {
                unknown("its server has it, and the tools file does not allow it".to_owned())
            }
            Lookup::Ambiguous(several) => {
                let names: Vec<&str> = several.iter().map(|tool| tool.name.as_str()).collect();
                unknown(format!("several servers have it; write one of {}", names.join(", ")))
            }
            Lookup::Unusable(why) => unknown(why.to_owned()),
            Lookup::Unknown => {
                let hint = match server_and_tool(name) {
                    Some((server, _)) => did_you_mean(server, self.servers()),
                    None => String::new(),
                };
                let near = did_you_mean(name, self.entries.keys().map(String::as_str));
                if self.entries.is_empty() && self.servers().next().is_none() {
                    unknown("no tools are given; name a tools file with `--tools`".to_owned())
                } else {
                    unknown(format!("the tools file has no such tool{near}{hint}"))
                }
            }
        }
    }
}

impl Policies for Tools {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.get(tool).map(|tool| &tool.policy)
    }

    fn may_run_ahead(&self, name: &str) -> bool {
        let steady = |tool: &Tool| tool.provider.as_ref().is_some_and(|provider| provider.may_run_ahead());
        self.is_read_only(name) && self.get(name).is_some_and(steady)
    }
}
