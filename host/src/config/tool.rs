//! Reads an entry under `tools`: a mock, a command, a built-in tool, or another name of a server's tool.

use super::policy::RULES;
use super::text::Step;
use super::{Fields, Reading};
use crate::builtin::{Builtin, WAIT};
use crate::command::{Command, find, is_program};
use crate::tool::policy::Rules;
use crate::tool::schema::{self, Part, Schema};
use crate::tool::secrets::Found;
use crate::tool::{Provider, Source, Tool};
use crate::tools::Tools;
use ilo_asm::catalog::{ADDRESS, server_and_tool};
use ilo_drive::data::Data;
use ilo_drive::mock::{Entry, Mock};
use ilo_drive::problem::{did_you_mean, meant_or_all, shortened};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Keys of a tool in addition to the policy keys.
pub(super) const TOOL: &[&str] =
    &["mock", "command", "mcp", "builtin", "description", "input_schema", "output_schema", "env", "args"];
/// The kinds of tools.
pub(super) const KINDS: &[&str] = &["mock", "command", "mcp", "builtin"];
/// The keys of an answer of a mock.
pub(super) const ENTRY: &[&str] = &["when", "times", "delay_ms", "returns", "fails"];

impl Reading {
    pub(super) fn tool(&mut self, name: &str, data: &Data, tools: &Tools) -> Option<Tool> {
        let fields = self.record(data)?;
        self.keys(fields, &[TOOL, RULES].concat());
        let has = |key: &str| fields.iter().any(|(name, _)| name == key);
        let kinds: Vec<&str> = KINDS.iter().copied().filter(|kind| has(kind)).collect();
        let tool = match kinds.as_slice() {
            ["mock"] => self.field(fields, "mock", |this, data| this.mock(name, data)),
            ["command"] => self.command(name, fields),
            ["mcp"] => self.field(fields, "mcp", |this, data| this.short_name(name, data, tools)),
            ["builtin"] => self.field(fields, "builtin", |this, data| this.builtin(name, data)),
            found => {
                let found = if found.is_empty() { "none".to_owned() } else { found.join(" and ") };
                self.wrong(format!("expected one of {}, found {found}", KINDS.join(", ")));
                None
            }
        };
        let kind_of =
            [("env", "command"), ("args", "mcp"), ("binary", "mcp"), ("json", "mcp"), ("big_numbers", "mcp")];
        for (key, kind) in kind_of {
            if has(key) && !kinds.is_empty() && !kinds.contains(&kind) {
                let message = match key {
                    "args" if kinds == ["command"] => {
                        "write the arguments into `command`, after the program".to_owned()
                    }
                    _ => format!("`{key}` belongs to an entry with `{kind}`"),
                };
                self.wrong_at(key, message);
            }
        }
        let renames = kinds.contains(&"mcp").then(|| self.field(fields, "args", Reading::renames)).flatten();
        let description = self.field(fields, "description", Reading::text).map(str::to_owned);
        let input_schema = self.field(fields, "input_schema", Reading::schema);
        let output_schema = self.field(fields, "output_schema", Reading::schema);
        let around = fields.iter().find(|(key, _)| key == "mcp").map(|(_, target)| around(target, tools));
        let around = around.unwrap_or_default();
        if kinds == ["builtin"] {
            self.own_of_builtin(fields);
        }
        let rules = self.checked_rules(fields, &around).within(&around);
        let mut tool = tool?;
        tool.renames = renames.unwrap_or_default();
        tool.policy = rules.policy();
        if let Source::Builtin(word) = tool.source {
            // Its effects and schemas are known.
            tool.policy.read_only = true;
            tool.policy.waits = word == WAIT;
            tool.description = description.or(tool.description.take());
            return Some(tool);
        }
        tool.description = description;
        (tool.input_schema, tool.output_schema) = (input_schema, output_schema);
        tool.validate = rules.validate.unwrap_or_default();
        Some(tool)
    }

    fn mock(&mut self, name: &str, data: &Data) -> Option<Tool> {
        let entries: Vec<Option<Entry>> = match data {
            Data::List(items) if items.is_empty() => {
                self.wrong("a mock without an answer; give it `returns` or `fails`");
                return None;
            }
            Data::List(items) => {
                let read = |(at, item)| self.inside(Step::Index(at), |this| this.entry(item));
                items.iter().enumerate().map(read).collect()
            }
            Data::Record(_) => vec![self.entry(data)],
            other => return self.expected("a record, or a list of records", other),
        };
        let entries = entries.into_iter().collect::<Option<Vec<Entry>>>()?;
        Some(Tool::of(name.to_owned(), Source::Mock, Some(Box::new(Mock { entries }))))
    }

    fn entry(&mut self, data: &Data) -> Option<Entry> {
        let fields = self.record(data)?;
        self.keys(fields, ENTRY);
        let when = self.field(fields, "when", |this, data| this.record(data).map(|_| data.clone()));
        let times = self.field(fields, "times", |this, data| this.count(data, 1));
        let delay = self.field(fields, "delay_ms", |this, data| this.count(data, 0));
        let answer = match (data.get("returns"), data.get("fails")) {
            (Some(value), None) => Some(Ok(value.clone())),
            (None, Some(failure)) => Some(Err(failure.clone())),
            (returns, _) => {
                let found = if returns.is_some() { "both" } else { "neither" };
                self.wrong(format!("expected `returns` or `fails`, found {found}"));
                None
            }
        };
        let delay = Duration::from_millis(delay.unwrap_or(0));
        Some(Entry { when, left: times.map(AtomicU64::new), delay, answer: answer? })
    }

    fn builtin(&mut self, name: &str, data: &Data) -> Option<Tool> {
        let word = self.text(data)?;
        let tool = Builtin::tool(name, word);
        if tool.is_none() {
            let hint = meant_or_all(word, Builtin::names());
            self.wrong(format!("there is no built-in tool `{}`{hint}", shortened(word, 80)));
        }
        tool
    }

    /// Reports keys that cannot be set for a built-in tool, because they are known.
    fn own_of_builtin(&mut self, fields: &Fields) {
        let known =
            "input_schema output_schema validate read_only confirm rollback on_unanswered on_doubt deferred";
        for key in known.split(' ') {
            if fields.iter().any(|(name, _)| name == key) {
                self.wrong_at(key, format!("`{key}` of a built-in tool is given, so leave it out"));
            }
        }
    }

    fn command(&mut self, name: &str, fields: &Fields) -> Option<Tool> {
        let environment = self.field(fields, "env", Reading::environment).unwrap_or_default();
        self.field(fields, "command", |this, data| {
            if let Data::Text(line) = data {
                let words: Vec<Data> = line.split_whitespace().map(Data::from).collect();
                let mut found = Found::default();
                found.words(line.split_whitespace());
                let list = found.secrets().hidden(&Data::List(words.into()).to_json());
                let list = shortened(&list, 80);
                this.wrong(format!("expected a list, the program first; write it as {list}"));
                return None;
            }
            let words = this.texts(data)?;
            let Some((program, arguments)) = words.split_first() else {
                this.wrong("expected a program, found an empty list");
                return None;
            };
            let mut found = Found::default();
            environment.iter().for_each(|(name, value)| found.environment(name, value));
            found.words(words.iter().map(String::as_str));
            let secrets = found.secrets();
            let source = Source::Command(secrets.hidden(&words.join(" ")));
            let file = this.inside(Step::Index(0), |this| this.program(program, &environment));
            let command = file.map(|program| Command {
                program,
                arguments: arguments.to_vec(),
                folder: this.folder.clone(),
                environment,
                secrets,
            });
            Some(Tool::of(
                name.to_owned(),
                source,
                command.map(|command| Box::new(command) as Box<dyn Provider>),
            ))
        })
    }

    /// The file of a program: relative to the tools file if the name has a slash, otherwise from the search
    /// path. A missing file affects only programs that call the tool.
    fn program(&mut self, name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
        let own = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.into());
        let found = if name.contains(std::path::is_separator) {
            Some(self.folder.join(name)).filter(|file| is_program(file))
        } else {
            let search = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
            find(name, &search, &self.folder)
        };
        if found.is_none() {
            let shown = shortened(name, 80);
            let message = if !name.contains(std::path::is_separator) && is_program(&self.folder.join(name)) {
                format!(
                    "no program `{shown}` is in PATH; write `./{shown}` for the file beside the tools file"
                )
            } else if name.contains(std::path::is_separator) {
                format!("no program `{shown}` that can be run, seen from the folder of the tools file")
            } else {
                format!("no program `{shown}` is in PATH")
            };
            self.lacks(message);
        }
        found
    }

    fn short_name(&mut self, name: &str, data: &Data, tools: &Tools) -> Option<Tool> {
        let target = self.text(data)?;
        let Some((server, tool)) = server_and_tool(target) else {
            self.wrong(format!("expected `{ADDRESS}`, found `{}`", shortened(target, 80)));
            return None;
        };
        let Some(policy) = tools.server_policy(server) else {
            if let Some((_, key)) = self.off.iter().find(|(off, _)| off == server) {
                let why = format!("the server `{}` is turned off: {key}", shortened(server, 80));
                self.lacks(why);
                return Some(Tool::of(name.to_owned(), Source::Server(target.to_owned()), None));
            }
            let near = did_you_mean(server, tools.servers());
            self.wrong(format!("`mcpServers` has no `{server}`{near}"));
            return None;
        };
        if !policy.allows(tool) {
            self.wrong(format!(
                "the policy of the server `{server}` does not allow `{}`",
                shortened(tool, 80)
            ));
            return None;
        }
        Some(Tool::of(name.to_owned(), Source::Server(target.to_owned()), None))
    }

    fn renames(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let texts = self.named(data, Reading::owned)?;
        for (at, (name, target)) in texts.iter().enumerate() {
            if texts.iter().take(at).any(|(_, other)| other == target) {
                self.wrong_at(name, format!("a second argument that becomes `{}`", shortened(target, 80)));
            }
        }
        Some(texts)
    }

    fn schema(&mut self, data: &Data) -> Option<Schema> {
        self.record(data)?;
        if let [_, Step::Key(tool), Step::Key(key)] = self.path.as_slice() {
            let unread = self.unread.get(tool).into_iter().flatten().find(|(schema, _)| schema == key);
            if let Some((_, range)) = unread {
                let (name, text) = (Arc::clone(&self.name), Arc::clone(&self.source));
                return Some(Part { name, text, range: range.clone() }.into());
            }
        }
        if let Some(problem) = schema::problem(data) {
            self.wrong(format!("no JSON Schema that can be used: {problem}"));
            return None;
        }
        Some(Arc::new(data.clone()).into())
    }
}

/// The policy that the entry of a server gives for a tool.
fn around(target: &Data, tools: &Tools) -> Rules {
    let Data::Text(target) = target else { return Rules::default() };
    let known = server_and_tool(target).and_then(|(server, tool)| Some((tools.server_policy(server)?, tool)));
    known.map(|(policy, tool)| policy.rules(tool)).unwrap_or_default()
}
