//! The policy of a tool, as far as it matters for crashes.

use ilo_drive::policy::{OnDoubt, Policy};

/// The effect of a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// Calling it twice with the same key or arguments has the same effect as calling it once.
    Idempotent,
    /// It may change something each time.
    Changes,
}

/// What a journal stores of the policy of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordedPolicy {
    /// The effect of a call.
    pub effect: Effect,
    /// Whether a person is asked before each call.
    pub confirm: bool,
    /// Whether its answer comes later, from outside.
    pub deferred: bool,
    /// Whether a call whose answer never came is a failure for the program, instead of being in doubt.
    pub fail_in_doubt: bool,
}

const CONFIRM: i64 = 1 << 2;
const DEFERRED: i64 = 1 << 3;
const FAIL_IN_DOUBT: i64 = 1 << 4;

impl RecordedPolicy {
    /// The policy of a tool about which nothing else is known.
    pub const fn of(effect: Effect) -> RecordedPolicy {
        RecordedPolicy { effect, confirm: false, deferred: false, fail_in_doubt: false }
    }

    /// The stricter one of two in each respect: a policy that has become laxer does not make a call safe that
    /// was not so when it was begun.
    #[must_use]
    pub fn stricter(self, other: RecordedPolicy) -> RecordedPolicy {
        RecordedPolicy {
            effect: self.effect.max(other.effect),
            confirm: self.confirm || other.confirm,
            deferred: self.deferred || other.deferred,
            fail_in_doubt: self.fail_in_doubt && other.fail_in_doubt,
        }
    }

    /// The number that is stored.
    pub(crate) fn to_bits(self) -> i64 {
        let flag = |set: bool, bit: i64| if set { bit } else { 0 };
        let effect = match self.effect {
            Effect::Reads => 0,
            Effect::Idempotent => 1,
            Effect::Changes => 2,
        };
        effect
            | flag(self.confirm, CONFIRM)
            | flag(self.deferred, DEFERRED)
            | flag(self.fail_in_doubt, FAIL_IN_DOUBT)
    }

    /// The policy that was stored, if the number is one.
    pub(crate) fn from_bits(bits: i64) -> Option<RecordedPolicy> {
        let effect = match bits & 3 {
            0 => Effect::Reads,
            1 => Effect::Idempotent,
            2 => Effect::Changes,
            _ => return None,
        };
        if bits & !(3 | CONFIRM | DEFERRED | FAIL_IN_DOUBT) != 0 {
            return None;
        }
        Some(RecordedPolicy {
            effect,
            confirm: bits & CONFIRM != 0,
            deferred: bits & DEFERRED != 0,
            fail_in_doubt: bits & FAIL_IN_DOUBT != 0,
        })
    }
}

impl From<&Policy> for RecordedPolicy {
    fn from(policy: &Policy) -> RecordedPolicy {
        let effect = match (policy.read_only, policy.idempotent) {
            (true, _) => Effect::Reads,
            (false, true) => Effect::Idempotent,
            (false, false) => Effect::Changes,
        };
        RecordedPolicy {
            confirm: policy.confirm,
            deferred: policy.deferred,
            fail_in_doubt: policy.on_doubt == OnDoubt::Fail,
            ..RecordedPolicy::of(effect)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, RecordedPolicy};

    #[test]
    fn every_policy_comes_back_from_its_number_and_no_other_number_is_one() {
        let mut found = 0;
        for bits in -64..64 {
            if let Some(policy) = RecordedPolicy::from_bits(bits) {
                assert_eq!(policy.to_bits(), bits);
                found += 1;
            }
        }
        assert_eq!(found, 3 * 2 * 2 * 2);
    }

    #[test]
    fn the_stricter_policy_is_the_same_in_both_orders_and_never_laxer() {
        let all: Vec<RecordedPolicy> = (0..32).filter_map(RecordedPolicy::from_bits).collect();
        for &one in &all {
            for &other in &all {
                let both = one.stricter(other);
                assert_eq!(both, other.stricter(one));
                assert!(both.effect >= one.effect && both.confirm >= one.confirm);
                assert!(both.fail_in_doubt <= one.fail_in_doubt);
            }
            assert_eq!(one.stricter(one), one);
        }
        assert_eq!(
            RecordedPolicy::of(Effect::Reads).stricter(RecordedPolicy::of(Effect::Changes)).effect,
            Effect::Changes
        );
    }
}
