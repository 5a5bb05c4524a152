//! Draws a trace as a timeline: the calls of a run with their start times and durations.
//!
//! A trace may have any length and come from anywhere, so only a short text of each call is kept, and of many
//! calls only the longest ones; the others are counted.

mod picture;
#[cfg(test)]
mod tests;
mod text;

use ilo_graph::clean;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::problem::Problem;
use ilo_host::trace::each_line;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use std::fmt::Write;
use std::io::BufRead;

/// The most calls that are kept: as many as a person reads line by line.
const ROWS: usize = 200;
/// The columns that are kept of the name of a tool, and of arguments and answer.
const NAME: usize = 60;
const VALUE: usize = 200;
/// The largest time in a trace in milliseconds: some thirty years.
const LONGEST: f64 = 1e12;

/// The calls of a run over time.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// The kept calls, in the order of the run.
    rows: Vec<Row>,
    /// The number of calls, and of failed ones.
    calls: u64,
    failed: u64,
    /// The total time of all calls in milliseconds.
    together: f64,
    /// The start of the first call and the end of the last, in milliseconds.
    begin: f64,
    end: f64,
    /// The longest of the omitted calls.
    left_out: f64,
    /// Whether the last line is truncated, as in the trace of a killed run.
    cut: bool,
}

/// A call.
#[derive(Debug)]
struct Row {
    seq: u64,
    tool: String,
    arguments: String,
    /// The answer or the failure.
    result: String,
    failed: bool,
    start: f64,
    duration: f64,
}

impl Timeline {
    /// Reads a trace, as `ilo_host::trace::Trace` writes it; `name` is its file in messages.
    ///
    /// # Errors
    /// The first line that is not a call with its times, or an error of reading.
    pub(crate) fn read(name: &str, trace: impl BufRead) -> Result<Timeline, Problem> {
        let mut timeline = Timeline { begin: f64::INFINITY, ..Timeline::default() };
        each_line(name, trace, |number, line, whole| {
            if line.trim_ascii().is_empty() {
                return Ok(());
            }
            match call(line) {
                Ok(row) => timeline.add(row),
                Err(_) if !whole => timeline.cut = true,
                Err(message) => {
                    return Err(Problem::new(Code::BadInput, format!("{name}:{number}"), message));
                }
            }
            Ok(())
        })?;
        timeline.settle();
        Ok(timeline)
    }

    fn add(&mut self, row: Row) {
        self.calls += 1;
        self.failed += u64::from(row.failed);
        self.together += row.duration;
        self.begin = self.begin.min(row.start);
        self.end = self.end.max(row.start + row.duration);
        self.rows.push(row);
        if self.rows.len() >= 2 * ROWS {
            self.thin();
        }
    }

    /// Drops all but the longest calls.
    fn thin(&mut self) {
        if self.rows.len() > ROWS {
            self.rows.sort_by(|a, b| b.duration.total_cmp(&a.duration).then(a.seq.cmp(&b.seq)));
            for row in self.rows.drain(ROWS..) {
                self.left_out = self.left_out.max(row.duration);
            }
        }
    }

    fn settle(&mut self) {
        self.thin();
        self.rows.sort_by_key(|row| row.seq);
        if self.calls == 0 {
            self.begin = 0.0;
        }
    }

    /// Milliseconds from the start of the first call to the end of the last.
    fn span(&self) -> f64 {
        self.end - self.begin
    }

    /// A summary in one line.
    fn summary(&self) -> String {
        if self.calls == 0 {
            return "no calls".to_owned();
        }
        let calls = counted(self.calls, "call");
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let (span, together) = (time(self.span()), time(self.together));
        format!("{calls}{failed}, {span} from first to last, {together} one by one")
    }

    /// What it omits, one line each.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let left_out = self.calls - self.rows.len() as u64;
        if left_out > 0 {
            let (calls, most) = (counted(left_out, "call"), time(self.left_out));
            notes.push(format!("{calls} left out, which took at most {most} each"));
        }
        if self.cut {
            notes.push("the last line of the trace is cut off and left out".to_owned());
        }
        notes
    }

    /// The timeline as text for a terminal, with lines of about a hundred columns.
    pub(crate) fn text(&self) -> String {
        text::write(self)
    }

    /// The timeline as a self-contained SVG for light and dark backgrounds.
    pub(crate) fn svg(&self) -> String {
        picture::write(self)
    }
}

/// Reads a line.
fn call(line: &[u8]) -> Result<Row, String> {
    let bounds = Bounds { bytes: usize::MAX, depth: ilo_spec::limits::VALUE_DEPTH + 1, values: usize::MAX };
    let data = read(line, &bounds).map_err(|error| format!("no call of a trace: {}", error.kind))?;
    let field = |name: &str| data.get(name).ok_or_else(|| format!("no call of a trace: it has no `{name}`"));
    let time = |name: &str| match field(name)? {
        &Data::Number(number) => match double(number) {
            time if (0.0..=LONGEST).contains(&time) => Ok(time),
            _ => Err(format!("`{name}` is not a time in milliseconds")),
        },
        _ => Err(format!("`{name}` is not a number")),
    };
    let Data::Number(Number::Int(seq)) = field("seq")? else {
        return Err("`seq` is not a whole number".to_owned());
    };
    let Data::Text(tool) = field("tool")? else { return Err("`tool` is not a text".to_owned()) };
    let failed = data.get("failed");
    let result = match failed {
        Some(failure) => failure,
        None => field("ok")?,
    };
    Ok(Row {
        seq: u64::try_from(*seq).map_err(|_| "`seq` is below 0".to_owned())?,
        tool: clean(tool, NAME),
        arguments: value(field("args")?),
        result: value(result),
        failed: failed.is_some(),
        start: time("start_ms")?,
        duration: time("duration_ms")?,
    })
}

/// A value in short form: a record without its braces, a text without its quotes.
fn value(value: &Data) -> String {
    match value {
        Data::Text(text) => clean(text, VALUE),
        Data::Record(fields) => {
            let mut line = String::new();
            for (name, value) in fields.iter().take(VALUE) {
                let comma = if line.is_empty() { "" } else { ", " };
                let _ = write!(line, "{comma}{}: {}", clean(name, NAME), clean(&value.to_json(), VALUE));
            }
            clean(&line, VALUE)
        }
        other => clean(&other.to_json(), VALUE),
    }
}

/// A number as a double, which is exact enough for times.
#[allow(clippy::cast_precision_loss, reason = "a time is shown with three digits")]
fn double(number: Number) -> f64 {
    match number {
        Number::Int(int) => int as f64,
        Number::Double(double) => double,
    }
}

fn counted(count: u64, what: &str) -> String {
    let digits = count.to_string();
    let mut number = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            number.push(',');
        }
        number.push(digit);
    }
    format!("{number} {what}{}", if count == 1 { "" } else { "s" })
}

/// A time in milliseconds with three significant digits.
fn time(milliseconds: f64) -> String {
    let (value, unit) = match milliseconds {
        ms if ms > 0.0 && ms < 0.9995 => (ms * 1e3, "µs"),
        ms if ms < 999.5 => (ms, "ms"),
        ms if ms < 599_500.0 => (ms / 1e3, "s"),
        ms => (ms / 6e4, "min"),
    };
    let digits = if value >= 99.95 || value == 0.0 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let mut shown = format!("{value:.digits$}");
    if shown.contains('.') {
        shown.truncate(shown.trim_end_matches('0').trim_end_matches('.').len());
    }
    format!("{shown} {unit}")
}
