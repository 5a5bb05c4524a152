//! The keys that MCP clients write into their files: a row for each key of a client, with its place, its
//! effect here, and where the client documents it.
//!
//! What turns a server or a tool off, lists the allowed ones or demands a question has that effect here too.
//! What only makes a client act without asking has none. A key that is in no row is judged by its name: see
//! [`guards`]. `file_keys`, `server` and `reach` read the values.

use crate::tool::named::Verdict;
use Effect::{
    AllowServers, AllowTools, Arguments, Bearer, CallSeconds, Command, DenyServers, DenyTools, Folder,
    HeaderNames, Headers, Inputs, Milliseconds, Nothing, OffIf, Passed, Rules, Seconds, Servers, ToolKeys,
    Unsupported, Url, Variables,
};
use Place::{File, Server};

/// The place of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the top of the file, or in a record there: `mcp.allowed`.
    File,
    /// In a server.
    Server,
}

/// What a key does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The record of servers.
    Servers,
    /// The values that a person gives at the start.
    Inputs,
    /// This value turns the server off; at the top of the file, all servers.
    OffIf(bool),
    /// The only servers, the only tools.
    AllowServers,
    AllowTools,
    /// Servers and tools that are turned off.
    DenyServers,
    DenyTools,
    /// What holds for which tools: they are allowed, or asked about, or off.
    Rules,
    /// Settings for single tools.
    ToolKeys,
    /// How the server is reached.
    Command,
    Arguments,
    Variables,
    /// Names of variables that are passed on.
    Passed,
    Folder,
    Url,
    Headers,
    /// Headers with the names of variables.
    HeaderNames,
    /// The name of the variable with a bearer token.
    Bearer,
    /// The time for starting, and for a call.
    Seconds,
    Milliseconds,
    CallSeconds,
    /// The server would not be what the file says without it: it is refused.
    Unsupported(&'static str),
    /// None that matters here.
    Nothing,
}

/// A key of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) client: &'static str,
    pub(super) place: Place,
    pub(super) key: &'static str,
    pub(super) effect: Effect,
    pub(super) link: &'static str,
}

const fn row(of: Client, place: Place, key: &'static str, effect: Effect) -> Row {
    Row { client: of.0, place, key, effect, link: of.1 }
}

/// The name of a client, and its documentation.
type Client = (&'static str, &'static str);

const AMAZON_Q: Client = ("Amazon Q, Kiro", "https://aws.github.io/amazon-q-developer-cli/agent-format.html");
const AMP: Client = ("Amp", "https://ampcode.com/manual#mcp");
const CHERRY: Client = ("Cherry Studio", "https://docs.cherry-ai.com/docs/en-us/advanced-basic/mcp");
const CLAUDE: Client = ("Claude Code", "https://code.claude.com/docs/en/settings");
const CLAUDE_MCP: Client = ("Claude Code", "https://code.claude.com/docs/en/mcp");
const DESKTOP: Client =
    ("Claude Desktop", "https://modelcontextprotocol.io/docs/develop/connect-local-servers");
const CLINE: Client = ("Cline", "https://docs.cline.bot/mcp/configuring-mcp-servers");
const CODEX: Client = ("Codex", "https://developers.openai.com/codex/config-reference");
const CONTINUE: Client = ("Continue", "https://docs.continue.dev/customize/deep-dives/mcp");
const COPILOT: Client = (
    "Copilot",
    "https://docs.github.com/en/copilot/how-tos/use-copilot-agents/coding-agent/extend-coding-agent-with-mcp",
);
const CRUSH: Client = ("Crush", "https://github.com/charmbracelet/crush#mcps");
const CURSOR: Client = ("Cursor, LM Studio", "https://cursor.com/docs/context/mcp");
const GEMINI: Client = (
    "Gemini CLI, Qwen Code",
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
);
const GEMINI_FILE: Client = ("Gemini CLI, Qwen Code", "https://geminicli.com/docs/cli/configuration");
const GOOSE: Client = ("Goose", "https://block.github.io/goose/docs/guides/config-files");
const OPENCODE: Client = ("opencode", "https://opencode.ai/docs/mcp-servers");
const OPENCODE_FILE: Client = ("opencode", "https://opencode.ai/docs/permissions");
const ROO: Client = ("Roo Code, Kilo Code", "https://docs.roocode.com/features/mcp/using-mcp-in-roo");
const VSCODE: Client = ("VS Code", "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration");
const WINDSURF: Client = ("Windsurf, Antigravity", "https://docs.windsurf.com/windsurf/cascade/mcp");
const ZED: Client = ("Zed", "https://zed.dev/docs/ai/mcp");
const ZED_FILE: Client = ("Zed", "https://zed.dev/docs/ai/tool-permissions");

pub(super) const SANDBOX: &str =
    "a sandbox of another client is not built here; run the server in a container, or leave the key out";
const ENV_FILE: &str = "files of variables are not read; write the variables under `env`";

/// The rows. A key has one effect at a place, whoever writes it.
pub(super) const ROWS: &[Row] = &[
    // The records of servers.
    row(DESKTOP, File, "mcpServers", Servers),
    row(VSCODE, File, "servers", Servers),
    row(VSCODE, File, "mcp.servers", Servers),
    row(CODEX, File, "mcp_servers", Servers),
    row(ZED, File, "context_servers", Servers),
    row(OPENCODE, File, "mcp", Servers),
    row(AMP, File, "amp.mcpServers", Servers),
    row(GOOSE, File, "extensions", Servers),
    // What a file says about servers and tools.
    row(VSCODE, File, "inputs", Inputs),
    row(VSCODE, File, "mcp.inputs", Inputs),
    row(GEMINI, File, "mcp.allowed", AllowServers),
    row(GEMINI, File, "mcp.excluded", DenyServers),
    row(GEMINI, File, "mcp.serverCommand", Nothing),
    row(GEMINI_FILE, File, "allowMCPServers", AllowServers),
    row(GEMINI_FILE, File, "excludeMCPServers", DenyServers),
    row(GEMINI_FILE, File, "excludeTools", DenyTools),
    row(GEMINI_FILE, File, "tools.exclude", DenyTools),
    row(GEMINI_FILE, File, "admin.mcp.enabled", OffIf(false)),
    row(CLAUDE, File, "enabledMcpjsonServers", AllowServers),
    row(CLAUDE, File, "disabledMcpjsonServers", DenyServers),
    row(CLAUDE, File, "disabledMcpServers", DenyServers),
    row(CLAUDE, File, "allowedMcpServers", AllowServers),
    row(CLAUDE, File, "deniedMcpServers", DenyServers),
    row(CLAUDE, File, "permissions", Rules),
    row(AMAZON_Q, File, "tools", Rules),
    row(AMP, File, "amp.tools.disable", DenyTools),
    row(CRUSH, File, "options.disabled_tools", DenyTools),
    row(OPENCODE_FILE, File, "permission", Rules),
    row(ZED_FILE, File, "agent", Rules),
    row(ZED, File, "disable_ai", OffIf(true)),
    row(ZED, File, "context_server_timeout", CallSeconds),
    // Keys of files whose names sound as if they shut something off, and that say nothing about servers.
    row(AMAZON_Q, File, "allowedTools", Nothing),
    row(AMAZON_Q, File, "includeMcpJson", Nothing),
    row(CLAUDE, File, "enableAllProjectMcpServers", Nothing),
    row(CLAUDE, File, "enabledPlugins", Nothing),
    row(CLAUDE, File, "disableAllHooks", Nothing),
    row(CLAUDE, File, "includeCoAuthoredBy", Nothing),
    row(CLAUDE, File, "includeGitInstructions", Nothing),
    row(CLAUDE, File, "sandbox", Nothing),
    row(CLAUDE, File, "autoCompactEnabled", Nothing),
    row(CLAUDE, File, "autoMemoryEnabled", Nothing),
    row(CLAUDE, File, "alwaysThinkingEnabled", Nothing),
    row(CLAUDE, File, "spinnerTipsEnabled", Nothing),
    row(CLAUDE, File, "fileCheckpointingEnabled", Nothing),
    row(CLAUDE, File, "bypassPermissionsModeAccepted", Nothing),
    row(CLAUDE, File, "skipDangerousModePermissionPrompt", Nothing),
    row(DESKTOP, File, "isDxtAutoUpdatesEnabled", Nothing),
    row(DESKTOP, File, "allowDevTools", Nothing),
    row(CODEX, File, "approval_policy", Nothing),
    row(CODEX, File, "approvals_reviewer", Nothing),
    row(CODEX, File, "sandbox_mode", Nothing),
    row(CODEX, File, "sandbox_workspace_write", Nothing),
    row(CODEX, File, "default_permissions", Nothing),
    row(CODEX, File, "allow_login_shell", Nothing),
    row(CODEX, File, "disable_response_storage", Nothing),
    row(CODEX, File, "disable_paste_burst", Nothing),
    row(CODEX, File, "include_apply_patch_tool", Nothing),
    row(CODEX, File, "include_environment_context", Nothing),
    row(CODEX, File, "include_permissions_instructions", Nothing),
    row(CODEX, File, "include_apps_instructions", Nothing),
    row(GEMINI_FILE, File, "includeDirectories", Nothing),
    row(GEMINI_FILE, File, "loadMemoryFromIncludeDirectories", Nothing),
    row(GEMINI_FILE, File, "usageStatisticsEnabled", Nothing),
    row(GEMINI_FILE, File, "disableAutoUpdate", Nothing),
    row(GEMINI_FILE, File, "disableUpdateNag", Nothing),
    row(GEMINI_FILE, File, "disableLoadingPhrases", Nothing),
    row(GEMINI_FILE, File, "enablePromptCompletion", Nothing),
    row(GEMINI_FILE, File, "enableRecursiveFileSearch", Nothing),
    row(GEMINI_FILE, File, "excludedProjectEnvVars", Nothing),
    row(GEMINI_FILE, File, "approvalMode", Nothing),
    row(OPENCODE_FILE, File, "disabled_providers", Nothing),
    row(OPENCODE_FILE, File, "enabled_providers", Nothing),
    row(ZED_FILE, File, "enable_language_server", Nothing),
    row(ZED_FILE, File, "allow_rewrap", Nothing),
    row(ZED_FILE, File, "file_scan_exclusions", Nothing),
    row(ZED_FILE, File, "file_scan_inclusions", Nothing),
    row(ZED_FILE, File, "read_only_files", Nothing),
    row(ZED_FILE, File, "edit_predictions_disabled_in", Nothing),
    row(ZED_FILE, File, "granted_extension_capabilities", Nothing),
    // What turns a server off.
    row(CLINE, Server, "disabled", OffIf(true)),
    row(CODEX, Server, "enabled", OffIf(false)),
    row(CHERRY, Server, "isActive", OffIf(false)),
    // What says which of its tools there are, and which are asked about.
    row(CODEX, Server, "enabled_tools", AllowTools),
    row(CODEX, Server, "disabled_tools", DenyTools),
    row(GEMINI, Server, "includeTools", AllowTools),
    row(GEMINI, Server, "excludeTools", DenyTools),
    row(COPILOT, Server, "tools", ToolKeys),
    row(GOOSE, Server, "available_tools", AllowTools),
    row(ROO, Server, "enabledTools", AllowTools),
    row(ROO, Server, "disabledTools", DenyTools),
    row(AMP, Server, "allowedTools", AllowTools),
    row(CRUSH, Server, "allowed_tools", AllowTools),
    row(CRUSH, Server, "excludedTools", DenyTools),
    row(CRUSH, Server, "blockedTools", DenyTools),
    row(CODEX, Server, "default_tools_approval_mode", Rules),
    row(CODEX, Server, "require_approval", Rules),
    // How it is reached.
    row(DESKTOP, Server, "command", Command),
    row(GOOSE, Server, "cmd", Command),
    row(DESKTOP, Server, "args", Arguments),
    row(DESKTOP, Server, "env", Variables),
    row(OPENCODE, Server, "environment", Variables),
    row(GOOSE, Server, "envs", Variables),
    row(CODEX, Server, "env_vars", Passed),
    row(GOOSE, Server, "env_keys", Passed),
    row(CODEX, Server, "cwd", Folder),
    row(AMP, Server, "working_directory", Folder),
    row(GEMINI, Server, "httpUrl", Url),
    row(WINDSURF, Server, "serverUrl", Url),
    row(CURSOR, Server, "url", Url),
    row(GOOSE, Server, "uri", Url),
    row(CURSOR, Server, "headers", Headers),
    row(CODEX, Server, "http_headers", Headers),
    row(CODEX, Server, "env_http_headers", HeaderNames),
    row(CODEX, Server, "bearer_token_env_var", Bearer),
    row(CODEX, Server, "startup_timeout_sec", Seconds),
    row(CODEX, Server, "startup_timeout_ms", Milliseconds),
    row(CODEX, Server, "tool_timeout_sec", CallSeconds),
    row(CONTINUE, Server, "connectionTimeout", Milliseconds),
    // What a server may not be without.
    row(VSCODE, Server, "envFile", Unsupported(ENV_FILE)),
    row(OPENCODE, Server, "env_file", Unsupported(ENV_FILE)),
    row(
        CLAUDE_MCP,
        Server,
        "headersHelper",
        Unsupported("no command is run for headers; write them under `headers`, with `${NAME}`"),
    ),
    row(VSCODE, Server, "sandbox", Unsupported(SANDBOX)),
    // Only `true` has an effect: that of `sandbox`.
    row(VSCODE, Server, "sandboxEnabled", Nothing),
    // What lets a client act without asking, and what says nothing about tools.
    row(CLINE, Server, "autoApprove", Nothing),
    row(ROO, Server, "alwaysAllow", Nothing),
    row(GEMINI, Server, "trust", Nothing),
    row(CLINE, Server, "transportType", Nothing),
    row(ROO, Server, "watchPaths", Nothing),
    row(VSCODE, Server, "dev", Nothing),
    row(VSCODE, Server, "gallery", Nothing),
    row(VSCODE, Server, "version", Nothing),
    row(CODEX, Server, "required", Nothing),
    row(CODEX, Server, "supports_parallel_tool_calls", Nothing),
    row(CODEX, Server, "scopes", Nothing),
    row(CODEX, Server, "oauth_resource", Nothing),
    row(CLAUDE_MCP, Server, "oauth", Nothing),
    row(CLAUDE_MCP, Server, "alwaysLoad", Nothing),
    row(CURSOR, Server, "auth", Nothing),
    row(GEMINI, Server, "authProviderType", Nothing),
    row(GEMINI, Server, "extensionName", Nothing),
    row(ZED, Server, "source", Nothing),
    row(ZED, Server, "settings", Nothing),
    row(ZED, Server, "remote", Nothing),
    row(GOOSE, Server, "bundled", Nothing),
    row(GOOSE, Server, "name", Nothing),
    row(GOOSE, Server, "display_name", Nothing),
    row(CONTINUE, Server, "title", Nothing),
    row(CHERRY, Server, "icon", Nothing),
];

/// The row of a key at a place; in the file, the key with those around it, `mcp.allowed`.
pub(super) fn row_of(place: Place, key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.place == place && row.key == key)
}

/// The effect of a key at a place.
pub(super) fn effect(place: Place, key: &str) -> Option<Effect> {
    row_of(place, key).map(|row| row.effect)
}

/// The keys at a place with an effect, in the order in which they are preferred.
pub(super) fn keys(place: Place, effect: Effect) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(move |row| row.place == place && row.effect == effect).map(|row| row.key)
}

/// Whether a key is a comment: `_comment`, `$schema`, `//`, `comment`.
pub(super) fn is_comment(key: &str) -> bool {
    key.starts_with(['_', '$', '#']) || key.starts_with("//") || matches!(key, "comment" | "comments")
}

/// The beginnings of words that say that a key shuts something off.
const GUARDING: &[&str] = &[
    "allow", "deny", "denie", "block", "exclu", "inclu", "enabl", "disabl", "restrict", "permi", "approv",
    "sandbox",
];

/// Whether an unknown key may shut something off, by a word of its name: it is not passed over.
pub(super) fn guards(key: &str) -> bool {
    words(key).any(|word| word == "only" || GUARDING.iter().any(|start| word.starts_with(start)))
}

/// The words of a name in small letters: `disabledTools`, `disabled_tools` and `chat.disabled-tools` have two
/// and three.
fn words(key: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in key.chars().take(200) {
        let begins = !character.is_alphanumeric() || (was_small && character.is_uppercase());
        if begins {
            words.push(String::new());
        }
        was_small = character.is_lowercase() || character.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.into_iter()
}

/// What a word of a client says about a tool. A word that is not known means that a person is asked.
pub(super) fn verdict(word: &str) -> Verdict {
    match word {
        "deny" | "reject" | "never" => Verdict::Denied,
        "allow" | "approve" | "auto" => Verdict::Allowed,
        _ => Verdict::Asked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_effect_at_a_place() {
        for (at, row) in ROWS.iter().enumerate() {
            let again =
                ROWS.iter().skip(at + 1).find(|other| other.place == row.place && other.key == row.key);
            assert!(again.is_none(), "{row:?} {again:?}");
            assert!(row.link.starts_with("https://") && !row.client.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn what_sounds_as_if_it_shut_something_off_is_not_passed_over() {
        for key in
            ["allowlist", "toolsAllowed", "deny-tools", "blocked_tools", "excludes", "include", "enabledFor"]
        {
            assert!(guards(key), "{key}");
        }
        for key in
            ["disable", "restrictedTo", "readOnly", "Only", "toolPermissions", "chat.approvals", "sandboxed"]
        {
            assert!(guards(key), "{key}");
        }
        for key in ["shallow", "commonly", "timeout", "note", "unblock", "", "é"] {
            assert!(!guards(key), "{key}");
        }
        for comment in ["_comment", "$schema", "//", "#", "comment", "comments"] {
            assert!(is_comment(comment), "{comment}");
        }
        assert!(!is_comment("a_b") && !is_comment("command"));
    }

    /// The page prints the keys that shut something off.
    #[test]
    fn the_page_has_a_line_for_each_key_that_shuts_something_off() {
        let page = include_str!("../../MCP.md");
        let shuts = |effect: Effect| {
            let yes = [
                AllowServers,
                AllowTools,
                DenyServers,
                DenyTools,
                Rules,
                ToolKeys,
                OffIf(true),
                OffIf(false),
            ];
            yes.contains(&effect)
        };
        for row in ROWS.iter().filter(|row| shuts(row.effect)) {
            let place = if row.place == File { "the file" } else { "a server" };
            let line = format!("| [{}]({}) | {place} | `{}` |", row.client, row.link, row.key);
            assert!(page.contains(&line), "MCP.md is without\n{line}");
        }
    }
}
