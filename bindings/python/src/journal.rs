//! Durable runs: a journal on disk, its runs, and the decisions of people.

use crate::WORDS;
use crate::errors::{journal_error, raise};
use crate::limits::{DEEPEST, limits};
use crate::outcome::stored;
use crate::program::Core;
use crate::run::Run;
use crate::tools::Catalogue;
use crate::values::{data, from_data};
use ilo_bindings::known::Known;
use ilo_bindings::limits::{bounds, input_bounds};
use ilo_drive::data::Data;
use ilo_drive::data::read::data_of;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::plan::changed;
use ilo_drive::recorder::{Due, NotRecorded, Permit, Recorder, Taken};
use ilo_journal::{
    Answer, At, Before, Beginning, Claim, Claimed, Decision, Error, ErrorCode, Key, Left, Listed, Options,
    Programs, Recording, RunId, RunLimits, State, Status, Summary,
};
use ilo_vm::{Limits, Program};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A call that was kept, as `_ilo.Store.calls` gives it.
type Kept = (u64, f64, String, Py<PyAny>, Option<f64>, Py<PyAny>, Option<bool>);

/// A journal.
#[pyclass(frozen, module = "ilo._ilo")]
#[derive(Debug)]
pub(crate) struct Store {
    inner: Mutex<Option<Arc<ilo_journal::Store>>>,
    /// Where it is, without a password.
    #[pyo3(get)]
    place: String,
    /// The process that opened it.
    process: u32,
}

/// A run of a journal that this process is going to drive.
#[pyclass(frozen, module = "ilo._ilo")]
#[derive(Debug)]
pub(crate) struct Session {
    inner: Mutex<Option<(ilo_journal::Session, Option<String>)>>,
    /// The seconds that the run has left.
    #[pyo3(get)]
    seconds: f64,
}

/// A run of a journal that waits for somebody.
#[pyclass(frozen, get_all, module = "ilo", name = "Waiting")]
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The number of the run in its journal.
    run: i64,
    /// Its name.
    name: Option<String>,
    /// Its state.
    state: &'static str,
    /// The number of the call that it waits for.
    call: u64,
    /// The tool of that call.
    tool: String,
    /// The arguments of that call.
    arguments: Py<PyAny>,
    /// Why it is blocked.
    reason: Option<String>,
}

/// A run of a journal.
#[pyclass(frozen, get_all, module = "ilo", name = "JournalRun")]
#[derive(Debug)]
pub(crate) struct JournalRun {
    /// Its number.
    run: i64,
    /// Its name.
    name: Option<String>,
    /// The function that runs.
    function: String,
    /// Its state, which is `ended` at the end.
    state: &'static str,
    /// When it was started, in seconds since 1970.
    started: f64,
    /// When it came into this state, in seconds since 1970.
    since: f64,
    /// The number of the call that it waits for.
    call: Option<u64>,
    /// The tool of that call.
    tool: Option<String>,
    /// The arguments of that call; nothing if this build cannot read the run.
    arguments: Option<Py<PyAny>>,
    /// The idempotency key of that call.
    key: Option<String>,
    /// Whether somebody has cancelled it.
    cancelled: bool,
    /// When it wakes, in seconds since 1970, if it sleeps.
    wake: Option<f64>,
    /// Its outcome, if it has ended.
    outcome: Option<Py<PyAny>>,
    /// Whether it can continue without a decision.
    resumes: bool,
}

fn fails(py: Python<'_>) -> impl Fn(Error) -> PyErr + use<'_> {
    move |error| journal_error(py, &error)
}

/// Seconds since 1970.
#[allow(clippy::cast_precision_loss, reason = "milliseconds of 280,000 years are exact")]
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether this process is a fork of the one with this number. It has none of the threads of that one, and
/// its copy of a connection must not be used or closed.
fn is_child_of(process: u32) -> bool {
    std::process::id() != process
}

impl Drop for Store {
    fn drop(&mut self) {
        if is_child_of(self.process) {
            std::mem::forget(self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl Store {
    fn open(&self, py: Python<'_>) -> PyResult<Arc<ilo_journal::Store>> {
        let refused = |message: &'static str| raise(py, "JournalError", (message, "journal-closed"));
        if is_child_of(self.process) {
            return Err(refused("the journal was opened before a fork; open it again in this process"));
        }
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| refused("the journal is closed; open it again"))
    }

    /// Does work that may wait for the disk, without the interpreter's lock.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&ilo_journal::Store) -> Result<T, Error>,
    ) -> PyResult<T> {
        let store = self.open(py)?;
        py.detach(|| work(&store)).map_err(fails(py))
    }
}

#[pymethods]
impl Store {
    /// Opens the journal at a path; `key` is 64 hexadecimal digits.
    #[allow(clippy::needless_pass_by_value, reason = "PyO3 gives paths by value")]
    #[new]
    #[pyo3(signature = (path, create, key))]
    fn new(py: Python<'_>, path: PathBuf, create: bool, key: Option<&str>) -> PyResult<Store> {
        let key = key.map(Key::from_hex).transpose().map_err(fails(py))?;
        let opened = py.detach(|| ilo_journal::Store::open(&path, &Options { create, key }));
        let inner = Mutex::new(Some(Arc::new(opened.map_err(fails(py))?)));
        Ok(Store { inner, place: ilo_journal::shown_place(&path), process: std::process::id() })
    }

    /// Closes the journal; runs that are under way keep it open until they end.
    fn close(&self, py: Python<'_>) {
        if is_child_of(self.process) {
            return;
        }
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(inner));
    }

    /// The number of the run with this name or number.
    fn find(&self, py: Python<'_>, run: &str) -> PyResult<i64> {
        self.wait(py, |store| store.find(run)).map(|RunId(run)| run)
    }

    /// The runs in the order of starting: with `state`, only those in that state, with `name`, those whose
    /// name begins so, with `metadata`, those that have all of it.
    #[pyo3(signature = (state, name, metadata))]
    fn list(
        &self,
        py: Python<'_>,
        state: Option<&str>,
        name: Option<String>,
        metadata: BTreeMap<String, String>,
    ) -> PyResult<Vec<JournalRun>> {
        let store = self.open(py)?;
        let (mut found, mut programs) = (Vec::new(), Programs::default());
        let status =
            state.map(|state| Status::named(state).ok_or_else(|| unknown_state(state))).transpose()?;
        let listed = py.detach(|| {
            store.list(&Listed { status, name, metadata, ..Listed::default() }, |summary| {
                found.push(summary);
                true
            })
        });
        listed.map_err(fails(py))?;
        found.into_iter().map(|summary| shown(py, &store, &mut programs, summary)).collect()
    }

    /// One run.
    fn show(&self, py: Python<'_>, run: i64) -> PyResult<JournalRun> {
        let store = self.open(py)?;
        let summary = py.detach(|| store.show(RunId(run))).map_err(fails(py))?;
        shown(py, &store, &mut Programs::default(), summary)
    }

    /// The decisions of people on a run: the call, when, what, who.
    fn decisions(&self, py: Python<'_>, run: i64) -> PyResult<Vec<(u64, f64, String, String)>> {
        let all = self.wait(py, |store| store.decisions(RunId(run)))?;
        Ok(all.into_iter().map(|found| (found.call, seconds(found.at), found.what, found.who)).collect())
    }

    /// The metadata of a run.
    fn metadata(&self, py: Python<'_>, run: i64) -> PyResult<BTreeMap<String, String>> {
        self.wait(py, |store| store.metadata(RunId(run)))
    }

    /// The outcome of a run; nothing if it has not ended after these seconds.
    fn outcome(&self, py: Python<'_>, run: i64, most: f64) -> PyResult<Option<Py<PyAny>>> {
        let most = Duration::try_from_secs_f64(most).unwrap_or_default();
        let outcome = self.wait(py, |store| store.wait(RunId(run), most))?;
        outcome.map(|outcome| stored(py, &outcome)).transpose()
    }

    /// The calls of a run that were kept: number, when, tool, arguments, seconds, answer, and whether that is
    /// a failure.
    fn calls(&self, py: Python<'_>, run: i64) -> PyResult<Vec<Kept>> {
        let all = self.wait(py, |store| store.calls(RunId(run)))?;
        let value = |json: &str| {
            let wrong = |error| PyValueError::new_err(format!("a call in the journal: {error}"));
            from_data(py, &data_of(json).map_err(wrong)?)
        };
        all.into_iter()
            .map(|called| {
                let (answer, failed) = match &called.answer {
                    None => (py.None(), None),
                    Some(Answer::Ok(json)) => (value(json)?, Some(false)),
                    Some(Answer::Failed(json)) => (value(json)?, Some(true)),
                    Some(Answer::FailedInDoubt(message)) => (message.into_py_any(py)?, Some(true)),
                };
                let took = called.took_ms.map(|took| Duration::from_millis(took).as_secs_f64());
                Ok((
                    called.call,
                    seconds(called.at),
                    called.tool,
                    value(&called.arguments)?,
                    took,
                    answer,
                    failed,
                ))
            })
            .collect()
    }

    /// Sets whether the calls of runs are kept from now on.
    fn keep_calls(&self, py: Python<'_>, keeps: bool) -> PyResult<()> {
        self.wait(py, |store| store.keep_calls(keeps))
    }

    /// Records a person's decision. Returns the state that follows.
    #[pyo3(signature = (run, call, what, value, who))]
    fn decide(
        &self,
        py: Python<'_>,
        run: i64,
        call: Option<u64>,
        what: &str,
        value: Option<&Bound<'_, PyAny>>,
        who: &str,
    ) -> PyResult<&'static str> {
        let text = || value.map_or_else(|| Ok(String::new()), PyAnyMethods::extract::<String>);
        let decision = match what {
            "approve" => Decision::Approve,
            "deny" => Decision::Deny(text()?),
            "fail" => Decision::Fail(text()?),
            "retry" => Decision::Retry,
            "cancel" => Decision::Cancel,
            _ => {
                let none = py.None();
                let value = value.unwrap_or_else(|| none.bind(py));
                let read = data(value, &bounds(&Limits::default()));
                Decision::Answer(read.map_err(|unfit| unfit.into_error(py, "the answer"))?.to_json())
            }
        };
        let store = self.open(py)?;
        let decided = py.detach(|| store.resolve(RunId(run), call, &decision, who));
        decided.map(State::name).map_err(|error| match error.code {
            ErrorCode::Value => raise(py, "BadValue", (format!("{}; {}", error.message, error.remedy),)),
            _ => journal_error(py, &error),
        })
    }

    /// Raises the limits of a run that has used its own up.
    #[pyo3(signature = (run, fuel, tool_calls, time, who))]
    fn more(
        &self,
        py: Python<'_>,
        run: i64,
        fuel: Option<u64>,
        tool_calls: Option<u64>,
        time: Option<f64>,
        who: &str,
    ) -> PyResult<&'static str> {
        let time = time.map(Duration::try_from_secs_f64).transpose();
        let time = time.map_err(|_| PyValueError::new_err("`time` is seconds"))?;
        let mut limits = self.wait(py, |store| store.show(RunId(run)))?.limits;
        raised("fuel", fuel, &mut limits.machine.fuel)?;
        raised("tool_calls", tool_calls, &mut limits.machine.tool_calls)?;
        raised("time", time.map(milliseconds), &mut limits.time_ms)?;
        let decision = Decision::More(limits);
        self.wait(py, |store| store.resolve(RunId(run), None, &decision, who)).map(State::name)
    }

    /// A run as bytes that another journal imports.
    fn export<'py>(&self, py: Python<'py>, run: i64) -> PyResult<Bound<'py, PyBytes>> {
        self.wait(py, |store| store.export(RunId(run))).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Adds an exported run. Returns its number.
    fn add(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<i64> {
        self.wait(py, |store| store.import(bytes)).map(|RunId(run)| run)
    }

    /// Removes runs that ended more than this number of days ago. Returns how many.
    fn prune(&self, py: Python<'_>, days: u32) -> PyResult<usize> {
        self.wait(py, |store| store.prune(days))
    }

    /// A new run, which is recorded in the journal from its first call that may change something.
    #[allow(clippy::too_many_arguments, reason = "those of `Program.run`")]
    #[pyo3(signature = (program, inputs, function, limits, tools, name, timeout, metadata))]
    fn begin(
        &self,
        py: Python<'_>,
        program: &Bound<'_, Core>,
        inputs: Option<&Bound<'_, PyAny>>,
        function: Option<&str>,
        limits: Option<&Bound<'_, PyDict>>,
        tools: &Bound<'_, Catalogue>,
        name: Option<String>,
        timeout: f64,
        metadata: BTreeMap<String, String>,
    ) -> PyResult<(Run, Session)> {
        if name.as_ref().is_some_and(|name| name.is_empty() || name.parse::<i64>().is_ok()) {
            return Err(PyValueError::new_err("`name` is a text that is not a number: runs have numbers"));
        }
        let store = self.open(py)?;
        let time = Duration::try_from_secs_f64(timeout)
            .map_err(|_| PyValueError::new_err("`timeout` is seconds from 0 to a year"))?;
        let core = program.get();
        let limits = self::limits(limits)?;
        let (run, function, input) = core.begin(py, inputs, function, &limits, Some(tools))?;
        let beginning = Beginning {
            name: name.clone(),
            input: input.to_json().into_bytes(),
            program: core.program.to_bytes(),
            function: core.program.function_name(function).to_owned(),
            limits: RunLimits { machine: limits.clone(), time_ms: milliseconds(time) },
        };
        let known = &tools.get().0;
        let signatures = changed::signatures(&core.program, &|name| known.tool(name));
        let session = ilo_journal::Session::new(store, beginning).with_tools(signatures);
        let session = session.with_metadata(metadata);
        Ok((Run::new(run, limits), Session { inner: Mutex::new(Some((session, name))), seconds: timeout }))
    }

    /// Takes a run over: its machine and session, or its outcome, or what it waits for. If a tool is missing
    /// or a call that was not made no longer fits, it is blocked; the latter unless `accept`.
    fn claim(
        &self,
        py: Python<'_>,
        run: i64,
        tools: &Bound<'_, Catalogue>,
        accept: bool,
    ) -> PyResult<Py<PyAny>> {
        let store = self.open(py)?;
        let summary = py.detach(|| store.show(RunId(run))).map_err(fails(py))?;
        let known = Arc::clone(&tools.get().0);
        let obstacle = py.detach(|| obstacle(&store, &summary, &known, accept)).map_err(fails(py))?;
        if let Some(why) = obstacle {
            py.detach(|| store.block(RunId(run), &why)).map_err(fails(py))?;
            let blocked = shown(py, &store, &mut Programs::default(), summary)?;
            return blocked.waits(py, State::Blocked(Before::Ready), None, Some(why));
        }
        match py.detach(|| store.claim(RunId(run)).wait()).map_err(fails(py))? {
            Claim::Mine(claimed) => claimed_run(py, &store, *claimed)?.into_py_any(py),
            Claim::Ended { outcome } => stored(py, &outcome),
            Claim::Waits { state, call, .. } => {
                let shown = shown(py, &store, &mut Programs::default(), summary)?;
                shown.waits(py, state, Some(call), None)
            }
        }
    }
}

/// What prevents a run from calling its tools.
fn obstacle(
    store: &ilo_journal::Store,
    summary: &Summary,
    known: &Known,
    accept: bool,
) -> Result<Option<String>, Error> {
    let At::Live(live) = &summary.at else { return Ok(None) };
    if !live.state.is_for_owners() || live.exported {
        return Ok(None);
    }
    let packed = store.program(&summary.program)?;
    let Ok(program) = Program::load(&packed) else { return Ok(None) };
    if let Some(first) = known.problems(program.tools(), &WORDS).first() {
        return Ok(Some(format!("missing-tool: {first}")));
    }
    let Some(stored) = store.tools(summary.run)?.filter(|_| !accept) else { return Ok(None) };
    let Ok(run) = summary.restored(&packed, live) else { return Ok(None) };
    let misfits = changed::misfits(&run, &stored, live.state.is_made(), &|name| known.tool(name));
    Ok(misfits.first().map(|first| format!("changed-tool: {first}")))
}

/// Raises a limit. Earlier use counts, so a lower limit would leave nothing.
fn raised(name: &str, given: Option<u64>, limit: &mut u64) -> PyResult<()> {
    let Some(given) = given else { return Ok(()) };
    if given <= *limit {
        let message = format!("`{name}` expects more than the run had, which is {limit}; found {given}");
        return Err(PyValueError::new_err(message));
    }
    *limit = given;
    Ok(())
}

/// A run that was taken over, restored at its call.
fn claimed_run(
    py: Python<'_>,
    store: &Arc<ilo_journal::Store>,
    claimed: Claimed,
) -> PyResult<(Run, Session)> {
    let limits = claimed.limits.machine.clone();
    let restored = py.detach(|| {
        if limits.value_depth > DEEPEST {
            return Err(format!("its values may be deeper than {DEEPEST}"));
        }
        claimed.restored()
    });
    let (run, left) = match restored {
        Ok(restored) => restored,
        Err(why) => {
            py.detach(|| store.release(&claimed.lease).wait()).map_err(fails(py))?;
            return Err(journal_error(py, &Error::unreadable(claimed.lease.run(), &why)));
        }
    };
    let name = claimed.lease.name().map(str::to_owned);
    let session = ilo_journal::Session::resumed(Arc::clone(store), claimed);
    let session = Session { inner: Mutex::new(Some((session, name))), seconds: left.as_secs_f64() };
    Ok((Run::new(run, limits), session))
}

/// The error for an unknown state.
fn unknown_state(found: &str) -> PyErr {
    let names: Vec<&str> = Status::all().map(Status::name).collect();
    PyValueError::new_err(format!("expected one of {}; found `{found}`", names.join(", ")))
}

/// A run in the form for Python.
fn shown(
    py: Python<'_>,
    store: &ilo_journal::Store,
    programs: &mut Programs,
    summary: Summary,
) -> PyResult<JournalRun> {
    let state = summary.status().name();
    let arguments = match &summary.at {
        At::Live(live) => programs.arguments(store, &summary, live),
        At::Ended { .. } => None,
    };
    let mut shown = JournalRun {
        run: summary.run.0,
        name: summary.name,
        function: summary.function,
        state,
        started: seconds(summary.started),
        since: 0.0,
        call: None,
        tool: None,
        arguments: None,
        key: None,
        cancelled: false,
        wake: None,
        outcome: None,
        resumes: false,
    };
    match summary.at {
        At::Ended { ended, outcome } => {
            shown.since = seconds(ended);
            shown.outcome = Some(stored(py, &outcome)?);
        }
        At::Live(live) => {
            let arguments = arguments.and_then(|json| data_of(&json).ok());
            let asleep = live.state == State::Sleeping && live.wake.is_none_or(|wake| wake <= now());
            shown.since = seconds(live.since);
            shown.call = Some(live.call);
            shown.tool = Some(live.tool);
            shown.arguments = arguments.map(|found| from_data(py, &found)).transpose()?;
            shown.key = Some(live.key);
            shown.cancelled = live.cancel;
            shown.wake = live.wake.map(seconds);
            shown.resumes = !live.exported && (live.state.is_for_owners() || asleep);
        }
    }
    Ok(shown)
}

impl JournalRun {
    /// The same as a run that waits.
    fn waits(
        self,
        py: Python<'_>,
        state: State,
        call: Option<u64>,
        reason: Option<String>,
    ) -> PyResult<Py<PyAny>> {
        let JournalRun { run, name, .. } = self;
        let (state, call) = (state.name(), call.or(self.call).unwrap_or(0));
        let (tool, arguments) = (self.tool.unwrap_or_default(), self.arguments.unwrap_or_else(|| py.None()));
        Waiting { run, name, state, call, tool, arguments, reason }.into_py_any(py)
    }
}

#[pymethods]
impl JournalRun {
    fn __repr__(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        format!("<ilo.JournalRun {}{name}: {}>", self.run, self.state)
    }
}

#[pymethods]
impl Waiting {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str, &'static str) = ("run", "state", "call");

    fn __repr__(&self) -> String {
        format!("<ilo.Waiting run {}: {} at call {} of `{}`>", self.run, self.state, self.call, self.tool)
    }
}

/// The recorder of a run of a journal.
#[derive(Debug)]
pub(crate) struct Journaled {
    recording: Recording<'static>,
    process: u32,
    name: Option<String>,
    /// Whether the answer of the last call that ended comes later, from outside.
    later: bool,
}

impl Journaled {
    /// Records in a session that nobody has taken before; `cancel` is set when somebody cancels the run.
    pub(crate) fn new(py: Python<'_>, session: &Session, cancel: Arc<AtomicBool>) -> PyResult<Journaled> {
        let taken = session.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((session, name)) = taken else {
            return Err(raise(py, "NotWaiting", ("the run is driven already",)));
        };
        let recording = Recording::new(session, || false, move || cancel.store(true, Ordering::Relaxed));
        Ok(Journaled { recording, process: std::process::id(), name, later: false })
    }

    /// Marks that the answer of the next settled call comes later.
    pub(crate) fn defer(&mut self) {
        self.later = true;
    }

    /// Returns the run to its journal, unless it was left.
    pub(crate) fn release(&mut self) {
        if !is_child_of(self.process) {
            self.recording.release();
        }
    }

    /// What it waits for, or the number of the run that was there already; nothing if it has ended.
    pub(crate) fn left(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(error) = self.recording.error() {
            return Err(journal_error(py, error));
        }
        match self.recording.session().left() {
            Some(Left::Existing(RunId(run))) => run.into_py_any(py).map(Some),
            Some(Left::Waits { run: RunId(run), state, call, tool, arguments, .. }) => {
                let depth = DEEPEST + 1;
                let bounds = Bounds { depth, ..input_bounds() };
                let arguments = read(arguments.as_bytes(), &bounds).unwrap_or(Data::Nil);
                let arguments = from_data(py, &arguments)?;
                let (name, tool) = (self.name.clone(), tool.clone());
                let (run, state, call) = (*run, state.name(), *call);
                let waits = Waiting { run, name, state, call, tool, arguments, reason: None };
                waits.into_py_any(py).map(Some)
            }
            Some(Left::Ended) | None => Ok(None),
        }
    }
}

impl Drop for Journaled {
    fn drop(&mut self) {
        self.release();
    }
}

impl Recorder for Journaled {
    fn before(&mut self, due: &Due<'_>) -> Result<Permit, NotRecorded> {
        self.recording.before(due)
    }

    fn after(
        &mut self,
        due: &Due<'_>,
        result: &Result<Data, ilo_drive::failure::Failure>,
    ) -> Result<Taken, NotRecorded> {
        if std::mem::take(&mut self.later) {
            self.recording.defer(due)
        } else {
            self.recording.after(due, result)
        }
    }

    fn end(&mut self, run: &ilo_vm::Run) -> Result<(), NotRecorded> {
        self.recording.end(run)
    }
}
