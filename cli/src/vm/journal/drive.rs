//! Drives a run that a journal records, until it ends or waits for somebody who is not at this terminal.

use super::super::progress::Progress;
use super::super::run::{Watch, show, show_stored};
use super::super::terminal::{self, Terminal};
use super::super::{Exit, Refused, output};
use super::{person, shown, suspended};
use ilo_host::data::Data;
use ilo_host::data::read::data_of;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::Options;
use ilo_host::tools::Tools;
use ilo_host::tools::consent::{Consent, Question};
use ilo_journal::{
    Answer, At, Claim, Claimed, Decision, Error, Left, Programs, Recording, RunId, Session, State, Store,
    Summary, WaitingRun,
};
use ilo_vm::Run;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest sleep for which the process waits, instead of leaving the run to `resume`.
const NAP: Duration = Duration::from_secs(5);
/// How long a question at the terminal waits.
const QUESTION: Duration = Duration::from_hours(24 * 365);

/// What to do after driving a run.
enum Then {
    /// The command is done.
    Exit(Exit),
    /// The run can continue at once.
    Again(RunId),
}

/// The context for driving runs of a journal.
pub(crate) struct Driver<'d> {
    pub(crate) store: Arc<Store>,
    pub(crate) journal: &'d Path,
    pub(crate) tools: &'d Tools,
    pub(crate) options: Options,
    pub(crate) watch: &'d mut Watch,
}

impl Driver<'_> {
    /// Drives a new run, or continues the one that has its name.
    pub(crate) fn start(&mut self, session: Session, run: Run, name: Option<&str>) -> Result<Exit, Refused> {
        let options = self.options.clone();
        match self.until_left(session, run, options, name)? {
            Then::Exit(exit) => Ok(exit),
            Then::Again(run) => self.resume(run),
        }
    }

    /// Continues a run, if that is possible now.
    pub(crate) fn resume(&mut self, run: RunId) -> Result<Exit, Refused> {
        let mut next = run;
        loop {
            let then = match self.store.claim(next).wait()? {
                Claim::Mine(claimed) => self.claimed(*claimed)?,
                Claim::Ended { outcome } => Then::Exit(show_stored(&outcome)?),
                Claim::Waits { state, call, wake } => self.waits(next, state, call, wake)?,
            };
            match then {
                Then::Exit(exit) => return Ok(exit),
                Then::Again(run) => next = run,
            }
        }
    }

    /// Prints that a run waits.
    fn waits(&mut self, run: RunId, state: State, call: u64, wake: Option<i64>) -> Result<Then, Refused> {
        let summary = self.store.show(run)?;
        let At::Live(live) = &summary.at else { return Ok(Then::Again(run)) };
        let left = self.waiting(&summary, live, (state, call, wake));
        self.left(&left, summary.name.as_deref())
    }

    /// How a live run waits.
    fn waiting(&self, summary: &Summary, live: &WaitingRun, at: (State, u64, Option<i64>)) -> Left {
        let arguments = Programs::default().arguments(&self.store, summary, live);
        let (arguments, (state, call, wake)) = (arguments.unwrap_or_else(|| "null".to_owned()), at);
        Left::Waits { run: summary.run, state, call, tool: live.tool.clone(), arguments, wake }
    }

    /// Says how a run can be continued that could not be recorded further. A run of which the journal has
    /// nothing has changed nothing.
    fn not_recorded(&self, error: &Error, session: &Session, name: Option<&str>) -> Result<Exit, Refused> {
        let Some(run) = session.run() else { return Err(error.clone().into()) };
        output::error(&format!("{}\n", output::plain(&error.to_string())));
        let summary = self.store.show(run)?;
        let At::Live(live) = &summary.at else { return Ok(Exit::Suspended) };
        if let Some((call, tool, answer)) = session.answered()
            && (live.call, live.state) == (call, State::Calling)
        {
            let (verb, option, value) = match answer {
                Answer::Ok(json) => ("answer", "--value", json.clone()),
                Answer::Failed(json) => ("fail", "--message", json.clone()),
                Answer::FailedInDoubt(message) => ("fail", "--message", shown::quoted(message)),
            };
            let text = format!(
                "call {call} of `{tool}` was made, and its answer is not in the journal:\n  {value}\n\
                 once `resume` says that the call is in doubt, give it the answer with\n  \
                 ilo-vm runs {verb} {run} --call {call} {option} … --journal {}\n",
                super::word_of(self.journal)
            );
            output::error(&output::plain_lines(&text));
        }
        let left = self.waiting(&summary, live, (live.state, live.call, None));
        suspended(&self.store, &left, name, self.journal)
    }

    /// Handles a waiting run. It continues if the person at the terminal decides, or after a short sleep.
    fn left(&self, left: &Left, name: Option<&str>) -> Result<Then, Refused> {
        if let Left::Waits { run, wake, .. } = left
            && (self.naps(*wake) || self.ask(left)?)
        {
            return Ok(Then::Again(*run));
        }
        suspended(&self.store, left, name, self.journal).map(Then::Exit)
    }

    /// Waits until a run wakes, if that is soon; false if it is not, or after a signal.
    fn naps(&self, wake: Option<i64>) -> bool {
        let Some(wake) = wake else { return false };
        let Some(time) = shown::until(wake).filter(|time| *time <= NAP) else { return false };
        self.watch.signal.cancel.sleep_until(Instant::now() + time)
    }

    fn claimed(&mut self, claimed: Claimed) -> Result<Then, Refused> {
        let name = claimed.lease.name().map(str::to_owned);
        let (run, timeout) = match claimed.restored() {
            Ok(restored) => restored,
            Err(why) => {
                self.store.release(&claimed.lease).wait()?;
                return Err(Error::unreadable(claimed.lease.run(), &why).into());
            }
        };
        let limits = claimed.limits.machine.clone();
        let options = Options { limits, timeout, ..self.options.clone() };
        let session = Session::resumed(self.store.clone(), claimed);
        self.until_left(session, run, options, name.as_deref())
    }

    fn until_left(
        &mut self,
        session: Session,
        run: Run,
        options: Options,
        name: Option<&str>,
    ) -> Result<Then, Refused> {
        let (cancel, stop) = (Interrupt::default(), self.watch.signal.cancel.clone());
        let options = Options { cancel: cancel.clone(), ask: None, ..options };
        let mut recording = Recording::new(session, || stop.is_set(), || cancel.set());
        let finished = ilo_host::run::drive(run, self.tools, &options, self.watch, &mut recording);
        if let Some(error) = recording.error() {
            return self.not_recorded(error, recording.session(), name).map(Then::Exit);
        }
        let left = recording.session().left().cloned();
        drop(recording);
        match left {
            Some(Left::Ended) => match finished.outcome() {
                Some(outcome) => show(outcome, false).map(Then::Exit),
                None => Ok(Then::Exit(self.watch.signal.tell())),
            },
            Some(Left::Existing(run)) => Ok(Then::Again(run)),
            Some(left @ Left::Waits { .. }) => self.left(&left, name),
            None => Ok(Then::Exit(self.watch.signal.tell())),
        }
    }

    /// Asks the person at the terminal if the run waits for an approval. Returns whether it was decided.
    fn ask(&self, left: &Left) -> Result<bool, Refused> {
        let Left::Waits { run, state: State::Asking, call, tool, arguments, .. } = left else {
            return Ok(false);
        };
        let bar = self.watch.progress.as_ref().map(Progress::bar);
        let Some(terminal) = Terminal::open(bar) else { return Ok(false) };
        let arguments = data_of(arguments).unwrap_or(Data::Record(Vec::new().into()));
        let (tool, arguments) = self.tools.asked(tool, &arguments);
        let question = Question {
            tool: &tool,
            arguments: &arguments,
            foreseen: &[],
            deadline: Instant::now() + QUESTION,
            interrupt: &self.watch.signal.cancel,
        };
        let decision = match terminal.ask(&question) {
            Consent::Given => Decision::Approve,
            Consent::Refused(why) if why == terminal::NO => Decision::Deny(String::new()),
            _ => return Ok(false),
        };
        self.store.resolve(*run, Some(*call), &decision, &person())?;
        Ok(true)
    }
}
