//! Forms in which people bring files of clients: whole settings of an editor, settings that are null or
//! empty, values of other types, and one server that cannot be used among others.

use super::super::clients::{Effect, Place, ROWS};
use super::{names, read, refused, server, tools_of, way};
use crate::mcp::server_config::Way;
use crate::tools::Tools;
use ilo_drive::problem::MOST;
use std::path::Path;
use std::time::Duration;

#[test]
fn the_settings_of_an_editor_beside_its_servers_shut_nothing_off() {
    let with = |setting: &str| {
        let text = format!(
            r#"{{{setting}, "editor.fontSize": 12, "mcp": {{"servers": {{"a": {{"command": "x"}}}}}}}}"#
        );
        read("settings.json", &text)
    };
    for setting in [
        r#""files.exclude": {"**/.git": true}, "git.enableSmartCommit": true, "npm.exclude": []"#,
        r#""github.copilot.enable": {"*": false}, "telemetry.enableTelemetry": false"#,
        r#""security.workspace.trust.enabled": true, "[python]": {"editor.formatOnSave": true}"#,
        r#""chat.mcp.discovery.enabled": true, "chat.tools.autoApprove": true, "chat.mcp.access": "all""#,
        r#""chat.mcp.enabled": true, "chat.agent.enabled": true, "chat.disableAIFeatures": false"#,
    ] {
        assert_eq!(way(&with(setting), "a"), "x ", "{setting}");
    }
    for setting in [
        r#""chat.mcp.access": "none""#,
        r#""chat.mcp.access": "registry""#,
        r#""chat.mcp.enabled": false"#,
        r#""chat.agent.enabled": false"#,
        r#""chat.disableAIFeatures": true"#,
    ] {
        refused(&with(setting), "a", "turns its server off");
    }
    refused(&with(r#""chat.tools.denied": ["x"]"#), "a", "may shut something off");
    let amp = r#"{"amp.notifications.enabled": true, "amp.commands.allowlist": ["ls"],
        "amp.permissions": [{"tool": "mcp__a__get*", "action": "allow"}, {"tool": "mcp__a__put", "matches": {"x": "y"}, "action": "allow"},
            {"tool": "*", "context": "subagent", "action": "allow"}, {"tool": "mcp__a__p*", "action": "ask"}, {"tool": "*", "action": "reject"}],
        "amp.mcpServers": {"a": {"command": "x"}}}"#;
    let tools = read("settings.json", amp);
    assert_eq!(tools_of(&tools, "a", &["get", "put", "post", "drop"]), "get ?put ?post !drop");
}

#[test]
fn warp() {
    let text = r#"{"mcpServers": {"maps": {"command": "/path/to/node", "args": ["index.js"], "env": {"API_KEY": "k"},
        "working_directory": null, "start_on_launch": true}}}"#;
    assert_eq!(way(&read(".warp/.mcp.json", text), "maps"), "/path/to/node index.js API_KEY=k");
}

#[test]
fn five_ire() {
    let text = r#"{"servers": [{"key": "Web", "command": "uvx", "args": ["mcp-server-fetch"], "isActive": true},
        {"key": "Off", "command": "x", "isActive": false}]}"#;
    assert_eq!(names(&read("mcp.json", text)), ["Web"]);
}

#[test]
fn null_and_an_empty_text_are_a_setting_that_is_not_there() {
    let text = r#"{"inputs": null, "mcpServers": {
        "a": {"type": null, "command": "x", "args": null, "env": null, "cwd": null, "url": "", "headers": null,
              "timeout": null, "disabled": null, "includeTools": null, "tools": null, "description": null},
        "b": {"command": "", "args": [], "serverUrl": "https://b.example/mcp", "envFile": null},
        "c": {"command": "c", "args": ["--port", 3000, true], "env": {"PORT": 8080, "DEBUG": false, "UNSET": null}}}}"#;
    let tools = read("mcp.json", text);
    assert_eq!(way(&tools, "a"), "x ");
    assert_eq!(way(&tools, "b"), "https://b.example/mcp");
    assert_eq!(way(&tools, "c"), "c --port 3000 true PORT=8080 DEBUG=false");
    let own = r#"{"mcpServers": {"a": {"command": "x", "policy": {"allow": null}}}}"#;
    assert!(Tools::from_text("tools.json", own, Path::new("/p")).is_err());
}

#[test]
fn a_server_that_cannot_be_reached_so_costs_only_itself() {
    let text = r#"{"mcpServers": {"good": {"type": "STDIO", "command": "x"},
        "both": {"command": "x", "url": "https://x.example/mcp"}, "old": {"type": "SSE", "url": "https://x.example/sse"},
        "socket": {"type": "http", "url": "unix:server.sock"}, "pipe": {"url": "pipe:x"}, "none": {"args": []},
        "paused": {"command": "x", "state": "disabled"}, "hidden": {"command": "x", "isHidden": true},
        "off": {"command": "x", "active": false}, "on": {"command": "x", "active": true},
        "unboxed": {"command": "x", "sandboxEnabled": false, "sandbox": {"network": {}}}}}"#;
    let tools = read("mcp.json", text);
    for name in ["good", "on", "unboxed"] {
        assert_eq!(way(&tools, name), "x ");
    }
    refused(&tools, "both", "expected `command` or `url`, found both");
    refused(&tools, "old", "the older protocol, `sse`, is not spoken");
    refused(&tools, "socket", "expected `http://…` or `https://…`, found `unix:server.sock`");
    refused(&tools, "pipe", "expected `http://…` or `https://…`");
    refused(&tools, "none", "expected `command` or `url`, found neither");
    refused(&tools, "paused", "`state` is not known here and may shut something off");
    refused(&tools, "hidden", "`isHidden` is not known here and may shut something off");
    refused(&tools, "off", "turns its server off (`active`, a key of Jan");
}

#[test]
fn a_comment_comes_first_whatever_the_file_is_called() {
    let text = "// Ours.\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
    for name in ["opencode.jsonc", "x.json5", "MCP.JSON", "mcp", "x.code-workspace"] {
        assert_eq!(names(&read(name, text)), ["a"], "{name}");
        assert_eq!(names(&read(name, &text.replace("// Ours.", "/* Ours. */"))), ["a"], "{name}");
    }
    let toml = "# Ours\nsince = 2026-01-31\n[mcp_servers.a]\ncommand = \"x\"\n";
    for name in ["config.toml", "config"] {
        assert_eq!(names(&read(name, toml)), ["a"], "{name}");
    }
}

#[test]
fn variables_are_replaced_where_they_are_by_themselves() {
    let home = std::env::var("HOME").unwrap();
    let text = r#"{"mcpServers": {"a": {"command": "~/bin/x", "args": ["$HOME/x", "--at=$HOME", "pa$WORD", "${extensionPath}${/}s.js",
        "${CLAUDE_PLUGIN_ROOT}/y", "${NO_SUCH_VARIABLE:-$5}"]}, "b": {"command": "x", "args": ["${NO_SUCH_VARIABLE:-${HOME}}"]}}}"#;
    let tools = read(".gemini/settings.json", text);
    let folder = "/srv/me/project/.gemini";
    let expected = format!("{home}/bin/x {home}/x --at={home} pa$WORD {folder}/s.js {folder}/y $5");
    assert_eq!(way(&tools, "a"), expected);
    refused(&tools, "b", "the text behind `:-` cannot be a variable");
}

#[test]
fn lists_in_records_of_a_server_are_obeyed_or_refuse_it() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x", "anythingllm": {"autoStart": true, "suppressedTools": ["drop"]}},
        "off": {"command": "x", "anythingllm": {"autoStart": false}},
        "listed": {"command": "x", "tools": {"include": ["get", "drop"], "exclude": ["drop"]}},
        "unknown": {"command": "x", "options": {"blockedTools": ["drop"]}},
        "plain": {"command": "x", "options": {"enabled": true, "blockedTools": [], "names": ["x"]}}}}"#;
    let tools = read("mcp.json", text);
    assert_eq!(tools_of(&tools, "a", &["get", "drop"]), "get !drop");
    refused(&tools, "off", "turns its server off (`anythingllm.autoStart`, a key of AnythingLLM)");
    assert_eq!(tools_of(&tools, "listed", &["get", "drop", "set"]), "get !drop !set");
    refused(&tools, "unknown", "`blockedTools` is an unknown list, and may turn tools off");
    assert_eq!(way(&tools, "plain"), "x ");
}

#[test]
fn rules_of_amp_for_servers() {
    let text = r#"{"amp.mcpPermissions": [
            {"matches": {"command": "npx", "args": "* @example/good@*"}, "action": "allow"},
            {"matches": {"url": "https://good.example/*"}, "action": "allow"},
            {"matches": {"command": "*"}, "action": "reject"}, {"matches": {"url": "*"}, "action": "reject"}],
        "amp.mcpServers": {"a": {"command": "npx", "args": ["-y", "@example/good@1"]}, "b": {"command": "npx", "args": ["bad"]},
            "c": {"url": "https://good.example/mcp"}, "d": {"url": "https://bad.example/mcp"}}}"#;
    let tools = read("settings.json", text);
    assert_eq!(names(&tools), ["a", "c"]);
    refused(&tools, "b", "turns its server off (`amp.mcpPermissions` of the file)");
}

#[test]
fn what_a_client_fills_in_or_runs_is_not_sent_as_it_is() {
    let crush = r#"{"mcp": {"a": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "$(echo Bearer $TOKEN)"}},
        "b": {"type": "stdio", "command": "x", "env": {"K": "$(cat key)"}, "channel_enabled": false, "sessionless": true},
        "c": {"type": "stdio", "command": "sh", "args": ["-c", "x $HOME"]}}}"#;
    let tools = read("crush.json", crush);
    refused(&tools, "a", "no command is run for a value");
    refused(&tools, "b", "no command is run for a value");
    assert_eq!(way(&tools, "c"), format!("sh -c x {}", std::env::var("HOME").unwrap()));
    let shell = r#"{"mcpServers": {"a": {"command": "sh", "args": ["-c", "echo $(date) '{{.Name}}'"]},
        "b": {"url": "https://x.example/mcp", "headers": {"X-User": "{{LIBRECHAT_USER_ID}}"}}}}"#;
    let tools = read("mcp.json", shell);
    assert_eq!(way(&tools, "a"), "sh -c echo $(date) '{{.Name}}'");
    refused(&tools, "b", "a header has a text `{{…}}`, which only its client can fill in");
}

#[test]
fn a_token_under_auth_is_a_header() {
    let text = r#"{"mcpServers": {"a": {"url": "https://x.example/mcp", "transport": "http", "auth": "t0ken"},
        "b": {"url": "https://x.example/mcp", "auth": "oauth"}, "c": {"url": "https://x.example/mcp", "auth": {"CLIENT_ID": "x"}},
        "d": {"url": "https://x.example/mcp", "auth": "t0ken", "headers": {"authorization": "Basic x"}}}}"#;
    let tools = read("mcp.json", text);
    assert_eq!(way(&tools, "a"), "https://x.example/mcp Authorization=Bearer t0ken");
    assert_eq!(way(&tools, "b"), "https://x.example/mcp");
    assert_eq!(way(&tools, "c"), "https://x.example/mcp");
    assert_eq!(way(&tools, "d"), "https://x.example/mcp authorization=Basic x");
}

/// The settings of a whole program or editor, with servers at another place than the top.
#[test]
fn servers_at_another_place_are_named() {
    let problem = |text: &str| {
        Tools::from_text("x.json", text, Path::new("/p")).map(drop).expect_err("a problem").to_string()
    };
    for (text, path) in [
        (
            r#"{"numStartups": 3, "projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}}"#,
            "projects./p.mcpServers",
        ),
        (
            r#"{"augment.advanced": {"mcpServers": [{"name": "a", "command": "x"}]}}"#,
            "augment.advanced.mcpServers",
        ),
        (r#"{"zencoder.mcpServers": {"a": {"command": "x"}}}"#, "zencoder.mcpServers"),
        (
            r#"{"folders": [], "settings": {"mcp": {"servers": {"a": {"url": "https://x"}}}}}"#,
            "settings.mcp.servers",
        ),
        (
            r#"{"customizations": {"vscode": {"mcp": {"servers": {"a": {"command": "x"}}}}}}"#,
            "customizations.vscode.mcp.servers",
        ),
    ] {
        let found = problem(text);
        assert!(found.contains(&format!("there are servers under `{path}`")), "{found}");
    }
    assert!(problem(r#"{"a": {"command": "x"}, "b": {"url": "https://x"}}"#).contains("around servers"));
    assert!(problem(r#"{"mcpServer": {"a": {"command": "x"}}}"#).contains("did you mean `mcpServers`?"));
    assert!(problem("{}").contains("expected `tools` or `mcpServers`, found neither"));
}

#[test]
fn libre_chat() {
    let text = "\
version: 1.2.1
cache: true
mcpServers:
  everything:
    # type: sse
    type: stdio
    command: npx
    args: [-y, '@modelcontextprotocol/server-everything']
    timeout: 60000
    initTimeout: 15000
    serverInstructions: true
    chatMenu: false
  far:
    type: streamable-http
    url: https://far.example/mcp
    headers:
      X-User-ID: '{{LIBRECHAT_USER_ID}}'
";
    let tools = read("librechat.yaml", text);
    assert_eq!(way(&tools, "everything"), "npx -y @modelcontextprotocol/server-everything");
    refused(&tools, "far", "only its client can fill in");
    let limited = format!("{text}mcpSettings:\n  allowedDomains: [example.com]\n");
    refused(
        &read("librechat.yaml", &limited),
        "everything",
        "`mcpSettings.allowedDomains` of the file has no effect",
    );
}

#[test]
fn tools_that_gemini_cli_confirms_are_confirmed() {
    let text = r#"{"tools": {"core": ["read_file"], "confirmationRequired": ["drop", "run_shell_command(rm)"]},
        "mcpServers": {"a": {"command": "x"}}}"#;
    assert_eq!(tools_of(&read(".gemini/settings.json", text), "a", &["get", "drop"]), "get ?drop");
}

#[test]
fn every_key_with_each_type_is_read_or_refused_by_its_name() {
    for row in ROWS {
        for key in row.keys() {
            for value in
                ["null", "true", "1", "0.5", "\"x\"", "\"\"", "[]", "[1]", "[null]", "{}", "{\"x\": 1}"]
            {
                let text = match row.place {
                    Place::Server => {
                        format!(r#"{{"mcpServers": {{"a": {{"command": "x", "{key}": {value}}}}}}}"#)
                    }
                    Place::File if key == "mcpServers" => format!(r#"{{"mcpServers": {value}}}"#),
                    Place::File => {
                        format!(r#"{{"mcpServers": {{"a": {{"command": "x"}}}}, "{key}": {value}}}"#)
                    }
                };
                for name in ["x.json", ".vscode/mcp.json"] {
                    let Err(problems) = Tools::from_text(name, &text, Path::new("/p")) else { continue };
                    let last = key.rsplit('.').next().unwrap();
                    // A second `command` is a key given twice.
                    let said = |problem: &str| problem.contains(last) || problem.contains("twice");
                    assert!(
                        problems.iter().any(|problem| said(&problem.to_string())),
                        "{text}: {problems:?}"
                    );
                }
            }
        }
    }
}

/// A file with the servers `a` and `b`, and a key with a value: in the file, or in `a`, which has `rest` too.
fn with(place: Place, key: &str, value: &str, rest: &str) -> Tools {
    let setting = match key.split_once('.') {
        Some((outer, inner)) if place == Place::Server => format!(r#""{outer}": {{"{inner}": {value}}}"#),
        _ => format!(r#""{key}": {value}"#),
    };
    let text = match place {
        Place::File => {
            format!(r#"{{"mcpServers": {{"a": {{"command": "x"}}, "b": {{"command": "x"}}}}, {setting}}}"#)
        }
        Place::Server => {
            format!(r#"{{"mcpServers": {{"a": {{{setting}{rest}}}, "b": {{"command": "x"}}}}}}"#)
        }
    };
    read("x.json", &text)
}

/// A value with which a key of the file that has rules of its own keeps the tool `get` of `a` from being
/// called.
fn rule_against_get(key: &str) -> &'static str {
    match key {
        "permissions" => r#"{"deny": ["mcp__a__get"]}"#,
        "tools" => r#"["@a/set"]"#,
        "chat.mcp.access" => r#""none""#,
        "amp.permissions" => r#"[{"tool": "mcp__a__get", "action": "reject"}]"#,
        "amp.mcpPermissions" => r#"[{"matches": {"command": "x"}, "action": "reject"}]"#,
        "permission" => r#"{"a_get": "deny"}"#,
        "agent" => r#"{"tool_permissions": {"tools": {"mcp:a:get": {"default": "deny"}}}}"#,
        "GOOSE_MODE" => r#""chat""#,
        other => panic!("no rule for {other}"),
    }
}

fn get_and_set(tools: &Tools) -> String {
    tools_of(tools, "a", &["get", "set"])
}

fn limit(tools: &Tools) -> Option<Duration> {
    server(tools, "a").policy.rules("get").timeout
}

#[test]
fn every_key_of_the_file_of_a_client_has_the_effect_of_its_row() {
    for row in ROWS.iter().filter(|row| row.place == Place::File) {
        for key in row.keys() {
            let with = |value: &str| with(Place::File, key, value, "");
            match row.effect {
                Effect::Servers => {
                    let text = match key.split_once(".s") {
                        Some((outer, _)) => {
                            format!(r#"{{"{outer}": {{"servers": {{"a": {{"command": "x"}}}}}}}}"#)
                        }
                        None => format!(r#"{{"{key}": {{"a": {{"command": "x"}}}}}}"#),
                    };
                    assert_eq!(names(&read("x.json", &text)), ["a"], "{key}");
                }
                Effect::Inputs => {
                    let text = format!(
                        r#"{{"{key}": [{{"type": "promptString", "id": "k"}}],
                            "mcpServers": {{"a": {{"command": "x", "args": ["${{input:k}}"]}}}}}}"#
                    );
                    assert_eq!(server(&read("x.json", &text), "a").inputs.len(), 1, "{key}");
                }
                Effect::OffIf(off) => {
                    let (off, on) = (with(&off.to_string()), with(&(!off).to_string()));
                    assert_eq!((names(&off).len(), names(&on)), (0, vec!["a", "b"]), "{key}");
                    refused(&off, "a", &format!("turns its server off (`{key}` of the file)"));
                }
                Effect::AllowServers => assert_eq!(names(&with(r#"["a"]"#)), ["a"], "{key}"),
                Effect::DenyServers => assert_eq!(names(&with(r#"["a"]"#)), ["b"], "{key}"),
                Effect::DenyTools => assert_eq!(get_and_set(&with(r#"["get"]"#)), "!get set", "{key}"),
                Effect::AskTools => assert_eq!(get_and_set(&with(r#"["get"]"#)), "?get set", "{key}"),
                Effect::Rules => {
                    let tools = with(rule_against_get(key));
                    let is_off = names(&tools).is_empty();
                    assert!(is_off || get_and_set(&tools) == "!get set", "{key}");
                }
                Effect::CallSeconds => assert_eq!(limit(&with("7")), Some(Duration::from_secs(7)), "{key}"),
                Effect::Unsupported(why) => {
                    let why = format!("`{key}` of the file has no effect here: {why}");
                    refused(&with(r#"["x"]"#), "a", &why);
                }
                Effect::Nothing => {
                    let tools = with("true");
                    assert_eq!(get_and_set(&tools), "get set", "{key}");
                    assert!(tools.warnings().is_empty(), "{key}");
                }
                effect => panic!("{key} of a file has {effect:?}"),
            }
        }
    }
}

#[test]
fn every_key_of_a_server_of_a_client_has_the_effect_of_its_row() {
    let home = std::env::var("HOME").unwrap();
    for row in ROWS.iter().filter(|row| row.place == Place::Server) {
        for key in row.keys() {
            let alone = |value: &str| with(Place::Server, key, value, "");
            let near = |value: &str| with(Place::Server, key, value, r#", "command": "x""#);
            let line = |value: &str| way(&near(value), "a");
            let far =
                |value: &str| way(&with(Place::Server, key, value, r#", "url": "https://x.example/""#), "a");
            let starting = |value: &str| server(&near(value), "a").timeout;
            match row.effect {
                Effect::OffIf(off) => {
                    let (off, on) = (near(&off.to_string()), near(&(!off).to_string()));
                    assert_eq!((names(&off), names(&on)), (vec!["b"], vec!["a", "b"]), "{key}");
                    refused(&off, "a", &format!("turns its server off (`{key}`, a key of {}", row.client));
                }
                Effect::AllowTools | Effect::ToolKeys => {
                    assert_eq!(get_and_set(&near(r#"["get"]"#)), "get !set", "{key}");
                }
                Effect::DenyTools => assert_eq!(get_and_set(&near(r#"["get"]"#)), "!get set", "{key}"),
                Effect::Rules => assert_eq!(get_and_set(&near(r#""prompt""#)), "?get ?set", "{key}"),
                Effect::Command => assert_eq!(way(&alone(r#""y""#), "a"), "y ", "{key}"),
                Effect::Arguments => assert_eq!(line(r#"["y"]"#), "x y", "{key}"),
                Effect::Variables => assert_eq!(line(r#"{"K": "v"}"#), "x  K=v", "{key}"),
                Effect::Passed => assert_eq!(line(r#"["HOME"]"#), format!("x  HOME={home}"), "{key}"),
                Effect::Folder => {
                    let tools = near(r#""sub""#);
                    let Way::Program { folder, .. } = &server(&tools, "a").way else { panic!("{key}") };
                    assert!(folder.ends_with("project/sub"), "{key}: {}", folder.display());
                }
                Effect::Url => {
                    assert_eq!(way(&alone(r#""https://y.example/""#), "a"), "https://y.example/", "{key}");
                }
                Effect::Headers => assert_eq!(far(r#"{"K": "v"}"#), "https://x.example/ K=v", "{key}"),
                Effect::HeaderNames => {
                    assert_eq!(far(r#"{"K": "HOME"}"#), format!("https://x.example/ K={home}"), "{key}");
                }
                Effect::Token => {
                    assert_eq!(far(r#""t""#), "https://x.example/ Authorization=Bearer t", "{key}");
                }
                Effect::Bearer => {
                    let expected = format!("https://x.example/ Authorization=Bearer {home}");
                    assert_eq!(far(r#""HOME""#), expected, "{key}");
                }
                Effect::Seconds => assert_eq!(starting("7"), Duration::from_secs(7), "{key}"),
                Effect::Milliseconds => assert_eq!(starting("7000"), Duration::from_secs(7), "{key}"),
                Effect::CallSeconds => assert_eq!(limit(&near("7")), Some(Duration::from_secs(7)), "{key}"),
                Effect::Unsupported(why) => refused(&near(r#""y""#), "a", why),
                Effect::Nothing => {
                    // A sandbox that is on refuses its server.
                    let tools = near(if key == "sandboxEnabled" { "false" } else { "true" });
                    assert_eq!(get_and_set(&tools), "get set", "{key}");
                    assert_eq!(way(&tools, "a"), "x ", "{key}");
                    assert!(tools.warnings().is_empty(), "{key}");
                }
                effect => panic!("{key} of a server has {effect:?}"),
            }
        }
    }
}

#[test]
fn the_script_of_crush_is_named() {
    for name in ["crushrc", ".crushrc"] {
        let script = "mcp add files --command files-server\n";
        let problems = Tools::from_text(name, script, Path::new("/p")).unwrap_err();
        assert!(problems[0].to_string().contains("`crush.json`"), "{problems:?}");
    }
}

#[test]
fn a_file_with_more_settings_that_cannot_be_used_than_are_recorded_is_refused() {
    let of = |at: usize| format!(r#""s{at}": {{"command": "x", "envFile": ".env"}}"#);
    let text = |servers: usize| {
        let all: Vec<String> = (0..servers).map(of).collect();
        format!(r#"{{"mcpServers": {{{}}}}}"#, all.join(","))
    };
    let read = |servers| Tools::from_text("x.json", &text(servers), Path::new("/p"));
    assert!(read(300).unwrap().problems(["mcp://s299/x"])[0].to_string().contains("envFile"));
    let problems = read(MOST * MOST + 1).unwrap_err();
    assert!(
        problems[0].to_string().ends_with("s10000.envFile: this and more cannot be used here"),
        "{problems:?}"
    );
}
