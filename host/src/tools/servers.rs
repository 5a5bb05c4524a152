//! The MCP servers of a tools file: finds those that a program names, starts them, and adds their tools to
//! the table.

use super::{McpServer, Source, Tool, Tools};
use crate::blocking;
use crate::mcp::server_config::{Input, Server};
use crate::mcp::{self, Health, RunningServers, Started, StartingServers};
use crate::tool::policy::ServerPolicy;
use ilo_asm::catalog::{Catalog, Lookup, server_and_tool};
use ilo_drive::locked::locked;
use ilo_drive::problem::{Problem, Problems, did_you_mean, shortened};
use ilo_spec::error::Code;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The servers, running or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    known: BTreeMap<String, Server>,
    started: BTreeSet<String>,
    /// Tools that the file does not allow, as `mcp://server/tool`.
    withheld: BTreeSet<String>,
    /// Tools that a server lists in a form that cannot be used.
    unusable: BTreeMap<String, Unusable>,
    /// Servers that the file turns off, with the key that does.
    off: BTreeMap<String, String>,
    /// What of the file was passed over.
    warnings: Vec<Problem>,
    /// Who is asked for the values that servers need, and what was answered.
    prompter: Option<Arc<dyn Prompt>>,
    given: BTreeMap<String, String>,
    connections: Option<Arc<dyn RunningServers>>,
}

/// Servers that are being started, while the host does other things.
#[derive(Debug)]
pub struct Starting(Option<Box<dyn StartingServers>>);

/// A server that has started, or the problem for which it has not.
pub struct Arrived(Result<Started, Problem>);

impl Starting {
    /// The servers that have not arrived yet.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|starting| starting.servers())
    }

    /// Waits for the next server, at most for its `timeout`. `None` after the last.
    pub fn wait(&mut self) -> Option<Arrived> {
        self.0.as_mut()?.next().map(|(_, started)| Arrived(started))
    }
}

/// A tool that cannot be used.
#[derive(Clone, Debug)]
struct Unusable {
    why: String,
    problem: Problem,
}

/// Asks a person for the values that the file of a client declares as `inputs`.
pub trait Prompt: std::fmt::Debug + Send + Sync {
    /// The value, or `None` if nobody gives one. The server waits for it.
    fn value(&self, server: &str, input: &Input) -> Option<String>;
}

impl Servers {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// Adds all servers to a catalogue.
    pub(super) fn list(&self, catalog: &mut Catalog) {
        self.names().for_each(|name| catalog.insert_server(name, self.started.contains(name)));
        // No other tool answers in place of a server that is off.
        self.off.iter().for_each(|(name, key)| catalog.insert_off(name, &turned_off(key)));
        self.withheld.iter().for_each(|name| catalog.withhold(name));
        self.unusable.iter().for_each(|(name, tool)| catalog.insert_unusable(name, &tool.why));
    }

    /// Asks for the values that a server needs. Each is asked for once, for all servers.
    fn with_inputs(&mut self, mut server: Server) -> Result<Server, Problem> {
        for input in server.inputs.clone() {
            let value = match (self.given.get(&input.id), &self.prompter) {
                (Some(value), _) => Some(value.clone()),
                (None, Some(prompter)) => {
                    prompter.value(&server.name, &input).or_else(|| input.default.clone())
                }
                (None, None) => None,
            };
            let Some(value) = value else {
                let why = format!(
                    "it needs `${{input:{}}}` ({}), which is asked for on a terminal only, and not for `serve`; write \
                     `${{NAME}}` in its place, and set the variable",
                    shortened(&input.id, 80),
                    shortened(&input.description, 80),
                );
                return Err(Problem::new(Code::BadUsage, format!("server `{}`", server.name), why));
            };
            server.given(&input.id, &value);
            self.given.insert(input.id, value);
        }
        Ok(server)
    }

    /// What is missing to start servers.
    pub(super) fn lacking(&self) -> impl Iterator<Item = &Problem> {
        self.known
            .values()
            .flat_map(|server| &server.lacks)
            .chain(self.unusable.values().map(|tool| &tool.problem))
    }

    /// What is missing to start a server.
    pub(super) fn lacking_of(&self, server: &str) -> impl Iterator<Item = &Problem> {
        self.known.get(server).into_iter().flat_map(|server| &server.lacks)
    }

    /// Begins to start servers, and reports those that lack something.
    fn begin(&mut self, names: &BTreeSet<String>) -> (Starting, Vec<Problem>) {
        let named = names.iter().filter_map(|name| self.known.get(name)).cloned();
        let (able, lacking): (Vec<Server>, Vec<Server>) = named.partition(|server| server.lacks.is_empty());
        let mut problems: Vec<Problem> = lacking.into_iter().flat_map(|server| server.lacks).collect();
        if able.is_empty() {
            return (Starting(None), problems);
        }
        let asked: Vec<_> = able.into_iter().map(|server| self.with_inputs(server)).collect();
        let mut able = Vec::with_capacity(asked.len());
        for server in asked {
            match server {
                Ok(server) => able.push(server),
                Err(problem) => problems.push(problem),
            }
        }
        let connections = match &mut self.connections {
            Some(connections) => connections,
            none => match mcp::connections() {
                Ok(connections) => none.insert(connections),
                Err(problem) => return (Starting(None), vec![problem]),
            },
        };
        (Starting(Some(Arc::clone(connections).begin(able))), problems)
    }

    /// Adds the tools of a server with their policies in the file. Names in the file that the server does not
    /// have are reported.
    fn admit(&mut self, started: Started) -> (Vec<Tool>, Vec<Problem>) {
        let Started { server, mut tools, bad } = started;
        self.unusable.extend(bad.into_iter().map(|(tool, why)| {
            let (shown, place) = (shortened(&tool, 200), format!("server `{server}`"));
            let why = shortened(&why, 300);
            let message = format!("its tool `{shown}` cannot be used: {why}");
            let problem = Problem::new(Code::UnknownTool, place, message);
            (format!("mcp://{server}/{tool}"), Unusable { why, problem })
        }));
        let Some(Server { policy, .. }) = self.known.get(&server) else { return (tools, Vec::new()) };
        let bare =
            |tool: &Tool| server_and_tool(&tool.name).map(|(_, bare)| bare.to_owned()).unwrap_or_default();
        let offered: BTreeSet<String> = tools.iter().map(bare).collect();
        let missing = policy.names().filter(|&name| !offered.contains(name));
        let problems = missing.map(|name| {
            let near = did_you_mean(name, offered.iter().map(String::as_str));
            let why = format!("its policy names a tool `{name}` that it does not have{near}");
            Problem::new(Code::UnknownTool, format!("server `{server}`"), why)
        });
        let problems: BTreeMap<String, Problem> =
            problems.map(|problem| (problem.message.clone(), problem)).collect();
        for tool in &mut tools {
            let rules = policy.rules(&bare(tool));
            tool.validate = rules.validate.unwrap_or_default();
            tool.policy = rules.policy();
            if tool.policy.integers_as_text {
                tool.give_texts_for_integers();
            }
        }
        let withheld = tools.extract_if(.., |tool| !policy.allows(&bare(tool)));
        self.withheld.extend(withheld.map(|tool| tool.name));
        self.started.insert(server);
        (tools, problems.into_values().collect())
    }
}

/// Why no tool of a server that the file turns off can be called.
fn turned_off(key: &str) -> String {
    format!("the tools file turns its server off ({key})")
}

impl Tools {
    /// Adds an MCP server, which is started by [`Tools::connect`]. One of the same name is replaced.
    ///
    /// # Errors
    /// Settings that no system can pass on.
    pub fn add_mcp_server(&mut self, server: McpServer) -> Result<(), Problem> {
        self.add_server(server.checked()?);
        Ok(())
    }

    /// Takes the notes about answers of servers that did not make them fail, such as text that had to be
    /// changed to be read.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.servers.connections.as_ref().map(|all| all.notes()).unwrap_or_default();
        notes.append(&mut locked(&self.accepted));
        notes
    }

    /// The servers of the file, each with its state; `None` for one that was not started.
    pub fn health(&self) -> Vec<(&str, Option<Health>)> {
        let started = self.servers.connections.as_ref().map(|all| all.health()).unwrap_or_default();
        let of = |name: &str| started.iter().find(|(started, _)| started == name).map(|(_, health)| *health);
        self.servers.names().map(|name| (name, of(name))).collect()
    }

    /// A server of the file.
    #[cfg_attr(not(feature = "login"), allow(dead_code, reason = "only a sign-in and tests ask for it"))]
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.known.get(name)
    }

    /// Sets who is asked for the values that the file of a client declares as `inputs`. Without anybody, a
    /// server that needs one is not started.
    pub fn set_prompt(&mut self, prompt: Arc<dyn Prompt>) {
        self.servers.prompter = Some(prompt);
    }

    /// Whether a server needs a value from a person.
    pub fn asks(&self) -> bool {
        self.servers.known.values().any(|server| !server.inputs.is_empty())
    }

    /// What of the tools file was passed over, such as keys of a client that are not known.
    pub fn warnings(&self) -> &[Problem] {
        &self.servers.warnings
    }

    pub(crate) fn set_warnings(&mut self, warnings: Vec<Problem>) {
        self.servers.warnings = warnings;
    }

    /// Notes the servers that the file turns off, each with the key that does.
    pub(crate) fn set_off(&mut self, off: Vec<(String, String)>) {
        off.iter().for_each(|(server, key)| self.catalog.insert_off(server, &turned_off(key)));
        self.servers.off = off.into_iter().collect();
    }

    pub(crate) fn add_server(&mut self, server: Server) {
        self.catalog.insert_server(&server.name, false);
        self.servers.known.insert(server.name.clone(), server);
    }

    /// Describes what is missing to call an entry, or otherwise its server.
    pub(crate) fn lack(&mut self, server: bool, name: &str, problem: &Problem) {
        let lacks = if server {
            self.servers.known.get_mut(name).map(|server| &mut server.lacks)
        } else {
            self.entries.get_mut(name).map(|tool| &mut tool.lacks)
        };
        lacks.into_iter().for_each(|lacks| lacks.push(problem.clone()));
    }

    /// The settings in the file for the tools of a server.
    pub(crate) fn server_policy(&self, server: &str) -> Option<&ServerPolicy> {
        self.servers.known.get(server).map(|server| &server.policy)
    }

    /// Blocks the thread while it starts the servers of these names in parallel, and adds their tools to the
    /// table. Asynchronous code awaits `connect_async` instead. Running servers are not started again, and
    /// names without a server are ignored. If one server does not start, the others still do.
    ///
    /// # Errors
    /// Each server that did not start or list its tools in time, and each entry whose server lacks its tool;
    /// that the thread must not be blocked.
    pub fn connect<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Problems> {
        blocking::refuse("connect", "`connect_async`")?;
        let needed = self.servers_for(names);
        self.connect_to(&needed)
    }

    /// Like [`Tools::connect`], for all servers.
    ///
    /// # Errors
    /// Like [`Tools::connect`].
    pub fn connect_all(&mut self) -> Result<(), Problems> {
        blocking::refuse("connect_all", "`connect_all_async`")?;
        let all = self.servers.names().map(str::to_owned).collect();
        self.connect_to(&all)
    }

    /// Begins to start all servers, and returns at once. [`Tools::add_arrived`] adds the tools of each that
    /// arrives. Also returns the problems of those that lack something to be started.
    pub fn start_all(&mut self) -> (Starting, Vec<Problem>) {
        let all = self.servers.names().map(str::to_owned).collect();
        self.servers.begin(&all)
    }

    /// Adds the tools of a server that has arrived. Returns the problems, as [`Tools::connect`] does.
    pub fn add_arrived(&mut self, arrived: Arrived) -> Vec<Problem> {
        match arrived.0 {
            Ok(started) => self.add_started(vec![started]),
            Err(problem) => vec![problem],
        }
    }

    /// The servers that would have to be started for programs that call tools of these names.
    pub fn servers_for<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> BTreeSet<String> {
        let mut needed = BTreeSet::new();
        names.into_iter().for_each(|name| self.add_needed(name, &mut needed));
        needed
    }

    /// Like [`Tools::connect`], on one of the runtime's threads for blocking work. If the future is dropped
    /// before its end, the table is empty.
    ///
    /// # Errors
    /// Like [`Tools::connect`].
    #[cfg(feature = "tokio")]
    pub async fn connect_async<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), Problems> {
        let needed = self.servers_for(names);
        self.connect_to_async(needed).await
    }

    /// Like [`Tools::connect_async`], for all servers.
    ///
    /// # Errors
    /// Like [`Tools::connect`].
    #[cfg(feature = "tokio")]
    pub async fn connect_all_async(&mut self) -> Result<(), Problems> {
        let all = self.servers.names().map(str::to_owned).collect();
        self.connect_to_async(all).await
    }

    #[cfg(feature = "tokio")]
    async fn connect_to_async(&mut self, needed: BTreeSet<String>) -> Result<(), Problems> {
        let mut tools = std::mem::take(self);
        let connected = tokio::task::spawn_blocking(move || {
            let result = tools.connect_to(&needed);
            (tools, result)
        });
        let ended = "the runtime was shut down while servers were started";
        let stopped = |_| Problem::new(Code::BadUsage, "", ended);
        let (tools, result) = connected.await.map_err(stopped)?;
        *self = tools;
        result
    }

    /// The servers that may have a name: the one in `mcp://`, or all for an unknown bare name.
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
            Lookup::Unknown | Lookup::Ambiguous(_) | Lookup::Withheld(_) | Lookup::Unusable(_) => {}
        }
    }

    fn connect_to(&mut self, needed: &BTreeSet<String>) -> Result<(), Problems> {
        let new: BTreeSet<String> = needed.difference(&self.servers.started).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let (mut starting, mut problems) = self.servers.begin(&new);
        let arrived = std::iter::from_fn(|| starting.0.as_mut()?.next());
        // By their names, in whatever order they arrive.
        let arrived: BTreeMap<String, _> = arrived.collect();
        let (mut started, mut failed) = (Vec::new(), Vec::new());
        for arrived in arrived.into_values() {
            match arrived {
                Ok(arrived) => started.push(arrived),
                Err(problem) => failed.push(problem),
            }
        }
        problems.extend(failed);
        problems.extend(self.add_started(started));
        if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
    }

    /// Adds the tools of these servers. Returns the problems.
    fn add_started(&mut self, started: Vec<Started>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut offered: BTreeMap<String, Tool> = BTreeMap::new();
        let mut running = BTreeSet::new();
        for started in started {
            running.insert(started.server.clone());
            let (tools, more) = self.servers.admit(started);
            offered.extend(tools.into_iter().map(|tool| (tool.name.clone(), tool)));
            problems.extend(more);
        }
        problems.extend(self.fill_entries(&running, &offered));
        offered.retain(|name, _| !self.entries.contains_key(name));
        self.entries.append(&mut offered);
        self.list_again();
        problems
    }

    /// Sets the provider of the short names of these servers' tools and, if the file has none, their schemas.
    fn fill_entries(&mut self, servers: &BTreeSet<String>, offered: &BTreeMap<String, Tool>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for entry in self.entries.values_mut() {
            let Source::Server(target) = &entry.source else { continue };
            let Some((server, tool)) = server_and_tool(target) else { continue };
            if entry.provider.is_some() || !servers.contains(server) {
                continue;
            }
            if let Some(unusable) = self.servers.unusable.get(target) {
                entry.lacks.push(unusable.problem.clone());
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
