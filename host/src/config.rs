//! The tools file to a table of tools.
//!
//! Everything that is wrong is gathered, each with its path and place, before anything runs; past a hundred the rest
//! waits. Nothing is started here, and no schema is fetched from anywhere.

mod text;

use crate::data::Data;
use crate::file;
use crate::problem::{MOST, Problem, did_you_mean, nearest, shortened};
use crate::tools::command::Command;
use crate::tools::mock::{Entry, Mock};
use crate::tools::server::{Server, Way};
use crate::tools::{Source, Tool, Tools};
use ilo_asm::catalog::server_and_tool;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use text::{Form, Shown, Step};

/// Keys of the file.
const ROOT: &[&str] = &["mcpServers", "tools"];
/// Keys of a server, as MCP clients write them.
const SERVER: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "type",
    "transport",
    "timeout",
    "disabled",
    "description",
];
/// Keys that any tool may have, then those of one kind.
const TOOL: &[&str] = &[
    "mock",
    "command",
    "mcp",
    "timeout_ms",
    "description",
    "input_schema",
    "output_schema",
    "read_only",
    "env",
    "args",
];
/// What a tool can be.
const KINDS: &[&str] = &["mock", "command", "mcp"];
/// Keys of an answer of a mock.
const ENTRY: &[&str] = &["when", "times", "delay_ms", "returns", "fails"];

/// Reads a tools file.
pub(crate) fn read_file(path: &Path) -> Result<Tools, Vec<Problem>> {
    let bytes = file::read(path, text::FILE).map_err(|problem| vec![problem])?;
    let name = path.display().to_string();
    let Ok(source) = String::from_utf8(bytes) else {
        return Err(vec![Problem::new(Code::BadToolsFile, name, "not UTF-8")]);
    };
    let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
    read_text(&name, &source, &folder.unwrap_or_else(|| PathBuf::from(".")))
}

/// Reads the text of a tools file.
pub(crate) fn read_text(name: &str, source: &str, folder: &Path) -> Result<Tools, Vec<Problem>> {
    let bad = |place: String, message: String| Problem::new(Code::BadToolsFile, place, message);
    let form = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("toml") => Form::Toml,
        Some("json") => Form::Json,
        _ if source.trim_start().starts_with('{') => Form::Json,
        _ => Form::Toml,
    };
    let data = text::parse(source, form).map_err(|(offset, message)| {
        let (line, column) = crate::data::read::line_column(source.as_bytes(), offset.unwrap_or(0));
        vec![bad(format!("{name}:{line}:{column}"), message)]
    })?;
    let folder = folder.to_path_buf();
    let mut reading =
        Reading { folder, client: false, servers: Vec::new(), path: Vec::new(), wrong: Vec::new() };
    let tools = reading.root(&data);
    if reading.wrong.is_empty() {
        return Ok(tools);
    }
    let problems = reading.wrong.into_iter().map(|(path, message)| {
        let (line, column) = text::locate(source, form, &path);
        let shown = Shown(&path).to_string();
        let colon = if shown.is_empty() { "" } else { ": " };
        bad(format!("{name}:{line}:{column}"), format!("{shown}{colon}{message}"))
    });
    Err(problems.collect())
}

type Fields = [(String, Data)];

struct Reading {
    folder: PathBuf,
    /// Whether this is an MCP client's own file, which may hold keys of that client.
    client: bool,
    servers: Vec<String>,
    path: Vec<Step>,
    wrong: Vec<(Vec<Step>, String)>,
}

impl Reading {
    fn wrong(&mut self, message: impl Into<String>) {
        if !self.is_full() {
            self.wrong.push((self.path.clone(), message.into()));
        }
    }

    /// Whether no more problems are gathered.
    fn is_full(&self) -> bool {
        self.wrong.len() >= MOST
    }

    fn inside<T>(&mut self, step: Step, work: impl FnOnce(&mut Reading) -> T) -> T {
        self.path.push(step);
        let result = work(self);
        self.path.pop();
        result
    }

    /// Reads a field where it is there.
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

    /// Reports keys that are not known. Keys of an MCP client's own are left alone, unless one is nearly ours.
    fn keys(&mut self, fields: &Fields, known: &[&str]) {
        for (key, _) in fields {
            if known.contains(&key.as_str()) || self.is_full() {
                continue;
            }
            let near = nearest(key, known.iter().copied());
            if self.client && near.is_none() {
                continue;
            }
            let mend = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            self.inside(Step::Key(key.clone()), |this| this.wrong(format!("unknown key `{key}`; {mend}")));
        }
    }

    fn root(&mut self, data: &Data) -> Tools {
        let mut tools = Tools::new();
        let Some(fields) = self.record(data) else { return tools };
        let has = |key: &str| fields.iter().any(|(name, _)| name == key);
        self.client = has("mcpServers") && !has("tools");
        self.keys(fields, ROOT);
        if !has("mcpServers") && !has("tools") && self.wrong.is_empty() {
            self.wrong("expected `tools` or `mcpServers`, found neither");
        }
        self.field(fields, "mcpServers", |this, data| {
            for (name, server) in this.record(data)? {
                let server = this.inside(Step::Key(name.clone()), |this| this.server(name, server));
                if let Some(server) = server {
                    tools.add_server(server);
                    this.servers.push(name.clone());
                }
            }
            Some(())
        });
        self.field(fields, "tools", |this, data| {
            for (name, entry) in this.record(data)? {
                let tool = this.inside(Step::Key(name.clone()), |this| this.tool(name, entry));
                tool.and_then(|tool| tools.add(tool));
            }
            Some(())
        });
        tools
    }

    fn server(&mut self, name: &str, data: &Data) -> Option<Server> {
        if name.is_empty() || name.contains('/') {
            self.wrong(
                "a server's name is not empty and has no `/`, since tools are named `mcp://server/tool`",
            );
        }
        let fields = self.record(data)?;
        self.keys(fields, SERVER);
        let command = self.field(fields, "command", Reading::filled);
        let url = self.field(fields, "url", Reading::filled);
        let arguments = self.field(fields, "args", Reading::filled_texts).unwrap_or_default();
        let environment = self.field(fields, "env", Reading::environment).unwrap_or_default();
        let folder = self.field(fields, "cwd", Reading::filled);
        let headers = self.field(fields, "headers", Reading::filled_named).unwrap_or_default();
        let timeout = self.field(fields, "timeout", |this, data| this.count(data, 1));
        let disabled = self.field(fields, "disabled", Reading::flag).unwrap_or(false);
        if let Some(url) = &url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            self.field(fields, "url", |this, _| {
                this.wrong(format!("expected `http://…` or `https://…`, found `{}`", shortened(url, 80)));
                Some(())
            });
        }
        let given = |key: &str| fields.iter().any(|(name, _)| name == key);
        match (given("command"), given("url")) {
            (true, true) => self.wrong("expected `command` or `url`, found both"),
            (false, false) => self.wrong("expected `command` or `url`, found neither"),
            _ if command.as_deref() == Some("") => self.wrong("`command` is empty"),
            _ => {}
        }
        let way = match (command, url) {
            (Some(program), _) => {
                let folder = folder.map_or_else(|| self.folder.clone(), |folder| self.folder.join(folder));
                let program = self.seen_from_here(program);
                Way::Program { program, arguments, folder, environment }
            }
            (None, url) => Way::Http { url: url?, headers },
        };
        let timeout = timeout.map_or(Server::TIMEOUT, Duration::from_millis);
        (!disabled).then(|| Server { name: name.to_owned(), way, timeout })
    }

    /// A program with a slash is a file seen from the tools file; another is searched for when it starts.
    fn seen_from_here(&self, program: String) -> String {
        let path = Path::new(&program);
        if program.contains(std::path::is_separator) && path.is_relative() {
            self.folder.join(path).display().to_string()
        } else {
            program
        }
    }

    /// A text with each `${NAME}` replaced by that variable of the environment, `${NAME:-text}` by the text without it.
    fn filled(&mut self, data: &Data) -> Option<String> {
        let text = self.text(data)?;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                self.wrong("a `${` without its `}`");
                return None;
            };
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            match (std::env::var(name), otherwise) {
                (Ok(value), _) if !value.is_empty() || otherwise.is_none() => out.push_str(&value),
                (_, Some(otherwise)) => out.push_str(otherwise),
                _ => {
                    let name = shortened(name, 80);
                    self.wrong(format!(
                        "the environment has no text `{name}`; set it, or write `${{{name}:-default}}`"
                    ));
                    return None;
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    fn filled_texts(&mut self, data: &Data) -> Option<Vec<String>> {
        let Data::List(items) = data else { return self.expected("a list of texts", data) };
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            texts.extend(self.inside(Step::Index(at), |this| this.filled(item)));
        }
        (texts.len() == items.len()).then_some(texts)
    }

    fn filled_named(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let fields = self.record(data)?;
        let mut texts = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let text = self.inside(Step::Key(name.clone()), |this| this.filled(value));
            texts.extend(text.map(|text| (name.clone(), text)));
        }
        (texts.len() == fields.len()).then_some(texts)
    }

    fn tool(&mut self, name: &str, data: &Data) -> Option<Tool> {
        let fields = self.record(data)?;
        self.keys(fields, TOOL);
        let has = |key: &str| fields.iter().any(|(name, _)| name == key);
        let kinds: Vec<&str> = KINDS.iter().copied().filter(|kind| has(kind)).collect();
        let tool = match kinds.as_slice() {
            ["mock"] => self.field(fields, "mock", |this, data| this.mock(name, data)),
            ["command"] => self.command(name, fields),
            ["mcp"] => self.field(fields, "mcp", |this, data| this.short_name(name, data)),
            found => {
                let found = if found.is_empty() { "none".to_owned() } else { found.join(" and ") };
                self.wrong(format!("expected one of {}, found {found}", KINDS.join(", ")));
                None
            }
        };
        for (key, kind) in [("env", "command"), ("args", "mcp")] {
            if has(key) && !kinds.is_empty() && !kinds.contains(&kind) {
                let message = match key {
                    "args" if kinds == ["command"] => {
                        "write the arguments into `command`, after the program".to_owned()
                    }
                    _ => format!("`{key}` belongs to an entry with `{kind}`"),
                };
                self.inside(Step::Key(key.to_owned()), |this| this.wrong(message));
            }
        }
        let renames = kinds.contains(&"mcp").then(|| self.field(fields, "args", Reading::renames)).flatten();
        let timeout = self.field(fields, "timeout_ms", |this, data| this.count(data, 1));
        let description = self.field(fields, "description", Reading::text).map(str::to_owned);
        let read_only = self.field(fields, "read_only", Reading::flag).unwrap_or(false);
        let input_schema = self.field(fields, "input_schema", Reading::schema);
        let output_schema = self.field(fields, "output_schema", Reading::schema);
        let mut tool = tool?;
        tool.renames = renames.unwrap_or_default();
        tool.timeout = timeout.map(Duration::from_millis);
        (tool.description, tool.read_only) = (description, read_only);
        (tool.input_schema, tool.output_schema) = (input_schema, output_schema);
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

    fn command(&mut self, name: &str, fields: &Fields) -> Option<Tool> {
        let environment = self.field(fields, "env", Reading::environment).unwrap_or_default();
        self.field(fields, "command", |this, data| {
            if let Data::Text(line) = data {
                let words: Vec<Data> = line.split_whitespace().map(Data::from).collect();
                let list = shortened(&Data::List(words).to_json(), 80);
                this.wrong(format!("expected a list, the program first; write it as {list}"));
                return None;
            }
            let words = this.texts(data)?;
            let Some((program, arguments)) = words.split_first() else {
                this.wrong("expected a program, found an empty list");
                return None;
            };
            let found = this.inside(Step::Index(0), |this| this.program(program, &environment))?;
            let source = Source::Command(words.join(" "));
            let command = Command {
                program: found,
                arguments: arguments.to_vec(),
                folder: this.folder.clone(),
                environment,
            };
            Some(Tool::of(name.to_owned(), source, Some(Box::new(command))))
        })
    }

    fn environment(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let texts = self.filled_named(data)?;
        for (name, _) in &texts {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = "a name that no environment variable can have";
                self.inside(Step::Key(name.clone()), |this| this.wrong(message));
            }
        }
        Some(texts)
    }

    /// The file of a program: relative to the tools file where it has a slash, else from the search path.
    fn program(&mut self, name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
        let own = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.into());
        let found = if name.contains(std::path::is_separator) {
            Some(self.folder.join(name)).filter(|file| is_program(file))
        } else {
            let search = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
            let name =
                if cfg!(windows) && !name.contains('.') { format!("{name}.exe") } else { name.to_owned() };
            std::env::split_paths(&search)
                .map(|folder| self.folder.join(folder).join(&name))
                .find(|file| is_program(file))
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
            self.wrong(message);
        }
        found
    }

    fn short_name(&mut self, name: &str, data: &Data) -> Option<Tool> {
        let target = self.text(data)?;
        let Some((server, _)) = server_and_tool(target) else {
            self.wrong(format!("expected `mcp://server/tool`, found `{}`", shortened(target, 80)));
            return None;
        };
        if !self.servers.iter().any(|known| known == server) {
            let near = did_you_mean(server, self.servers.iter().map(String::as_str));
            self.wrong(format!("`mcpServers` has no `{server}`{near}"));
            return None;
        }
        Some(Tool::of(name.to_owned(), Source::Server(target.to_owned()), None))
    }

    fn renames(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let texts = self.named_texts(data)?;
        for (at, (name, target)) in texts.iter().enumerate() {
            if texts.iter().take(at).any(|(_, other)| other == target) {
                let message = format!("a second argument that becomes `{}`", shortened(target, 80));
                self.inside(Step::Key(name.clone()), |this| this.wrong(message));
            }
        }
        Some(texts)
    }

    fn schema(&mut self, data: &Data) -> Option<Data> {
        self.record(data)?;
        let checked =
            serde_json::from_str(&data.to_json()).map_err(|error| error.to_string()).and_then(|value| {
                jsonschema::options().offline().build(&value).map_err(|error| error.to_string())
            });
        match checked {
            Ok(_) => Some(data.clone()),
            Err(error) => {
                self.wrong(format!("no JSON Schema that can be used: {}", shortened(&error, 300)));
                None
            }
        }
    }
}

/// Whether a file is there that can be run.
fn is_program(file: &Path) -> bool {
    let Ok(meta) = file.metadata() else { return false };
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 == 0 {
        return false;
    }
    meta.is_file()
}
