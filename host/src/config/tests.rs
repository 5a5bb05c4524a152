//! The files of clients, each as its documentation shows them, with other names: which servers are read, how
//! they are reached, and which of their tools programs may call.

use crate::mcp::server_config::{Server, Way};
use crate::tools::Tools;
use std::path::Path;
use std::time::Duration;

mod kinds;
mod secrets;
mod yaml;

fn read(name: &str, text: &str) -> Tools {
    let path = Path::new("/srv/me/project").join(name);
    let folder = path.parent().unwrap();
    let tools = Tools::from_text(&path.display().to_string(), text, folder);
    tools.unwrap_or_else(|problems| panic!("{name}: {problems:?}"))
}

fn server<'t>(tools: &'t Tools, name: &str) -> &'t Server {
    let lacking: Vec<String> = tools.lacking().map(ToString::to_string).collect();
    let found = tools.server(name);
    assert!(found.is_some_and(|server| server.lacks.is_empty()), "{name}: {lacking:?}");
    found.unwrap()
}

/// The command line, or the URL, with variables or headers.
fn way(tools: &Tools, name: &str) -> String {
    let pairs = |pairs: &[(String, String)]| -> String {
        pairs.iter().flat_map(|(name, value)| [" ", name, "=", value]).collect()
    };
    match &server(tools, name).way {
        Way::Program { program, arguments, environment, .. } => {
            format!("{program} {}{}", arguments.join(" "), pairs(environment))
        }
        Way::Http { url, headers } => format!("{url}{}", pairs(headers)),
        Way::None => String::new(),
    }
}

/// Which of these tools of a server may be called: `!` marks those that are not, `?` those that ask.
fn tools_of(tools: &Tools, name: &str, of: &[&str]) -> String {
    let policy = &server(tools, name).policy;
    let mark = |tool: &&str| match (policy.allows(tool), policy.rules(tool).confirm) {
        (false, _) => format!("!{tool}"),
        (true, Some(true)) => format!("?{tool}"),
        (true, _) => (*tool).to_owned(),
    };
    of.iter().map(mark).collect::<Vec<_>>().join(" ")
}

fn names(tools: &Tools) -> Vec<&str> {
    tools.servers().collect()
}

#[track_caller]
fn refused(tools: &Tools, name: &str, why: &str) {
    let found: Vec<String> =
        tools.problems([&*format!("mcp://{name}/x")]).iter().map(ToString::to_string).collect();
    assert!(found.iter().any(|problem| problem.contains(why)), "{found:?}");
}

#[test]
fn codex() {
    let text = r#"
model = "x"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
network_access = false
[tools]
web_search = true
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server"]
env_vars = ["PATH", { name = "NO_SUCH_VARIABLE", source = "local" }, { name = "HOME", source = "remote" }]
startup_timeout_sec = 12.5
tool_timeout_sec = 45
enabled_tools = ["find", "open"]
disabled_tools = ["open"]
default_tools_approval_mode = "prompt"
[mcp_servers.docs.env]
LEVEL = "high"
[mcp_servers.docs.tools.find]
approval_mode = "approve"
[mcp_servers.design]
url = "https://design.example/mcp"
bearer_token_env_var = "PATH"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Home" = "HOME" }
[mcp_servers.gone]
command = "gone"
enabled = false
[mcp_servers.keyless]
url = "https://x.example/mcp"
bearer_token_env_var = "NO_SUCH_VARIABLE"
[mcp_servers.elsewhere]
command = "x"
experimental_environment = "remote"
"#;
    let tools = read(".codex/config.toml", text);
    let (path, home) = (std::env::var("PATH").unwrap(), std::env::var("HOME").unwrap());
    assert_eq!(names(&tools), ["design", "docs", "elsewhere", "keyless"]);
    assert_eq!(way(&tools, "docs"), format!("npx -y docs-server LEVEL=high PATH={path}"));
    let expected =
        format!("https://design.example/mcp X-Region=eu X-Home={home} Authorization=Bearer {path}");
    assert_eq!(way(&tools, "design"), expected);
    let docs = server(&tools, "docs");
    assert_eq!(docs.timeout, Duration::from_millis(12_500));
    assert_eq!(docs.policy.rules("find").timeout, Some(Duration::from_secs(45)));
    assert_eq!(tools_of(&tools, "docs", &["find", "open", "drop"]), "?find !open !drop");
    refused(&tools, "gone", "turns its server off (`enabled`, a key of Codex)");
    refused(&tools, "keyless", "the environment has no text `NO_SUCH_VARIABLE`");
    refused(&tools, "elsewhere", "no server is started on another machine");
    let warnings: Vec<String> = tools.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].ends_with("`model` is not read"), "{warnings:?}");
}

#[test]
fn zed() {
    let text = r#"// Settings of the editor
{
  "theme": "One Dark", "enable_language_server": true, "vim_mode": false,
  "agent": {
    "tool_permissions": {"default": "allow", "tools": {
      "mcp:files:write": {"default": "confirm"}, "mcp:files:drop": {"default": "deny"}, "terminal": {"default": "deny"}}}
  },
  "context_servers": {
    "files": {"source": "custom", "command": "files-server", "args": ["-v",], "env": {}, "timeout": 90},
    "old": {"command": {"path": "old-server", "args": ["x"], "env": {"A": "b"}}},
    "far": {"url": "https://far.example/mcp", "headers": {"Authorization": "Bearer t0ken"}},
    "off": {"enabled": false, "command": "x"},
    "packed": {"settings": {"key": "k"}},
  },
}"#;
    let tools = read(".zed/settings.json", text);
    assert_eq!(names(&tools), ["far", "files", "old", "packed"]);
    assert_eq!(way(&tools, "old"), "old-server x A=b");
    assert_eq!(server(&tools, "files").timeout, Duration::from_secs(90));
    assert_eq!(
        tools_of(&tools, "files", &["read", "write", "drop", "terminal"]),
        "read ?write !drop terminal"
    );
    refused(&tools, "packed", "expected `command` or `url`, found neither");
    let profile = r#"{"agent": {"default_profile": "p", "profiles": {"p": {"enable_all_context_servers": false,
        "context_servers": {"a": {"tools": {"get": true, "set": false}}}}}},
        "context_servers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#;
    let tools = read("settings.json", profile);
    assert_eq!(tools_of(&tools, "a", &["get", "set", "more"]), "get !set !more");
    assert_eq!(tools_of(&tools, "b", &["get"]), "!get");
    assert_eq!(
        names(&read("s.json", r#"{"disable_ai": true, "context_servers": {"a": {"command": "a"}}}"#)),
        [""; 0]
    );
}

#[test]
fn opencode() {
    let text = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "shop": {"type": "local", "command": ["bun", "x", "shop"], "environment": {"HOME_SEEN": "{env:HOME}"}, "enabled": true},
    "far": {"type": "remote", "url": "https://far.example/mcp", "headers": {"K": "v"}, "timeout": 9000},
    "off": {"type": "local", "command": ["x"], "enabled": false},
  },
  "tools": {"shop_*": false, "shop_list": true},
  "permission": {"bash": "ask", "far_*": "ask", "far_drop": "deny"}
}"#;
    let tools = read("opencode.jsonc", text);
    assert_eq!(names(&tools), ["far", "shop"]);
    assert_eq!(way(&tools, "shop"), format!("bun x shop HOME_SEEN={}", std::env::var("HOME").unwrap()));
    assert_eq!(server(&tools, "far").timeout, Duration::from_secs(9));
    assert_eq!(tools_of(&tools, "shop", &["list", "buy"]), "list !buy");
    assert_eq!(tools_of(&tools, "far", &["get", "drop", "bash"]), "?get !drop ?bash");
    // Kilo Code has the same form, and its older files have others.
    let kilo = r#"{"mcp": {"a": {"type": "local", "command": ["node", "/s.js"], "environment": {"K": "v"}, "enabled": true, "timeout": 3000}},
        "permission": {"a_drop": "ask"}}"#;
    for file in [".kilo/kilo.jsonc", "kilo.jsonc"] {
        let tools = read(file, kilo);
        assert_eq!(way(&tools, "a"), "node /s.js K=v", "{file}");
        assert_eq!(server(&tools, "a").timeout, Duration::from_secs(3), "{file}");
        assert_eq!(tools_of(&tools, "a", &["get", "drop"]), "get ?drop");
    }
    let newer = r#"{"mcp": {"servers": {"a": {"type": "local", "command": ["a"], "disabled": true},
        "b": {"type": "local", "command": ["b"], "cwd": ".", "timeout": {"startup": 7000}}}}}"#;
    let tools = read("opencode.json", newer);
    assert_eq!(names(&tools), ["b"]);
    assert_eq!(server(&tools, "b").timeout, Duration::from_secs(7));
    let all =
        read("opencode.json", r#"{"permission": "deny", "mcp": {"a": {"type": "local", "command": ["a"]}}}"#);
    assert_eq!(tools_of(&all, "a", &["x"]), "!x");
}

#[test]
fn gemini_cli() {
    let text = r#"{
  "theme": "x", "includeDirectories": [],
  "mcp": {"allowed": ["py", "sse*", "far"], "excluded": ["out"]},
  "tools": {"exclude": ["drop"], "sandbox": "docker"},
  "mcpServers": {
    "py": {"command": "python", "args": ["-m", "srv"], "env": {"HOME_SEEN": "$HOME", "B": "${PATH}"}, "cwd": "./srv",
           "timeout": 15000, "trust": false, "includeTools": ["safe", "fast", "drop"], "excludeTools": ["fast"]},
    "far": {"httpUrl": "https://far.example/mcp", "url": "https://far.example/sse", "headers": {"A": "b"}},
    "out": {"command": "x"}, "unlisted": {"command": "x"}
  }
}"#;
    let tools = read(".gemini/settings.json", text);
    assert_eq!(names(&tools), ["far", "py"]);
    let (home, path) = (std::env::var("HOME").unwrap(), std::env::var("PATH").unwrap());
    assert_eq!(way(&tools, "py"), format!("python -m srv HOME_SEEN={home} B={path}"));
    let py = server(&tools, "py");
    assert!(matches!(&py.way, Way::Program { folder, .. } if folder == Path::new("/srv/me/project/./srv")));
    assert_eq!(py.timeout, Duration::from_secs(15));
    assert_eq!(way(&tools, "far"), "https://far.example/mcp A=b");
    assert_eq!(tools_of(&tools, "py", &["safe", "fast", "drop", "more"]), "safe !fast !drop !more");
    refused(&tools, "out", "turns its server off (`mcp.excluded` of the file)");
    refused(&tools, "unlisted", "turns its server off (`mcp.allowed` of the file)");
    let older = r#"{"allowMCPServers": ["a", "b"], "excludeMCPServers": ["a"], "excludeTools": ["t"],
        "mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}, "c": {"command": "x"}}}"#;
    let tools = read("settings.json", older);
    assert_eq!(names(&tools), ["b"]);
    assert_eq!(tools_of(&tools, "b", &["t", "u"]), "!t u");
}

#[test]
fn claude_code_and_claude_desktop() {
    let text = r#"{
  "permissions": {"allow": ["mcp__git__log"], "ask": ["mcp__git__push"], "deny": ["mcp__git__reset", "mcp__web", "Bash(rm:*)"]},
  "disabledMcpjsonServers": ["old"], "enableAllProjectMcpServers": true,
  "mcpServers": {
    "git": {"type": "stdio", "command": "${NO_SUCH_VARIABLE:-git-server}", "args": ["${CLAUDE_PROJECT_DIR:-.}/x"], "env": {}, "timeout": 60000},
    "web": {"type": "http", "url": "https://web.example/mcp", "headers": {"Authorization": "Bearer ${PATH}"}},
    "old": {"command": "x"}
  }
}"#;
    let tools = read(".claude/settings.json", text);
    assert_eq!(names(&tools), ["git", "web"]);
    assert_eq!(way(&tools, "git"), "git-server /srv/me/project/x");
    assert_eq!(tools_of(&tools, "git", &["log", "push", "reset"]), "log ?push !reset");
    assert_eq!(tools_of(&tools, "web", &["get"]), "!get");
    let managed = r#"{"deniedMcpServers": [{"serverName": "a"}], "allowedMcpServers": [{"serverName": "a"}, {"serverName": "b"}],
        "mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}, "c": {"command": "x"}}}"#;
    assert_eq!(names(&read("managed.json", managed)), ["b"]);
    let approved = r#"{"enabledMcpjsonServers": ["a", "b"], "disabledMcpServers": ["a"],
        "mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}, "c": {"command": "x"}}}"#;
    assert_eq!(names(&read(".claude/settings.local.json", approved)), ["b"]);
    let by_url =
        r#"{"deniedMcpServers": [{"serverUrl": "https://*"}], "mcpServers": {"b": {"command": "x"}}}"#;
    refused(&read("managed.json", by_url), "b", "names servers by something else than their name");
    let desktop = r#"{"globalShortcut": "", "isDxtAutoUpdatesEnabled": true, "mcpServers": {"files": {"command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/me/Desktop"]}}}"#;
    let tools = read("claude_desktop_config.json", desktop);
    assert_eq!(way(&tools, "files"), "npx -y @modelcontextprotocol/server-filesystem /srv/me/Desktop");
}

#[test]
fn vs_code_and_cursor() {
    let text = r#"{
  // Asked for once.
  "inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true},
             {"type": "command", "id": "cmd", "command": "x"}],
  "servers": {
    "local": {"type": "stdio", "command": "node", "args": ["${workspaceFolder}/s.js", "${workspaceFolderBasename}"],
              "env": {"KEY": "${input:key}", "S": "${pathSeparator}${/}"}, "dev": {"watch": "**"}},
    "ran": {"command": "x", "args": ["${input:cmd}"]},
    "boxed": {"command": "x", "sandboxEnabled": true, "sandbox": {"network": {}}},
    "open": {"command": "x", "sandboxEnabled": false},
    "filed": {"command": "x", "envFile": "${workspaceFolder}/.env"},
    "far": {"type": "http", "url": "https://far.example/mcp", "headers": {"H": "${env:HOME}"}},
  },
}"#;
    let tools = read(".vscode/mcp.json", text);
    assert_eq!(way(&tools, "local"), "node /srv/me/project/s.js project KEY=${input:key} S=//");
    let local = server(&tools, "local");
    assert!(matches!(&local.way, Way::Program { folder, .. } if folder == Path::new("/srv/me/project")));
    assert_eq!(local.inputs.len(), 1);
    let mut asked = local.clone();
    asked.given("key", "hunter-2");
    assert!(matches!(&asked.way, Way::Program { environment, .. } if environment[0].1 == "hunter-2"));
    assert_eq!((asked.secrets.hidden("a hunter-2 b").as_str(), asked.inputs.len()), ("a *** b", 0));
    refused(&tools, "ran", "`inputs` of the file has no `cmd` that can be asked for");
    refused(&tools, "boxed", "a sandbox of another client is not built here");
    refused(&tools, "filed", "files of variables are not read");
    assert_eq!(way(&tools, "open"), "x ");
    assert_eq!(way(&tools, "far"), format!("https://far.example/mcp H={}", std::env::var("HOME").unwrap()));
    let settings = r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}"#;
    assert_eq!(names(&read("settings.json", settings)), ["a"]);
    let cursor = r#"{"mcpServers": {"a": {"type": "stdio", "command": "${workspaceFolder}/bin/a", "args": ["--at", "${userHome}"],
        "envFile": ".env"}, "b": {"url": "http://localhost:3000/mcp", "auth": {"CLIENT_ID": "x"}}}}"#;
    let tools = read(".cursor/mcp.json", cursor);
    refused(&tools, "a", "files of variables are not read");
    assert_eq!(way(&tools, "b"), "http://localhost:3000/mcp");
}

#[test]
fn cline_roo_windsurf_and_cherry() {
    let cline = r#"{"mcpServers": {
        "github.com/example/servers/tree/main/src/git": {"command": "node", "args": ["/s.js"], "env": {"API_KEY": "k"},
            "disabled": false, "autoApprove": ["a"], "timeout": 60},
        "with blanks": {"type": "streamableHttp", "url": "https://x.example/mcp", "alwaysAllow": [], "timeout": 3600},
        "off": {"command": "x", "disabled": true}}}"#;
    for file in ["cline_mcp_settings.json", "x.json"] {
        let tools = read(file, cline);
        let git = "github.com%2Fexample%2Fservers%2Ftree%2Fmain%2Fsrc%2Fgit";
        assert_eq!(names(&tools), [git, "with blanks"]);
        assert_eq!(server(&tools, git).timeout, Duration::from_mins(1));
        assert_eq!(server(&tools, "with blanks").timeout, Duration::from_hours(1));
        assert_eq!(tools_of(&tools, git, &["a", "b"]), "a b");
        refused(&tools, "off", "turns its server off (`disabled`");
    }
    let roo = r#"{"mcpServers": {"a": {"command": "x", "disabledTools": ["t"], "timeout": 90, "watchPaths": ["p"]},
        "b": {"type": "streamable-http", "url": "https://x.example/mcp", "timeout": 5000}}}"#;
    let tools = read(".roo/mcp.json", roo);
    assert_eq!(tools_of(&tools, "a", &["t", "u"]), "!t u");
    assert_eq!(server(&tools, "a").timeout, Duration::from_secs(90));
    assert_eq!(server(&tools, "b").timeout, Duration::from_secs(5));
    let windsurf = r#"{"mcpServers": {"a": {"serverUrl": "https://x.example/mcp", "headers": {"K": "${env:HOME}"}, "disabledTools": ["t"]}}}"#;
    let tools = read("mcp_config.json", windsurf);
    assert_eq!(way(&tools, "a"), format!("https://x.example/mcp K={}", std::env::var("HOME").unwrap()));
    assert_eq!(tools_of(&tools, "a", &["t"]), "!t");
    let cherry = r#"{"mcpServers": {"a": {"name": "A", "isActive": false, "command": "x"}, "b": {"isActive": true, "command": "x"}}}"#;
    assert_eq!(names(&read("mcp.json", cherry)), ["b"]);
}

#[test]
fn amazon_q_copilot_goose_continue_crush_and_amp() {
    let agent = r#"{"name": "a", "mcpServers": {"git": {"command": "g", "timeout": 120000}, "web": {"command": "w"}, "all": {"command": "x"}},
        "tools": ["fs_read", "@git/log", "@web"], "allowedTools": ["@git"], "includeMcpJson": true}"#;
    let tools = read(".amazonq/cli-agents/a.json", agent);
    assert_eq!(tools_of(&tools, "git", &["log", "push", "fs_read"]), "log !push !fs_read");
    assert_eq!(tools_of(&tools, "web", &["get"]) + &tools_of(&tools, "all", &["x"]), "get!x");
    assert_eq!(server(&tools, "git").timeout, Duration::from_mins(2));
    let copilot = r#"{"mcpServers": {"a": {"type": "local", "command": "npx", "args": [], "tools": ["get"], "env": {"K": "$HOME"}},
        "b": {"type": "http", "url": "https://x.example/mcp", "tools": ["*"]}, "c": {"command": "x", "tools": []}}}"#;
    let tools = read(".copilot/mcp-config.json", copilot);
    assert_eq!(tools_of(&tools, "a", &["get", "set"]), "get !set");
    assert_eq!(tools_of(&tools, "b", &["get"]) + &tools_of(&tools, "c", &["get"]), "get!get");
    let goose = r#"{"GOOSE_MODE": "auto", "extensions": {
        "dev": {"type": "builtin", "name": "developer", "enabled": true, "bundled": true},
        "drive": {"type": "stdio", "cmd": "npx", "args": ["-y", "drive"], "envs": {"A": "b"}, "env_keys": ["HOME"],
                  "timeout": 300, "enabled": true, "available_tools": ["read"]},
        "off": {"type": "stdio", "cmd": "x", "enabled": false},
        "far": {"type": "streamable_http", "uri": "https://far.example/mcp", "enabled": true}}}"#;
    let tools = read("goose.json", goose);
    assert_eq!(names(&tools), ["dev", "drive", "far"]);
    refused(&tools, "dev", "a part of its client");
    assert_eq!(way(&tools, "drive"), format!("npx -y drive A=b HOME={}", std::env::var("HOME").unwrap()));
    assert_eq!(server(&tools, "drive").timeout, Duration::from_mins(5));
    assert_eq!(tools_of(&tools, "drive", &["read", "write"]), "read !write");
    let listed = r#"{"mcpServers": [{"name": "a", "command": "x", "connectionTimeout": 4000}, {"name": "b", "url": "https://x.example/mcp"}]}"#;
    let tools = read(".continue/mcpServers/a.json", listed);
    assert_eq!(names(&tools), ["a", "b"]);
    assert_eq!(server(&tools, "a").timeout, Duration::from_secs(4));
    let crush = r#"{"options": {"disabled_tools": ["bash", "mcp_a_drop"]}, "permissions": {"allowed_tools": ["view"]},
        "mcp": {"a": {"type": "stdio", "command": "x", "args": [], "timeout": 120, "disabled_tools": ["set"]},
                "b": {"type": "http", "url": "https://x.example/mcp", "disabled": true}}}"#;
    let tools = read("crush.json", crush);
    assert_eq!(names(&tools), ["a"]);
    assert_eq!(server(&tools, "a").timeout, Duration::from_mins(2));
    assert_eq!(tools_of(&tools, "a", &["get", "set", "drop"]), "get !set !drop");
    let amp = r#"{"amp.mcpServers": {"a": {"command": "x", "includeTools": ["get_*"]}}, "amp.tools.disable": ["mcp__a__get_all"]}"#;
    assert_eq!(
        tools_of(&read("settings.json", amp), "a", &["get_one", "get_all", "set"]),
        "get_one !get_all !set"
    );
}

#[test]
fn what_is_not_known_is_judged_by_its_name() {
    let text = r#"{
      "$schema": "x", "_comment": "ours", "//": "also ours", "colour": 1, "mcpServers": {
        "_comment": "servers", "a": {"_note": 1, "command": "a", "colour": 2, "weight": 3},
        "b": {"command": "b", "onlyTools": ["x"]}, "c": {"command": "c", "tools": {"t": {"blocked": true}}}, "d": {"command": "d", "permissions": {}}}}"#;
    let tools = read("x.json", text);
    assert_eq!(names(&tools), ["a", "b", "c", "d"]);
    assert_eq!(way(&tools, "a"), "a ");
    refused(&tools, "b", "`onlyTools` is not known here and may shut something off");
    refused(&tools, "c", "`blocked` may shut the tool off");
    refused(&tools, "d", "did you mean `policy`?");
    let warnings: Vec<String> = tools.warnings().iter().map(|problem| problem.message.clone()).collect();
    assert_eq!(warnings, ["`colour` is not read", "mcpServers.a: `colour`, `weight` are not read"]);
    let whole = r#"{"serverAllowlist": [], "mcpServers": {"a": {"command": "a"}}}"#;
    refused(
        &read("x.json", whole),
        "a",
        "`serverAllowlist` of the file is not known here and may shut something off",
    );
    let inner = r#"{"mcp": {"blocked": []}, "mcpServers": {"a": {"command": "a"}}}"#;
    refused(&read("x.json", inner), "a", "`mcp.blocked` of the file is not known here");
}

#[test]
fn two_dollar_signs_are_one_that_begins_no_variable() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["$${HOME}", "$$$${A}", "a$${", "$$", "$5", "\"$${NO}\"${NO_SUCH_VARIABLE:-b}"],
        "env": {"KEY": "$${input:key}"}}}}"#;
    for file in ["tools.json", ".cursor/mcp.json", ".vscode/mcp.json"] {
        let tools = read(file, text);
        assert_eq!(way(&tools, "a"), "x ${HOME} $$${A} a${ $$ $5 \"${NO}\"b KEY=${input:key}", "{file}");
    }
}

#[test]
fn an_unknown_word_about_asking_asks() {
    let asked = |setting: &str| {
        let text = format!(r#"{{"mcpServers": {{"s": {{"command": "s", {setting}}}}}}}"#);
        tools_of(&read("tools.json", &text), "s", &["find", "write"])
    };
    let (free, all) = (asked(r#""require_approval": "never""#), asked(r#""require_approval": "always""#));
    assert_ne!(free, all);
    for word in ["sometimes", "Never", ""] {
        assert_eq!(asked(&format!(r#""default_tools_approval_mode": "{word}""#)), all, "{word}");
        assert_eq!(asked(&format!(r#""require_approval": "{word}""#)), all, "{word}");
    }
    assert_eq!(asked(r#""default_tools_approval_mode": "auto""#), free);
    let one = asked(r#""tools": {"find": {"approval_mode": "prompt"}}"#);
    assert_eq!(asked(r#""tools": {"find": {"approval_mode": "odd"}}"#), one);
    assert_eq!(asked(r#""require_approval": {"odd": ["find"], "never": ["write"]}"#), one);
}
