//! The table of tools: finds the tool for a name. `servers` decides which MCP servers are started.

mod problems;
mod servers;

pub use crate::mcp::Health;
#[cfg(feature = "mcp")]
pub use crate::mcp::read_answer;
pub use crate::tool::{
    CallLimits, Failure, Policy, Provider, Request, Schema, Source, Tool, consent, process_mark,
};

use ilo_asm::catalog::{Catalog, Lookup};
use ilo_drive::data::Data;
pub use ilo_drive::policy::{OnDoubt, Policies, Rate};
use std::collections::BTreeMap;
use std::time::Instant;

/// The tools that programs can call.
#[derive(Debug, Default)]
pub struct Tools {
    entries: BTreeMap<String, Tool>,
    servers: servers::Servers,
    catalog: Catalog,
}

impl Tools {
    /// A table without tools.
    pub fn new() -> Tools {
        Tools::default()
    }

    /// Adds a tool; one of the same name is replaced and given back.
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

    /// Makes the catalogue anew.
    fn list_again(&mut self) {
        self.catalog = Catalog::default();
        self.servers.list(&mut self.catalog);
        for tool in self.entries.values() {
            self.catalog.insert(tool.signature());
        }
    }

    /// The signatures of the tools, which programs are checked against, and what each name in a program leads
    /// to.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.entries.values()
    }

    /// The servers that the file names.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.names()
    }

    /// The tool that answers for a name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        match self.catalog.lookup(name) {
            Lookup::Found(tool) => self.entries.get(&tool.name),
            Lookup::Ambiguous(_) | Lookup::Unlisted | Lookup::Withheld(_) | Lookup::Unknown => None,
        }
    }

    /// Calls a tool. Its time limit is that of the tool, else that of the limits, and it ends at `until`, the
    /// end of the run, at the latest.
    ///
    /// A tool with `confirm` is called only once a person has said yes. A call that fails is made again where
    /// the tool is idempotent and has retries left. A call that takes longer than its own time is a failure
    /// that the program can handle. [`Failure::TimedOut`] remains where the run's time is over.
    ///
    /// # Errors
    /// The tool's failure, or the limit that was met.
    pub fn call(
        &self,
        name: &str,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Result<Data, Failure> {
        self.get(name).and_then(|tool| tool.call(name, arguments, limits, until)).unwrap_or_else(|| {
            let why = self.problems([name]).into_iter().next().map_or_else(String::new, |told| told.message);
            Err(Failure::text(format!("tool `{name}`: {why}")))
        })
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
