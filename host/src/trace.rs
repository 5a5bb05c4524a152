//! Writes the trace of a run, with a line for each tool call when it ends, and reads the lines of a trace.

use crate::file::without_mark;
use crate::run::{Ended, Observer};
use ilo_drive::problem::Problem;
pub use ilo_drive::trace::line;
use ilo_drive::trace::timed_line;
use ilo_spec::error::Code;
use std::io::{self, BufRead, Read, Write};

/// The maximum size of a line, which is a call with its arguments and its answer.
const LINE: u64 = 64 << 20;

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

    /// What the trace was written to.
    pub fn into_inner(self) -> W {
        self.out
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
        let line = timed_line(call);
        self.error = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush()).err();
    }
}

/// Calls `take` with each line of a trace: its number from 1, its bytes, and whether a line break ended it.
/// `name` is the file in messages.
///
/// # Errors
/// The first error of `take`; a line that is too long; input that cannot be read.
pub fn each_line(
    name: &str,
    mut trace: impl BufRead,
    mut take: impl FnMut(u64, &[u8], bool) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let bad = |message: String| Problem::new(Code::BadInput, format!("{name}:{number}"), message);
        let count = trace.by_ref().take(LINE).read_until(b'\n', &mut line);
        if count.map_err(|error| bad(format!("cannot be read: {error}")))? == 0 {
            break;
        }
        let whole = line.ends_with(b"\n");
        if !whole && line.len() as u64 == LINE {
            return Err(bad(format!("a line of more than {LINE} bytes")));
        }
        take(number, if number == 1 { without_mark(&line) } else { &line }, whole)?;
    }
    Ok(())
}
