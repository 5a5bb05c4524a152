//! Reads the trace from which a replay takes its answers.

use crate::trace::each_line;
use ilo_drive::problem::Problem;
use ilo_drive::replay::Reading;
pub use ilo_drive::replay::Recording;
use ilo_spec::error::Code;
use std::io::BufRead;

/// Reads a trace; `name` is its file in messages. At most `limit` bytes are read.
///
/// # Errors
/// The first line that is not a call of a trace, a call that is missing or there twice, or a trace that is
/// larger than the limit.
pub fn read(name: &str, trace: impl BufRead, limit: u64) -> Result<Recording, Problem> {
    let mut reading = Reading::new(name);
    let mut length = 0;
    // One byte more than allowed shows that the trace is too large.
    each_line(name, trace.take(limit.saturating_add(1)), |number, line, whole| {
        length += line.len() as u64;
        if length > limit {
            let message = format!("a trace larger than its limit of {limit} bytes");
            return Err(Problem::new(Code::BadInput, format!("{name}:{number}"), message));
        }
        reading.line(number, line, whole)
    })?;
    reading.end()
}
