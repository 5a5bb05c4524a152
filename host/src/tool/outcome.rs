//! What counts of a tool's own words: a panic is a failure of its call, and a tool cannot say that the time
//! was over or that the run was interrupted when that is not so, nor end the run with a fault of its choice.

use super::Failure;
use ilo_drive::data::Data;
use ilo_drive::problem::shortened;
use ilo_spec::error::Code;
use std::any::Any;
use std::time::{Duration, Instant};

/// Characters of the message of a panic that are shown.
const SHOWN: usize = 200;

/// The times of one attempt at a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The time limit of a call.
    pub(crate) allowed: Duration,
    /// When the answer is due.
    pub(crate) deadline: Instant,
    /// When the time of the run is over.
    pub(crate) until: Instant,
}

/// The result of a call, from what its tool returned. `ended` says whether the call was interrupted.
pub(crate) fn held(
    result: Result<Data, Failure>,
    tool: &str,
    times: Times,
    ended: bool,
) -> Result<Data, Failure> {
    let now = Instant::now();
    match result {
        Err(Failure::TimedOut) if now < times.until => {
            let limit = times.allowed.as_millis();
            let why = if now < times.deadline { "gave up before" } else { "took longer than" };
            Err(Failure::InDoubt(format!("tool `{tool}` {why} its limit of {limit} ms")))
        }
        Err(Failure::Interrupted) if !ended => {
            let message =
                format!("tool `{tool}` gave up as if it were interrupted, and nobody interrupted it");
            Err(Failure::InDoubt(message))
        }
        Err(Failure::Limit(code, _)) if !matches!(code, Code::FaultTooLarge | Code::FaultDepth) => Err(
            Failure::InDoubt(format!("tool `{tool}` gave up with `{code}`, which is no limit of an answer")),
        ),
        result => result,
    }
}

/// The failure of a call that panicked. The hook of the process has shown the panic.
pub(crate) fn panicked(tool: &str, payload: &(dyn Any + Send)) -> Failure {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(message), _) => message,
        (None, Some(message)) => message.as_str(),
        (None, None) => "",
    };
    let mut shown = Data::Text(shortened(message, SHOWN));
    super::secrets::hide_of_all(&mut shown);
    let shown = shown.as_text().filter(|shown| !shown.is_empty()).map(|shown| format!(": {shown}"));
    Failure::InDoubt(format!("tool `{tool}` panicked{}", shown.unwrap_or_default()))
}
