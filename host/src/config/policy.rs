//! Reads the policy keys: of an entry under `tools`, of the policy of a server, and of a single tool in such
//! a policy.

use super::text::Step;
use super::{Fields, Reading};
use crate::tool::policy::Rules;
use crate::tool::rate::{RATE_CALLS, RATE_MS};
use ilo_asm::catalog::Validation;
use ilo_drive::data::Data;
use ilo_drive::policy::{OnDoubt, RETRIES, Rate};
use ilo_drive::problem::shortened;
use std::time::Duration;

/// The policy keys.
pub(super) const RULES: &[&str] = &[
    "read_only",
    "idempotent",
    "retries",
    "confirm",
    "timeout_ms",
    "cancel_grace_ms",
    "binary",
    "on_unanswered",
    "on_doubt",
    "rollback",
    "rate",
    "json",
    "big_numbers",
    "deferred",
    "validate",
];

impl Reading {
    /// Reads these keys from a record.
    pub(super) fn rules(&mut self, fields: &Fields) -> Rules {
        Rules {
            read_only: self.field(fields, "read_only", Reading::flag),
            idempotent: self.field(fields, "idempotent", Reading::flag),
            retries: self.field(fields, "retries", Reading::retries),
            confirm: self.field(fields, "confirm", Reading::flag),
            timeout: self
                .field(fields, "timeout_ms", |this, data| this.count(data, 1))
                .map(Duration::from_millis),
            cancel_grace: self
                .field(fields, "cancel_grace_ms", |this, data| this.count(data, 0))
                .map(Duration::from_millis),
            bytes: self.one_of(fields, "binary", [("base64", true), ("size", false)]),
            // The second is its earlier name.
            on_doubt: ["on_unanswered", "on_doubt"]
                .into_iter()
                .find_map(|key| self.one_of(fields, key, [("fail", OnDoubt::Fail), ("stop", OnDoubt::Stop)])),
            requires_rollback: self.one_of(fields, "rollback", [("required", true), ("optional", false)]),
            rate: self.field(fields, "rate", Reading::rate),
            json: self.field(fields, "json", Reading::flag),
            integers_as_text: self.one_of(fields, "big_numbers", [("text", true), ("fail", false)]),
            deferred: self.field(fields, "deferred", Reading::flag),
            validate: self.field(fields, "validate", Reading::validation),
        }
    }

    /// Reads these keys for one tool, and reports those that contradict each other or the policy of the
    /// server (`around`).
    pub(super) fn checked_rules(&mut self, fields: &Fields, around: &Rules) -> Rules {
        let own = self.rules(fields);
        let whole = own.within(around);
        if own.retries.is_some_and(|count| count > 0) && whole.idempotent != Some(true) {
            let message = "only calls of a tool that is marked `\"idempotent\": true` are made again";
            self.inside(Step::Key("retries".to_owned()), |this| this.wrong(message));
        }
        let changes = [
            (own.confirm == Some(true), "confirm", "asking is for tools that change something"),
            (own.cancel_grace.is_some(), "cancel_grace_ms", "a cancel ends calls of this tool at once"),
            (
                own.requires_rollback == Some(true),
                "rollback",
                "a rollback is for tools that change something",
            ),
        ];
        for (is_set, key, why) in changes {
            if is_set && whole.read_only == Some(true) {
                let message = format!("{why}, and this one is `read_only`");
                self.inside(Step::Key(key.to_owned()), |this| this.wrong(message));
            }
        }
        own
    }

    /// Reads a rate: a number of calls in a number of milliseconds.
    fn rate(&mut self, data: &Data) -> Option<Rate> {
        let fields = self.record(data)?;
        self.keys(fields, &["calls", "per_ms"]);
        for key in ["calls", "per_ms"] {
            if !fields.iter().any(|(name, _)| name == key) {
                self.wrong(format!("expected `calls` and `per_ms`, found no `{key}`"));
                return None;
            }
        }
        let mut count = |key: &str, most: u64| {
            self.field(fields, key, |this, data| {
                let count = this.count(data, 1)?;
                if count > most {
                    this.wrong(format!("expected at most {most}, found {count}"));
                    return None;
                }
                Some(count)
            })
        };
        let (calls, per) = (count("calls", RATE_CALLS), count("per_ms", RATE_MS));
        Some(Rate { calls: usize::try_from(calls?).ok()?, per: Duration::from_millis(per?) })
    }

    fn retries(&mut self, data: &Data) -> Option<u32> {
        let count = self.count(data, 0)?;
        let count = u32::try_from(count).ok().filter(|&count| count <= RETRIES);
        if count.is_none() {
            self.wrong(format!("expected at most {RETRIES}, found {}", shortened(&data.to_json(), 40)));
        }
        count
    }

    /// Reads a field that is one of two words, each with its meaning.
    fn one_of<T: Copy>(&mut self, fields: &Fields, key: &str, words: [(&str, T); 2]) -> Option<T> {
        self.field(fields, key, |this, data| {
            let meant = words.iter().find(|(word, _)| data.as_text() == Some(*word));
            if meant.is_none() {
                let found = shortened(&data.to_json(), 40);
                let [(one, _), (other, _)] = words;
                this.wrong(format!("expected \"{one}\" or \"{other}\", found {found}"));
            }
            meant.map(|(_, meaning)| *meaning)
        })
    }

    /// Reads what follows an answer that does not fit.
    fn validation(&mut self, data: &Data) -> Option<Validation> {
        match data {
            Data::Bool(true) => Some(Validation::Fail),
            Data::Bool(false) => Some(Validation::Off),
            Data::Text(text) if text == "warn" => Some(Validation::Warn),
            other => {
                let found = shortened(&other.to_json(), 40);
                self.wrong(format!("expected true, false or \"warn\", found {found}"));
                None
            }
        }
    }
}
