//! The record of a run: a line of JSON for each tool call, written as it ends.

use crate::data::Data;
use crate::data::write::quote;
use crate::run::Observer;
use crate::tools::Failure;
use std::io::{self, Write};

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
    fn ended(&mut self, seq: u64, tool: &str, arguments: &Data, result: &Result<Data, Failure>) {
        if self.error.is_some() {
            return;
        }
        let line = format!("{}\n", line(seq, tool, arguments, result));
        self.error = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush()).err();
    }
}

/// A call that has ended, as one line of JSON.
pub fn line(seq: u64, tool: &str, arguments: &Data, result: &Result<Data, Failure>) -> String {
    let (key, value) = match result {
        Ok(value) => ("ok", value.to_json()),
        Err(Failure::Failed(value)) => ("failed", value.to_json()),
        Err(Failure::TimedOut) => ("failed", quote("the run's time was over")),
        Err(Failure::Interrupted) => ("failed", quote("interrupted")),
        Err(Failure::Limit(_, message)) => ("failed", quote(message)),
    };
    let (tool, arguments) = (quote(tool), arguments.to_json());
    format!("{{\"seq\":{seq},\"tool\":{tool},\"args\":{arguments},\"{key}\":{value}}}")
}
