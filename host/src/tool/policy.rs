//! The policies of the tools file: the allowed tools of a server, and the rules for each tool. Claims of a
//! server about its tools are not used.

use super::named::{Named, Verdict};
use crate::interrupt::Interrupt;
use ilo_asm::catalog::Validation;
use ilo_drive::policy::{OnDoubt, Policy, Rate};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest interval between checks for an interrupt.
const LOOK: Duration = Duration::from_millis(20);

/// The rules in one block of the tools file; what it leaves open, an outer block decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) read_only: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) retries: Option<u32>,
    pub(crate) confirm: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel_grace: Option<Duration>,
    pub(crate) bytes: Option<bool>,
    pub(crate) on_doubt: Option<OnDoubt>,
    pub(crate) requires_rollback: Option<bool>,
    pub(crate) rate: Option<Rate>,
    pub(crate) json: Option<bool>,
    pub(crate) integers_as_text: Option<bool>,
    pub(crate) deferred: Option<bool>,
    pub(crate) validate: Option<Validation>,
}

impl Rules {
    /// The rules of a policy that leaves nothing open.
    pub(crate) fn of(policy: &Policy) -> Rules {
        Rules {
            read_only: Some(policy.read_only),
            idempotent: Some(policy.idempotent),
            retries: Some(policy.retries),
            confirm: Some(policy.confirm),
            timeout: policy.timeout,
            cancel_grace: policy.cancel_grace,
            bytes: Some(policy.bytes),
            on_doubt: Some(policy.on_doubt),
            requires_rollback: Some(policy.requires_rollback),
            rate: policy.rate,
            json: Some(policy.json),
            integers_as_text: Some(policy.integers_as_text),
            deferred: Some(policy.deferred),
            validate: None,
        }
    }

    /// These rules, completed by the outer ones. Outer retries apply only to idempotent tools, and outer
    /// confirmation only to tools that change something.
    pub(crate) fn within(&self, around: &Rules) -> Rules {
        let read_only = self.read_only.or(around.read_only);
        let idempotent = self.idempotent.or(around.idempotent);
        Rules {
            read_only,
            idempotent,
            retries: self.retries.or(around.retries.filter(|_| idempotent == Some(true))),
            confirm: self.confirm.or(around.confirm.filter(|_| read_only != Some(true))),
            timeout: self.timeout.or(around.timeout),
            cancel_grace: self.cancel_grace.or(around.cancel_grace.filter(|_| read_only != Some(true))),
            bytes: self.bytes.or(around.bytes),
            on_doubt: self.on_doubt.or(around.on_doubt),
            requires_rollback: self
                .requires_rollback
                .or(around.requires_rollback.filter(|_| read_only != Some(true))),
            rate: self.rate.or(around.rate),
            json: self.json.or(around.json),
            integers_as_text: self.integers_as_text.or(around.integers_as_text),
            deferred: self.deferred.or(around.deferred),
            validate: self.validate.or(around.validate),
        }
    }

    /// The resulting policy.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            read_only: self.read_only.unwrap_or(false),
            idempotent: self.idempotent.unwrap_or(false),
            retries: self.retries.unwrap_or(0),
            confirm: self.confirm.unwrap_or(false),
            timeout: self.timeout,
            cancel_grace: self.cancel_grace,
            bytes: self.bytes.unwrap_or(false),
            on_doubt: self.on_doubt.unwrap_or_default(),
            requires_rollback: self.requires_rollback.unwrap_or(false),
            rate: self.rate,
            json: self.json.unwrap_or(false),
            integers_as_text: self.integers_as_text.unwrap_or(false),
            deferred: self.deferred.unwrap_or(false),
            waits: false,
        }
    }
}

/// The settings for the tools of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerPolicy {
    /// The allowed tools; if absent, all.
    pub(crate) allow: Option<BTreeSet<String>>,
    /// The excluded tools; this has priority.
    pub(crate) deny: BTreeSet<String>,
    /// The rules for all tools.
    pub(crate) all: Rules,
    /// The rules for single tools.
    pub(crate) tools: BTreeMap<String, Rules>,
    /// The name of the server, by which the file of a client speaks of its tools.
    pub(crate) server: String,
    /// What such a file says in the server, and outside of it.
    pub(crate) listed: Named,
    pub(crate) named: Arc<Named>,
}

impl ServerPolicy {
    /// Whether programs may use a tool.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        !self.deny.contains(tool)
            && self.allow.as_ref().is_none_or(|allowed| allowed.contains(tool))
            && self.verdict(tool) != Verdict::Denied
    }

    /// What the file of a client says about a tool.
    fn verdict(&self, tool: &str) -> Verdict {
        self.listed.verdict(&self.server, tool).max(self.named.verdict(&self.server, tool))
    }

    /// The rules for a tool.
    pub(crate) fn rules(&self, tool: &str) -> Rules {
        let rules = self.tools.get(tool).unwrap_or(&Rules::default()).within(&self.all);
        let asked = self.verdict(tool) == Verdict::Asked && rules.read_only != Some(true);
        if asked { Rules { confirm: Some(true), ..rules } } else { rules }
    }

    /// All tools that are named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let allowed = self.allow.iter().flatten();
        allowed.chain(&self.deny).chain(self.tools.keys()).map(String::as_str)
    }
}

/// The end of the pause before a retry, counted from 0; nothing if there is no time left for it.
pub(crate) fn pause_end(retry: u32, until: Instant) -> Option<Instant> {
    let (least, longest) = Policy::pause(retry);
    let span = u64::try_from(longest.saturating_sub(least).as_nanos()).unwrap_or(1).max(1);
    let wait = least + Duration::from_nanos(RandomState::new().hash_one(retry) % span);
    Instant::now().checked_add(wait).filter(|&end| end < until)
}

/// Waits before a retry, counted from 0. Returns whether there is still time for it.
pub(super) fn pause(retry: u32, until: Instant, interrupt: &Interrupt) -> bool {
    let Some(end) = pause_end(retry, until) else { return false };
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if interrupt.is_set() {
            return false;
        } else if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
