//! A canary in every key that a tools file or the file of a client may have, in each form in which somebody
//! could write a secret there: no message, warning or description has it. The keys are those of the tables,
//! so that a new key is held to this too.

use super::super::clients::{Place, ROWS, Row};
use super::super::policy::RULES;
use super::super::server::{MISPLACED, POLICY, SERVER};
use super::super::tool::{ENTRY, TOOL};
use crate::mcp::server_config::Way;
use crate::tools::Tools;
use ilo_drive::data::Data;
use std::path::Path;

const CANARY: &str = "c4n4ry-7F3a9C";

/// Keys whose values are for everybody to see: names, words, numbers and descriptions, schemas, and answers
/// of mocks. Messages quote them where they are wrong. Every other key is a place for secrets.
const SHOWN: &[&str] = &[
    "name",
    "description",
    "mock",
    "mcp",
    "builtin",
    "input_schema",
    "output_schema",
    "when",
    "times",
    "delay_ms",
    "returns",
    "fails",
    // Numbers and words.
    "timeout",
    "timeout_ms",
    "cancel_grace_ms",
    "retries",
    "binary",
    "on_unanswered",
    "on_doubt",
    "rollback",
    "big_numbers",
    "validate",
    "connectionTimeout",
    "initTimeout",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "tool_timeout_sec",
    "context_server_timeout",
    // Names of tools and servers; the keys of a server come by themselves.
    "mcpServers",
    "mcp.servers",
    "mcp_servers",
    "context_servers",
    "allow",
    "deny",
    "tools",
    "policy",
    "tools.exclude",
    "tools.confirmationRequired",
    "rate",
    // Names of variables.
    "bearer_token_env_var",
    "env_http_headers",
    "env_vars",
    "env_keys",
];

fn text(text: &str) -> Data {
    Data::from(text)
}

fn record(fields: &[(&str, Data)]) -> Data {
    Data::Record(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn list(items: &[Data]) -> Data {
    Data::List(items.iter().cloned().collect())
}

/// The forms in which a secret is written.
fn forms() -> Vec<Data> {
    let key = record(&[("API_KEY", text(CANARY))]);
    let bearer = format!("Bearer {CANARY}");
    vec![
        text(&format!("run --api-key {CANARY}")),
        text(&format!("run --token={CANARY} --verbose")),
        text(&format!("https://me:{CANARY}@h.example/mcp")),
        text(&format!("wss://h.example/mcp?api_key={CANARY}")),
        list(&[text("run"), text("--token"), text(CANARY)]),
        list(&[text("run"), text(&format!("--password={CANARY}"))]),
        list(std::slice::from_ref(&key)),
        list(&[record(&[("name", text("API_KEY")), ("value", text(CANARY))])]),
        record(&[("Authorization", text(&bearer))]),
        record(&[(&format!("API_KEY={CANARY}"), text(""))]),
        record(&[("PASSWORD", list(&[text(CANARY)]))]),
        record(&[
            ("env", key.clone()),
            ("headers", key.clone()),
            ("args", list(&[text("--key"), text(CANARY)])),
        ]),
        record(&[("default", key.clone()), ("value", text(CANARY)), ("password", text(CANARY))]),
        key,
    ]
}

/// A file with a value under a key, beside what makes the rest of it right.
fn file(place: &str, key: &str, value: &Data) -> String {
    let with = |fields: &[(&str, Data)]| {
        let rest = fields.iter().filter(|(name, _)| *name != key).cloned();
        record(&rest.chain([(key, value.clone())]).collect::<Vec<_>>())
    };
    let far = ["url", "httpUrl", "serverUrl", "uri", "headers", "http_headers"].contains(&key);
    let way = if far { ("url", text("http://h.example/mcp")) } else { ("command", text("run")) };
    let servers = |server| record(&[("mcpServers", record(&[("s", server)]))]);
    let tools = |tool| record(&[("tools", record(&[("t", tool)]))]);
    let data = match place {
        "file" => match key.split_once('.') {
            Some((outer, inner)) => record(&[
                ("mcpServers", record(&[("s", record(&[("command", text("run"))]))])),
                (outer, record(&[(inner, value.clone())])),
            ]),
            None => with(&[("mcpServers", record(&[("s", record(&[("command", text("run"))]))]))]),
        },
        "server" => servers(with(&[way])),
        "policy" => servers(record(&[("command", text("run")), ("policy", with(&[]))])),
        "single" => servers(record(&[
            ("command", text("run")),
            ("policy", record(&[("tools", record(&[("t", with(&[]))]))])),
        ])),
        "entry" => tools(record(&[("mock", with(&[("returns", text("1"))]))])),
        "mock" => tools(with(&[("mock", record(&[("returns", text("1"))]))])),
        _ => tools(with(&[("command", list(&[text("run")]))])),
    };
    data.to_json()
}

/// What a server gets.
fn given(way: &Way) -> Vec<String> {
    let mut given = Vec::new();
    match way {
        Way::Program { program, arguments, environment, .. } => {
            given.push(program.clone());
            given.extend(arguments.iter().cloned().chain(environment.iter().map(|(_, value)| value.clone())));
        }
        Way::Http { url, headers } => {
            given.push(url.clone());
            given.extend(headers.iter().map(|(_, value)| value.clone()));
        }
        Way::None => {}
    }
    given
}

/// Everything that is said about a file.
fn said(name: &str, text: &str) -> Vec<String> {
    let tools = match Tools::from_text(name, text, Path::new("/srv/me/project")) {
        Ok(tools) => tools,
        Err(problems) => return problems.iter().map(ToString::to_string).collect(),
    };
    let mut said = vec![format!("{tools:?}")];
    said.extend(tools.warnings().iter().chain(tools.lacking()).map(ToString::to_string));
    said.extend(tools.schema_problems().map(|problem| problem.to_string()));
    said.extend(tools.iter().flat_map(|tool| [tool.source.to_string(), tool.policy.to_string()]));
    for server in tools.servers() {
        said.extend(tools.problems([&*format!("mcp://{server}/x")]).iter().map(ToString::to_string));
        // The server may repeat what it was given.
        let Some(server) = tools.server(server) else { continue };
        said.extend(given(&server.way).iter().map(|text| server.secrets.hidden(text)));
    }
    said
}

#[test]
fn a_secret_under_any_key_is_in_no_message() {
    let client = |place| ROWS.iter().filter(move |row| row.place == place).flat_map(Row::keys);
    let mut all: Vec<(&str, &str)> = Vec::new();
    all.extend(client(Place::File).map(|key| ("file", key)));
    all.extend(client(Place::Server).chain(SERVER.iter().copied()).map(|key| ("server", key)));
    all.extend(MISPLACED.iter().chain(RULES).map(|key| ("server", *key)));
    all.extend(POLICY.iter().chain(RULES).map(|key| ("policy", *key)));
    all.extend(RULES.iter().map(|key| ("single", *key)));
    all.extend(TOOL.iter().chain(RULES).flat_map(|key| [("tool", *key), ("mock", *key)]));
    all.extend(ENTRY.iter().map(|key| ("entry", *key)));
    let mut wrong = Vec::new();
    for (place, key) in all.into_iter().filter(|(_, key)| !SHOWN.contains(key)) {
        for form in forms() {
            let text = file(place, key, &form);
            for name in ["tools.json", ".vscode/mcp.json"] {
                let shown = said(name, &text).into_iter().find(|said| said.contains(CANARY));
                wrong.extend(shown.map(|said| format!("{place} {key}: {text}: {said}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_cannot_be_read_is_not_quoted() {
    let json = format!(r#"{{"mcpServers": {{"s": {{"command": "x", "env": {{"API_KEY": "{CANARY}"}}}}}}}}"#);
    let toml = format!("[mcp_servers.s]\ncommand = \"x\"\n[mcp_servers.s.env]\nAPI_KEY = \"{CANARY}\"\n");
    for (name, whole) in [("tools.json", &json), ("config.toml", &toml)] {
        for at in 0..whole.len() {
            for broken in [whole[..at].to_owned(), format!("{}\u{1}{}", &whole[..at], &whole[at..])] {
                let shown = said(name, &broken).into_iter().find(|said| said.contains(CANARY));
                assert_eq!(shown, None, "{broken}");
            }
        }
    }
}
