//! Reads an entry under `mcpServers` in the format of MCP clients, with ilo's own key `policy`.

use super::policy::RULES;
use super::text::Step;
use super::{Fields, Reading};
use crate::mcp::server_config::{Server, Way};
use crate::tool::policy::{Rules, ServerPolicy};
use crate::tool::secrets::{Found, Secrets};
use ilo_asm::catalog::ADDRESS;
use ilo_drive::data::Data;
use ilo_drive::problem::shortened;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Keys of a server in the format of MCP clients.
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
    "policy",
];
/// Other clients' keys for `url`.
const URLS: &[&str] = &["url", "serverUrl", "httpUrl"];
/// Other clients' keys for the list of allowed tools, with `*` for all.
const ALLOWING: &[&str] = &["includeTools", "enabledTools", "enabled_tools", "tools"];
/// Other clients' keys for the list of excluded tools.
const DENYING: &[&str] = &["excludeTools", "disabledTools", "disabled_tools"];
/// Other clients' keys for further sources of settings.
const UNSPOKEN: &[&str] = &["envFile", "headersHelper"];
/// Keys outside a policy that look like keys of a policy.
const MISPLACED: &[&str] = &["policies", "permissions"];
/// Keys of a policy in addition to those of a single tool.
const POLICY: &[&str] = &["allow", "deny", "tools"];

/// The secrets in the settings of a server; `expanded` are variables with their values.
fn secrets_of(way: &Way, expanded: &[(String, String)]) -> Secrets {
    let mut found = Found::default();
    match way {
        Way::Program { arguments, environment, .. } => {
            environment.iter().for_each(|(name, value)| found.environment(name, value));
            found.arguments(arguments, expanded);
        }
        Way::Http { url, headers } => {
            found.url(url, expanded);
            headers.iter().for_each(|(name, value)| found.header(name, value));
        }
        Way::None => {}
    }
    found.secrets()
}

impl Reading {
    pub(super) fn server(&mut self, name: &str, data: &Data) -> Option<Server> {
        if name.is_empty() || name.contains('/') {
            self.wrong(format!(
                "a server's name is not empty and has no `/`, since tools are named `{ADDRESS}`"
            ));
        }
        let fields = self.record(data)?;
        let also = [URLS, ALLOWING, DENYING, UNSPOKEN, MISPLACED, POLICY, RULES].concat();
        self.keys_also(fields, SERVER, &also);
        self.misplaced(fields);
        let disabled = self.field(fields, "disabled", Reading::flag).unwrap_or(false);
        let timeout = self.field(fields, "timeout", |this, data| this.count(data, 1));
        let policy = self.policy(fields);
        self.expanded.clear();
        let way = self.way(fields);
        let secrets = secrets_of(&way, &self.expanded);
        let timeout = timeout.map_or(Server::TIMEOUT, Duration::from_millis);
        let server = Server { name: name.to_owned(), way, timeout, policy, secrets, lacks: Vec::new() };
        (!disabled).then_some(server)
    }

    /// How the server is reached. Obstacles have been reported already.
    fn way(&mut self, fields: &Fields) -> Way {
        let given = |key: &str| fields.iter().any(|(name, _)| name == key);
        let url_key = URLS.iter().copied().find(|key| given(key)).unwrap_or("url");
        let command = self.field(fields, "command", Reading::filled);
        let url = self.field(fields, url_key, Reading::filled);
        let arguments = self.field(fields, "args", Reading::filled_texts).unwrap_or_default();
        let environment = self.field(fields, "env", Reading::environment).unwrap_or_default();
        let folder = self.field(fields, "cwd", Reading::filled);
        let headers = self.field(fields, "headers", Reading::filled_named).unwrap_or_default();
        if let Some(url) = &url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            let mut secrets = Found::default();
            secrets.url(url, &self.expanded);
            let shown = shortened(&secrets.secrets().hidden(url), 80);
            self.inside(Step::Key(url_key.to_owned()), |this| {
                this.wrong(format!("expected `http://…` or `https://…`, found `{shown}`"));
            });
        }
        match (given("command"), given(url_key)) {
            (true, true) => self.wrong(format!("expected `command` or `{url_key}`, found both")),
            (false, false) => self.wrong("expected `command` or `url`, found neither"),
            _ if command.as_deref() == Some("") => self.wrong("`command` is empty"),
            _ => {}
        }
        self.unspoken(fields);
        match (command, url) {
            (Some(program), _) => {
                let folder = folder.map_or_else(|| self.folder.clone(), |folder| self.folder.join(folder));
                let program = self.seen_from_here(program);
                Way::Program { program, arguments, folder, environment }
            }
            (None, Some(url)) => Way::Http { url, headers },
            (None, None) => Way::None,
        }
    }

    /// Reports settings of other clients that ilo does not support and without which the server would not
    /// work.
    fn unspoken(&mut self, fields: &Fields) {
        for (key, value) in fields {
            let message = match (key.as_str(), value) {
                ("type" | "transport", Data::Text(way)) if way == "sse" => {
                    "the transport of the older protocol, `sse`, is not spoken; give the URL of the server's streamable \
                     HTTP, with the type `http`"
                }
                ("envFile", _) => "files of variables are not read; write the variables under `env`",
                ("headersHelper", _) => {
                    "no command is run for headers; write them under `headers`, with `${NAME}`"
                }
                _ => continue,
            };
            self.inside(Step::Key(key.clone()), |this| this.lacks(message));
        }
    }

    /// Reports keys of a policy outside of it: otherwise they would silently protect nothing.
    fn misplaced(&mut self, fields: &Fields) {
        for (key, _) in fields {
            let known = |keys: &[&str]| keys.contains(&key.as_str());
            let hint = match key.as_str() {
                "tools" => continue,
                _ if known(MISPLACED) => "did you mean `policy`?".to_owned(),
                _ if known(POLICY) || known(RULES) => format!("write it as `\"policy\": {{\"{key}\": …}}`"),
                _ => continue,
            };
            self.inside(Step::Key(key.clone()), |this| {
                this.wrong(format!("`{key}` has no meaning here; {hint}"));
            });
        }
    }

    /// The allowed tools and their policies. The lists of other clients count too: what they exclude is
    /// excluded here.
    fn policy(&mut self, fields: &Fields) -> ServerPolicy {
        let mut policy = self.field(fields, "policy", Reading::own_policy).unwrap_or_default();
        for key in ALLOWING {
            let names = self.field(fields, key, Reading::names).filter(|names| !names.contains("*"));
            policy.allow = match (policy.allow, names) {
                (Some(own), Some(names)) => Some(own.intersection(&names).cloned().collect()),
                (own, names) => own.or(names),
            };
        }
        for key in DENYING {
            policy.deny.extend(self.field(fields, key, Reading::names).unwrap_or_default());
        }
        policy
    }

    fn own_policy(&mut self, data: &Data) -> Option<ServerPolicy> {
        let fields = self.record(data)?;
        let client = std::mem::replace(&mut self.client, false);
        self.keys(fields, &[POLICY, RULES].concat());
        let allow = self.field(fields, "allow", Reading::names);
        let deny = self.field(fields, "deny", Reading::names).unwrap_or_default();
        let all = self.rules(fields);
        let tools = self.field(fields, "tools", |this, data| this.single_rules(data, &all));
        self.client = client;
        let policy = ServerPolicy { allow, deny, all, tools: tools.unwrap_or_default() };
        self.contradictions(&policy);
        Some(policy)
    }

    fn single_rules(&mut self, data: &Data, all: &Rules) -> Option<BTreeMap<String, Rules>> {
        let mut single = BTreeMap::new();
        for (name, data) in self.record(data)? {
            let read = |this: &mut Reading| {
                let fields = this.record(data)?;
                this.keys(fields, RULES);
                Some(this.checked_rules(fields, all))
            };
            let rules = self.inside(Step::Key(name.clone()), read);
            single.extend(rules.map(|rules| (name.clone(), rules)));
        }
        Some(single)
    }

    /// Reports contradictions in a policy.
    fn contradictions(&mut self, policy: &ServerPolicy) {
        let Rules { read_only, idempotent, retries, confirm, requires_rollback, .. } = policy.all;
        if requires_rollback == Some(true) && read_only == Some(true) {
            let message = "a rollback is for tools that change something, and here all are `read_only`";
            self.inside(Step::Key("rollback".to_owned()), |this| this.wrong(message));
        }
        if confirm == Some(true) && read_only == Some(true) {
            let message = "asking is for tools that change something, and here all are `read_only`";
            self.inside(Step::Key("confirm".to_owned()), |this| this.wrong(message));
        }
        let any = idempotent == Some(true) || policy.tools.values().any(|one| one.idempotent == Some(true));
        if retries.is_some_and(|count| count > 0) && !any {
            let message =
                "only calls of tools that are marked `\"idempotent\": true` are made again, and none is";
            self.inside(Step::Key("retries".to_owned()), |this| this.wrong(message));
        }
        for name in policy.deny.iter().filter(|name| policy.allow.as_ref().is_some_and(|a| a.contains(*name)))
        {
            let message = format!("`{}` is both allowed and denied", shortened(name, 80));
            self.inside(Step::Key("deny".to_owned()), |this| this.wrong(message));
        }
        for name in policy.tools.keys().filter(|name| !policy.allows(name)) {
            let message = "the policy does not allow this tool, so nothing else can hold for it";
            self.inside(Step::Key("tools".to_owned()), |this| {
                this.inside(Step::Key(name.clone()), |this| this.wrong(message));
            });
        }
    }

    fn names(&mut self, data: &Data) -> Option<BTreeSet<String>> {
        Some(self.texts(data)?.into_iter().collect())
    }

    /// A program name with a slash is relative to the tools file; any other name is searched when it starts.
    fn seen_from_here(&self, program: String) -> String {
        let path = Path::new(&program);
        if program.contains(std::path::is_separator) && path.is_relative() {
            self.folder.join(path).display().to_string()
        } else {
            program
        }
    }
}
