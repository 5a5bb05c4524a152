//! Reads an entry under `mcpServers` in the format of MCP clients, with ilo's own key `policy`.

use super::clients::{self, Effect, Place, begins, effect, guards, is_comment, keys, may_be_off};
use super::policy::{RULES, checked_rules, rules};
use super::reach::{times, unsupported, way};
use super::text::Step;
use super::{Fields, Reading};
use crate::mcp::server_config::Server;
use crate::tool::named::{Group, Standing};
use crate::tool::policy::{Rules, ServerPolicy};
use ilo_drive::data::Data;
use ilo_drive::problem::{nearest, shortened};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Keys of a server that are suggested for a misspelt one.
pub(super) const SERVER: &[&str] =
    &["command", "args", "env", "cwd", "url", "headers", "type", "timeout", "disabled", "policy"];
/// Keys outside a policy that look like keys of a policy.
pub(super) const MISPLACED: &[&str] = &["policies", "permissions"];
/// Keys of a policy in addition to those of a single tool.
pub(super) const POLICY: &[&str] = &["allow", "deny", "tools"];

/// The name of a server in the names of its tools, `mcp://server/tool`: a `/` would end it.
pub(super) fn name_in_address(name: &str) -> String {
    name.replace('/', "%2F")
}

/// A key in a record of a server under which is a list that may turn something off, and that is not known.
fn unknown_list<'d>(key: &str, value: &'d Data) -> Option<&'d str> {
    let Data::Record(fields) = value else { return None };
    let is_list = |value: &Data| value.as_list().is_some_and(|items| !items.is_empty());
    let unknown = |name: &str| effect(Place::Server, &format!("{key}.{name}")).is_none();
    let found = fields.iter().find(|(name, value)| is_list(value) && guards(name) && unknown(name));
    found.map(|(name, _)| name.as_str())
}

impl Reading {
    /// Reads a server; `None` if it cannot be read, or is turned off.
    pub(super) fn server(&mut self, name: &str, data: &Data) -> Option<Server> {
        if name.is_empty() {
            self.wrong("a server's name is not empty, since tools are named `mcp://server/tool`");
        }
        let fields = self.record(data)?;
        self.server_keys(fields);
        if let Some(why) = self.turned_off(name, fields) {
            self.off.push((name_in_address(name), why));
            return None;
        }
        self.misplaced(fields);
        let (starting, call) = times(self, fields);
        let mut policy = self.policy(name, fields);
        policy.all.timeout = policy.all.timeout.or(call).or(self.file.call_time);
        self.expanded.clear();
        self.asked.clear();
        let way = way(self, fields);
        unsupported(self, fields);
        for (path, message) in self.file.refusals.clone() {
            self.lacks(format!("the key `{path}` of the file {message}"));
        }
        let secrets = way.secrets(&self.expanded);
        let timeout = starting.unwrap_or(Server::TIMEOUT);
        let inputs = self.inputs.iter().filter(|input| self.asked.contains(&input.id)).cloned().collect();
        let name = name_in_address(name);
        Some(Server { name, way, timeout, policy, secrets, lacks: Vec::new(), inputs })
    }

    /// The key that turns a server off.
    fn turned_off(&mut self, name: &str, fields: &Fields) -> Option<String> {
        for value in [true, false] {
            for key in keys(Place::Server, Effect::OffIf(value)) {
                if self.field(fields, key, Reading::flag) == Some(value) {
                    let client = clients::row_of(Place::Server, key).map_or("", |row| row.client);
                    return Some(format!("`{key}`, a key of {client}"));
                }
            }
        }
        if self.file.refuses(fields) {
            return Some("`amp.mcpPermissions` of the file".to_owned());
        }
        self.file.off(name)
    }

    /// Judges the keys of a server. A misspelt one is an error. An unknown one of another client refuses the
    /// server if it may shut something off; otherwise it is passed over with a warning.
    fn server_keys(&mut self, fields: &Fields) {
        let own = [MISPLACED, POLICY, RULES, SERVER].concat();
        let mut passed_over = Vec::new();
        for (key, value) in fields {
            let known =
                own.contains(&key.as_str()) || effect(Place::Server, key).is_some() || is_comment(key);
            if known || self.is_full() {
                continue;
            }
            if let Some(inner) = self.client.then(|| unknown_list(key, value)).flatten() {
                let message = "is an unknown list, and may turn tools off, so the server is not used; write what it means \
                               as `policy`";
                let shown = shortened(inner, 80);
                self.lacks_at(key, format!("`{shown}` {message}"));
                continue;
            }
            if begins(Place::Server, &format!("{key}.")) {
                continue;
            }
            let near = nearest(key, SERVER.iter().copied());
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            let hint = hint.unwrap_or_else(|| format!("known are {}", SERVER.join(", ")));
            if self.client && may_be_off(key, value) {
                let message = "is not known here and may shut something off, so the server is not used; leave it out, or \
                               write what it means as `policy`";
                let shown = shortened(key, 80);
                self.lacks_at(key, format!("`{shown}` {message}"));
            } else if near.is_some() || !self.client {
                self.wrong_at(key, format!("unknown key `{key}`; {hint}"));
            } else {
                passed_over.push(key.as_str());
            }
        }
        self.passed_over(&passed_over);
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
            let message = format!("`{key}` has no meaning here; {hint}");
            self.inside(Step::Key(key.clone()), |this| this.costs(message));
        }
    }

    /// The allowed tools and their policies. The lists of other clients count too: what they exclude is
    /// excluded here.
    fn policy(&mut self, name: &str, fields: &Fields) -> ServerPolicy {
        let mut policy = self.field(fields, "policy", Reading::own_policy).unwrap_or_default();
        name.clone_into(&mut policy.server);
        policy.named = Arc::clone(&self.file.named);
        for key in keys(Place::Server, Effect::AllowTools) {
            let names = self.field(fields, key, Reading::names);
            policy.listed.0.extend(names.map(Group::only));
        }
        for key in keys(Place::Server, Effect::DenyTools) {
            let names = self.field(fields, key, Reading::names);
            policy.listed.0.extend(names.map(|names| Group::of(names, Standing::Denied)));
        }
        for key in keys(Place::Server, Effect::ToolKeys) {
            self.field(fields, key, |this, data| {
                match data {
                    Data::Record(tools) => this.tool_keys(tools, &mut policy),
                    Data::Text(name) => policy.listed.0.push(Group::only([name.clone()])),
                    data => policy.listed.0.extend(this.names(data).map(Group::only)),
                }
                Some(())
            });
        }
        for key in keys(Place::Server, Effect::Rules) {
            self.field(fields, key, |this, data| this.asking(data, &mut policy));
        }
        policy
    }

    /// Settings of a client for single tools: `false`, `{"enabled": false}`, `{"approval_mode": "prompt"}`.
    fn tool_keys(&mut self, tools: &Fields, policy: &mut ServerPolicy) {
        for (name, settings) in tools.iter().filter(|(name, _)| !is_comment(name)) {
            self.inside(Step::Key(name.clone()), |this| {
                let hold = |policy: &mut ServerPolicy, verdict| {
                    policy.listed.0.push(Group::of([name.clone()], verdict));
                };
                let settings = match settings {
                    Data::Bool(true) => return,
                    Data::Bool(false) => return hold(policy, Standing::Denied),
                    Data::Record(settings) => settings,
                    // No tool, but tools: `{"include": […], "exclude": […]}`.
                    Data::List(_) if matches!(name.as_str(), "include" | "allow" | "allowed") => {
                        return policy.listed.0.extend(this.names(settings).map(Group::only));
                    }
                    Data::List(_) if matches!(name.as_str(), "exclude" | "deny" | "disabled" | "blocked") => {
                        let names = this.names(settings).unwrap_or_default();
                        return policy.listed.0.push(Group::of(names, Standing::Denied));
                    }
                    other => {
                        return this
                            .lacks(format!("expected the settings of a tool, found {}", other.kind()));
                    }
                };
                for (key, value) in settings {
                    match (effect(Place::Server, key), key.as_str(), value) {
                        (Some(Effect::OffIf(off)), _, Data::Bool(value)) if off == *value => {
                            hold(policy, Standing::Denied);
                        }
                        (Some(Effect::OffIf(_)), _, Data::Bool(_)) => {}
                        (_, "approval_mode" | "approval" | "permission", Data::Text(word)) => {
                            let said = clients::verdict(word);
                            if said != Standing::Allowed {
                                hold(policy, said);
                            }
                        }
                        _ if guards(key) => {
                            let message =
                                "may shut the tool off and is not known here, so the server is not used";
                            this.lacks(format!("`{}` {message}", shortened(key, 80)));
                        }
                        _ => {}
                    }
                }
            });
        }
    }

    /// A setting of a client that demands questions: a word, or the tools by a word. Here `never` is about
    /// the question.
    fn asking(&mut self, data: &Data, policy: &mut ServerPolicy) -> Option<()> {
        let verdict = |word: &str| if word == "never" { Standing::Allowed } else { clients::verdict(word) };
        match data {
            Data::Text(word) => match verdict(word) {
                Standing::Allowed => {}
                Standing::Asked => {
                    let all = &mut policy.all;
                    all.confirm = all.confirm.or(Some(true).filter(|_| all.read_only != Some(true)));
                }
                Standing::Denied => policy.listed.0.push(Group::of(["*".to_owned()], Standing::Denied)),
            },
            Data::Record(parts) => {
                for (word, tools) in parts.iter().filter(|(word, _)| verdict(word) != Standing::Allowed) {
                    let names = self.names(tools.get("tool_names").unwrap_or(tools))?;
                    policy.listed.0.push(Group::of(names, verdict(word)));
                }
            }
            other => self.lacks(format!("expected a word such as \"prompt\", found {}", other.kind())),
        }
        Some(())
    }

    fn own_policy(&mut self, data: &Data) -> Option<ServerPolicy> {
        let fields = self.record(data)?;
        let client = std::mem::replace(&mut self.client, false);
        self.keys(fields, &[POLICY, RULES].concat());
        let allow = self.field(fields, "allow", Reading::names);
        let deny = self.field(fields, "deny", Reading::names).unwrap_or_default();
        let all = rules(self, fields);
        let tools = self.field(fields, "tools", |this, data| this.single_rules(data, &all));
        self.client = client;
        let tools = tools.unwrap_or_default();
        let policy = ServerPolicy { allow, deny, all, tools, ..ServerPolicy::default() };
        self.contradictions(&policy);
        Some(policy)
    }

    fn single_rules(&mut self, data: &Data, all: &Rules) -> Option<BTreeMap<String, Rules>> {
        let mut single = BTreeMap::new();
        for (name, data) in self.record(data)?.iter().filter(|(name, _)| !clients::is_comment(name)) {
            let read = |this: &mut Reading| {
                let fields = this.record(data)?;
                this.keys(fields, RULES);
                Some(checked_rules(this, fields, all))
            };
            let rules = self.inside(Step::Key(name.clone()), read);
            single.extend(rules.map(|rules| (name.clone(), rules)));
        }
        Some(single)
    }

    /// Reports contradictions in a policy.
    fn contradictions(&mut self, policy: &ServerPolicy) {
        let Rules { read_only, idempotent, retries, confirm, requires_rollback, .. } = policy.all;
        for (key, set, what) in
            [("rollback", requires_rollback, "a rollback"), ("confirm", confirm, "asking")]
        {
            if set == Some(true) && read_only == Some(true) {
                let why = "is for tools that change something, and here all are `read_only`";
                self.wrong_at(key, format!("{what} {why}"));
            }
        }
        let any = idempotent == Some(true) || policy.tools.values().any(|one| one.idempotent == Some(true));
        if retries.is_some_and(|count| count > 0) && !any {
            let message =
                "only calls of tools that are marked `\"idempotent\": true` are made again, and none is";
            self.wrong_at("retries", message);
        }
        for name in policy.deny.iter().filter(|name| policy.allow.as_ref().is_some_and(|a| a.contains(*name)))
        {
            self.wrong_at("deny", format!("`{}` is both allowed and denied", shortened(name, 80)));
        }
        for name in policy.tools.keys().filter(|name| !policy.allows(name)) {
            let message = "the policy does not allow this tool, so nothing else can hold for it";
            self.inside(Step::Key("tools".to_owned()), |this| this.wrong_at(name, message));
        }
    }

    pub(super) fn names(&mut self, data: &Data) -> Option<BTreeSet<String>> {
        Some(self.texts(data)?.into_iter().collect())
    }
}
