//! Policies: what a tool changes, whether a person is asked, how long a call may take, whether a failed call
//! is made again.

use crate::data::Data;
use crate::failure::Failure;
use ilo_asm::catalog::Validation;
use ilo_spec::program::Number;
use std::fmt;
use std::time::Duration;

/// The most retries of a failed call. With the pauses they take half a minute; a tool that has not recovered
/// by then rarely does soon.
pub const RETRIES: u32 = 10;
/// The pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// What follows a call that may have been made, but whose answer never came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnDoubt {
    /// If a journal records the run, a person decides; else it is a failure.
    #[default]
    Ask,
    /// It is a failure, which the program can handle.
    Fail,
    /// The run ends with fault `in-doubt`, after its rollback.
    Stop,
}

/// What the table of keys becomes.
macro_rules! policies {
    ($(
        $(#[$doc:meta])* $field:ident: $ty:ty [$value:ty],
        $key:literal $(or $old:literal)?: $form:ident($($arg:expr),*), $outer:ident;
    )*) => {
        /// How a tool may be called.
        #[allow(clippy::struct_excessive_bools, reason = "each is a key of the tools file")]
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Policy {
            $($(#[$doc])* pub $field: $ty,)*
            /// Whether a call only waits for a number of `seconds`, so that a journal can let the run sleep.
            pub waits: bool,
        }

        /// The keys in one block of a tools file; what it leaves open, an outer block decides.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Rules {
            $($(#[$doc])* pub $field: Option<$value>,)*
            /// What follows an answer that does not fit the schema of the tool.
            pub validate: Option<Validation>,
        }

        /// The keys by which a tools file names them.
        pub const KEYS: &[&str] = &[$($key, $($old,)?)* "validate"];

        impl Rules {
            /// The rules of a policy that leaves nothing open.
            pub fn of(policy: &Policy) -> Rules {
                Rules { $($field: policy.$field.into(),)* validate: None }
            }

            /// These rules, completed by the outer ones.
            #[must_use]
            pub fn within(&self, around: &Rules) -> Rules {
                let read_only = self.read_only.or(around.read_only) == Some(true);
                let idempotent = self.idempotent.or(around.idempotent) == Some(true);
                let counts = |outer: Outer| match outer {
                    Outer::Always => true,
                    Outer::IfIdempotent => idempotent,
                    Outer::IfItChanges => !read_only,
                };
                Rules {
                    $($field: self.$field.or(around.$field.filter(|_| counts(Outer::$outer))),)*
                    validate: self.validate.or(around.validate),
                }
            }

            /// The resulting policy.
            pub fn policy(&self) -> Policy {
                Policy { $($field: self.$field.map(Into::into).unwrap_or_default(),)* waits: false }
            }

            /// Shows each key with its value to `keys`, which may set it.
            pub fn visit(&mut self, keys: &mut impl Keys) {
                $(
                    for key in std::iter::once($key)$(.chain([$old]))? {
                        if key == $key || self.$field.is_none() {
                            keys.$form(key, $($arg,)* &mut self.$field);
                        }
                    }
                )*
                keys.validation("validate", &mut self.validate);
            }
        }
    };
}

/// When the value of an outer block counts.
enum Outer {
    Always,
    IfIdempotent,
    IfItChanges,
}

/// What reads or writes keys, by the form of their values.
pub trait Keys {
    /// True or false.
    fn flag(&mut self, key: &'static str, value: &mut Option<bool>);
    /// A number of retries.
    fn retries(&mut self, key: &'static str, value: &mut Option<u32>);
    /// A time in milliseconds, at least `least` of them.
    fn millis(&mut self, key: &'static str, least: u64, value: &mut Option<Duration>);
    /// One of two words, each with its meaning.
    fn word<T: Copy + Default + PartialEq>(
        &mut self,
        key: &'static str,
        words: [(&'static str, T); 2],
        value: &mut Option<T>,
    );
    /// A rate.
    fn rate(&mut self, key: &'static str, value: &mut Option<Rate>);
    /// What follows an answer that does not fit.
    fn validation(&mut self, key: &'static str, value: &mut Option<Validation>);
}

// Each row: the field of a policy, its type there, and the type of a value that is set; the key, an earlier
// name of it, and the form of its value; when that of an outer block counts.
policies! {
    /// Whether it changes nothing. Without this, a tool is assumed to change something.
    read_only: bool [bool], "read_only": flag(), Always;
    /// Whether two calls with the same arguments have the effect of one.
    idempotent: bool [bool], "idempotent": flag(), Always;
    /// The number of retries of a failed call, if the tool is idempotent.
    retries: u32 [u32], "retries": retries(), IfIdempotent;
    /// Whether a person is asked before each call.
    confirm: bool [bool], "confirm": flag(), IfItChanges;
    /// The time limit of a call if it differs from the default. Each retry has it anew.
    timeout: Option<Duration> [Duration], "timeout_ms": millis(1), Always;
    /// The time that a call that changes something has after the run was cancelled. Without it the call has
    /// its own time limit.
    cancel_grace: Option<Duration> [Duration], "cancel_grace_ms": millis(0), IfItChanges;
    /// Whether an answer contains the bytes of images and other binary content, as base64, or only their type
    /// and size.
    bytes: bool [bool], "binary": word([("base64", true), ("size", false)]), Always;
    /// What follows a call that may have been made, but whose answer never came.
    on_doubt: OnDoubt [OnDoubt], "on_unanswered" or "on_doubt":
        word([("fail", OnDoubt::Fail), ("stop", OnDoubt::Stop)]), Always;
    /// Whether every call of it must register its rollback in the same step.
    requires_rollback: bool [bool], "rollback": word([("required", true), ("optional", false)]), IfItChanges;
    /// The limit on how often it may be called, by all runs of a process together.
    rate: Option<Rate> [Rate], "rate": rate(), Always;
    /// Whether a text answer that is JSON is read as JSON.
    json: bool [bool], "json": flag(), Always;
    /// Whether every integer of an answer becomes a text, so that none is too big.
    integers_as_text: bool [bool], "big_numbers": word([("text", true), ("fail", false)]), Always;
    /// Whether a call only begins the work, and its answer comes later from outside. Only a journal can wait
    /// for that answer.
    deferred: bool [bool], "deferred": flag(), Always;
}

/// A number of calls in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The calls, at least 1.
    pub calls: usize,
    /// The period in which at most this number of calls begin.
    pub per: Duration,
}

impl fmt::Display for Policy {
    /// The policy in a few words: `may change something, asks first, 5000 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.read_only { "reads only" } else { "may change something" })?;
        if self.confirm {
            f.write_str(", asks first")?;
        }
        if self.idempotent {
            f.write_str(", idempotent")?;
        }
        match self.retries {
            0 => {}
            1 => f.write_str(", 1 retry")?,
            count => write!(f, ", {count} retries")?,
        }
        if let Some(time) = self.timeout {
            write!(f, ", {} ms", time.as_millis())?;
        }
        if let Some(time) = self.cancel_grace {
            write!(f, ", {} ms after a cancel", time.as_millis())?;
        }
        if let Some(Rate { calls, per }) = self.rate {
            write!(f, ", {calls} calls in {} ms", per.as_millis())?;
        }
        if self.bytes {
            f.write_str(", with bytes")?;
        }
        if self.json {
            f.write_str(", reads JSON")?;
        }
        if self.integers_as_text {
            f.write_str(", integers as text")?;
        }
        if self.on_doubt == OnDoubt::Stop {
            f.write_str(", ends the run when in doubt")?;
        }
        if self.requires_rollback {
            f.write_str(", requires a rollback")?;
        }
        if self.deferred {
            f.write_str(", answers later")?;
        }
        Ok(())
    }
}

/// The policies of the tools that a program can name.
pub trait Policies {
    /// The policy of the tool with this name; `None` if there is none.
    fn policy(&self, tool: &str) -> Option<&Policy>;

    /// Whether the tool only reads and needs no confirmation; false for an unknown name.
    fn is_read_only(&self, tool: &str) -> bool {
        self.policy(tool).is_some_and(|policy| policy.read_only && !policy.confirm)
    }

    /// Whether a call of this tool may be started before its turn, beside others.
    fn may_run_ahead(&self, tool: &str) -> bool {
        self.is_read_only(tool)
    }
}

/// The keys that are set.
struct Set(Vec<(&'static str, Data)>);

fn whole(count: impl TryInto<i64>) -> Data {
    Data::Number(Number::Int(count.try_into().unwrap_or(i64::MAX)))
}

impl Keys for Set {
    fn flag(&mut self, key: &'static str, value: &mut Option<bool>) {
        self.0.extend(value.filter(|&set| set).map(|_| (key, Data::Bool(true))));
    }

    fn retries(&mut self, key: &'static str, value: &mut Option<u32>) {
        self.0.extend(value.filter(|&count| count > 0).map(|count| (key, whole(count))));
    }

    fn millis(&mut self, key: &'static str, _: u64, value: &mut Option<Duration>) {
        self.0.extend(value.map(|time| (key, whole(time.as_millis()))));
    }

    fn word<T: Default + PartialEq>(
        &mut self,
        key: &'static str,
        words: [(&'static str, T); 2],
        value: &mut Option<T>,
    ) {
        let set = words.into_iter().find(|(_, of)| Some(of) == value.as_ref() && *of != T::default());
        self.0.extend(set.map(|(word, _)| (key, Data::from(word))));
    }

    fn rate(&mut self, key: &'static str, value: &mut Option<Rate>) {
        let rate = |Rate { calls, per }| [("calls", whole(calls)), ("per_ms", whole(per.as_millis()))];
        self.0.extend(value.map(|it| (key, Data::record(rate(it)))));
    }

    /// It is no part of a policy.
    fn validation(&mut self, _: &'static str, _: &mut Option<Validation>) {}
}

impl Policy {
    /// What it sets, under the keys of a tools file.
    pub fn to_data(&self) -> Data {
        let mut set = Set(Vec::new());
        Rules::of(self).visit(&mut set);
        Data::record(set.0)
    }

    /// A tool that only reads.
    pub fn reads() -> Policy {
        Policy { read_only: true, ..Policy::default() }
    }

    /// The least and the longest pause before a failed call is made again. The host chooses one of them at
    /// random, so that callers that failed together do not retry together. `retry` counts from 0.
    pub fn pause(retry: u32) -> (Duration, Duration) {
        let whole = FIRST.saturating_mul(1 << retry.min(16)).min(LONGEST);
        (whole / 2, whole)
    }

    /// Whether a call that may have been made can be made again. After a crash, such a call is not in doubt.
    pub fn is_safe_again(&self) -> bool {
        self.read_only || self.idempotent
    }

    /// What follows a crash while a call of a durable run is under way: the call is made `again`, or is in
    /// `doubt`.
    pub fn after_crash(&self) -> &'static str {
        if self.is_safe_again() { "again" } else { "doubt" }
    }

    /// Whether a call that has failed for the `retry`th time, counted from 0, is made again.
    pub fn retries(&self, failure: &Failure, retry: u32) -> bool {
        matches!(failure, Failure::Failed(_) | Failure::InDoubt(_)) && self.idempotent && retry < self.retries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_written_under_the_keys_that_it_sets() {
        assert_eq!(Policy::default().to_data().to_json(), "{}");
        let all = Policy {
            read_only: true,
            idempotent: true,
            retries: 2,
            confirm: true,
            timeout: Some(Duration::from_millis(5)),
            cancel_grace: Some(Duration::ZERO),
            bytes: true,
            on_doubt: OnDoubt::Stop,
            requires_rollback: true,
            rate: Some(Rate { calls: 3, per: Duration::from_secs(1) }),
            json: true,
            integers_as_text: true,
            deferred: true,
            waits: false,
        };
        let expected = r#"{"read_only":true,"idempotent":true,"retries":2,"confirm":true,"timeout_ms":5,"cancel_grace_ms":0,"binary":"base64","on_unanswered":"stop","rollback":"required","rate":{"calls":3,"per_ms":1000},"json":true,"big_numbers":"text","deferred":true}"#;
        assert_eq!(all.to_data().to_json(), expected);
        assert_eq!(Rules::of(&all).policy(), all);
        // Each key once, an earlier name beside its own.
        assert_eq!(KEYS.len(), expected.matches("\":").count() - 2 + 2);
    }

    #[test]
    fn what_a_block_leaves_open_the_outer_one_decides_where_that_applies() {
        let outer = Rules::of(&Policy {
            retries: 3,
            confirm: true,
            requires_rollback: true,
            json: true,
            ..Policy::default()
        });
        let inner = |read_only, idempotent| {
            let own = Rules { read_only: Some(read_only), idempotent: Some(idempotent), ..Rules::default() };
            let whole = own.within(&outer);
            (whole.retries, whole.confirm, whole.requires_rollback, whole.json)
        };
        assert_eq!(inner(false, true), (Some(3), Some(true), Some(true), Some(true)));
        assert_eq!(inner(true, false), (None, None, None, Some(true)));
    }
}
