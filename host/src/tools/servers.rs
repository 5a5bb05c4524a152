//! The MCP servers of a tools file: which are named by a program's calls, and what starting them adds to the table.

use super::server::Server;
use super::{Source, Tool, Tools};
use crate::problem::{Problem, did_you_mean};
use ilo_asm::catalog::{Catalog, Lookup, server_and_tool};
use ilo_spec::error::Code;
use std::collections::{BTreeMap, BTreeSet};

/// Servers, those that run and those that do not.
#[derive(Debug, Default)]
pub(super) struct Servers {
    known: BTreeMap<String, Server>,
    started: BTreeSet<String>,
    connections: Option<super::mcp::Connections>,
}

impl Servers {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// Tells a catalogue of every server.
    pub(super) fn list(&self, catalog: &mut Catalog) {
        self.names().for_each(|name| catalog.insert_server(name, self.started.contains(name)));
    }

    fn start(&mut self, names: &BTreeSet<String>) -> Result<Vec<Tool>, Vec<Problem>> {
        let connections = match &mut self.connections {
            Some(connections) => connections,
            none => none.insert(super::mcp::Connections::new().map_err(|problem| vec![problem])?),
        };
        connections.start(names.iter().filter_map(|name| self.known.get(name)).cloned().collect())
    }
}

impl Tools {
    pub(crate) fn add_server(&mut self, server: Server) {
        self.catalog.insert_server(&server.name, false);
        self.servers.known.insert(server.name.clone(), server);
    }

    /// Starts the servers that these names lead to, side by side, and takes their tools into the table. What runs already
    /// is not started again; a name that leads to no server starts none.
    ///
    /// # Errors
    /// Each server that did not start or did not list its tools in time, and each entry whose server lacks its tool.
    pub fn connect<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Vec<Problem>> {
        let mut needed = BTreeSet::new();
        for name in names {
            self.add_needed(name, &mut needed);
        }
        self.connect_to(&needed)
    }

    /// Starts every server; otherwise as [`Tools::connect`].
    ///
    /// # Errors
    /// As [`Tools::connect`].
    pub fn connect_all(&mut self) -> Result<(), Vec<Problem>> {
        let all = self.servers.names().map(str::to_owned).collect();
        self.connect_to(&all)
    }

    /// The servers that could answer for a name: that of its `mcp://`, or for a bare name that nothing else has, all.
    fn add_needed(&self, name: &str, needed: &mut BTreeSet<String>) {
        let add = |target: &str, needed: &mut BTreeSet<String>| {
            needed.extend(server_and_tool(target).map(|(server, _)| server.to_owned()));
        };
        match self.catalog.lookup(name) {
            Lookup::Found(tool) => {
                if let Some(Source::Server(target)) = self.entries.get(&tool.name).map(|tool| &tool.source) {
                    add(target, needed);
                }
            }
            Lookup::Unlisted => add(name, needed),
            Lookup::Unknown | Lookup::Ambiguous(_) if server_and_tool(name).is_none() => {
                needed.extend(self.servers.names().map(str::to_owned));
            }
            Lookup::Unknown | Lookup::Ambiguous(_) => {}
        }
    }

    fn connect_to(&mut self, needed: &BTreeSet<String>) -> Result<(), Vec<Problem>> {
        let new: BTreeSet<String> = needed.difference(&self.servers.started).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let found = self.servers.start(&new)?;
        self.servers.started.extend(new.iter().cloned());
        let mut offered: BTreeMap<String, Tool> =
            found.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        let problems = self.fill_entries(&new, &offered);
        offered.retain(|name, _| !self.entries.contains_key(name));
        self.entries.append(&mut offered);
        self.list_again();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Gives the short names of these servers' tools their provider and, where the file gives none, their schemas.
    fn fill_entries(&mut self, servers: &BTreeSet<String>, offered: &BTreeMap<String, Tool>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for entry in self.entries.values_mut() {
            let Source::Server(target) = &entry.source else { continue };
            let Some((server, tool)) = server_and_tool(target) else { continue };
            if entry.provider.is_some() || !servers.contains(server) {
                continue;
            }
            let Some(found) = offered.get(target) else {
                let prefix = target.len() - tool.len();
                let names =
                    offered.keys().filter(|name| server_and_tool(name).is_some_and(|(s, _)| s == server));
                let near = did_you_mean(tool, names.filter_map(|name| name.get(prefix..)));
                let why = format!("the server `{server}` has no tool `{tool}`{near}");
                problems.push(Problem::new(Code::UnknownTool, format!("tool `{}`", entry.name), why));
                continue;
            };
            entry.take_from(found);
        }
        problems
    }
}
