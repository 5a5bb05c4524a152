//! Asks the person at the terminal for confirmation before calls of tools with `confirm`.
//!
//! Input that was typed before the question was shown is discarded. All arguments are shown before the answer
//! is taken, a page at a time where they are long.

use ilo_host::tools::consent::{Ask, Consent, Question};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Lines and columns of a screen that does not say how large it is.
const SCREEN: (usize, usize) = (24, 80);
/// The most bytes of an answer that are read.
const ANSWER: usize = 64;
/// The failure of a call that a person refused.
pub(super) const NO: &str = "the answer at the terminal was no";
/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);

/// A terminal at which somebody may answer.
#[derive(Debug)]
pub(super) struct Terminal {
    screen: File,
    lines: Mutex<Receiver<String>>,
    /// The progress line, which is hidden while a question is shown.
    moving: Option<ProgressBar>,
}

/// Why no line was read.
enum Unanswered {
    Closed,
    TimedOut,
    Interrupted,
}

impl Terminal {
    /// Opens the terminal for questions: standard input if it is a terminal, else the controlling terminal.
    pub(super) fn open(moving: Option<ProgressBar>) -> Option<Arc<dyn Ask>> {
        let (mut keys, screen) = open()?;
        let (sender, lines) = mpsc::channel();
        // It waits for keys until the program ends.
        thread::spawn(move || {
            while let Some(line) = read_line(&mut keys) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Some(Arc::new(Terminal { screen, lines: Mutex::new(lines), moving }))
    }

    /// Shows a question and reads its answer.
    fn put(&self, question: &Question<'_>) -> Consent {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match self.answer(question, &lines) {
            Ok(true) => Consent::Given,
            Ok(false) => Consent::Refused(NO.to_owned()),
            Err(Unanswered::Closed) => Consent::Refused("the terminal was closed".to_owned()),
            Err(Unanswered::TimedOut) => Consent::TimedOut,
            Err(Unanswered::Interrupted) => Consent::Interrupted,
        }
    }

    fn answer(&self, question: &Question<'_>, lines: &Receiver<String>) -> Result<bool, Unanswered> {
        let (rows, columns) = size(&self.screen);
        let tool = question.tool_shown();
        let shown = wrapped(&question.arguments_shown(), columns);
        let pages: Vec<&[String]> = shown.chunks(rows.saturating_sub(3).max(1)).collect();
        self.show(&format!("`{tool}` is only called after you confirm. Its arguments:\n"))?;
        for (at, page) in pages.iter().enumerate() {
            self.show(&format!("{}\n", page.join("\n")))?;
            if at + 1 < pages.len() {
                let (page, all) = (at + 1, pages.len());
                let prompt = format!("page {page} of {all}; Enter shows the next, n refuses: ");
                if is_no(&self.line(&prompt, question, lines)?) {
                    return Ok(false);
                }
            }
        }
        let answer = self.line(&format!("call `{tool}`? [y/N] "), question, lines)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    fn show(&self, text: &str) -> Result<(), Unanswered> {
        (&self.screen).write_all(text.as_bytes()).map_err(|_| Unanswered::Closed)
    }

    /// Shows a prompt and reads the line that answers it, without what was typed before.
    fn line(
        &self,
        prompt: &str,
        question: &Question<'_>,
        lines: &Receiver<String>,
    ) -> Result<String, Unanswered> {
        discard(&self.screen);
        while lines.try_recv().is_ok() {}
        self.show(prompt)?;
        loop {
            let left = question.deadline.saturating_duration_since(Instant::now());
            match lines.recv_timeout(left.min(PAUSE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Closed),
                Err(RecvTimeoutError::Timeout) if question.interrupt.is_set() => {
                    return Err(Unanswered::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Unanswered::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Ask for Terminal {
    fn ask(&self, question: &Question<'_>) -> Consent {
        match &self.moving {
            Some(moving) => moving.suspend(|| self.put(question)),
            None => self.put(question),
        }
    }
}

fn is_no(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "n" | "no" | "q")
}

/// The files to read answers from and to show questions on.
#[cfg(unix)]
pub(super) fn open() -> Option<(File, File)> {
    use std::io::IsTerminal;
    use std::os::fd::AsFd;
    let stdin = io::stdin();
    let own = if stdin.is_terminal() {
        stdin.as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::options().read(true).write(true).open("/dev/tty")
    };
    let keys = own.ok()?;
    let stderr = io::stderr();
    let screen = if stderr.is_terminal() {
        stderr.as_fd().try_clone_to_owned().map(File::from)
    } else {
        keys.try_clone()
    };
    Some((keys, screen.ok()?))
}

#[cfg(windows)]
pub(super) fn open() -> Option<(File, File)> {
    let keys = File::options().read(true).write(true).open("CONIN$").ok()?;
    Some((keys, File::options().read(true).write(true).open("CONOUT$").ok()?))
}

/// Reads a line; `None` at the end of input. Bytes after the first `ANSWER` are dropped.
fn read_line(keys: &mut File) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match keys.read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return None,
            Ok(_) if byte == *b"\n" => return Some(String::from_utf8_lossy(&line).into_owned()),
            Ok(_) if line.len() < ANSWER => line.extend(byte),
            Ok(_) => {}
        }
    }
}

/// Throws away what was typed and not read.
fn discard(screen: &File) {
    // A screen without keys has nothing to throw away.
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(screen, rustix::termios::QueueSelector::IFlush);
    #[cfg(not(unix))]
    let _ = screen;
}

/// Rows and columns.
fn size(screen: &File) -> (usize, usize) {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(screen)
        && size.ws_row > 0
        && size.ws_col > 0
    {
        return (size.ws_row.into(), size.ws_col.into());
    }
    let _ = screen;
    SCREEN
}

/// The lines of a text, wrapped at `columns`.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let characters: Vec<char> = line.chars().collect();
        if characters.is_empty() {
            lines.push(String::new());
        }
        lines.extend(characters.chunks(columns.max(1)).map(|part| part.iter().collect()));
    }
    lines
}
