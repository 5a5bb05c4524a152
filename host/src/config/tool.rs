//! Reads an entry under `tools`: a mock, a command, a built-in tool, or another name of a server's tool.

use super::policy::{RULES, checked_rules};
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

pub(super) fn tool(reading: &mut Reading, name: &str, data: &Data, tools: &Tools) -> Option<Tool> {
    let fields = reading.record(data)?;
    reading.keys(fields, &[TOOL, RULES].concat());
    let has = |key: &str| fields.iter().any(|(name, _)| name == key);
    let kinds: Vec<&str> = KINDS.iter().copied().filter(|kind| has(kind)).collect();
    let tool = match kinds.as_slice() {
        ["mock"] => reading.field(fields, "mock", |this, data| mock(this, name, data)),
        ["command"] => command(reading, name, fields),
        ["mcp"] => reading.field(fields, "mcp", |this, data| short_name(this, name, data, tools)),
        ["builtin"] => reading.field(fields, "builtin", |this, data| builtin(this, name, data)),
        found => {
            let found = if found.is_empty() { "none".to_owned() } else { found.join(" and ") };
            reading.wrong(format!("expected one of {}, found {found}", KINDS.join(", ")));
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
            reading.wrong_at(key, message);
        }
    }
    let renames = kinds.contains(&"mcp").then(|| reading.field(fields, "args", renames)).flatten();
    let description = reading.field(fields, "description", Reading::text).map(str::to_owned);
    let input_schema = reading.field(fields, "input_schema", schema);
    let output_schema = reading.field(fields, "output_schema", schema);
    let around = fields.iter().find(|(key, _)| key == "mcp").map(|(_, target)| around(target, tools));
    let around = around.unwrap_or_default();
    if kinds == ["builtin"] {
        own_of_builtin(reading, fields);
    }
    let rules = checked_rules(reading, fields, &around).within(&around);
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

fn mock(reading: &mut Reading, name: &str, data: &Data) -> Option<Tool> {
    let entries: Vec<Option<Entry>> = match data {
        Data::List(items) if items.is_empty() => {
            reading.wrong("a mock without an answer; give it `returns` or `fails`");
            return None;
        }
        Data::List(items) => {
            let read = |(at, item)| reading.inside(Step::Index(at), |this| entry(this, item));
            items.iter().enumerate().map(read).collect()
        }
        Data::Record(_) => vec![entry(reading, data)],
        other => return reading.expected("a record, or a list of records", other),
    };
    let entries = entries.into_iter().collect::<Option<Vec<Entry>>>()?;
    Some(Tool::of(name.to_owned(), Source::Mock, Some(Box::new(Mock { entries }))))
}

fn entry(reading: &mut Reading, data: &Data) -> Option<Entry> {
    let fields = reading.record(data)?;
    reading.keys(fields, ENTRY);
    let when = reading.field(fields, "when", |this, data| this.record(data).map(|_| data.clone()));
    let times = reading.field(fields, "times", |this, data| this.count(data, 1));
    let delay = reading.field(fields, "delay_ms", |this, data| this.count(data, 0));
    let answer = match (data.get("returns"), data.get("fails")) {
        (Some(value), None) => Some(Ok(value.clone())),
        (None, Some(failure)) => Some(Err(failure.clone())),
        (returns, _) => {
            let found = if returns.is_some() { "both" } else { "neither" };
            reading.wrong(format!("expected `returns` or `fails`, found {found}"));
            None
        }
    };
    let delay = Duration::from_millis(delay.unwrap_or(0));
    Some(Entry { when, left: times.map(AtomicU64::new), delay, answer: answer? })
}

fn builtin(reading: &mut Reading, name: &str, data: &Data) -> Option<Tool> {
    let word = reading.text(data)?;
    let tool = Builtin::tool(name, word);
    if tool.is_none() {
        let hint = meant_or_all(word, Builtin::names());
        reading.wrong(format!("there is no built-in tool `{}`{hint}", shortened(word, 80)));
    }
    tool
}

/// Reports keys that cannot be set for a built-in tool, because they are known.
fn own_of_builtin(reading: &mut Reading, fields: &Fields) {
    let known =
        "input_schema output_schema validate read_only confirm rollback on_unanswered on_doubt deferred";
    for key in known.split(' ') {
        if fields.iter().any(|(name, _)| name == key) {
            reading.wrong_at(key, format!("`{key}` of a built-in tool is given, so leave it out"));
        }
    }
}

fn command(reading: &mut Reading, name: &str, fields: &Fields) -> Option<Tool> {
    let environment = reading.field(fields, "env", Reading::environment).unwrap_or_default();
    reading.field(fields, "command", |this, data| {
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
        let Some((first, arguments)) = words.split_first() else {
            this.wrong("expected a program, found an empty list");
            return None;
        };
        let mut found = Found::default();
        environment.iter().for_each(|(name, value)| found.environment(name, value));
        found.words(words.iter().map(String::as_str));
        let secrets = found.secrets();
        let source = Source::Command(secrets.hidden(&words.join(" ")));
        let file = this.inside(Step::Index(0), |this| program(this, first, &environment));
        let command = file.map(|program| Command {
            program,
            arguments: arguments.to_vec(),
            folder: this.folder.clone(),
            environment,
            secrets,
        });
        Some(Tool::of(name.to_owned(), source, command.map(|command| Box::new(command) as Box<dyn Provider>)))
    })
}

/// The file of a program: relative to the tools file if the name has a slash, otherwise from the search
/// path. A missing file affects only programs that call the tool.
fn program(reading: &mut Reading, name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
    let own = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.into());
    let found = if name.contains(std::path::is_separator) {
        Some(reading.folder.join(name)).filter(|file| is_program(file))
    } else {
        let search = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        find(name, &search, &reading.folder)
    };
    if found.is_none() {
        let shown = shortened(name, 80);
        let message = if !name.contains(std::path::is_separator) && is_program(&reading.folder.join(name)) {
            format!("no program `{shown}` is in PATH; write `./{shown}` for the file beside the tools file")
        } else if name.contains(std::path::is_separator) {
            format!("no program `{shown}` that can be run, seen from the folder of the tools file")
        } else {
            format!("no program `{shown}` is in PATH")
        };
        reading.lacks(message);
    }
    found
}

fn short_name(reading: &mut Reading, name: &str, data: &Data, tools: &Tools) -> Option<Tool> {
    let target = reading.text(data)?;
    let Some((server, tool)) = server_and_tool(target) else {
        reading.wrong(format!("expected `{ADDRESS}`, found `{}`", shortened(target, 80)));
        return None;
    };
    let Some(policy) = tools.server_policy(server) else {
        if let Some((_, key)) = reading.off.iter().find(|(off, _)| off == server) {
            let why = format!("the server `{}` is turned off: {key}", shortened(server, 80));
            reading.lacks(why);
            return Some(Tool::of(name.to_owned(), Source::Server(target.to_owned()), None));
        }
        let near = did_you_mean(server, tools.servers());
        reading.wrong(format!("`mcpServers` has no `{server}`{near}"));
        return None;
    };
    if !policy.allows(tool) {
        reading
            .wrong(format!("the policy of the server `{server}` does not allow `{}`", shortened(tool, 80)));
        return None;
    }
    Some(Tool::of(name.to_owned(), Source::Server(target.to_owned()), None))
}

fn renames(reading: &mut Reading, data: &Data) -> Option<Vec<(String, String)>> {
    let texts = reading.named(data, Reading::owned)?;
    for (at, (name, target)) in texts.iter().enumerate() {
        if texts.iter().take(at).any(|(_, other)| other == target) {
            reading.wrong_at(name, format!("a second argument that becomes `{}`", shortened(target, 80)));
        }
    }
    Some(texts)
}

fn schema(reading: &mut Reading, data: &Data) -> Option<Schema> {
    reading.record(data)?;
    if let [_, Step::Key(tool), Step::Key(key)] = reading.path.as_slice() {
        let unread = reading.unread.get(tool).into_iter().flatten().find(|(schema, _)| schema == key);
        if let Some((_, range)) = unread {
            let (name, text) = (Arc::clone(&reading.name), Arc::clone(&reading.source));
            return Some(Part { name, text, range: range.clone() }.into());
        }
    }
    if let Some(problem) = schema::problem(data) {
        reading.wrong(format!("no JSON Schema that can be used: {problem}"));
        return None;
    }
    Some(Arc::new(data.clone()).into())
}

/// The policy that the entry of a server gives for a tool.
fn around(target: &Data, tools: &Tools) -> Rules {
    let Data::Text(target) = target else { return Rules::default() };
    let known = server_and_tool(target).and_then(|(server, tool)| Some((tools.server_policy(server)?, tool)));
    known.map(|(policy, tool)| policy.rules(tool)).unwrap_or_default()
}
