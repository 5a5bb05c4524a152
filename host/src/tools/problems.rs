//! Finds, before a run, the reasons why tools that a program names cannot be called.

use super::{Source, Tool, Tools};
use ilo_asm::catalog::{Lookup, server_and_tool};
use ilo_drive::problem::{MOST, Problem, did_you_mean};
use ilo_spec::error::Code;

impl Tools {
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
    pub(super) fn disguised<'t>(&'t self, name: &'t str) -> Option<(&'t str, &'t Tool)> {
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
