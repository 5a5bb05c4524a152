//! Reads a tools file into a table of tools.
//!
//! All errors, up to a hundred, are collected with their paths and positions before anything runs. What a
//! tool lacks on this machine (its program, a variable) is kept with the tool and affects only its callers.
//! The same is true of an unusable schema in a JSON file, because schemas stay text. Nothing is started, and
//! no schema is fetched.

mod clients;
mod file_keys;
mod policy;
mod reach;
mod sections;
mod server;
mod text;
mod tool;
mod variables;

use crate::file;
use crate::mcp::server_config::Input;
use crate::tools::Tools;
use clients::is_comment;
use file_keys::{FileKeys, file_keys, is_clients_tools};
use ilo_drive::data::Data;
use ilo_drive::problem::{MOST, Problem, Problems, nearest, shortened};
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use sections::{Forms, Section, sections};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::{Form, Shown, Step};
use tool::{KINDS, tool};

/// Keys of the file.
const ROOT: &[&str] = &["mcpServers", "tools"];
/// The most keys that a warning names.
const SHOWN: usize = 5;

impl Tools {
    /// Reads a tools file, JSON, TOML or YAML.
    ///
    /// # Errors
    /// All errors in the file.
    pub fn from_file(path: &Path) -> Result<Tools, Problems> {
        let path = &*from_home(path);
        let bytes = file::read(path, text::FILE).map_err(|problem| with_folder(problem, path))?;
        let name = path.display().to_string();
        let wide = matches!(bytes.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..]);
        let Some(source) = String::from_utf8(bytes).ok().filter(|_| !wide) else {
            let why = if wide { "it is UTF-16 or UTF-32; save it as UTF-8" } else { "not UTF-8" };
            return Err(Problem::new(Code::BadToolsFile, name, why).into());
        };
        let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        Tools::from_text(&name, &source, &folder.unwrap_or_else(|| PathBuf::from(".")))
    }

    /// Reads a tools file from memory, JSON, TOML or YAML, by the ending of its name. Paths in it are
    /// relative to `folder`; messages call it `name`.
    ///
    /// # Errors
    /// All errors in the file.
    pub fn from_text(name: &str, text: &str, folder: &Path) -> Result<Tools, Problems> {
        Ok(read(name, text, folder)?)
    }
}

/// A path whose `~/` no shell has replaced, as where a client starts `serve`.
fn from_home(path: &Path) -> Cow<'_, Path> {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Cow::Owned(Path::new(&home).join(rest)),
        _ => Cow::Borrowed(path),
    }
}

/// The problem of a file that cannot be read, with the folder in which it was looked for.
fn with_folder(mut problem: Problem, path: &Path) -> Problem {
    if path.is_relative()
        && path.as_os_str() != "-"
        && let Ok(folder) = std::env::current_dir()
    {
        problem.message = format!("{}; it was looked for in `{}`", problem.message, folder.display());
    }
    problem
}

/// Reads the text of a tools file.
fn read(name: &str, source: &str, folder: &Path) -> Result<Tools, Vec<Problem>> {
    let bad = |place: String, message: String| Problem::new(Code::BadToolsFile, place, message);
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if Path::new(name).file_name().is_some_and(|file| file == "crushrc" || file == ".crushrc") {
        let message =
            "a script that sets up Crush is not run; write its servers as `crush.json` or `mcpServers`";
        return Err(vec![bad(name.to_owned(), message.to_owned())]);
    }
    let form = match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("toml") => Form::Toml,
        Some("json" | "jsonc" | "json5") => Form::Json,
        Some("yaml" | "yml") => Form::Yaml,
        _ if source.trim_start().starts_with(['{', '/']) => Form::Json,
        _ => Form::Toml,
    };
    let text::Parsed { data, unread } = text::parse(source, form).map_err(|(offset, message)| {
        let (line, column) = ilo_drive::data::read::line_column(source.as_bytes(), offset.unwrap_or(0));
        vec![bad(format!("{name}:{line}:{column}"), message)]
    })?;
    let mut reading = Reading {
        folder: folder.to_path_buf(),
        project: variables::project(folder),
        in_seconds: is_in_seconds(name),
        name: Arc::from(name),
        source: Arc::from(if unread.is_empty() { "" } else { source }),
        unread,
        ..Reading::default()
    };
    let mut tools = reading.root(&data);
    let problem = |(path, message): (Vec<Step>, String)| {
        let (line, column) = text::locate(source, form, &path);
        let shown = Shown(&path).to_string();
        let colon = if shown.is_empty() { "" } else { ": " };
        bad(format!("{name}:{line}:{column}"), format!("{shown}{colon}{message}"))
    };
    if !reading.wrong.is_empty() {
        let schemas = tools.schema_problems();
        let mut found = reading.wrong.into_iter().map(problem).chain(schemas);
        let mut problems: Vec<Problem> = found.by_ref().take(MOST).collect();
        let more = format!("there are more problems; the first {MOST} are shown");
        problems.extend(found.next().map(|_| bad(name.to_owned(), more)));
        return Err(problems);
    }
    for (at, (owner, path, message)) in reading.lacks.into_iter().enumerate() {
        // Each place is looked for from the beginning of the text.
        let found = if at < MOST {
            problem((path, message))
        } else {
            bad(name.to_owned(), format!("{}: {message}", Shown(&path)))
        };
        tools.lack(owner.is_server, &owner.name, &found);
    }
    tools.set_warnings(reading.warnings.into_iter().map(problem).collect());
    tools.set_off(reading.off);
    Ok(tools)
}

/// Whether a file, by its name, is that of a client whose time limits are in seconds.
fn is_in_seconds(name: &str) -> bool {
    let path = Path::new(name);
    let in_folder = [".roo", ".kilocode"];
    let named = ["cline_mcp_settings.json", "mcp_settings.json"];
    path.file_name().is_some_and(|file| named.iter().any(|one| file == *one))
        || path.iter().any(|part| in_folder.iter().any(|one| part == *one))
}

type Fields = [(String, Data)];
/// How a text is read.
type Read = fn(&mut Reading, &Data) -> Option<String>;

/// The entry to which something belongs.
#[derive(Clone)]
struct Owner {
    is_server: bool,
    name: String,
}

#[derive(Default)]
struct Reading {
    folder: PathBuf,
    /// The folder of the project: that around the folder of a client, in which the file may be.
    project: PathBuf,
    /// Whether this is the file of an MCP client, which may have keys of that client.
    client: bool,
    /// Whether its `timeout` is in seconds.
    in_seconds: bool,
    /// What its client replaces.
    forms: Forms,
    /// What it says outside of its servers.
    file: FileKeys,
    /// The values that it declares for a person to give, and those that the current server needs.
    inputs: Vec<Input>,
    asked: Vec<String>,
    /// Servers that are turned off, with the reason.
    off: Vec<(String, String)>,
    /// The entry that is read.
    owner: Option<Owner>,
    path: Vec<Step>,
    wrong: Vec<(Vec<Step>, String)>,
    /// What this machine lacks, by the entry that needs it.
    lacks: Vec<(Owner, Vec<Step>, String)>,
    /// What is passed over.
    warnings: Vec<(Vec<Step>, String)>,
    /// Variables that were replaced in the current entry, with their values.
    expanded: Vec<(String, String)>,
    /// Schemas that stay text, with the file's name and text.
    unread: text::UnreadSchemas,
    name: Arc<str>,
    source: Arc<str>,
}

impl Reading {
    fn wrong(&mut self, message: impl Into<String>) {
        if !self.is_full() {
            self.wrong.push((self.path.clone(), message.into()));
        }
    }

    /// The same of a part of what is read.
    fn wrong_at(&mut self, key: &str, message: impl Into<String>) {
        self.inside(Step::Key(key.to_owned()), |this| this.wrong(message));
    }

    /// Records what this machine lacks for a part of the current entry.
    fn lacks_at(&mut self, key: &str, message: impl Into<String>) {
        self.inside(Step::Key(key.to_owned()), |this| this.lacks(message));
    }

    /// Records what this machine lacks for the current entry. A file in which too much is lacking is refused.
    fn lacks(&mut self, message: impl Into<String>) {
        let Some(owner) = self.owner.clone() else { return };
        if self.lacks.len() >= MOST * MOST {
            return self.wrong("this and more cannot be used here");
        }
        self.lacks.push((owner, self.path.clone(), message.into()));
    }

    /// What is wrong with a server in the file of a client costs only that server.
    fn costs(&mut self, message: impl Into<String>) {
        if self.client { self.lacks(message) } else { self.wrong(message) }
    }

    /// Warns about keys that are not read.
    fn passed_over(&mut self, keys: &[&str]) {
        if keys.is_empty() || self.warnings.len() >= MOST {
            return;
        }
        let named: Vec<String> =
            keys.iter().take(SHOWN).map(|key| format!("`{}`", shortened(key, 80))).collect();
        let more = keys.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let are = if keys.len() == 1 { "is" } else { "are" };
        self.warnings.push((self.path.clone(), format!("{}{more} {are} not read", named.join(", "))));
    }

    /// The folder at which paths of programs start.
    fn around_program(&self) -> PathBuf {
        if self.client { self.project.clone() } else { self.folder.clone() }
    }

    /// Whether no more problems are collected.
    fn is_full(&self) -> bool {
        self.wrong.len() > MOST
    }

    fn inside<T>(&mut self, step: Step, work: impl FnOnce(&mut Reading) -> T) -> T {
        self.path.push(step);
        let result = work(self);
        self.path.pop();
        result
    }

    /// Reads a field if it is present; that of a record in a record has a name with a dot. In the file of a
    /// client null is a setting that is not there.
    fn field<'d, T>(
        &mut self,
        fields: &'d Fields,
        key: &str,
        read: impl FnOnce(&mut Reading, &'d Data) -> Option<T>,
    ) -> Option<T> {
        let Some((_, value)) = fields.iter().find(|(name, _)| name == key) else {
            // Only keys of clients have dots.
            let (outer, inner) = if self.client { key.split_once('.')? } else { return None };
            let (_, value) = fields.iter().find(|(name, _)| name == outer)?;
            let Data::Record(fields) = value else { return None };
            return self.inside(Step::Key(outer.to_owned()), |this| this.field(fields, inner, read));
        };
        if self.client && *value == Data::Nil {
            return None;
        }
        self.inside(Step::Key(key.to_owned()), |this| read(this, value))
    }

    fn expected<T>(&mut self, what: &str, found: &Data) -> Option<T> {
        self.wrong(format!("expected {what}, found {}", found.kind()));
        None
    }

    /// The same, with the value that was found.
    fn expected_other<T>(&mut self, what: &str, found: &Data) -> Option<T> {
        self.wrong(format!("expected {what}, found {}", shortened(&found.to_json(), 40)));
        None
    }

    fn record<'d>(&mut self, data: &'d Data) -> Option<&'d Fields> {
        match data {
            Data::Record(fields) => Some(fields),
            other => self.expected("a record", other),
        }
    }

    fn text<'d>(&mut self, data: &'d Data) -> Option<&'d str> {
        match data {
            Data::Text(text) if text.contains('\0') => {
                self.wrong("a NUL character");
                None
            }
            Data::Text(text) => Some(text),
            other => self.expected("a text", other),
        }
    }

    fn flag(&mut self, data: &Data) -> Option<bool> {
        match data {
            Data::Bool(value) => Some(*value),
            other => self.expected("true or false", other),
        }
    }

    fn count(&mut self, data: &Data, least: u64) -> Option<u64> {
        let value = match data {
            Data::Number(Number::Int(int)) => u64::try_from(*int).ok().filter(|&n| n >= least),
            _ => None,
        };
        value.or_else(|| self.expected_other(&format!("a whole number from {least}"), data))
    }

    fn texts(&mut self, data: &Data) -> Option<Vec<String>> {
        self.listed(data, Reading::owned)
    }

    fn owned(&mut self, data: &Data) -> Option<String> {
        self.text(data).map(str::to_owned)
    }

    /// The texts of a list.
    fn listed(&mut self, data: &Data, read: Read) -> Option<Vec<String>> {
        let Data::List(items) = data else { return self.expected("a list of texts", data) };
        let one = |(at, item)| self.inside(Step::Index(at), |this| read(this, item));
        let texts: Vec<Option<String>> = items.iter().enumerate().map(one).collect();
        texts.into_iter().collect()
    }

    /// The texts of a record. In the file of a client null is a text that is not there.
    fn named(&mut self, data: &Data, read: Read) -> Option<Vec<(String, String)>> {
        let is_client = self.client;
        let fields = self.record(data)?.iter().filter(|(_, value)| !is_client || *value != Data::Nil);
        let one = |(name, value): &(String, Data)| {
            self.inside(Step::Key(name.clone()), |this| Some((name.clone(), read(this, value)?)))
        };
        let texts: Vec<Option<(String, String)>> = fields.map(one).collect();
        texts.into_iter().collect()
    }

    /// Reports unknown keys.
    fn keys(&mut self, fields: &Fields, known: &[&str]) {
        for (key, _) in fields {
            if known.contains(&key.as_str()) || is_comment(key) || self.is_full() {
                continue;
            }
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            self.wrong_at(key, format!("unknown key `{key}`; {hint}"));
        }
    }

    fn root(&mut self, data: &Data) -> Tools {
        let mut tools = Tools::new();
        let Some(fields) = self.record(data) else { return tools };
        let sections = sections(fields);
        let own = fields.iter().find(|(name, _)| name == "tools").map(|(_, tools)| tools);
        let own = own.filter(|tools| sections.is_empty() || !is_clients_tools(tools, KINDS));
        self.client = !sections.is_empty() && own.is_none();
        if sections.is_empty()
            && own.is_none()
            && let Some(hint) = sections::elsewhere(fields)
        {
            self.wrong(hint);
            return tools;
        }
        let read: Vec<&str> = sections.iter().filter_map(|section| section.whole).collect();
        if self.client {
            file_keys(self, fields, &read, false);
        } else {
            self.keys(fields, &[ROOT, &read].concat());
        }
        if sections.is_empty() && own.is_none() && self.wrong.is_empty() {
            self.wrong("expected `tools` or `mcpServers`, found neither");
        }
        for section in sections {
            self.in_seconds |= section.in_seconds;
            self.forms = section.forms;
            self.servers(&section, &mut tools);
        }
        if let Some(own) = own {
            self.inside(Step::Key("tools".to_owned()), |this| this.tools(own, &mut tools));
        }
        tools
    }

    fn servers(&mut self, section: &Section<'_>, tools: &mut Tools) {
        let mut names: HashSet<String> = tools.servers().map(str::to_owned).collect();
        let outer = self.path.len();
        let keys = section.path.split('.').filter(|_| section.whole.is_none());
        self.path.extend(keys.map(|key| Step::Key(key.to_owned())));
        self.path.extend(section.whole.map(|key| Step::Key(key.to_owned())));
        if !section.is_readable() {
            self.expected::<()>("a record", section.value);
        }
        for (step, name, server) in section.servers() {
            if is_comment(&name) && !matches!(server, Data::Record(_)) {
                continue;
            }
            let address = server::name_in_address(&name);
            self.inside(step, |this| {
                if !names.insert(address.clone()) {
                    this.wrong(format!("a second server `{}`", shortened(&name, 80)));
                    return;
                }
                this.owner = Some(Owner { is_server: true, name: address });
                let server = this.server(&name, server);
                server.into_iter().for_each(|server| tools.add_server(server));
                this.owner = None;
            });
        }
        self.path.truncate(outer);
    }

    fn tools(&mut self, data: &Data, tools: &mut Tools) {
        let Some(entries) = self.record(data) else { return };
        for (name, entry) in entries {
            if is_comment(name) && !matches!(entry, Data::Record(_)) {
                continue;
            }
            self.owner = Some(Owner { is_server: false, name: name.clone() });
            let tool = self.inside(Step::Key(name.clone()), |this| tool(this, name, entry, tools));
            tool.and_then(|tool| tools.add(tool));
            self.owner = None;
        }
    }
}

#[cfg(test)]
mod tests;
