//! Finds the records of servers in a file: `mcpServers`, and the keys of other clients for it.

use super::Fields;
use super::clients::is_comment;
use super::text::Step;
use ilo_drive::data::Data;
use ilo_drive::problem::shortened;

/// What a client replaces in values, beside `${NAME}`.
#[derive(Clone, Copy, Default)]
pub(super) struct Forms {
    /// `{env:NAME}`.
    pub(super) braces: bool,
    /// `$(command)`, by what the command prints.
    pub(super) shell: bool,
}

/// A record, or a list, of servers.
pub(super) struct Section<'d> {
    /// Its key, if all of what is under the key are servers.
    pub(super) whole: Option<&'static str>,
    /// Its path in the file, with dots.
    pub(super) path: &'static str,
    /// Whether the client writes time limits in seconds.
    pub(super) in_seconds: bool,
    pub(super) forms: Forms,
    pub(super) value: &'d Data,
}

impl<'d> Section<'d> {
    /// Whether it has the form of servers.
    pub(super) fn is_readable(&self) -> bool {
        matches!(self.value, Data::Record(_) | Data::List(_))
    }

    /// The servers: the step to each, its name, and its settings.
    pub(super) fn servers(&self) -> impl Iterator<Item = (Step, String, &'d Data)> + use<'d> {
        let (fields, items) = match self.value {
            Data::Record(fields) => (fields.as_slice(), &[][..]),
            Data::List(items) => (&[][..], items.as_slice()),
            _ => (&[][..], &[][..]),
        };
        let named = fields.iter().map(|(name, server)| (Step::Key(name.clone()), name.clone(), server));
        let listed = items.iter().enumerate().map(|(at, server)| {
            // 5ire has a `key`.
            let name = match server.get("name").or(server.get("key")) {
                Some(Data::Text(name)) => name.clone(),
                _ => String::new(),
            };
            (Step::Index(at), name, server)
        });
        named.chain(listed)
    }
}

/// The sections of a file.
pub(super) fn sections(fields: &Fields) -> Vec<Section<'_>> {
    let at = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let whole = |key: &'static str, in_seconds: bool, value| Section {
        whole: Some(key),
        path: key,
        in_seconds,
        forms: Forms::default(),
        value,
    };
    let mut found = Vec::new();
    for key in ["mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers"] {
        let value = at(key).filter(|_| key != "servers" || found.is_empty());
        found.extend(value.map(|value| whole(key, key == "context_servers", value)));
    }
    if let Some(mcp) = at("mcp") {
        match mcp.get("servers") {
            // Of VS Code's settings, or opencode 2.
            Some(value @ Data::Record(servers)) if !is_server(value) => {
                let braces = servers.iter().any(|(_, server)| is_of_opencode(server));
                let forms = Forms { braces, shell: false };
                found.push(Section { whole: None, path: "mcp.servers", forms, ..whole("mcp", false, value) });
            }
            _ if is_servers(mcp) => {
                let Data::Record(servers) = mcp else { return found };
                let braces = servers.iter().any(|(_, server)| is_of_opencode(server));
                // Crush has the same key, and seconds.
                found.push(Section { forms: Forms { braces, shell: !braces }, ..whole("mcp", !braces, mcp) });
            }
            _ => {}
        }
    }
    found.extend(
        at("extensions").filter(|value| is_servers(value)).map(|value| whole("extensions", true, value)),
    );
    found
}

/// Whether a value is a record of servers, and not of other settings.
fn is_servers(value: &Data) -> bool {
    let Data::Record(fields) = value else { return false };
    fields.iter().any(|(_, server)| is_server(server))
}

/// Whether a value has the keys of a server.
fn is_server(value: &Data) -> bool {
    let mut keys = ["command", "cmd", "url", "uri", "enabled", "type"].into_iter();
    keys.any(|key| value.get(key).is_some_and(|value| !matches!(value, Data::Record(_))))
}

/// Whether a server is written in the form of opencode.
fn is_of_opencode(server: &Data) -> bool {
    let is = |word: &str| server.get("type") == Some(&Data::from(word));
    is("local")
        || is("remote")
        || matches!(server.get("command"), Some(Data::List(_)))
        || server.get("type").is_none()
}

/// What to write in a file that has neither servers nor tools at its top, if it has some elsewhere.
pub(super) fn elsewhere(fields: &Fields) -> Option<String> {
    let named = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        matches!(last, "mcpServers" | "servers" | "mcp_servers" | "context_servers")
    };
    // The deepest place where a client has them: `customizations.vscode.mcp.servers`.
    let mut level: Vec<(String, &Fields)> = vec![(String::new(), fields)];
    for _ in 0..4 {
        let mut next: Vec<(String, &Fields)> = Vec::new();
        for (path, fields) in level {
            for (name, value) in fields {
                let whole = format!("{path}{name}");
                match value {
                    Data::Record(_) | Data::List(_) if named(name) && holds_servers(value) => {
                        return Some(format!(
                            "expected `mcpServers` or `tools` at the top; there are servers under `{}`: give a file in which \
                             they are under `mcpServers`",
                            shortened(&whole, 80)
                        ));
                    }
                    Data::Record(inner) if next.len() < 1_000 => {
                        next.push((format!("{whole}."), inner.as_slice()));
                    }
                    _ => {}
                }
            }
        }
        level = next;
    }
    let mut values = fields.iter().filter(|(name, _)| !is_comment(name)).map(|(_, value)| value);
    let all = fields.iter().any(|(name, _)| !is_comment(name)) && values.all(is_server);
    all.then(|| {
        "expected `mcpServers` or `tools` at the top, found what may be under them: write `{\"mcpServers\": {…}}` around \
         servers, and `{\"tools\": {…}}` around tools"
            .to_owned()
    })
}

fn holds_servers(value: &Data) -> bool {
    match value {
        Data::List(items) => items.iter().any(is_server),
        value => is_servers(value),
    }
}
