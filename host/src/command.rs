//! Tools that are commands: a program gets the arguments as JSON on standard input and writes the answer as
//! JSON to standard output.
//!
//! A program runs in its own process group, in the folder of the tools file, with a restricted environment.
//! Its answer is its standard output up to its end; processes that it leaves running are ended if they still
//! hold the output open. Nothing waits for a pipe beyond the deadline: threads serve the pipes, and if a
//! process that left the group keeps a pipe open, its thread is abandoned.

use crate::tool::secrets::Secrets;
use crate::tool::{Failure, Grace, Provider, Request, limits, numbers, process_mark};
use ilo_drive::data::Data;
use ilo_drive::data::read::ReadError;
use ilo_drive::locked::locked;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Variables that a program inherits; the tools file adds to them.
const ENVIRONMENT: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];
/// Variables that a program on Windows does not start without.
const WINDOWS: &str = "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PROGRAMDATA \
                       PROGRAMFILES USERPROFILE USERNAME TEMP TMP PROCESSOR_ARCHITECTURE";
/// Bytes of the end of standard error that are kept as the message of a failure.
pub(crate) const ERRORS: usize = 4 << 10;
/// How long output of processes that the program left running may still arrive after its end.
const GRACE: Duration = Duration::from_millis(200);
/// The longest interval between checks whether the program has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// SIGTERM.
#[cfg(unix)]
const TERMINATE: i32 = 15;
/// How long a killed process may take to end before it is left to the system.
const REAP: Duration = Duration::from_secs(2);

/// A command: a program to run.
#[derive(Debug)]
pub(crate) struct Command {
    /// The program's file.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Its working directory.
    pub(crate) folder: PathBuf,
    /// Variables that the tools file adds to its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The secrets of the tools file, which no message shows.
    pub(crate) secrets: Secrets,
}

impl Provider for Command {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        self.answer(request).map_err(|failure| self.secrets.hidden_in(failure))
    }
}

impl Command {
    fn answer(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let mut running = RunningProgram::start(self, request)?;
        let status = running.wait(request)?;
        let output = std::mem::take(&mut *locked(&running.output));
        if !status.success() {
            let message = failure_message(status, &locked(&running.errors), &self.secrets);
            // A program that was killed may have done its work.
            let killed = status.code().is_none();
            return Err(if killed { Failure::InDoubt(message) } else { Failure::text(message) });
        }
        numbers::read_answer(&output, &request.bounds, request.integers_as_text)
            .map_err(|error| unreadable(&error, &output))
    }

    fn spawn(&self, request: &Request<'_>) -> io::Result<Box<dyn ChildWrapper>> {
        let mut command = CommandWrap::with_new(&self.program, |command| {
            command.args(&self.arguments).current_dir(&self.folder);
            closed(command, &self.environment, &request.mark.value());
            command.envs(request.span.map(|span| ("TRACEPARENT", span.to_string())));
            if let Some(key) = request.key {
                command.env(KEY, key);
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::std::JobObject);
        command.spawn()
    }
}

/// The file of a program that is named without a folder. On Windows the name may lack its ending, as that of
/// `npx.cmd`.
pub(crate) fn find(name: &str, search: &OsStr, folder: &Path) -> Option<PathBuf> {
    let endings = if cfg!(windows) && !name.contains('.') {
        std::env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".to_owned())
    } else {
        String::new()
    };
    let names: Vec<String> = endings.split(';').map(|ending| format!("{name}{ending}")).collect();
    std::env::split_paths(search)
        .flat_map(|part| names.iter().map(|name| folder.join(&part).join(name)).collect::<Vec<_>>())
        .find(|file| is_program(file))
}

/// Whether an executable file exists.
pub(crate) fn is_program(file: &Path) -> bool {
    let Ok(meta) = file.metadata() else { return false };
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 == 0 {
        return false;
    }
    meta.is_file()
}

/// The variable with the key of a call.
const KEY: &str = "ILO_IDEMPOTENCY_KEY";

/// Restricts the environment of a program to a few inherited variables, those of the tools file, and the
/// mark.
pub(crate) fn closed(command: &mut std::process::Command, given: &[(String, String)], mark: &str) {
    let windows = if cfg!(windows) { WINDOWS } else { "" };
    let names = ENVIRONMENT.into_iter().chain(windows.split_ascii_whitespace());
    let ours = names.filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(ours).envs(given.iter().map(|(name, value)| (name, value)));
    command.env(process_mark::NAME, mark);
}

/// The message of a failed program: the end of its standard error, or else how it ended.
fn failure_message(status: ExitStatus, errors: &[u8], secrets: &Secrets) -> String {
    let start = errors.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(errors.len());
    let text = secrets.hidden_in_end(&String::from_utf8_lossy(errors.get(start..).unwrap_or_default()));
    let text = text.trim();
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let colon = if text.is_empty() { "" } else { ": " };
        return format!("ended by signal {signal}{colon}{text}");
    }
    match (text, status.code()) {
        ("", Some(code)) => format!("ended with status {code} and nothing on standard error"),
        ("", None) => "ended without a status and with nothing on standard error".to_owned(),
        (text, _) => text.to_owned(),
    }
}

/// The error for an answer that cannot be read: a limit, or a failure that says what was found.
fn unreadable(error: &ReadError, found: &[u8]) -> Failure {
    limits::exceeded(&error.kind).unwrap_or_else(|| {
        let text = String::from_utf8_lossy(found.get(..200).unwrap_or(found));
        let shown = match text.trim() {
            "" => "nothing".to_owned(),
            text => format!("`{}`", ilo_drive::problem::shortened(text, 80)),
        };
        let advice = numbers::advice(&error.kind);
        Failure::Misfit(format!("expected one JSON value on standard output, found {shown}: {error}{advice}"))
    })
}

/// What the threads at the pipes report.
enum Event {
    /// A pipe has ended.
    Ended,
    /// Standard output exceeded its limit.
    TooLarge,
}

/// Bytes that a thread collects and the caller takes.
type Gathered = Arc<Mutex<Vec<u8>>>;

struct RunningProgram {
    child: Box<dyn ChildWrapper>,
    events: mpsc::Receiver<Event>,
    output: Gathered,
    errors: Gathered,
    over: bool,
}

impl RunningProgram {
    fn start(command: &Command, request: &Request<'_>) -> Result<RunningProgram, Failure> {
        let mut child = command.spawn(request).map_err(|error| {
            Failure::text(format!("cannot start `{}`: {error}", command.program.display()))
        })?;
        let (sender, events) = mpsc::channel();
        let (input, output, errors) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let running = RunningProgram {
            child,
            events,
            output: Gathered::default(),
            errors: Gathered::default(),
            over: false,
        };
        running
            .serve(input, output, errors, request, &sender)
            .map_err(|error| Failure::text(format!("cannot serve its pipes: {error}")))?;
        Ok(running)
    }

    /// Starts a thread for each pipe.
    fn serve(
        &self,
        input: Option<ChildStdin>,
        output: Option<ChildStdout>,
        errors: Option<ChildStderr>,
        request: &Request<'_>,
        events: &Sender<Event>,
    ) -> io::Result<()> {
        if let Some(mut pipe) = input {
            let json = request.arguments.to_json();
            // It is not a failure if a program does not read all of its input.
            thread::Builder::new().spawn(move || drop(pipe.write_all(json.as_bytes())))?;
        }
        if let Some(pipe) = output {
            gather(pipe, self.output.clone(), events.clone(), Keep::First(request.bounds.bytes))?;
        }
        if let Some(pipe) = errors {
            gather(pipe, self.errors.clone(), events.clone(), Keep::Last(ERRORS))?;
        }
        Ok(())
    }

    /// Waits for the end of the program and then, for a limited time, for the end of its pipes.
    fn wait(&mut self, request: &Request<'_>) -> Result<ExitStatus, Failure> {
        let mut open = 2;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        let mut pause = Duration::ZERO;
        let (mut killed, mut grace) = (false, Grace::default());
        loop {
            let now = Instant::now();
            if ended.is_none() {
                let status = self.status();
                let status = status.map_err(|error| Failure::text(format!("cannot wait for it: {error}")))?;
                ended = status.map(|status| (status, now + GRACE));
            }
            if request.interrupt.is_set() {
                return Err(Failure::Interrupted);
            }
            if ended.is_none() && grace.is_over(request) {
                self.end_in_time();
                return Err(Failure::InDoubt(request.cancelled_message()));
            }
            let until = match ended {
                Some((status, _)) if open == 0 => {
                    self.over = true;
                    return Ok(status);
                }
                Some((_, grace)) if now < grace => grace,
                Some((status, grace)) if now >= grace + REAP || now >= request.deadline => return Ok(status),
                Some((_, grace)) => {
                    if !std::mem::replace(&mut killed, true) {
                        self.kill();
                    }
                    grace + REAP
                }
                None if now >= request.deadline => return Err(Failure::TimedOut),
                None => request.deadline,
            };
            pause = (pause * 2).clamp(Duration::from_micros(100), PAUSE);
            let wait = pause.min(until.saturating_duration_since(now));
            match self.events.recv_timeout(wait) {
                Ok(Event::Ended) => open -= 1,
                Ok(Event::TooLarge) => {
                    return Err(limits::too_many_bytes(request.bounds.bytes));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
        }
    }

    /// The exit status of the program, if it has ended. Only the program itself is waited for: processes that
    /// it left in its group may have become children of this process, and waiting for the whole group could
    /// lose the status.
    fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.inner_mut().try_wait()
    }

    /// Waits for the program to end, for some time.
    fn reap(&mut self) {
        let until = Instant::now() + REAP;
        while Instant::now() < until && matches!(self.status(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Asks the group to end, and ends it if it has not ended some time later. The program is reaped then.
    fn end_in_time(&mut self) {
        #[cfg(unix)]
        {
            drop(self.child.signal(TERMINATE));
            self.reap();
        }
        self.kill();
        self.over = true;
        self.reap();
    }

    /// Ends the group, and the program itself in case it has left the group.
    fn kill(&mut self) {
        drop(self.child.start_kill());
        drop(self.child.inner_mut().start_kill());
    }
}

impl Drop for RunningProgram {
    /// Ends what still runs, and reaps the program.
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.kill();
        self.reap();
    }
}

/// Which bytes of a pipe are kept.
#[derive(Clone, Copy)]
enum Keep {
    /// The first bytes, up to this number; one more ends the reading.
    First(usize),
    /// The last bytes, up to this number.
    Last(usize),
}

/// Reads a pipe to its end in a thread.
fn gather(
    mut pipe: impl Read + Send + 'static,
    into: Gathered,
    events: Sender<Event>,
    keep: Keep,
) -> io::Result<()> {
    let work = move || {
        let mut buffer = [0; 8 << 10];
        loop {
            let count = match pipe.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            let mut bytes = locked(&into);
            bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            match keep {
                Keep::First(most) if bytes.len() > most => {
                    drop(events.send(Event::TooLarge));
                    return;
                }
                Keep::Last(most) if bytes.len() > most => {
                    let surplus = bytes.len() - most;
                    bytes.drain(..surplus);
                }
                Keep::First(_) | Keep::Last(_) => {}
            }
        }
        drop(events.send(Event::Ended));
    };
    thread::Builder::new().spawn(work).map(drop)
}
