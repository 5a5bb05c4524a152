//! The state machine of a run: one table of states and transitions.
//!
//! Owners write that a call begins, has ended or waits; people write decisions. Both are actions here, and an
//! action that a state does not allow is rejected with what to do instead.

use crate::error::{Error, ErrorCode};
use std::fmt;

/// The state of a run that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// The pending call was not begun.
    Ready,
    /// The call may have been made.
    Calling,
    /// Nobody knows whether the call was made; a person decides.
    Doubt,
    /// The call needs a person's approval.
    Asking,
    /// The call was made, and its answer comes from outside.
    Deferred,
    /// The answer is stored, and the run has not continued with it.
    Answered,
    /// The run has used up its time, fuel or calls.
    Limited,
    /// The run waits for a time.
    Sleeping,
    /// The run cannot continue with this build or these tools. It was in this state before.
    Blocked(Before),
}

/// The state of a blocked run before it was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Before {
    /// [`State::Ready`]
    Ready,
    /// [`State::Calling`]
    Calling,
    /// [`State::Answered`]
    Answered,
}

/// The status of a run, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// It has not ended.
    In(State),
    /// It was exported and continues elsewhere.
    Exported,
    /// It has ended.
    Ended,
}

/// The table of actions: each with the word under which a person's decision is recorded, and what cannot be
/// done where it is refused.
macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident $name:literal $refused:literal;)*) => {
        /// An action of an owner or a person.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[$doc])* $action,)*
        }

        /// All actions.
        pub const ACTIONS: [Action; 21] = [$(Action::$action),*];

        impl Action {
            /// The word under which a person's decision is recorded.
            pub fn name(self) -> &'static str {
                match self {
                    $(Action::$action => $name,)*
                }
            }

            /// What the action cannot do, for the message.
            fn refused(self) -> &'static str {
                match self {
                    $(Action::$action => $refused,)*
                }
            }
        }
    };
}

actions! {
    /// Owner: the call is made now.
    Begin "begin" "its call cannot begin";
    /// Owner: the call was certainly not made.
    NotMade "not-made" "its call cannot be taken back";
    /// Owner: a person must approve the call.
    Ask "ask" "no approval can be asked for";
    /// Owner: the run waits for a time.
    Sleep "sleep" "it cannot be put to sleep";
    /// Owner: the answer comes from outside.
    Defer "defer" "its call cannot be deferred";
    /// Owner: it is unknown whether the call was made.
    Doubt "doubt" "its call cannot be in doubt";
    /// Owner: the call has its answer.
    Take "take" "its call takes no answer";
    /// Owner: a limit of the run is used up.
    Limit "limit" "it cannot reach a limit";
    /// Owner: the build or the tools do not allow the run to continue.
    Block "block" "it cannot be blocked";
    /// Owner: they do again.
    Unblock "unblock" "there is nothing to unblock";
    /// Owner: the call is settled, and the run is at a later one.
    Next "next" "it cannot continue to another call";
    /// Owner: the run has ended.
    End "end" "it cannot end";
    /// Owner: the time to wake has come.
    Wake "wake" "it cannot be woken";
    /// Owner: nobody has approved the call in time.
    Expire "expire" "no approval can expire";
    /// Person: the call may be made.
    Approve "approve" "there is nothing to approve";
    /// Person: the call may not be made.
    Deny "deny" "there is nothing to deny";
    /// Person: this is the call's answer.
    Answer "answer" "it takes no answer";
    /// Person: the call has failed.
    Fail "fail" "no call can be failed";
    /// Person: the call was not made, or may be made again.
    Retry "retry" "no call can be retried";
    /// Person: the run gets more time, fuel or calls.
    More "more" "it needs no higher limits";
    /// Person: the run is cancelled.
    Cancel "cancel" "it cannot be cancelled";
}

/// All states.
pub const STATES: [State; 11] = [
    State::Ready,
    State::Calling,
    State::Doubt,
    State::Asking,
    State::Deferred,
    State::Answered,
    State::Limited,
    State::Sleeping,
    State::Blocked(Before::Ready),
    State::Blocked(Before::Calling),
    State::Blocked(Before::Answered),
];

/// The result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// Another state, or the same.
    State(State),
    /// [`State::Answered`] if an answer is stored, else [`State::Ready`].
    Stored,
    /// The end of the run.
    Ended,
}

impl State {
    /// The result of an action; `None` if the state does not allow it.
    pub fn after(self, action: Action) -> Option<Leads> {
        use Action as A;
        use State as S;
        let to = match (self, action) {
            (S::Ready | S::Calling, A::Begin) => S::Calling,
            (S::Ready, A::Ask) => S::Asking,
            (S::Ready, A::Sleep) => S::Sleeping,
            // An answer that does not fit is waited for again.
            (S::Ready | S::Calling | S::Answered, A::Defer) => S::Deferred,
            (S::Calling | S::Answered, A::Doubt) => S::Doubt,
            (S::Ready | S::Calling | S::Answered, A::Limit) => S::Limited,
            (S::Ready, A::Block) => S::Blocked(Before::Ready),
            (S::Calling, A::Block) => S::Blocked(Before::Calling),
            (S::Answered, A::Block) => S::Blocked(Before::Answered),
            (S::Blocked(before), A::Unblock) => before.state(),
            // What was not begun fails as cancelled.
            (S::Ready | S::Calling | S::Answered, A::Next)
            | (S::Calling, A::NotMade)
            | (S::Doubt, A::Retry)
            | (S::Asking, A::Approve)
            | (S::Asking | S::Sleeping, A::Cancel) => S::Ready,
            (S::Ready | S::Calling | S::Answered, A::End) => return Some(Leads::Ended),
            (S::Sleeping, A::Wake)
            | (S::Calling | S::Answered, A::Take)
            | (S::Asking, A::Expire | A::Deny)
            | (S::Doubt | S::Deferred, A::Answer | A::Fail) => S::Answered,
            (S::Limited, A::More | A::Cancel) => return Some(Leads::Stored),
            // The owner, or the person who decides, comes first.
            (_, A::Cancel) => self,
            _ => return None,
        };
        Some(Leads::State(to))
    }

    /// The displayed name.
    pub fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Calling => "calling",
            State::Doubt => "doubt",
            State::Asking => "asking",
            State::Deferred => "deferred",
            State::Answered => "answered",
            State::Limited => "limited",
            State::Sleeping => "sleeping",
            State::Blocked(_) => "blocked",
        }
    }

    /// Whether an owner works on the run, or may take it to work on it.
    pub fn is_for_owners(self) -> bool {
        matches!(self, State::Ready | State::Calling | State::Answered | State::Blocked(_))
    }

    /// Whether the call at which the run is may have been made.
    pub fn is_made(self) -> bool {
        match self {
            State::Calling | State::Doubt | State::Deferred | State::Answered => true,
            State::Blocked(before) => before.state().is_made(),
            State::Ready | State::Asking | State::Limited | State::Sleeping => false,
        }
    }

    /// What a person or an operator can do in this state.
    pub fn advice(self) -> &'static str {
        match self {
            State::Ready | State::Calling | State::Answered => "continue the run with `resume`",
            State::Doubt => {
                "find out whether the call was made, then `runs answer`, `runs fail` or `runs retry`"
            }
            State::Asking => "`runs approve` or `runs deny`",
            State::Deferred => "give the answer with `runs answer`, or `runs fail`",
            State::Limited => "`resume` with higher limits, or `runs cancel`",
            State::Sleeping => "wait; `resume` continues the run when it is time",
            State::Blocked(_) => "bring back the release or the tools that the run needs, then `resume`",
        }
    }

    /// The number that is stored. Numbers are never given to another state.
    pub(crate) fn to_number(self) -> i64 {
        match self {
            State::Ready => 1,
            State::Calling => 2,
            State::Doubt => 3,
            State::Asking => 4,
            State::Deferred => 5,
            State::Answered => 6,
            State::Limited => 7,
            State::Sleeping => 8,
            State::Blocked(Before::Ready) => 9,
            State::Blocked(Before::Calling) => 10,
            State::Blocked(Before::Answered) => 11,
        }
    }

    /// The state that was stored, if the number is one.
    pub(crate) fn from_number(number: i64) -> Option<State> {
        STATES.into_iter().find(|state| state.to_number() == number)
    }

    /// The refusal of an action.
    pub(crate) fn refuse(self, action: Action, run: &str, call: u64) -> Error {
        let message = format!("run {run} is {self} at call {call}, so {}", action.refused());
        Error::new(ErrorCode::NotNow, message).remedy(self.advice())
    }
}

impl Status {
    /// All statuses with their own names.
    pub fn all() -> impl Iterator<Item = Status> {
        let named = |state: &State| !matches!(state, State::Blocked(Before::Calling | Before::Answered));
        STATES.into_iter().filter(named).map(Status::In).chain([Status::Exported, Status::Ended])
    }

    /// The displayed name.
    pub fn name(self) -> &'static str {
        match self {
            Status::In(state) => state.name(),
            Status::Exported => "exported",
            Status::Ended => "ended",
        }
    }

    /// The status with this name.
    pub fn named(name: &str) -> Option<Status> {
        Status::all().find(|status| status.name() == name)
    }
}

impl Before {
    fn state(self) -> State {
        match self {
            Before::Ready => State::Ready,
            Before::Calling => State::Calling,
            Before::Answered => State::Answered,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Action, Before, Leads, STATES, State};
    use crate::error::ErrorCode;

    /// The table of the design, written once more by hand: state, action, what follows. What is not here is
    /// refused.
    fn expected(state: State, action: Action) -> Option<Leads> {
        use Action as A;
        use State as S;
        let rows: &[(S, &[(A, Leads)])] = &[
            (
                S::Ready,
                &[
                    (A::Begin, Leads::State(S::Calling)),
                    (A::Ask, Leads::State(S::Asking)),
                    (A::Sleep, Leads::State(S::Sleeping)),
                    (A::Defer, Leads::State(S::Deferred)),
                    (A::Limit, Leads::State(S::Limited)),
                    (A::Block, Leads::State(S::Blocked(Before::Ready))),
                    (A::Next, Leads::State(S::Ready)),
                    (A::End, Leads::Ended),
                    (A::Cancel, Leads::State(S::Ready)),
                ],
            ),
            (
                S::Calling,
                &[
                    (A::Begin, Leads::State(S::Calling)),
                    (A::NotMade, Leads::State(S::Ready)),
                    (A::Defer, Leads::State(S::Deferred)),
                    (A::Doubt, Leads::State(S::Doubt)),
                    (A::Take, Leads::State(S::Answered)),
                    (A::Limit, Leads::State(S::Limited)),
                    (A::Block, Leads::State(S::Blocked(Before::Calling))),
                    (A::Next, Leads::State(S::Ready)),
                    (A::End, Leads::Ended),
                    (A::Cancel, Leads::State(S::Calling)),
                ],
            ),
            (
                S::Doubt,
                &[
                    (A::Answer, Leads::State(S::Answered)),
                    (A::Fail, Leads::State(S::Answered)),
                    (A::Retry, Leads::State(S::Ready)),
                    (A::Cancel, Leads::State(S::Doubt)),
                ],
            ),
            (
                S::Asking,
                &[
                    (A::Approve, Leads::State(S::Ready)),
                    (A::Deny, Leads::State(S::Answered)),
                    (A::Expire, Leads::State(S::Answered)),
                    (A::Cancel, Leads::State(S::Ready)),
                ],
            ),
            (
                S::Deferred,
                &[
                    (A::Answer, Leads::State(S::Answered)),
                    (A::Fail, Leads::State(S::Answered)),
                    (A::Cancel, Leads::State(S::Deferred)),
                ],
            ),
            (
                S::Answered,
                &[
                    (A::Defer, Leads::State(S::Deferred)),
                    (A::Doubt, Leads::State(S::Doubt)),
                    (A::Take, Leads::State(S::Answered)),
                    (A::Limit, Leads::State(S::Limited)),
                    (A::Block, Leads::State(S::Blocked(Before::Answered))),
                    (A::Next, Leads::State(S::Ready)),
                    (A::End, Leads::Ended),
                    (A::Cancel, Leads::State(S::Answered)),
                ],
            ),
            (S::Limited, &[(A::More, Leads::Stored), (A::Cancel, Leads::Stored)]),
            (S::Sleeping, &[(A::Wake, Leads::State(S::Answered)), (A::Cancel, Leads::State(S::Ready))]),
        ];
        if let S::Blocked(before) = state {
            return match action {
                A::Unblock => Some(Leads::State(before.state())),
                A::Cancel => Some(Leads::State(state)),
                _ => None,
            };
        }
        let (_, row) = rows.iter().find(|(of, _)| *of == state)?;
        row.iter().find(|(of, _)| *of == action).map(|&(_, to)| to)
    }

    #[test]
    fn every_state_allows_or_refuses_every_action_as_the_table_says() {
        for state in STATES {
            for action in ACTIONS {
                assert_eq!(state.after(action), expected(state, action), "{state:?} {action:?}");
            }
        }
    }

    #[test]
    fn a_refusal_names_the_run_the_call_the_state_and_what_to_do() {
        for state in STATES {
            for action in ACTIONS.into_iter().filter(|&action| state.after(action).is_none()) {
                let error = state.refuse(action, "7", 3);
                assert_eq!(error.code, ErrorCode::NotNow);
                assert!(error.message.starts_with(&format!("run 7 is {state} at call 3, so ")), "{error}");
                assert_eq!(error.remedy, state.advice());
            }
        }
    }

    #[test]
    fn a_state_that_people_decide_on_is_left_by_a_person() {
        let by_person =
            [Action::Approve, Action::Deny, Action::Answer, Action::Fail, Action::Retry, Action::More];
        for state in STATES.into_iter().filter(|state| !state.is_for_owners() && *state != State::Sleeping) {
            assert!(by_person.iter().any(|&action| state.after(action).is_some()), "{state}");
        }
    }

    #[test]
    fn numbers_of_states_are_frozen() {
        let numbers: Vec<i64> = STATES.into_iter().map(State::to_number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert!(STATES.into_iter().all(|state| State::from_number(state.to_number()) == Some(state)));
        assert!([0, -1, 12, 64].into_iter().all(|number| State::from_number(number).is_none()));
    }
}
