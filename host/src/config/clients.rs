//! The keys that MCP clients write into their files: a row for each key of a client, with its place, its
//! effect here, and where the client documents it.
//!
//! What turns a server or a tool off, lists the allowed ones or demands a question has that effect here too.
//! What only makes a client act without asking has none. A key that is in no row is judged by its name: see
//! [`guards`]. `file_keys`, `server` and `reach` read the values.

use crate::tool::named::Standing;
use Effect::{
    AllowServers, AllowTools, Arguments, AskTools, Bearer, CallSeconds, Command, DenyServers, DenyTools,
    Folder, HeaderNames, Headers, Inputs, Milliseconds, Nothing, OffIf, Passed, Rules, Seconds, Servers,
    Token, ToolKeys, Unsupported, Url, Variables,
};
use Place::{File, Server};
use ilo_drive::data::Data;

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
    /// Tools whose calls are confirmed.
    AskTools,
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
    /// A bearer token, where it is a text.
    Token,
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

/// Keys of a client that have the same effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) client: &'static str,
    pub(super) place: Place,
    /// The keys, with blanks between them.
    keys: &'static str,
    pub(super) effect: Effect,
    pub(super) link: &'static str,
}

const fn row(of: Documented, place: Place, keys: &'static str, effect: Effect) -> Row {
    Row { client: of.0, place, keys, effect, link: of.1 }
}

impl Row {
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.keys.split_ascii_whitespace()
    }
}

/// The name of a client, and its documentation.
type Documented = (&'static str, &'static str);

const AMAZON_Q: Documented =
    ("Amazon Q, Kiro", "https://aws.github.io/amazon-q-developer-cli/agent-format.html");
const AMP: Documented = ("Amp", "https://ampcode.com/manual#mcp");
const AMP_RULES: Documented = ("Amp", "https://ampcode.com/manual/appendix#permissions-configuration");
const AMP_SERVERS: Documented = ("Amp", "https://ampcode.com/manual#mcp-server-permissions");
const ANYTHING: Documented = ("AnythingLLM", "https://docs.anythingllm.com/mcp-compatibility/overview");
const CHERRY: Documented = ("Cherry Studio", "https://docs.cherry-ai.com/docs/en-us/advanced-basic/mcp");
const CLAUDE: Documented = ("Claude Code", "https://code.claude.com/docs/en/settings");
const CLAUDE_MCP: Documented = ("Claude Code", "https://code.claude.com/docs/en/mcp");
const DESKTOP: Documented =
    ("Claude Desktop", "https://modelcontextprotocol.io/docs/develop/connect-local-servers");
const CLINE: Documented = ("Cline", "https://docs.cline.bot/mcp/configuring-mcp-servers");
const CODEX: Documented = ("Codex", "https://developers.openai.com/codex/config-reference");
const CONTINUE: Documented = ("Continue", "https://docs.continue.dev/customize/deep-dives/mcp");
const COPILOT: Documented = (
    "Copilot",
    "https://docs.github.com/en/copilot/how-tos/use-copilot-agents/coding-agent/extend-coding-agent-with-mcp",
);
const CRUSH: Documented =
    ("Crush", "https://github.com/charmbracelet/crush/tree/main/docs/config#legacy-json");
const CURSOR: Documented = ("Cursor, LM Studio", "https://cursor.com/docs/context/mcp");
const FASTMCP: Documented = ("FastMCP", "https://gofastmcp.com/clients/client#configuration-format");
const GEMINI: Documented = ("Gemini CLI, Qwen Code", "https://geminicli.com/docs/tools/mcp-server");
const GEMINI_FILE: Documented = ("Gemini CLI, Qwen Code", "https://geminicli.com/docs/cli/configuration");
const GOOSE_MODES: Documented = ("Goose", "https://block.github.io/goose/docs/guides/goose-permissions");
const GOOSE: Documented = ("Goose", "https://block.github.io/goose/docs/guides/config-files");
const JAN: Documented = ("Jan, AstrBot", "https://www.jan.ai/docs/desktop/mcp");
const LIBRECHAT: Documented =
    ("LibreChat", "https://www.librechat.ai/docs/configuration/librechat_yaml/object_structure/mcp_servers");
const MCPHOST: Documented = ("MCPHost", "https://github.com/mark3labs/mcphost");
const OPENAI: Documented = ("OpenAI", "https://platform.openai.com/docs/guides/tools-remote-mcp");
const OPENCODE: Documented = ("opencode", "https://opencode.ai/docs/mcp-servers");
const OPENCODE_FILE: Documented = ("opencode", "https://opencode.ai/docs/permissions");
const ROO: Documented = ("Roo Code, Kilo Code", "https://docs.roocode.com/features/mcp/using-mcp-in-roo");
const VSCODE: Documented =
    ("VS Code", "https://code.visualstudio.com/docs/agents/reference/mcp-configuration");
const VSCODE_SETTINGS: Documented =
    ("VS Code", "https://code.visualstudio.com/docs/agents/reference/copilot-settings");
const WARP: Documented = ("Warp", "https://docs.warp.dev/agents/capabilities/mcp");
const WINDSURF: Documented = ("Windsurf, Antigravity", "https://docs.windsurf.com/windsurf/cascade/mcp");
const ZED: Documented = ("Zed", "https://zed.dev/docs/ai/mcp");
const ZED_FILE: Documented = ("Zed", "https://zed.dev/docs/ai/tool-permissions");

pub(super) const SANDBOX: &str =
    "a sandbox of another client is not built here; run the server in a container, or leave the key out";
const ELSEWHERE: &str = "no server is started on another machine; leave the key out to start it on this one";
const ENV_FILE: &str = "files of variables are not read; write the variables under `env`";

/// The rows. A key has one effect at a place, whoever writes it.
pub(super) const ROWS: &[Row] = &[
    // The records of servers.
    row(DESKTOP, File, "mcpServers", Servers),
    row(VSCODE, File, "servers mcp.servers", Servers),
    row(CODEX, File, "mcp_servers", Servers),
    row(ZED, File, "context_servers", Servers),
    row(OPENCODE, File, "mcp", Servers),
    row(AMP, File, "amp.mcpServers", Servers),
    row(GOOSE, File, "extensions", Servers),
    // What a file says about servers and tools.
    row(VSCODE, File, "inputs mcp.inputs", Inputs),
    row(GEMINI, File, "mcp.allowed", AllowServers),
    row(GEMINI, File, "mcp.excluded", DenyServers),
    row(GEMINI_FILE, File, "allowMCPServers", AllowServers),
    row(GEMINI_FILE, File, "excludeMCPServers", DenyServers),
    row(GEMINI_FILE, File, "excludeTools tools.exclude", DenyTools),
    row(GEMINI_FILE, File, "tools.confirmationRequired", AskTools),
    row(GEMINI_FILE, File, "admin.mcp.enabled", OffIf(false)),
    row(CLAUDE, File, "enabledMcpjsonServers allowedMcpServers", AllowServers),
    row(CLAUDE, File, "disabledMcpjsonServers disabledMcpServers deniedMcpServers", DenyServers),
    row(CLAUDE, File, "permissions", Rules),
    row(AMAZON_Q, File, "tools", Rules),
    row(VSCODE_SETTINGS, File, "chat.mcp.access", Rules),
    row(VSCODE_SETTINGS, File, "chat.mcp.enabled chat.agent.enabled", OffIf(false)),
    row(VSCODE_SETTINGS, File, "chat.disableAIFeatures", OffIf(true)),
    row(AMP, File, "amp.tools.disable", DenyTools),
    row(AMP_RULES, File, "amp.permissions", Rules),
    row(AMP_SERVERS, File, "amp.mcpPermissions", Rules),
    row(CRUSH, File, "options.disabled_tools", DenyTools),
    row(OPENCODE_FILE, File, "permission", Rules),
    row(ZED_FILE, File, "agent", Rules),
    row(GOOSE_MODES, File, "GOOSE_MODE", Rules),
    row(
        GOOSE,
        File,
        "GOOSE_ALLOWLIST",
        Unsupported("lists of allowed programs are not fetched from their address"),
    ),
    row(
        LIBRECHAT,
        File,
        "mcpSettings.allowedDomains mcpSettings.allowedAddresses",
        Unsupported("addresses of servers are not compared with a list"),
    ),
    row(ZED, File, "disable_ai", OffIf(true)),
    row(ZED, File, "context_server_timeout", CallSeconds),
    // What only sounds as if it shut off servers or tools.
    row(GEMINI, File, "mcp.serverCommand approvalMode", Nothing),
    row(AMAZON_Q, File, "allowedTools includeMcpJson", Nothing),
    row(
        CLAUDE,
        File,
        "enableAllProjectMcpServers sandbox bypassPermissionsModeAccepted skipDangerousModePermissionPrompt \
         allowManagedMcpServersOnly allowManagedPermissionRulesOnly autoPermissionsNotificationCount",
        Nothing,
    ),
    row(DESKTOP, File, "allowDevTools", Nothing),
    row(
        CODEX,
        File,
        "approval_policy approvals_reviewer sandbox_mode sandbox_workspace_write default_permissions \
         include_apply_patch_tool include_permissions_instructions",
        Nothing,
    ),
    row(ZED_FILE, File, "enable_language_server", Nothing),
    row(
        VSCODE_SETTINGS,
        File,
        "chat.mcp.discovery.enabled chat.mcp.gallery.enabled chat.mcp.apps.enabled \
         chat.extensionTools.enabled chat.tools.autoApprove chat.tools.global.autoApprove \
         chat.tools.edits.autoApprove chat.tools.urls.autoApprove chat.tools.terminal.autoApprove \
         chat.tools.terminal.enableAutoApprove",
        Nothing,
    ),
    // What turns a server off.
    row(CLINE, Server, "disabled", OffIf(true)),
    row(CODEX, Server, "enabled", OffIf(false)),
    row(CHERRY, Server, "isActive", OffIf(false)),
    row(JAN, Server, "active", OffIf(false)),
    row(ANYTHING, Server, "anythingllm.autoStart", OffIf(false)),
    // What says which of its tools there are, and which are asked about.
    row(CODEX, Server, "enabled_tools", AllowTools),
    row(CODEX, Server, "disabled_tools", DenyTools),
    row(GEMINI, Server, "includeTools", AllowTools),
    row(GEMINI, Server, "excludeTools", DenyTools),
    row(COPILOT, Server, "tools", ToolKeys),
    row(GOOSE, Server, "available_tools", AllowTools),
    row(ROO, Server, "enabledTools", AllowTools),
    row(ROO, Server, "disabledTools", DenyTools),
    row(MCPHOST, Server, "allowedTools", AllowTools),
    row(MCPHOST, Server, "excludedTools", DenyTools),
    row(OPENAI, Server, "allowed_tools", AllowTools),
    row(ANYTHING, Server, "anythingllm.suppressedTools", DenyTools),
    row(CODEX, Server, "default_tools_approval_mode", Rules),
    row(OPENAI, Server, "require_approval", Rules),
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
    row(WARP, Server, "working_directory", Folder),
    row(GEMINI, Server, "httpUrl", Url),
    row(WINDSURF, Server, "serverUrl", Url),
    row(CURSOR, Server, "url", Url),
    row(GOOSE, Server, "uri", Url),
    row(CURSOR, Server, "headers", Headers),
    row(CODEX, Server, "http_headers", Headers),
    row(CODEX, Server, "env_http_headers", HeaderNames),
    row(CONTINUE, Server, "requestOptions.headers", Headers),
    row(CODEX, Server, "bearer_token_env_var", Bearer),
    // A record of Cursor says how one signs in.
    row(FASTMCP, Server, "auth", Token),
    row(CODEX, Server, "startup_timeout_sec", Seconds),
    row(CODEX, Server, "startup_timeout_ms", Milliseconds),
    row(CODEX, Server, "tool_timeout_sec", CallSeconds),
    row(CONTINUE, Server, "connectionTimeout", Milliseconds),
    row(LIBRECHAT, Server, "initTimeout", Milliseconds),
    // What a server may not be without.
    row(VSCODE, Server, "envFile env_file", Unsupported(ENV_FILE)),
    row(
        CLAUDE_MCP,
        Server,
        "headersHelper",
        Unsupported("no command is run for headers; write them under `headers`, with `${NAME}`"),
    ),
    row(VSCODE, Server, "sandbox", Unsupported(SANDBOX)),
    row(CODEX, Server, "experimental_environment", Unsupported(ELSEWHERE)),
    // What lets a client act without asking, and what says nothing about tools. Of `sandboxEnabled` only
    // `true` has an effect: that of `sandbox`.
    row(VSCODE, Server, "sandboxEnabled dev gallery version", Nothing),
    row(CLINE, Server, "autoApprove transportType", Nothing),
    row(ROO, Server, "alwaysAllow watchPaths", Nothing),
    row(GEMINI, Server, "trust authProviderType extensionName targetAudience targetServiceAccount", Nothing),
    row(CODEX, Server, "required supports_parallel_tool_calls scopes oauth_resource", Nothing),
    row(CLAUDE_MCP, Server, "oauth alwaysLoad", Nothing),
    row(
        LIBRECHAT,
        Server,
        "startup chatMenu iconPath serverInstructions requiresOAuth customUserVars",
        Nothing,
    ),
    row(
        CRUSH,
        Server,
        "sessionless channel_enabled channel_reply oauth_client_id oauth_client_secret oauth_callback_port",
        Nothing,
    ),
    row(ZED, Server, "source settings remote", Nothing),
    row(GOOSE, Server, "bundled name display_name description transport", Nothing),
    row(CONTINUE, Server, "title serverName faviconUrl sourceFile", Nothing),
    row(CHERRY, Server, "icon key", Nothing),
    row(WARP, Server, "start_on_launch", Nothing),
];

/// The row of a key at a place; in the file, the key with those around it, `mcp.allowed`.
pub(super) fn row_of(place: Place, key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.place == place && row.keys().any(|one| one == key))
}

/// Whether a key at a place begins with this.
pub(super) fn begins(place: Place, text: &str) -> bool {
    ROWS.iter().any(|row| row.place == place && row.keys().any(|key| key.starts_with(text)))
}

/// The effect of a key at a place.
pub(super) fn effect(place: Place, key: &str) -> Option<Effect> {
    row_of(place, key).map(|row| row.effect)
}

/// The keys at a place with an effect, in the order in which they are preferred.
pub(super) fn keys(place: Place, effect: Effect) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(move |row| row.place == place && row.effect == effect).flat_map(Row::keys)
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
/// What else a key of the file must name to be about servers: a file may be all settings of an editor.
const SUBJECTS: &str = "mcp server tool agent ai connector permission approval sandbox network domain host list rule policy name";

/// Whether an unknown key may shut something off, by a word of its name: it is not passed over.
pub(super) fn guards(key: &str) -> bool {
    words(key).any(|word| word == "only" || GUARDING.iter().any(|start| word.starts_with(start)))
}

/// Whether an unknown key of the file may shut off servers or tools: `toolAllowlist` and `excluded` may,
/// `files.exclude` does not.
pub(super) fn guards_all(key: &str) -> bool {
    let names = |word: &str| {
        SUBJECTS.split(' ').any(|subject| word == subject || word.strip_suffix('s') == Some(subject))
    };
    guards(key)
        && (words(key).all(|word| word == "all" || guards(&word)) || words(key).any(|word| names(&word)))
}

/// Whether an unknown key of a server may turn it off: by its name, or by `"state": "disabled"` and the like.
pub(super) fn may_be_off(key: &str, value: &Data) -> bool {
    const OFF: [&str; 6] = ["disabled", "hidden", "inactive", "off", "paused", "skip"];
    guards(key)
        || words(key).any(|word| word == "active" || OFF.contains(&&*word))
        || value.as_text().is_some_and(|word| OFF.contains(&word))
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
pub(super) fn verdict(word: &str) -> Standing {
    match word {
        "deny" | "reject" | "never" => Standing::Denied,
        "allow" | "approve" | "auto" => Standing::Allowed,
        _ => Standing::Asked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_effect_at_a_place() {
        let mut seen = Vec::new();
        for row in ROWS {
            for key in row.keys() {
                assert!(!seen.contains(&(row.place, key)), "{key}");
                seen.push((row.place, key));
            }
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
        for key in [
            "toolAllowlist",
            "denied-servers",
            "excluded",
            "allowlist",
            "mcp.blocked",
            "disableAllTools",
            "disableAll",
        ] {
            assert!(guards_all(key), "{key}");
        }
        for key in ["files.exclude", "git.enableSmartCommit", "read_only_files", "disableAllHooks", "colour"]
        {
            assert!(!guards_all(key), "{key}");
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
                AskTools,
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
            for key in row.keys() {
                let line = format!("| [{}]({}) | {place} | `{key}` |", row.client, row.link);
                assert!(page.contains(&line), "MCP.md is without\n{line}");
            }
        }
    }
}
