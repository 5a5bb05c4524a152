//! The programs whose functions `serve` offers: each as soon as the servers that it calls have arrived.
//!
//! A program that calls no server must be right, or the server does not start. What is wrong with another is
//! reported when it is found, and costs only its functions.

use super::super::lock::LockArgs;
use super::super::tools::Told;
use super::super::{Refused, load, output};
use ilo_host::problem::Problem;
use ilo_host::serve::{Arrivals, Offered};
use ilo_host::tools::Tools;
use ilo_spec::error::Code;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// What to do about variables of the tools file that are not set.
const LACKING: &str = "hint: clients start this program with few variables; set those that the tools file names under `env` of \
                       the client's entry for it\n";

/// The programs, and what was said about their tools.
pub(super) struct OfferedPrograms {
    waiting: Vec<Awaited>,
    taken: BTreeSet<String>,
    limits: load::FileLimits,
    lock: LockArgs,
    told: Told,
    hinted: bool,
    end: Option<(oneshot::Sender<()>, End)>,
}

/// Why the server has to end.
pub(super) type End = Arc<Mutex<Option<Refused>>>;

/// A program that was read and calls servers.
struct Awaited {
    path: PathBuf,
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

impl OfferedPrograms {
    pub(super) fn new(limits: load::FileLimits, lock: LockArgs) -> OfferedPrograms {
        let names = ["run_program", "check_program", "find_tools"];
        let taken = names.map(str::to_owned).into_iter().collect();
        OfferedPrograms {
            waiting: Vec::new(),
            taken,
            limits,
            lock,
            told: Told::default(),
            hinted: false,
            end: None,
        }
    }

    /// Reads the programs. Returns the functions of those that call no server.
    pub(super) fn read(&mut self, paths: &[PathBuf], tools: &Tools) -> Result<Vec<Offered>, Refused> {
        let mut offered = Vec::new();
        for path in paths {
            let bytes = load::read(path, &self.limits)?;
            let names = load::names([bytes.as_slice()], &self.limits);
            let program = Awaited { path: path.clone(), bytes, names };
            if tools.servers_for(program.names.iter().map(String::as_str)).is_empty() {
                offered.extend(self.functions(&program, tools)?);
            } else {
                self.waiting.push(program);
            }
        }
        Ok(offered)
    }

    /// The functions of the programs whose servers are all there, or failed.
    pub(super) fn ready(&mut self, tools: &Tools, starting: &BTreeSet<String>) -> Vec<Offered> {
        let waits = |program: &Awaited| {
            !tools.servers_for(program.names.iter().map(String::as_str)).is_disjoint(starting)
        };
        let (waiting, ready) = std::mem::take(&mut self.waiting).into_iter().partition(waits);
        self.waiting = waiting;
        let mut offered = Vec::new();
        for program in &ready {
            match self.functions(program, tools) {
                Ok(functions) => offered.extend(functions),
                Err(refused) => {
                    if let Refused::Problems(problems) = &refused {
                        output::problems(problems);
                    }
                    let path = output::plain(&program.path.display().to_string());
                    output::error(&format!("warning: no function of {path} is offered\n"));
                }
            }
        }
        offered
    }

    /// Whether programs wait for servers.
    pub(super) fn wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Shows what is wrong with tools, each once.
    pub(super) fn tell(&mut self, tools: &Tools, problems: &[Problem]) {
        self.told.tell(tools, problems);
        let unset = "the environment has no text";
        let is_unset = |problem: &Problem| problem.message.contains(unset);
        if !self.hinted && tools.lacking().any(is_unset) {
            self.hinted = true;
            output::error(LACKING);
        }
    }

    /// Compares all tools with the lock.
    pub(super) fn hold(&self, tools: &Tools) -> Result<(), Refused> {
        self.lock.hold(tools, tools.iter().map(|tool| tool.name.as_str()))
    }

    /// Has the server ended, with the reason in `end`, if the lock refuses tools.
    pub(super) fn set_end(&mut self, sender: oneshot::Sender<()>, end: End) {
        self.end = Some((sender, end));
    }

    /// The functions of a program, those that no other function of the file calls.
    fn functions(&mut self, program: &Awaited, tools: &Tools) -> Result<Vec<Offered>, Refused> {
        let Awaited { path, bytes, .. } = program;
        let program = load::load(bytes, &load::place(path), &self.limits, Some(tools), &self.lock)?;
        let problems = tools.problems(program.tools());
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let functions = program.entry().map_or_else(|several| several, |only| vec![only]);
        let mut offered = Vec::new();
        for function in functions {
            let name = program.function_name(function).to_owned();
            if !self.taken.insert(name.clone()) {
                let message = format!("a second tool named `{name}`; rename the function");
                return Err(Problem::new(Code::BadUsage, path.display().to_string(), message).into());
            }
            offered.push(Offered { name, program: program.clone(), function });
        }
        Ok(offered)
    }
}

impl Arrivals for OfferedPrograms {
    fn arrived(
        &mut self,
        tools: &Tools,
        starting: &BTreeSet<String>,
        problems: Vec<Problem>,
    ) -> Option<Vec<Offered>> {
        self.tell(tools, &problems);
        let is_locked = self.lock.path().is_some();
        if is_locked && !starting.is_empty() {
            return None;
        }
        let offered = self.ready(tools, starting);
        if is_locked && let Err(refused) = self.hold(tools) {
            if let Some((sender, end)) = self.end.take() {
                *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
                // Where it has ended already, nobody hears it.
                let _ = sender.send(());
            }
            return None;
        }
        Some(offered)
    }
}
