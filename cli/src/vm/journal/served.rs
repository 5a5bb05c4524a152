//! `serve --journal`: a server's runs in a journal.

use super::super::load;
use ilo_host::data::Data;
use ilo_host::data::read::data_of;
use ilo_host::run::{Due, NotRecorded, Options, Permit, Recorder, Taken, filled};
use ilo_host::serve::{Call, Durable, DurableWork, NewRun, Now, Seen, Verdict};
use ilo_host::tools::Failure;
use ilo_journal::{
    At, Beginning, Claim, Claimed, Decision, Error, ErrorCode, Left, Programs, Recording, RunId, RunLimits,
    Session, State, Store, Summary,
};
use ilo_vm::Run;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The recorded name for decisions of a person at a client.
const CLIENT: &str = "the client of the server";

/// A server's journal.
pub(crate) struct Served {
    store: Arc<Store>,
    /// The version of the journal at the last check.
    version: Mutex<Option<i64>>,
    /// Runs that this release cannot read: they are reported once.
    unreadable: Mutex<BTreeSet<RunId>>,
}

#[allow(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn told(error: Error) -> String {
    error.to_string()
}

fn id(run: u64) -> RunId {
    RunId(i64::try_from(run).unwrap_or(0))
}

fn number(run: RunId) -> u64 {
    u64::try_from(run.0).unwrap_or(0)
}

impl Served {
    pub(crate) fn new(store: Arc<Store>) -> Served {
        Served { store, version: Mutex::default(), unreadable: Mutex::default() }
    }

    /// What is in the way of a run that is to call tools now; empty where that was said before.
    fn obstacle(&self, summary: &Summary, work: &DurableWork<'_>) -> Result<Option<String>, Error> {
        let At::Live(live) = &summary.at else { return Ok(None) };
        let program = self.store.program(&summary.program)?;
        let waiting = match summary.restored(&program, live) {
            Ok(run) => run,
            Err(why) => {
                let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                let is_new = unreadable.insert(summary.run);
                let why = Error::unreadable(summary.run, &why).to_string();
                return Ok(Some(if is_new { why } else { String::new() }));
            }
        };
        let names = load::tools_in(&program);
        let missing = work.tools.problems(names.iter().map(String::as_str));
        if let Some(first) = missing.first() {
            self.store.block(summary.run, &format!("missing-tool: {first}"))?;
            return Ok(Some(first.to_string()));
        }
        let Some(stored) = self.store.tools(summary.run)? else { return Ok(None) };
        let misfits = work.tools.misfits(&waiting, &stored, live.state.is_made());
        let Some(first) = misfits.first() else { return Ok(None) };
        self.store.block(summary.run, &format!("changed-tool: {first}"))?;
        Ok(Some(first.to_string()))
    }

    fn claimed(&self, claimed: Claimed, work: DurableWork<'_>) -> Result<(), String> {
        let (run, timeout) = claimed.restored()?;
        let options = Options { limits: claimed.limits.machine.clone(), timeout, ..work.options };
        let session = Session::resumed(self.store.clone(), claimed);
        drive(session, run, DurableWork { options, ..work }, &mut |_| {})
    }
}

/// Drives a run until it ends or waits.
fn drive(
    session: Session,
    run: Run,
    work: DurableWork<'_>,
    begun: &mut dyn FnMut(u64),
) -> Result<(), String> {
    let DurableWork { tools, options, stop, observer } = work;
    let cancel = options.cancel.clone();
    let recording = Recording::new(session, || stop.is_set(), || cancel.set());
    let mut recording = Announced { recording, begun: Some(begun) };
    ilo_host::run::drive(run, tools, &options, observer, &mut recording);
    let Announced { recording, .. } = recording;
    match recording.error() {
        // Another process continues it.
        Some(error) if [ErrorCode::Lost, ErrorCode::Owned].contains(&error.code) => Ok(()),
        Some(error) => Err(error.to_string()),
        None => {
            tracing::debug!(left = ?recording.session().left().map(word), "a run was left");
            Ok(())
        }
    }
}

/// How a run was left, in a word.
fn word(left: &Left) -> &'static str {
    match left {
        Left::Ended | Left::Existing(_) => "ended",
        Left::Waits { state, .. } => state.name(),
    }
}

impl Durable for Served {
    fn start(
        &self,
        new: &NewRun<'_>,
        work: DurableWork<'_>,
        begun: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        let &NewRun { program, function, input, owner, .. } = new;
        let problems = ilo_host::run::problems(program, function, input, work.tools);
        if !problems.is_empty() {
            return Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        }
        let inputs: Vec<_> = program.inputs(function).collect();
        let input = &filled(&inputs, input.clone());
        let time_ms = u64::try_from(work.options.timeout.as_millis()).unwrap_or(u64::MAX);
        let beginning = Beginning {
            name: None,
            input: input.to_json().into_bytes(),
            program: program.to_bytes(),
            function: program.function_name(function).to_owned(),
            limits: RunLimits { machine: work.options.limits.clone(), time_ms },
        };
        let mut run = Run::new(program, work.options.limits.clone());
        ilo_host::run::start(&mut run, function, input).map_err(|problem| problem.to_string())?;
        let session =
            Session::new(self.store.clone(), beginning).recorded_at_once().owned_by(owner.map(str::to_owned));
        let session = session.with_tools(work.tools.signatures(program));
        drive(session, run, work, begun)
    }

    fn resume(&self, run: u64, work: DurableWork<'_>) -> Result<(), String> {
        let summary = self.store.show(id(run)).map_err(told)?;
        if let Some(why) = self.obstacle(&summary, &work).map_err(told)? {
            return if why.is_empty() { Ok(()) } else { Err(format!("it cannot continue: {why}")) };
        }
        match self.store.claim(id(run)).wait() {
            Ok(Claim::Mine(claimed)) => self.claimed(*claimed, work),
            Ok(Claim::Waits { .. } | Claim::Ended { .. }) => Ok(()),
            Err(error) if [ErrorCode::Lost, ErrorCode::Owned].contains(&error.code) => Ok(()),
            Err(error) => Err(told(error)),
        }
    }

    fn has_news(&self) -> Result<bool, String> {
        let now = self.store.version().map_err(told)?;
        let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        let wakes = self.store.next_wake().map_err(told)?.is_some_and(|time| time.is_zero());
        if let Err(error) = self.store.prune_daily() {
            tracing::warn!("old runs were not removed: {error}");
        }
        Ok(version.replace(now) != Some(now) || wakes)
    }

    fn continuable(&self) -> Result<Vec<u64>, String> {
        Ok(self.store.continuable().map_err(told)?.into_iter().map(number).collect())
    }

    fn seen(&self, run: u64) -> Result<Option<Seen>, String> {
        let summary = match self.store.show(id(run)) {
            Ok(summary) => summary,
            Err(error) if error.code == ErrorCode::NoRun => return Ok(None),
            Err(error) => return Err(told(error)),
        };
        let time = |time: i64| u64::try_from(time).unwrap_or(0);
        let (now, since) = match &summary.at {
            At::Ended { ended, outcome } => {
                (Now::Ended(String::from_utf8_lossy(outcome).into_owned()), *ended)
            }
            At::Live(live) => {
                let asks = matches!(live.state, State::Asking | State::Doubt) && !live.exported;
                let now = if asks {
                    let arguments = Programs::default().arguments(&self.store, &summary, live);
                    let arguments = arguments.and_then(|json| data_of(&json).ok());
                    Now::Asks(Call {
                        number: live.call,
                        tool: live.tool.clone(),
                        arguments: arguments.unwrap_or(Data::Nil),
                        in_doubt: live.state == State::Doubt,
                    })
                } else {
                    let (state, advice) = (live.status().name(), live.state.advice());
                    Now::Works(format!("{state} at call {} of `{}`: {advice}", live.call, live.tool))
                };
                (now, live.since)
            }
        };
        Ok(Some(Seen { started: time(summary.started), since: time(since), now }))
    }

    fn owner(&self, run: u64) -> Result<Option<String>, String> {
        let none = |error: Error| if error.code == ErrorCode::NoRun { Ok(None) } else { Err(told(error)) };
        self.store.subject(id(run)).or_else(none)
    }

    fn unfinished(&self, owner: &str) -> Result<usize, String> {
        self.store.unfinished(owner).map_err(told)
    }

    fn bytes_of(&self, owner: &str) -> Result<usize, String> {
        self.store.bytes_of(owner).map_err(told)
    }

    fn decide(&self, run: u64, call: u64, verdict: &Verdict, who: Option<&str>) -> Result<(), String> {
        let asking =
            matches!(self.seen(run)?, Some(Seen { now: Now::Asks(Call { in_doubt: false, .. }), .. }));
        let decision = match verdict {
            Verdict::Make if asking => Decision::Approve,
            Verdict::Make => Decision::Retry,
            Verdict::Deny => Decision::Deny(String::new()),
            Verdict::Made(json) => Decision::Answer(json.clone()),
            Verdict::Failed(message) => Decision::Fail(message.clone()),
        };
        self.store.resolve(id(run), Some(call), &decision, who.unwrap_or(CLIENT)).map(drop).map_err(told)
    }

    fn cancel(&self, run: u64, who: Option<&str>) -> Result<(), String> {
        self.store.resolve(id(run), None, &Decision::Cancel, who.unwrap_or(CLIENT)).map(drop).map_err(told)
    }

    fn handle(&self, run: u64, part: &str) -> Result<Option<String>, String> {
        match self.store.handle(id(run), part) {
            Ok(handle) => Ok(Some(handle)),
            Err(error) if error.code == ErrorCode::NoRun => Ok(None),
            Err(error) => Err(told(error)),
        }
    }
}

/// A recorder that signals when its run is in the journal.
struct Announced<'h, 'b> {
    recording: Recording<'h>,
    begun: Option<&'b mut dyn FnMut(u64)>,
}

impl std::fmt::Debug for Announced<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.recording.fmt(f)
    }
}

impl Announced<'_, '_> {
    fn tell(&mut self) {
        if let Some(run) = self.recording.session().run()
            && let Some(begun) = self.begun.take()
        {
            begun(number(run));
        }
    }
}

impl Recorder for Announced<'_, '_> {
    fn before(&mut self, due: &Due<'_>) -> Result<Permit, NotRecorded> {
        let permit = self.recording.before(due);
        self.tell();
        permit
    }

    fn after(&mut self, due: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        self.recording.after(due, result)
    }

    fn end(&mut self, run: &Run) -> Result<(), NotRecorded> {
        let ended = self.recording.end(run);
        self.tell();
        ended
    }
}
