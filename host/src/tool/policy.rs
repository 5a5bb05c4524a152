//! The policies of the tools file: the allowed tools of a server, and the rules for each tool. Claims of a
//! server about its tools are not used.

use super::named::{Named, Standing};
use crate::interrupt::Interrupt;
use ilo_drive::policy::Policy;
pub(crate) use ilo_drive::policy::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
            && self.verdict(tool) != Standing::Denied
    }

    /// What the file of a client says about a tool.
    fn verdict(&self, tool: &str) -> Standing {
        self.listed.verdict(&self.server, tool).max(self.named.verdict(&self.server, tool))
    }

    /// The rules for a tool.
    pub(crate) fn rules(&self, tool: &str) -> Rules {
        let rules = self.tools.get(tool).unwrap_or(&Rules::default()).within(&self.all);
        let asked = self.verdict(tool) == Standing::Asked && rules.read_only != Some(true);
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
    pause_end(retry, until).is_some_and(|end| interrupt.sleep_until(end))
}
