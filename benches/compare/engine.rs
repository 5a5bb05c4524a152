//! One worker process and the requests to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running engine.
pub(crate) struct Engine {
    /// Its name on the command line.
    pub(crate) key: &'static str,
    /// Its name and version.
    pub(crate) name: String,
    /// The items that it can measure.
    pub(crate) items: Vec<String>,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts a worker and asks which items it can measure.
    pub(crate) fn start(key: &'static str, mut command: Command) -> Result<Engine, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("has no pipes".to_owned());
        };
        let from = BufReader::new(from);
        let mut engine = Engine { key, name: String::new(), items: Vec::new(), child, to, from };
        engine.name = engine.ask("name")?;
        engine.items = engine.ask("items")?.split_whitespace().map(str::to_owned).collect();
        Ok(engine)
    }

    pub(crate) fn has(&self, item: &str) -> bool {
        self.items.iter().any(|known| known == item)
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        let key = self.key;
        let broken = |error: std::io::Error| format!("{key} stopped at `{line}`: {error}");
        writeln!(self.to, "{line}").and_then(|()| self.to.flush()).map_err(broken)?;
        let mut answer = String::new();
        self.from.read_line(&mut answer).map_err(broken)?;
        let answer = answer.trim_end();
        if answer.is_empty() || answer == "?" {
            return Err(format!("{key} has no answer to `{line}`"));
        }
        Ok(answer.to_owned())
    }

    /// The result of an item, if results of this item can be compared.
    pub(crate) fn show(&mut self, item: &str) -> Result<Option<String>, String> {
        Ok(Some(self.ask(&format!("show {item}"))?).filter(|shown| shown != "-"))
    }

    /// The nanoseconds of this number of passes, and the units of work in them.
    pub(crate) fn run(&mut self, item: &str, passes: u64) -> Result<(f64, f64), String> {
        let answer = self.ask(&format!("run {item} {passes}"))?;
        let numbers: Vec<f64> = answer.split(' ').filter_map(|number| number.parse().ok()).collect();
        match *numbers {
            [took, units] if units > 0.0 => Ok((took, units)),
            _ => Err(format!("{} answered `{answer}` to a run of {item}", self.key)),
        }
    }

    /// A figure that does not vary, such as a size.
    pub(crate) fn figure(&mut self, item: &str) -> Result<f64, String> {
        let answer = self.ask(&format!("figure {item}"))?;
        answer.parse().map_err(|_| format!("{} answered `{answer}` for {item}", self.key))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It would end when its input ends, but a worker that hangs must not outlive the comparison.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
