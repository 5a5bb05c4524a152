//! The record of a run: a line of JSON for each tool call.

use crate::data::write::quote;
use crate::failure::Failure;
use crate::observer::Ended;
use crate::policy::OnDoubt;
use ilo_spec::error::Code;
use std::fmt;
use std::time::Duration;

/// The member that marks a call that may have changed something although the run has no answer to it.
pub(crate) const IN_DOUBT: &str = "in_doubt";
/// The member that marks a call that was not sent, because its arguments do not fit.
pub const SENT: &str = "sent";
/// The member that marks a call that ended after its run was cancelled.
pub(crate) const AFTER_CANCEL: &str = "cancelled";
/// The member that marks a call that ended its run: the code of the fault, or [`INTERRUPTED`].
pub(crate) const ENDED: &str = "ended";
/// The value of that member in a run that was interrupted.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// A line of a trace for a call that has ended: [`line()`] with its times and its number within the run.
pub fn timed_line(call: &Ended<'_>) -> String {
    let (start, duration) = (Milliseconds(call.start), Milliseconds(call.duration));
    let mut line = line(call);
    line.pop();
    let number = call.number;
    format!("{line},\"start_ms\":{start},\"duration_ms\":{duration},\"number\":{number}}}\n")
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
        Err(failure @ (Failure::Misfit(_) | Failure::Unsent(_))) => {
            ("failed", failure.value().map_or_else(String::new, |value| value.to_json()))
        }
    };
    let code = match call.result {
        Err(Failure::TimedOut) => Some(Code::FaultTimedOut.as_str()),
        Err(Failure::Interrupted) => Some(INTERRUPTED),
        Err(Failure::Limit(code, _)) => Some(code.as_str()),
        Err(Failure::InDoubt(_)) if call.doubt == Some(OnDoubt::Stop) => Some(Code::FaultInDoubt.as_str()),
        Ok(_) | Err(Failure::Failed(_) | Failure::InDoubt(_) | Failure::Misfit(_) | Failure::Unsent(_)) => {
            None
        }
    };
    let in_doubt = if call.doubt.is_some() { format!(",\"{IN_DOUBT}\":true") } else { String::new() };
    let cancelled = if call.cancelled { format!(",\"{AFTER_CANCEL}\":true") } else { String::new() };
    let ended = code.map_or_else(String::new, |code| format!(",\"{ENDED}\":{}", quote(code)));
    let (seq, tool, arguments) = (call.seq, quote(call.tool), call.arguments.to_json());
    let rollback = if call.rollback { "\"rollback\":true," } else { "" };
    let sent = if call.sent { String::new() } else { format!("\"{SENT}\":false,") };
    format!(
        "{{\"seq\":{seq},\"tool\":{tool},\"args\":{arguments},{rollback}{sent}\"{key}\":{value}{in_doubt}{cancelled}{ended}}}"
    )
}
