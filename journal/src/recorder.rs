//! Implements the `Recorder` of `ilo-drive` with a [`Session`].

use crate::answer::{Answer, data};
use crate::error::Error;
use crate::policy::{Effect, Policy};
use crate::session::{self, Made, Session};
use ilo_drive::data::Data;
use ilo_drive::failure::{ANSWER, ARGUMENTS, Failure};
use ilo_drive::policy::{self as driven, OnDoubt};
use ilo_drive::recorder::{Due, NotRecorded, Permit, Recorder, Taken};
use ilo_spec::number;
use ilo_vm::Run;
use std::fmt;
use std::time::Duration;

/// Records a run that `ilo-drive` drives.
pub struct Recording<'h> {
    session: Session,
    stops: Box<dyn Fn() -> bool + Send + Sync + 'h>,
    cancels: Box<dyn Fn() + Send + Sync + 'h>,
    error: Option<Error>,
}

impl fmt::Debug for Recording<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("session", &self.session).finish_non_exhaustive()
    }
}

impl<'h> Recording<'h> {
    /// Records in this session. The run stops at its next call when `stops` returns true; `cancels` is called
    /// when somebody has cancelled the run and it may be cancelled.
    pub fn new(
        session: Session,
        stops: impl Fn() -> bool + Send + Sync + 'h,
        cancels: impl Fn() + Send + Sync + 'h,
    ) -> Recording<'h> {
        if session.is_cancelled() {
            cancels();
        }
        Recording { session, stops: Box::new(stops), cancels: Box::new(cancels), error: None }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The error, if the run could not be recorded.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The answer of the call that was permitted last comes later, from outside: the run stops.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn defer(&mut self, due: &Due<'_>) -> Result<Taken, NotRecorded> {
        let taken = self.session.after(Made::Later, due.expects);
        Ok(taken_of(self.done(taken)?))
    }

    /// Releases the run in its last recorded state, unless the session has left it already.
    pub fn release(&mut self) {
        self.session.release();
    }

    /// Keeps an error, and looks whether the run was cancelled.
    fn done<T>(&mut self, result: Result<T, Error>) -> Result<T, NotRecorded> {
        if self.session.is_cancelled() {
            (self.cancels)();
        }
        result.map_err(|error| {
            let message = error.to_string();
            self.error = Some(error);
            NotRecorded(message)
        })
    }
}

impl From<&driven::Policy> for Policy {
    fn from(policy: &driven::Policy) -> Policy {
        let effect = match (policy.read_only, policy.idempotent) {
            (true, _) => Effect::Reads,
            (false, true) => Effect::Idempotent,
            (false, false) => Effect::Changes,
        };
        Policy {
            confirm: policy.confirm,
            deferred: policy.deferred,
            fail_in_doubt: policy.on_doubt == OnDoubt::Fail,
            ..Policy::of(effect)
        }
    }
}

fn taken_of(taken: session::Taken) -> Taken {
    match taken {
        session::Taken::GoOn => Taken::GoOn,
        session::Taken::Stop => Taken::Suspend,
    }
}

/// How long a call waits, where its argument says so. What is no such time is the tool's to refuse.
fn seconds(arguments: &Data) -> Option<Duration> {
    let Some(Data::Number(seconds)) = arguments.get("seconds") else { return None };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = number::write(*seconds, &mut text);
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

fn result(answer: &Answer) -> Result<Result<Data, Failure>, Error> {
    Ok(match answer {
        Answer::Ok(json) => Ok(data(json)?),
        Answer::Failed(json) => Err(Failure::Failed(data(json)?)),
        Answer::FailedInDoubt(message) => Err(match message.strip_prefix(ANSWER) {
            Some(why) => Failure::Misfit(why.to_owned()),
            None => Failure::InDoubt(message.clone()),
        }),
    })
}

/// The result of a call; `None` if the run is interrupted, which leaves its last record unchanged.
fn made(result: &Result<Data, Failure>) -> Option<Made> {
    Some(match result {
        Ok(value) => Made::Answered(Answer::Ok(value.to_json())),
        Err(Failure::Failed(value)) => Made::Answered(Answer::Failed(value.to_json())),
        Err(Failure::InDoubt(message)) => Made::Unknown(message.clone()),
        Err(Failure::Misfit(why)) => Made::Answered(Answer::FailedInDoubt(format!("{ANSWER}{why}"))),
        Err(Failure::Unsent(why)) => {
            Made::Answered(Answer::Failed(Data::Text(format!("{ARGUMENTS}{why}")).to_json()))
        }
        Err(Failure::TimedOut) => Made::Unknown("no answer came before the run's time was over".to_owned()),
        // It was made, and the run ends for that.
        Err(Failure::Limit(_, message)) => Made::Answered(Answer::FailedInDoubt(message.clone())),
        Err(Failure::Interrupted) => return None,
    })
}

impl Recorder for Recording<'_> {
    fn before(&mut self, due: &Due<'_>) -> Result<Permit, NotRecorded> {
        if (self.stops)() {
            self.session.stop();
        }
        let waits = due.policy.is_some_and(|policy| policy.waits);
        if waits && self.session.is_cancelled_asleep(due.number) {
            return Ok(Permit::Settled(Err(Failure::Interrupted)));
        }
        let arguments = due.arguments.to_json();
        let due = session::Due {
            sleep: if waits { seconds(due.arguments) } else { None },
            run: due.run,
            number: due.number,
            tool: due.tool,
            policy: due.policy.map(Policy::from),
            arguments: &arguments,
            rollback: due.rollback,
            expects: due.expects,
        };
        let permit = self.session.before(&due);
        Ok(match self.done(permit)? {
            session::Permit::Stop => Permit::Suspend,
            session::Permit::Make { key, .. } if key.is_empty() => Permit::Call,
            session::Permit::Make { key, approved } => Permit::CallWithKey { key, confirmed: approved },
            session::Permit::Settled(answer) => {
                let result = result(&answer);
                Permit::Settled(self.done(result)?)
            }
        })
    }

    fn after(&mut self, due: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        let Some(made) = made(result) else { return Ok(Taken::GoOn) };
        let taken = self.session.after(made, due.expects);
        Ok(taken_of(self.done(taken)?))
    }

    fn end(&mut self, run: &Run) -> Result<(), NotRecorded> {
        let ended = self.session.end(run);
        self.done(ended)
    }
}
