//! Decides what follows a crash or a call without an answer: pure functions of the recorded state.

use crate::policy::{Effect, RecordedPolicy};
use crate::state::{Before, State};

/// The number of claims of the same call without progress after which a person decides.
pub const MOST_TRIES: u32 = 5;

/// What a process that takes a run over does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// The pending call was not begun: make it.
    Make,
    /// The pending call may have been made, and may be made again, with the same key.
    Again,
    /// Nobody knows whether the pending call was made: a person decides.
    Doubt,
    /// The answer is stored: give it to the run.
    Apply,
    /// Others have to act first.
    Wait,
    /// The tool of the pending call is missing.
    Block,
}

/// Decides what to do with a run in a state. `then` is the policy with which the call was recorded, `now` the
/// current one, `None` if the tool is missing; `tries` counts the claims of this call without progress.
pub fn after_claim(state: State, then: RecordedPolicy, now: Option<RecordedPolicy>, tries: u32) -> Recovery {
    match state {
        State::Ready | State::Blocked(Before::Ready) if now.is_some() => Recovery::Make,
        State::Answered | State::Blocked(Before::Answered) => Recovery::Apply,
        State::Calling | State::Blocked(Before::Calling) => match now.map(|now| now.stricter(then).effect) {
            // Whether it was made is unknown with or without the tool.
            None if then.effect == Effect::Changes => Recovery::Doubt,
            None => Recovery::Block,
            Some(Effect::Changes) => Recovery::Doubt,
            Some(Effect::Reads | Effect::Idempotent) if tries >= MOST_TRIES => Recovery::Doubt,
            Some(Effect::Reads | Effect::Idempotent) => Recovery::Again,
        },
        State::Ready | State::Blocked(Before::Ready) => Recovery::Block,
        State::Doubt | State::Asking | State::Deferred | State::Limited | State::Sleeping => Recovery::Wait,
    }
}

/// What follows a call without an answer in a living process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoAnswer {
    /// Make it again, with the same key.
    Retry,
    /// It has failed, and has changed nothing.
    Fail,
    /// It has failed and may have been made; the failure says so.
    FailInDoubt,
    /// A person decides.
    Doubt,
}

/// What follows a call without an answer: a time-out, a lost connection.
pub fn without_answer(policy: RecordedPolicy, retries_left: u32) -> NoAnswer {
    match policy.effect {
        Effect::Reads | Effect::Idempotent if retries_left > 0 => NoAnswer::Retry,
        Effect::Reads => NoAnswer::Fail,
        Effect::Idempotent | Effect::Changes if policy.fail_in_doubt => NoAnswer::FailInDoubt,
        Effect::Idempotent | Effect::Changes => NoAnswer::Doubt,
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_TRIES, NoAnswer, Recovery, after_claim, without_answer};
    use crate::policy::{Effect, RecordedPolicy};
    use crate::state::{Before, STATES, State};

    const EFFECTS: [Effect; 3] = [Effect::Reads, Effect::Idempotent, Effect::Changes];

    fn of(effect: Effect) -> RecordedPolicy {
        RecordedPolicy::of(effect)
    }

    #[test]
    fn a_call_that_was_not_begun_is_made_whatever_its_policy() {
        for then in EFFECTS {
            for now in EFFECTS {
                let found = after_claim(State::Ready, of(then), Some(of(now)), 99);
                assert_eq!(found, Recovery::Make);
            }
        }
    }

    #[test]
    fn a_call_that_may_have_been_made_is_made_again_only_where_both_policies_allow() {
        for then in EFFECTS {
            for now in EFFECTS {
                for tries in 0..10 {
                    let found = after_claim(State::Calling, of(then), Some(of(now)), tries);
                    let safe = then != Effect::Changes && now != Effect::Changes && tries < MOST_TRIES;
                    let expected = if safe { Recovery::Again } else { Recovery::Doubt };
                    assert_eq!(found, expected, "{then:?} {now:?} {tries}");
                }
            }
        }
    }

    #[test]
    fn a_missing_tool_blocks_what_has_to_call_it_and_hides_no_doubt() {
        let missing = |state, then| after_claim(state, of(then), None, 0);
        for then in EFFECTS {
            assert_eq!(missing(State::Ready, then), Recovery::Block);
            assert_eq!(missing(State::Answered, then), Recovery::Apply);
        }
        assert_eq!(missing(State::Calling, Effect::Changes), Recovery::Doubt);
        assert_eq!(missing(State::Calling, Effect::Idempotent), Recovery::Block);
    }

    #[test]
    fn a_run_that_waits_for_others_keeps_waiting() {
        for state in STATES {
            let waits =
                after_claim(state, of(Effect::Changes), Some(of(Effect::Changes)), 0) == Recovery::Wait;
            assert_eq!(waits, !state.is_for_owners(), "{state}");
        }
    }

    #[test]
    fn a_blocked_run_goes_on_as_from_the_state_before() {
        let pairs = [
            (Before::Ready, State::Ready),
            (Before::Calling, State::Calling),
            (Before::Answered, State::Answered),
        ];
        for (before, state) in pairs {
            for then in EFFECTS {
                for now in EFFECTS {
                    let (then, now) = (of(then), Some(of(now)));
                    let blocked = after_claim(State::Blocked(before), then, now, 0);
                    assert_eq!(blocked, after_claim(state, then, now, 0));
                }
            }
        }
    }

    #[test]
    fn without_an_answer_only_what_changes_nothing_fails_in_silence() {
        let fail = |effect| RecordedPolicy { fail_in_doubt: true, ..of(effect) };
        assert_eq!(without_answer(of(Effect::Reads), 1), NoAnswer::Retry);
        assert_eq!(without_answer(of(Effect::Reads), 0), NoAnswer::Fail);
        assert_eq!(without_answer(of(Effect::Idempotent), 1), NoAnswer::Retry);
        assert_eq!(without_answer(of(Effect::Idempotent), 0), NoAnswer::Doubt);
        assert_eq!(without_answer(fail(Effect::Idempotent), 0), NoAnswer::FailInDoubt);
        assert_eq!(without_answer(of(Effect::Changes), 9), NoAnswer::Doubt);
        assert_eq!(without_answer(fail(Effect::Changes), 9), NoAnswer::FailInDoubt);
    }
}
