//! The tools of a run: their signatures and policies. The functions stay in the other language.

use crate::Words;
use ilo_asm::catalog::{Catalog, Lookup, ToolSignature};
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::problem::{MOST, Problem, did_you_mean};
use ilo_spec::error::Code;
use std::collections::HashMap;
use std::time::Duration;

/// The longest time limit: a year.
pub const LONGEST: f64 = 365.0 * 86_400.0;

/// Signatures and policies by name.
#[derive(Debug, Default)]
pub struct Known {
    /// The signatures.
    pub catalog: Catalog,
    /// The policies by the tools' own names.
    pub policies: HashMap<String, Policy>,
}

impl Known {
    /// The own name of the tool that a program calls by this name.
    pub fn own_name(&self, name: &str) -> Option<&str> {
        self.tool(name).map(|tool| tool.name.as_str())
    }

    /// The tool that a program calls by this name.
    pub fn tool(&self, name: &str) -> Option<&ToolSignature> {
        match self.catalog.lookup(name) {
            Lookup::Found(tool) => Some(tool),
            _ => None,
        }
    }

    /// The problems that prevent a run of a program that calls these tools.
    pub fn problems<'n>(&self, names: impl Iterator<Item = &'n str>, words: &Words) -> Vec<Problem> {
        names.filter_map(|name| self.problem(name, words)).take(MOST).collect()
    }

    fn problem(&self, name: &str, words: &Words) -> Option<Problem> {
        let why = match self.catalog.lookup(name) {
            Lookup::Found(_) => return None,
            Lookup::Ambiguous(several) => {
                let names: Vec<&str> = several.iter().map(|tool| tool.name.as_str()).collect();
                format!("several servers have it; write one of {}", names.join(", "))
            }
            _ if self.catalog.tools().is_empty() => format!("no tools are given; pass `{}`", words.tools),
            _ => {
                let near = did_you_mean(name, self.catalog.tools().iter().map(|tool| tool.name.as_str()));
                format!("there is no such tool{near}")
            }
        };
        Some(Problem::new(Code::UnknownTool, format!("tool `{name}`"), why))
    }
}

impl Policies for Known {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.policies.get(self.own_name(tool)?)
    }
}

/// The policy of a tool from a package, with the time limit of a call in seconds, within its bounds. A tool
/// that only reads is idempotent.
///
/// # Errors
/// What is out of bounds, for people.
pub fn policy(name: &str, mut given: Policy, seconds: Option<f64>) -> Result<Policy, String> {
    let most = ilo_drive::policy::RETRIES;
    if given.retries > most {
        return Err(format!("tool `{name}`: `retries` is at most {most}"));
    }
    given.timeout = match seconds {
        Some(seconds) if !(0.0..=LONGEST).contains(&seconds) => {
            return Err(format!("tool `{name}`: `timeout` is a time from 0 to a year"));
        }
        seconds => seconds.map(Duration::from_secs_f64),
    };
    given.idempotent |= given.read_only;
    Ok(given)
}
