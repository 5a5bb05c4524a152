//! Runs a program with the answers of a trace in place of tools. It calls no tool.
//!
//! A trace has the calls of a run and not its input or outcome. The program must make the same calls in the
//! same order; the first one that differs ends the replay.

use crate::data::Data;
use crate::data::read::data_of;
use crate::data::read::{Bounds, ReadErrorKind, read};
use crate::failure::ANSWER;
use crate::input;
use crate::lifecycle::{CANCELLED, End, Finished, NO_ANSWER, start};
use crate::problem::{Problem, shortened};
use crate::sent::as_recorded;
use crate::trace::{AFTER_CANCEL, ENDED, IN_DOUBT, INTERRUPTED, SENT};
use bumpalo::Bump;
use ilo_asm::sorting::sort_by_key;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::program::Number;
use ilo_vm::{FunctionId, Limits, Program, Run, Step};

/// Characters of arguments that are shown in a message.
const SHOWN: usize = 200;

/// The most values in a trace, so that one of short values does not take many times its length in memory.
const VALUES: usize = 16 << 20;

/// The numbers of the codes of faults.
const FAULTS: std::ops::Range<u16> = 800..900;

/// The calls of a run, in the order in which the run made them.
#[derive(Debug, Default)]
pub struct Recording {
    name: String,
    calls: Vec<Recorded>,
    /// Whether the last line is cut off, because its run was killed.
    cut: bool,
}

/// A call of a trace.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts of a call that do not depend on each other")]
struct Recorded {
    /// Its line in the trace, from 1.
    line: u64,
    seq: u64,
    /// Its number within the run, if the trace has it.
    number: Option<u64>,
    tool: String,
    arguments: Data,
    answer: Result<Data, Data>,
    /// Whether a ROLLBACK entry made it.
    rollback: bool,
    /// Whether it may have changed something although the run has no answer to it.
    in_doubt: bool,
    /// Whether it was sent.
    sent: bool,
    /// Whether the run was cancelled before the call had ended.
    cancelled: bool,
    /// How this call ended the run, if it did. The call of an entry ends nothing.
    ended: Option<Ending>,
}

impl Recorded {
    /// Answers the call of a run as the trace says.
    fn answer(&self, run: &mut Run) {
        let Some(mut call) = run.pending() else { return };
        if !self.sent {
            if let Err(Data::Text(message)) = &self.answer {
                // A message that exceeds a limit has ended the run with that fault, which the next step
                // returns.
                drop(call.fail_unsent(message));
            }
            return;
        }
        if self.in_doubt || call.has_rollback() {
            call.may_change();
        }
        let message = match &self.answer {
            Err(Data::Text(message)) => message.as_str(),
            _ => "",
        };
        let arena = Bump::new();
        // An answer that exceeds a limit has ended the run with that fault, which the next step returns.
        match (self.ended, &self.answer) {
            (Some(Ending::Fault(Code::FaultTimedOut) | Ending::Interrupted), _) if self.rollback => {
                drop(call.fail(NO_ANSWER));
            }
            (Some(Ending::Fault(_)), _) if self.rollback => drop(call.answer(())),
            // The cancel ended a call that only reads.
            (Some(Ending::Interrupted), _) if self.cancelled => drop(call.fail(CANCELLED)),
            (Some(Ending::Fault(code @ (Code::FaultTimedOut | Code::FaultInDoubt))), _) => {
                run.end_with(code, message);
            }
            (Some(Ending::Fault(code)), _) => call.refuse_answer(code, message),
            (_, Ok(value)) => drop(call.answer(value.to_datum(&arena))),
            (_, Err(_)) if self.in_doubt => match message.strip_prefix(ANSWER) {
                Some(why) => drop(call.fail_misfit(message, why)),
                None => drop(call.fail_in_doubt(message)),
            },
            (_, Err(failure)) => drop(call.fail_with(failure.to_datum(&arena))),
        }
    }
}

/// How a call ended its run.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Fault(Code),
    Interrupted,
}

/// A trace that is being read, line by line.
#[derive(Debug)]
pub struct Reading {
    recording: Recording,
    /// How many more values the trace may have.
    values: usize,
}

impl Reading {
    /// Begins to read a trace; `name` is its file in messages.
    pub fn new(name: &str) -> Reading {
        let recording = Recording { name: name.to_owned(), ..Recording::default() };
        Reading { recording, values: VALUES }
    }

    /// Takes the line with this number, from 1. `whole` says that a line break ended it.
    ///
    /// # Errors
    /// A line that is not a call of a trace, unless it is the last one and cut off; more values than a trace
    /// may have.
    pub fn line(&mut self, number: u64, line: &[u8], whole: bool) -> Result<(), Problem> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match recorded(line, number, &mut self.values) {
            Ok(call) => self.recording.calls.push(call),
            Err(_) if !whole => self.recording.cut = true,
            Err(message) => {
                let place = format!("{}:{number}", self.recording.name);
                return Err(Problem::new(Code::BadInput, place, message));
            }
        }
        Ok(())
    }

    /// The calls that were read.
    ///
    /// # Errors
    /// A call that is missing or occurs twice.
    pub fn end(mut self) -> Result<Recording, Problem> {
        self.recording.order()?;
        Ok(self.recording)
    }
}

impl Recording {
    /// Puts the calls in the order of their numbers, which count from 0.
    fn order(&mut self) -> Result<(), Problem> {
        sort_by_key(&mut self.calls, |call| call.seq);
        for (expected, call) in (0_u64..).zip(&self.calls) {
            if call.seq != expected {
                let message = if call.seq < expected {
                    format!("`seq` {} is there twice", call.seq)
                } else {
                    format!("`seq` {expected} is missing before {}", call.seq)
                };
                let hint = "a trace has each call of one run once";
                let place = format!("{}:{}", self.name, call.line);
                return Err(Problem::new(Code::BadInput, place, format!("{message}; {hint}")));
            }
        }
        Ok(())
    }

    /// Runs a function with the answers of the trace.
    ///
    /// # Errors
    /// An input that does not fit or exceeds the limits, or the first call that differs from the trace.
    pub fn replay(
        &self,
        program: &Program,
        function: FunctionId,
        input: &Data,
        limits: &Limits,
    ) -> Result<Finished, Vec<Problem>> {
        let parameters: Vec<_> = program.inputs(function).collect();
        let problems = input::problems(&parameters, input);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut run = Run::new(program, limits.clone());
        start(&mut run, function, input).map_err(|problem| vec![problem])?;
        self.answer(&mut run).map_err(|problem| vec![problem])?;
        Ok(Finished::new(run, End::Outcome))
    }

    /// Answers the calls of a run up to its end.
    fn answer(&self, run: &mut Run) -> Result<(), Problem> {
        let mut calls = self.calls.iter().peekable();
        loop {
            // The cancel came after the last call that is not a rollback: the run may end without another
            // one.
            if calls.peek().is_some_and(|next| next.cancelled && next.rollback) && !run.is_cancelled() {
                run.cancel();
            }
            let Step::Call(_) = run.step() else { break };
            if calls.peek().is_some_and(|next| next.cancelled) && !run.is_cancelled() {
                run.cancel();
            }
            let Some(call) = run.waiting() else { break };
            // The trace of a cancelled run does not contain the calls that the run refused.
            let is_next =
                calls.peek().is_some_and(|next| next.number.is_none_or(|next| next == call.number()));
            if call.is_cancelled() && !is_next {
                run.pending().into_iter().for_each(|call| drop(call.fail(CANCELLED)));
                continue;
            }
            let mut json = String::new();
            // Writing to a string does not fail.
            let _ = call.write_json(&mut json);
            let tool = call.tool().to_owned();
            let mut arguments = data_of(&json)
                .map_err(|error| Problem::new(Code::BadInput, self.name.as_str(), error.to_string()))?;
            let Some(recorded) = calls.next() else { return Err(self.no_more(&tool, &arguments)) };
            as_recorded(&recorded.arguments, &mut arguments);
            self.compare(recorded, &tool, &arguments)?;
            if let (Some(Ending::Interrupted), false, false) =
                (recorded.ended, recorded.rollback, recorded.cancelled)
            {
                return Err(self.interrupted(recorded));
            }
            recorded.answer(run);
        }
        if let (Some(left), Step::Done(outcome)) = (calls.next(), run.step()) {
            let found = format!("the end of the run with {}", shortened(&outcome.to_string(), SHOWN));
            return Err(self.differs(left, &call_text(&left.tool, &left.arguments), &found));
        }
        Ok(())
    }

    /// Compares a call of the program with that of the trace.
    fn compare(&self, recorded: &Recorded, tool: &str, arguments: &Data) -> Result<(), Problem> {
        if recorded.tool != tool {
            let (expected, found) =
                (call_text(&recorded.tool, &recorded.arguments), call_text(tool, arguments));
            return Err(self.differs(recorded, &expected, &found));
        }
        if recorded.arguments.same(arguments) {
            return Ok(());
        }
        let (expected, found) = differing(&recorded.arguments, arguments);
        let tool = shortened(tool, SHOWN);
        Err(self.differs(recorded, &format!("`{tool}` with {expected}"), &found))
    }

    fn differs(&self, recorded: &Recorded, expected: &str, found: &str) -> Problem {
        let number = recorded.seq.saturating_add(1);
        let message = format!("call {number}: expected {expected}, found {found}");
        Problem::new(Code::TraceDiffers, format!("{}:{}", self.name, recorded.line), message)
    }

    fn interrupted(&self, recorded: &Recorded) -> Problem {
        let number = recorded.seq.saturating_add(1);
        let message =
            format!("call {number}: the run of the trace was interrupted here, so it has no outcome");
        Problem::new(Code::TraceDiffers, format!("{}:{}", self.name, recorded.line), message)
    }

    /// The problem of a call after the last one of the trace.
    fn no_more(&self, tool: &str, arguments: &Data) -> Problem {
        let (number, found) = (self.calls.len() + 1, call_text(tool, arguments));
        let cut = if self.cut { "; the last line of the trace is cut off" } else { "" };
        let message =
            format!("call {number}: expected the end, since the trace has no more calls, found {found}{cut}");
        Problem::new(Code::TraceDiffers, self.name.as_str(), message)
    }
}

/// A call in a message.
fn call_text(tool: &str, arguments: &Data) -> String {
    format!("`{}` with {}", shortened(tool, SHOWN), shortened(&arguments.to_json(), SHOWN))
}

/// The arguments that differ, on both sides. If there are many fields, only the differing ones.
fn differing(expected: &Data, found: &Data) -> (String, String) {
    let only = |side: &Data, other: &Data| match side {
        Data::Record(fields) => {
            let differs = |name: &str, value: &Data| other.get(name).is_none_or(|other| !value.same(other));
            let fields = fields.iter().filter(|(name, value)| differs(name, value)).cloned();
            Data::Record(fields.collect())
        }
        whole => whole.clone(),
    };
    let show = |side: &Data| shortened(&side.to_json(), SHOWN);
    (show(&only(expected, found)), show(&only(found, expected)))
}

/// The number of values in a value, itself included.
fn count(data: &Data) -> usize {
    let (mut found, mut rest) = (0, vec![data]);
    while let Some(one) = rest.pop() {
        found += 1;
        match one {
            Data::List(items) => rest.extend(items),
            Data::Record(fields) => rest.extend(fields.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    found
}

/// Reads a line of a trace that may have so many more values.
fn recorded(line: &[u8], number: u64, values: &mut usize) -> Result<Recorded, String> {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: *values };
    let data = read(line, &bounds).map_err(|error| match error.kind {
        ReadErrorKind::Values(_) => format!("a trace of more than {VALUES} values"),
        kind => format!("no call of a trace: {kind}"),
    })?;
    *values = values.saturating_sub(count(&data));
    let field = |name: &str| data.get(name).ok_or_else(|| format!("no call of a trace: it has no `{name}`"));
    let seq = match field("seq")? {
        Data::Number(Number::Int(seq)) => u64::try_from(*seq).map_err(|_| "`seq` is below 0".to_owned())?,
        _ => return Err("`seq` is not a whole number".to_owned()),
    };
    let Data::Text(tool) = field("tool")? else { return Err("`tool` is not a text".to_owned()) };
    let arguments = field("args")?;
    if !matches!(arguments, Data::Record(_)) {
        return Err(format!("`args`: expected a record, found {}", arguments.kind()));
    }
    let answer = match (data.get("ok"), data.get("failed")) {
        (Some(value), None) => Ok(value.clone()),
        (None, Some(failure)) => Err(failure.clone()),
        (Some(_), Some(_)) => return Err("no call of a trace: it has both `ok` and `failed`".to_owned()),
        (None, None) => return Err("no call of a trace: it has neither `ok` nor `failed`".to_owned()),
    };
    let ended = data.get(ENDED).map(end).transpose()?;
    let is = |name: &str| data.get(name) == Some(&Data::Bool(true));
    let (rollback, in_doubt, cancelled) = (is("rollback"), is(IN_DOUBT), is(AFTER_CANCEL));
    let number_in_run = match data.get("number") {
        Some(Data::Number(Number::Int(number))) => u64::try_from(*number).ok(),
        _ => None,
    };
    let sent = data.get(SENT) != Some(&Data::Bool(false));
    if !sent && !matches!(answer, Err(Data::Text(_))) {
        return Err(format!("no call of a trace: it has `{SENT}`, and `failed` is not a text"));
    }
    let (tool, arguments) = (tool.clone(), arguments.clone());
    let (line, number) = (number, number_in_run);
    Ok(Recorded { line, seq, number, tool, arguments, answer, rollback, in_doubt, sent, cancelled, ended })
}

/// Reads how a call ended its run.
fn end(value: &Data) -> Result<Ending, String> {
    let Data::Text(how) = value else { return Err(format!("`{ENDED}` is not a text")) };
    let is_fault = |code: Code| FAULTS.contains(&(code as u16));
    let fault = Code::ALL.iter().copied().find(|&code| code.as_str() == how && is_fault(code));
    match fault {
        Some(code) => Ok(Ending::Fault(code)),
        None if how == INTERRUPTED => Ok(Ending::Interrupted),
        None => {
            let found = shortened(how, SHOWN);
            Err(format!("`{ENDED}`: expected the code of a fault or `{INTERRUPTED}`, found `{found}`"))
        }
    }
}
