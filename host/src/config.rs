//! Reads a tools file into a table of tools.
//!
//! All errors, up to a hundred, are collected with their paths and positions before anything runs. What a
//! tool lacks on this machine (its program, a variable) is kept with the tool and affects only its callers.
//! The same is true of an unusable schema in a JSON file, because schemas stay text. Nothing is started, and
//! no schema is fetched.

mod policy;
mod server;
mod text;
mod tool;
mod variables;

use crate::file;
use crate::tools::Tools;
use ilo_drive::data::Data;
use ilo_drive::problem::{MOST, Problem, nearest, shortened};
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::{Form, Shown, Step};

/// Keys of the file.
const ROOT: &[&str] = &["mcpServers", "tools"];
/// The key of one client for `mcpServers`, which is read if that is missing.
const SERVERS: &str = "servers";

impl Tools {
    /// Reads a tools file, JSON or TOML.
    ///
    /// # Errors
    /// All errors in the file.
    pub fn from_file(path: &Path) -> Result<Tools, Vec<Problem>> {
        let bytes = file::read(path, text::FILE).map_err(|problem| vec![problem])?;
        let name = path.display().to_string();
        let Ok(source) = String::from_utf8(bytes) else {
            return Err(vec![Problem::new(Code::BadToolsFile, name, "not UTF-8")]);
        };
        let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        Tools::from_text(&name, &source, &folder.unwrap_or_else(|| PathBuf::from(".")))
    }

    /// Reads a tools file from memory, JSON or TOML. Paths in it are relative to `folder`; messages call it
    /// `name`.
    ///
    /// # Errors
    /// All errors in the file.
    pub fn from_text(name: &str, text: &str, folder: &Path) -> Result<Tools, Vec<Problem>> {
        read(name, text, folder)
    }
}

/// Reads the text of a tools file.
fn read(name: &str, source: &str, folder: &Path) -> Result<Tools, Vec<Problem>> {
    let bad = |place: String, message: String| Problem::new(Code::BadToolsFile, place, message);
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let form = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("toml") => Form::Toml,
        Some("json") => Form::Json,
        _ if source.trim_start().starts_with('{') => Form::Json,
        _ => Form::Toml,
    };
    let text::Parsed { data, unread } = text::parse(source, form).map_err(|(offset, message)| {
        let (line, column) = ilo_drive::data::read::line_column(source.as_bytes(), offset.unwrap_or(0));
        vec![bad(format!("{name}:{line}:{column}"), message)]
    })?;
    let folder = folder.to_path_buf();
    let mut reading = Reading {
        folder,
        client: false,
        path: Vec::new(),
        wrong: Vec::new(),
        lacks: Vec::new(),
        expanded: Vec::new(),
        name: Arc::from(name),
        source: Arc::from(if unread.is_empty() { "" } else { source }),
        unread,
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
        if found.next().is_some() {
            problems
                .push(bad(name.to_owned(), format!("there are more problems; the first {MOST} are shown")));
        }
        return Err(problems);
    }
    for (path, message) in reading.lacks {
        if let [Step::Key(section), Step::Key(owner), ..] = path.clone().as_slice() {
            tools.lack(section != "tools", owner, &problem((path, message)));
        }
    }
    Ok(tools)
}

type Fields = [(String, Data)];

struct Reading {
    folder: PathBuf,
    /// Whether this is the file of an MCP client, which may have keys of that client.
    client: bool,
    path: Vec<Step>,
    wrong: Vec<(Vec<Step>, String)>,
    /// What this machine lacks, by the entry that needs it.
    lacks: Vec<(Vec<Step>, String)>,
    /// Variables that were replaced in the current entry, with their values.
    expanded: Vec<(String, String)>,
    /// Schemas that stay text, with the file's name and text.
    unread: text::Unread,
    name: Arc<str>,
    source: Arc<str>,
}

impl Reading {
    fn wrong(&mut self, message: impl Into<String>) {
        if !self.is_full() {
            self.wrong.push((self.path.clone(), message.into()));
        }
    }

    /// Records what this machine lacks for the current entry.
    fn lacks(&mut self, message: impl Into<String>) {
        if self.lacks.len() < MOST * MOST {
            self.lacks.push((self.path.clone(), message.into()));
        }
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

    /// Reads a field if it is present.
    fn field<'d, T>(
        &mut self,
        fields: &'d Fields,
        key: &str,
        read: impl FnOnce(&mut Reading, &'d Data) -> Option<T>,
    ) -> Option<T> {
        let (_, value) = fields.iter().find(|(name, _)| name == key)?;
        self.inside(Step::Key(key.to_owned()), |this| read(this, value))
    }

    fn expected<T>(&mut self, what: &str, found: &Data) -> Option<T> {
        self.wrong(format!("expected {what}, found {}", found.kind()));
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
        if value.is_none() {
            let found = shortened(&data.to_json(), 40);
            self.wrong(format!("expected a whole number from {least}, found {found}"));
        }
        value
    }

    fn texts(&mut self, data: &Data) -> Option<Vec<String>> {
        let Data::List(items) = data else { return self.expected("a list of texts", data) };
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            texts.extend(self.inside(Step::Index(at), |this| this.text(item).map(str::to_owned)));
        }
        (texts.len() == items.len()).then_some(texts)
    }

    fn named_texts(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let fields = self.record(data)?;
        let mut texts = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let text = self.inside(Step::Key(name.clone()), |this| this.text(value).map(str::to_owned));
            texts.extend(text.map(|text| (name.clone(), text)));
        }
        (texts.len() == fields.len()).then_some(texts)
    }

    /// Reports unknown keys. Keys of MCP clients are ignored, unless they are similar to a known key.
    fn keys(&mut self, fields: &Fields, known: &[&str]) {
        self.keys_also(fields, known, &[]);
    }

    /// Like [`Reading::keys`], with keys that are also accepted but not suggested.
    fn keys_also(&mut self, fields: &Fields, known: &[&str], also: &[&str]) {
        for (key, _) in fields {
            if known.contains(&key.as_str()) || also.contains(&key.as_str()) || self.is_full() {
                continue;
            }
            let near = nearest(key, known.iter().copied());
            if self.client && near.is_none() {
                continue;
            }
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            self.inside(Step::Key(key.clone()), |this| this.wrong(format!("unknown key `{key}`; {hint}")));
        }
    }

    fn root(&mut self, data: &Data) -> Tools {
        let mut tools = Tools::new();
        let Some(fields) = self.record(data) else { return tools };
        let has = |key: &str| fields.iter().any(|(name, _)| name == key);
        let servers = if has(SERVERS) && !has("mcpServers") { SERVERS } else { "mcpServers" };
        self.client = has(servers) && !has("tools");
        self.keys(fields, if servers == SERVERS { &[SERVERS, "tools"] } else { ROOT });
        if !has(servers) && !has("tools") && self.wrong.is_empty() {
            self.wrong("expected `tools` or `mcpServers`, found neither");
        }
        self.field(fields, servers, |this, data| {
            for (name, server) in this.record(data)? {
                let server = this.inside(Step::Key(name.clone()), |this| this.server(name, server));
                server.into_iter().for_each(|server| tools.add_server(server));
            }
            Some(())
        });
        self.field(fields, "tools", |this, data| {
            for (name, entry) in this.record(data)? {
                let tool = this.inside(Step::Key(name.clone()), |this| this.tool(name, entry, &tools));
                tool.and_then(|tool| tools.add(tool));
            }
            Some(())
        });
        tools
    }
}
