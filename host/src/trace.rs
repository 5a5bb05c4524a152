//! The record of a run: a line of JSON for each tool call, written as it ends.

use crate::data::write::quote;
use crate::run::{Ended, Observer};
use crate::tools::{Failure, OnDoubt};
use ilo_spec::error::Code;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

/// The member of a call that may have changed something although the run has no answer of it.
pub(crate) const IN_DOUBT: &str = "in_doubt";
/// The member of a call that ended its run: the code of the fault, or [`INTERRUPTED`].
pub(crate) const ENDED: &str = "ended";
/// What a call of a run that was interrupted has there.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Writes the trace.
#[derive(Debug)]
pub struct Trace<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> Trace<W> {
    /// A trace to `out`, which is flushed after each line.
    pub fn new(out: W) -> Trace<W> {
        Trace { out, error: None }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of writing; nothing was written after it.
    pub fn finish(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

impl<W: Write> Observer for Trace<W> {
    fn ended(&mut self, call: &Ended<'_>) {
        if self.error.is_some() {
            return;
        }
        let (start, duration) = (Milliseconds(call.start), Milliseconds(call.duration));
        let mut line = line(call);
        line.pop();
        let number = call.number;
        let line = format!("{line},\"start_ms\":{start},\"duration_ms\":{duration},\"number\":{number}}}\n");
        self.error = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush()).err();
    }
}

/// A time as a number of milliseconds, to the microsecond.
struct Milliseconds(Duration);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        write!(f, "{}.{:03}", micros / 1_000, micros % 1_000)
    }
}

/// A call that has ended, as a record of JSON without its times.
pub fn line(call: &Ended<'_>) -> String {
    let (key, value) = match call.result {
        Ok(value) => ("ok", value.to_json()),
        Err(Failure::Failed(value)) => ("failed", value.to_json()),
        Err(Failure::TimedOut) => ("failed", quote("the run's time was over")),
        Err(Failure::Interrupted) => ("failed", quote(INTERRUPTED)),
        Err(Failure::InDoubt(message) | Failure::Limit(_, message)) => ("failed", quote(message)),
    };
    let code = match call.result {
        Err(Failure::TimedOut) => Some(Code::FaultTimedOut.as_str()),
        Err(Failure::Interrupted) => Some(INTERRUPTED),
        Err(Failure::Limit(code, _)) => Some(code.as_str()),
        Err(Failure::InDoubt(_)) if call.doubt == Some(OnDoubt::Stop) => Some(Code::FaultInDoubt.as_str()),
        Ok(_) | Err(Failure::Failed(_) | Failure::InDoubt(_)) => None,
    };
    let in_doubt = if call.doubt.is_some() { format!(",\"{IN_DOUBT}\":true") } else { String::new() };
    let ended = code.map_or_else(String::new, |code| format!(",\"{ENDED}\":{}", quote(code)));
    let (seq, tool, arguments) = (call.seq, quote(call.tool), call.arguments.to_json());
    let rollback = if call.rollback { "\"rollback\":true," } else { "" };
    format!(
        "{{\"seq\":{seq},\"tool\":{tool},\"args\":{arguments},{rollback}\"{key}\":{value}{in_doubt}{ended}}}"
    )
}
