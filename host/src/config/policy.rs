//! Reads the policy keys: of an entry under `tools`, of the policy of a server, and of a single tool in such
//! a policy.

use super::{Fields, Reading};
use crate::tool::rate::{RATE_CALLS, RATE_MS};
use ilo_asm::catalog::Validation;
use ilo_drive::data::Data;
pub(super) use ilo_drive::policy::KEYS as RULES;
use ilo_drive::policy::{Keys, RETRIES, Rate, Rules};
use std::time::Duration;

/// Reads keys from a record.
struct RuleReader<'r>(&'r mut Reading, &'r Fields);

impl Keys for RuleReader<'_> {
    fn flag(&mut self, key: &str, value: &mut Option<bool>) {
        *value = self.0.field(self.1, key, Reading::flag);
    }

    fn retries(&mut self, key: &str, value: &mut Option<u32>) {
        *value = self.0.field(self.1, key, retries);
    }

    fn millis(&mut self, key: &str, least: u64, value: &mut Option<Duration>) {
        let count = self.0.field(self.1, key, |this, data| this.count(data, least));
        *value = count.map(Duration::from_millis);
    }

    fn word<T: Copy>(&mut self, key: &str, words: [(&str, T); 2], value: &mut Option<T>) {
        *value = self.0.field(self.1, key, |this, data| one_of(this, data, words));
    }

    fn rate(&mut self, key: &str, value: &mut Option<Rate>) {
        *value = self.0.field(self.1, key, rate);
    }

    fn validation(&mut self, key: &str, value: &mut Option<Validation>) {
        *value = self.0.field(self.1, key, validation);
    }
}

/// Reads these keys from a record.
pub(super) fn rules(reading: &mut Reading, fields: &Fields) -> Rules {
    let mut rules = Rules::default();
    rules.visit(&mut RuleReader(reading, fields));
    rules
}

/// Reads these keys for one tool, and reports those that contradict each other or the policy of the
/// server (`around`).
pub(super) fn checked_rules(reading: &mut Reading, fields: &Fields, around: &Rules) -> Rules {
    let own = rules(reading, fields);
    let whole = own.within(around);
    if own.retries.is_some_and(|count| count > 0) && whole.idempotent != Some(true) {
        let message = "only calls of a tool that is marked `\"idempotent\": true` are made again";
        reading.wrong_at("retries", message);
    }
    let changes = [
        (own.confirm == Some(true), "confirm", "asking is for tools that change something"),
        (own.cancel_grace.is_some(), "cancel_grace_ms", "a cancel ends calls of this tool at once"),
        (own.requires_rollback == Some(true), "rollback", "a rollback is for tools that change something"),
    ];
    for (is_set, key, why) in changes {
        if is_set && whole.read_only == Some(true) {
            reading.wrong_at(key, format!("{why}, and this one is `read_only`"));
        }
    }
    own
}

/// Reads a rate: a number of calls in a number of milliseconds.
fn rate(reading: &mut Reading, data: &Data) -> Option<Rate> {
    let fields = reading.record(data)?;
    reading.keys(fields, &["calls", "per_ms"]);
    for key in ["calls", "per_ms"] {
        if !fields.iter().any(|(name, _)| name == key) {
            reading.wrong(format!("expected `calls` and `per_ms`, found no `{key}`"));
            return None;
        }
    }
    let mut count = |key: &str, most: u64| {
        reading.field(fields, key, |this, data| {
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

fn retries(reading: &mut Reading, data: &Data) -> Option<u32> {
    let count = reading.count(data, 0)?;
    let count = u32::try_from(count).ok().filter(|&count| count <= RETRIES);
    count.or_else(|| reading.expected_other(&format!("at most {RETRIES}"), data))
}

/// Reads one of two words, each with its meaning.
fn one_of<T: Copy>(reading: &mut Reading, data: &Data, words: [(&str, T); 2]) -> Option<T> {
    let meant = words.iter().find(|(word, _)| data.as_text() == Some(*word));
    let [(one, _), (other, _)] = words;
    let expected = || format!("\"{one}\" or \"{other}\"");
    meant.map_or_else(|| reading.expected_other(&expected(), data), |(_, meaning)| Some(*meaning))
}

/// Reads what follows an answer that does not fit.
fn validation(reading: &mut Reading, data: &Data) -> Option<Validation> {
    match data {
        Data::Bool(true) => Some(Validation::Fail),
        Data::Bool(false) => Some(Validation::Off),
        Data::Text(text) if text == "warn" => Some(Validation::Warn),
        other => reading.expected_other("true, false or \"warn\"", other),
    }
}
