//! Reads what the file of a client says outside of its servers: which servers and tools are allowed, asked
//! about or off, and the values that a person gives.

use super::clients::{Effect, Place, begins, effect, guards_all, is_comment, verdict};
use super::reach::seconds;
use super::text::Step;
use super::{Fields, Reading};
use crate::mcp::server_config::Input;
use crate::tool::named::{Group, Named, Standing, fits};
use ilo_drive::data::Data;
use ilo_drive::problem::{nearest, shortened};
use std::sync::Arc;
use std::time::Duration;

/// What a file says about all its servers.
#[derive(Debug, Default)]
pub(super) struct FileKeys {
    /// What holds for tools.
    pub(super) named: Arc<Named>,
    /// The time for a call.
    pub(super) call_time: Option<Duration>,
    /// Why no server can be used: keys, each with the reason.
    pub(super) refusals: Vec<(String, String)>,
    /// Lists of servers: those of the first kind are off, and all that are not in a list of the second.
    off: Vec<(String, String)>,
    only: Vec<(String, Vec<String>)>,
    all_off: Option<String>,
    /// Rules for servers by how they are reached, of which the first one that fits decides.
    rules: Vec<ServerRule>,
    groups: Vec<Group>,
}

/// Patterns for keys of a server, and whether a server that they fit may be used.
#[derive(Debug)]
struct ServerRule {
    patterns: Vec<(String, String)>,
    allows: bool,
}

impl ServerRule {
    fn fits(&self, server: &Fields) -> bool {
        let written = |key: &str| match server.iter().find(|(name, _)| name == key).map(|(_, value)| value) {
            Some(Data::List(words)) => {
                Some(words.iter().filter_map(Data::as_text).collect::<Vec<_>>().join(" "))
            }
            Some(value) => value.as_text().map(str::to_owned),
            None => (key == "args").then(String::new),
        };
        self.patterns.iter().all(|(key, pattern)| written(key).is_some_and(|value| fits(pattern, &value)))
    }
}

impl FileKeys {
    /// Whether the rules of the file refuse a server with these keys.
    pub(super) fn refuses(&self, server: &Fields) -> bool {
        self.rules.iter().find(|rule| rule.fits(server)).is_some_and(|rule| !rule.allows)
    }

    /// Why a server is off.
    pub(super) fn off(&self, server: &str) -> Option<String> {
        let listed = self.off.iter().find(|(_, pattern)| fits(pattern, server)).map(|(key, _)| key);
        let unlisted = || {
            let mut lists = self.only.iter();
            lists.find(|(_, names)| !names.iter().any(|name| fits(name, server))).map(|(key, _)| key)
        };
        self.all_off.as_ref().or(listed).or_else(unlisted).map(|key| format!("`{key}` of the file"))
    }
}

/// Whether `tools` of a file is that of a client, and not ilo's: a list, or a record without a tool.
pub(super) fn is_clients_tools(tools: &Data, kinds: &[&str]) -> bool {
    let is_tool = |value: &Data| kinds.iter().any(|kind| value.get(kind).is_some());
    match tools {
        Data::List(_) => true,
        Data::Record(fields) => {
            let values = || fields.iter().filter(|(name, _)| !is_comment(name)).map(|(_, value)| value);
            values().any(|value| !matches!(value, Data::Record(_))) && !values().any(is_tool)
        }
        _ => false,
    }
}

/// Reads the keys of the file beside its servers, `sections`, and `tools` where that is ilo's.
pub(super) fn file_keys(reading: &mut Reading, fields: &Fields, sections: &[&str], has_tools: bool) {
    let mut passed_over = Vec::new();
    for (key, value) in fields {
        let own = (key == "tools" && has_tools) || sections.contains(&key.as_str());
        if own || is_comment(key) || *value == Data::Nil {
            continue;
        }
        reading.inside(Step::Key(key.clone()), |this| file_key(this, key, key, value, &mut passed_over));
    }
    reading.passed_over(&passed_over);
    reading.file.named = Arc::new(Named(std::mem::take(&mut reading.file.groups)));
}

/// Reads a key by its path. Records that have known keys are looked into.
fn file_key<'d>(
    reading: &mut Reading,
    path: &str,
    key: &'d str,
    value: &'d Data,
    passed_over: &mut Vec<&'d str>,
) {
    let inner = format!("{path}.");
    let has_known = begins(Place::File, &inner);
    match (effect(Place::File, path), value) {
        (None | Some(Effect::Servers | Effect::Rules), Data::Record(fields)) if has_known => {
            if path == "tools" {
                switches(reading, fields);
            }
            for (name, value) in fields.iter().filter(|(name, _)| !is_comment(name)) {
                let whole = format!("{inner}{name}");
                if begins(Place::File, &whole) || (path.contains("mcp") && guards_all(name)) {
                    reading.inside(Step::Key(name.clone()), |this| {
                        file_key(this, &whole, name, value, passed_over);
                    });
                }
            }
        }
        (Some(effect), value) => file_effect(reading, path, effect, value),
        (None, _) if guards_all(key) => {
            let why = "is not known here and may shut something off, so no server is used; leave it out, or write \
                       what it means as `policy` of the servers";
            reading.file.refusals.push((shortened(path, 80), why.to_owned()));
        }
        (None, _) => {
            let known = ["mcpServers", "tools", "servers", "mcp_servers", "context_servers"];
            match nearest(key, known) {
                Some(near) if path == key => {
                    reading.wrong(format!("unknown key `{key}`; did you mean `{near}`?"));
                }
                _ => passed_over.push(key),
            }
        }
    }
}

fn file_effect(reading: &mut Reading, path: &str, effect: Effect, value: &Data) {
    match effect {
        Effect::AllowServers => {
            if let Some(names) = server_names(reading, path, value) {
                reading.file.only.push((path.to_owned(), names));
            }
        }
        Effect::DenyServers => {
            let names = server_names(reading, path, value).unwrap_or_default();
            reading.file.off.extend(names.into_iter().map(|name| (path.to_owned(), name)));
        }
        Effect::DenyTools | Effect::AskTools => {
            let verdict = if effect == Effect::AskTools { Standing::Asked } else { Standing::Denied };
            let names = reading.names(value).unwrap_or_default();
            reading.file.groups.push(Group::of(names, verdict));
        }
        Effect::OffIf(off) => {
            let is_off = reading.flag(value) == Some(off);
            reading.file.all_off = reading.file.all_off.take().or(is_off.then(|| path.to_owned()));
        }
        Effect::CallSeconds => reading.file.call_time = seconds(reading, value),
        Effect::Inputs => read_inputs(reading, value),
        Effect::Unsupported(why) => {
            reading.file.refusals.push((path.to_owned(), format!("has no effect here: {why}")));
        }
        Effect::Rules => match path {
            "tools" => listed_tools(reading, value),
            "permissions" => permissions(reading, value),
            "agent" => agent(reading, value),
            "amp.permissions" => ordered(reading, value),
            "amp.mcpPermissions" => server_rules(reading, value),
            "GOOSE_MODE" => mode(reading, path, value),
            // `all`, or only some of the servers, which are not known here.
            "chat.mcp.access" if value.as_text() == Some("all") => {}
            "chat.mcp.access" => reading.file.all_off = Some(path.to_owned()),
            _ => permission(reading, value),
        },
        _ => {}
    }
}

/// Names of servers: texts, or records with `serverName`. Other conditions cannot be judged here.
fn server_names(reading: &mut Reading, path: &str, value: &Data) -> Option<Vec<String>> {
    let Data::List(items) = value else { return reading.expected("a list of servers", value) };
    let mut names = Vec::new();
    for item in items {
        match item.get("serverName").unwrap_or(item) {
            Data::Text(name) => names.push(name.clone()),
            _ => {
                let why = "names servers by something else than their name, so no server is used";
                reading.file.refusals.push((path.to_owned(), why.to_owned()));
            }
        }
    }
    Some(names)
}

/// `tools` of an agent of Amazon Q or Kiro: `*`, `@server`, `@server/tool`. Other names are parts of the
/// client.
fn listed_tools(reading: &mut Reading, value: &Data) {
    let Data::List(_) = value else {
        if let Data::Record(fields) = value {
            switches(reading, fields);
        }
        return;
    };
    let names = reading.names(value).unwrap_or_default();
    let of_servers = names.into_iter().filter(|name| name == "*" || name.starts_with('@'));
    reading.file.groups.push(Group { bare: false, ..Group::only(of_servers) });
}

/// `tools` of opencode: patterns with `true` or `false`.
fn switches(reading: &mut Reading, fields: &Fields) {
    let patterns: Vec<(String, Standing)> = fields
        .iter()
        .filter_map(|(name, value)| match value {
            Data::Bool(true) => Some((name.clone(), Standing::Allowed)),
            Data::Bool(false) => Some((name.clone(), Standing::Denied)),
            _ => None,
        })
        .collect();
    reading.file.groups.push(Group { bare: false, patterns });
}

/// `permissions` of Claude Code: lists under `ask` and `deny`. What is under `allow` needs no question
/// there, which is no rule here.
fn permissions(reading: &mut Reading, value: &Data) {
    let Some(fields) = reading.record(value) else { return };
    let mut patterns = Vec::new();
    for (key, verdict) in [("ask", Standing::Asked), ("deny", Standing::Denied)] {
        let names = reading.field(fields, key, Reading::names).unwrap_or_default();
        let of_servers = names.into_iter().filter(|name| name.starts_with("mcp__") || name == "*");
        patterns.extend(of_servers.map(|name| (name, verdict)));
    }
    reading.file.groups.push(Group { bare: false, patterns });
}

/// `permission` of opencode: a word for all, or patterns with a word each.
fn permission(reading: &mut Reading, value: &Data) {
    let patterns = match value {
        Data::Text(word) => vec![("*".to_owned(), verdict(word))],
        // Lists under `deny` and `ask`, as Claude Code has them.
        Data::Record(fields) if fields.iter().any(|(_, value)| matches!(value, Data::List(_))) => {
            return permissions(reading, value);
        }
        Data::Record(fields) => {
            let of = |(name, value): &(String, Data)| match value {
                // Patterns for the arguments of a tool: the strictest word counts.
                Data::Record(inner) => Some((name.clone(), inner.iter().map(|(_, word)| said(word)).max()?)),
                word => Some((name.clone(), said(word))),
            };
            fields.iter().filter_map(of).collect()
        }
        other => {
            reading.wrong(format!("expected a word or a record, found {}", other.kind()));
            return;
        }
    };
    reading.file.groups.push(Group { bare: false, patterns });
}

/// `amp.permissions`: rules, each with a pattern and a word, of which the first one decides. One for
/// certain arguments holds for all, unless it allows.
fn ordered(reading: &mut Reading, value: &Data) {
    let Data::List(rules) = value else { return reading.expected("a list", value).unwrap_or_default() };
    let read = |rule: &Data| {
        let pattern = rule.get("tool").and_then(Data::as_text)?;
        let verdict = said(rule.get("action").unwrap_or(rule));
        let is_for_some = rule.get("matches").or(rule.get("context")).is_some();
        let decides = verdict != Standing::Allowed || !is_for_some;
        decides.then(|| (pattern.to_owned(), verdict))
    };
    reading.file.groups.push(Group { bare: false, patterns: rules.iter().rev().filter_map(read).collect() });
}

/// `amp.mcpPermissions`: rules for servers by `command`, `args` and `url`.
fn server_rules(reading: &mut Reading, value: &Data) {
    let Data::List(rules) = value else { return reading.expected("a list", value).unwrap_or_default() };
    for rule in rules {
        let allows = rule.get("action").is_some_and(|action| said(action) == Standing::Allowed);
        let patterns: Vec<_> = match rule.get("matches") {
            Some(Data::Record(fields)) => fields
                .iter()
                // What is no text fits every server that has the key.
                .map(|(key, value)| (key.clone(), value.as_text().unwrap_or("*").to_owned()))
                .collect(),
            _ => Vec::new(),
        };
        // A rule without known conditions holds for all, unless it allows.
        if !allows || !patterns.is_empty() {
            reading.file.rules.push(ServerRule { patterns, allows });
        }
    }
}

/// `GOOSE_MODE`: no tools, or a question before each call. Unknown words ask.
fn mode(reading: &mut Reading, path: &str, value: &Data) {
    match value.as_text() {
        Some("auto" | "") => {}
        Some("chat") => reading.file.all_off = Some(path.to_owned()),
        _ => reading.file.groups.push(Group::of(["*".to_owned()], Standing::Asked)),
    }
}

/// `agent` of Zed: `tool_permissions`, and the servers and tools of the profile that it begins with.
fn agent(reading: &mut Reading, value: &Data) {
    let Some(_) = reading.record(value) else { return };
    if let Some(permissions) = value.get("tool_permissions") {
        let Some(_) = reading.record(permissions) else { return };
        let word = |value: &Data| value.get("default").map(said);
        let mut patterns: Vec<(String, Standing)> =
            word(permissions).map(|verdict| ("*".to_owned(), verdict)).into_iter().collect();
        if let Some(Data::Record(tools)) = permissions.get("tools") {
            patterns.extend(tools.iter().filter_map(|(name, value)| Some((name.clone(), word(value)?))));
        }
        reading.file.groups.push(Group { bare: false, patterns });
    }
    let Some(Data::Text(name)) = value.get("default_profile") else { return };
    let Some(profile) = value.get("profiles").and_then(|profiles| profiles.get(name)) else { return };
    let mut patterns = Vec::new();
    if profile.get("enable_all_context_servers") == Some(&Data::Bool(false)) {
        patterns.push(("*".to_owned(), Standing::Denied));
    }
    if let Some(Data::Record(servers)) = profile.get("context_servers") {
        for (server, settings) in servers {
            let Some(Data::Record(tools)) = settings.get("tools") else { continue };
            patterns.extend(tools.iter().map(|(tool, on)| {
                let on = on == &Data::Bool(true);
                (format!("mcp:{server}:{tool}"), if on { Standing::Allowed } else { Standing::Denied })
            }));
        }
    }
    reading.file.groups.push(Group { bare: false, patterns });
}

/// `inputs` of VS Code. One that runs a command of the editor has no value here.
fn read_inputs(reading: &mut Reading, value: &Data) {
    let Data::List(items) = value else {
        return reading.expected::<()>("a list of inputs", value).unwrap_or_default();
    };
    let text = |item: &Data, key: &str| item.get(key).and_then(Data::as_text).map(str::to_owned);
    for item in items {
        let (Some(id), Some(kind)) = (text(item, "id"), text(item, "type")) else { continue };
        if !matches!(kind.as_str(), "promptString" | "pickString")
            || reading.inputs.iter().any(|i| i.id == id)
        {
            continue;
        }
        let of = |option: &Data| option.as_text().map(str::to_owned).or_else(|| text(option, "value"));
        let options = match item.get("options") {
            Some(Data::List(options)) => options.iter().filter_map(of).collect(),
            _ => Vec::new(),
        };
        reading.inputs.push(Input {
            description: text(item, "description").unwrap_or_else(|| id.clone()),
            is_secret: item.get("password") == Some(&Data::Bool(true)),
            default: text(item, "default"),
            options,
            id,
        });
    }
}

/// What a value says about a tool where a client writes a word.
fn said(value: &Data) -> Standing {
    value.as_text().map_or(Standing::Asked, verdict)
}
