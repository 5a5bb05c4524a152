//! Drives a run for JavaScript, which gets the next action as a number and a text. The loop and the clock are
//! in `src/loop.ts`.

use crate::given::{answer, past};
use crate::outcome::{outcome, waiting};
use crate::run::Run;
use crate::thrown::out_of_range;
use crate::tools::Catalogue;
use ilo_asm::catalog::ToolSignature;
use ilo_asm::compile::OutputSchema;
use ilo_bindings::known::Known;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::data::write::quote;
use ilo_drive::event::{Call, Event};
use ilo_drive::failure::Failure;
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::{CallTicket, Drive as Loop, Made, Next, Start, World};
use ilo_vm::Limits;
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen::prelude::wasm_bindgen;

/// The environment of a run: its tools, and the time that JavaScript reports.
#[derive(Debug)]
struct Around {
    tools: Arc<Known>,
    late: bool,
    cancelled: bool,
    /// Why it was cancelled.
    reason: String,
    /// The time since the run began, as JavaScript has last told it.
    elapsed: Duration,
}

impl Policies for Around {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.tools.policy(tool)
    }
}

impl World for Around {
    fn is_late(&self) -> bool {
        self.late
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    fn cancel_reason(&self) -> Option<String> {
        Some(self.reason.clone())
    }

    fn signature(&self, tool: &str) -> Option<&ToolSignature> {
        self.tools.tool(tool)
    }
}

/// A run that is driven.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Drive {
    inner: Loop<()>,
    world: Around,
    limits: Limits,
    /// Whether ended calls are reported.
    observed: bool,
    /// The text of the last `next`.
    text: String,
}

/// An answer, or what those who watch get for a failure.
fn shown(result: &Result<Data, Failure>) -> String {
    match result {
        Ok(value) => value.to_json(),
        Err(failure) => failure.shown().to_json(),
    }
}

/// The fields of a call in its events, as `CallStart` of `src/types.ts`.
fn called(call: &Call) -> String {
    let number = call.number.map_or_else(|| "null".to_owned(), |number| number.to_string());
    let line = call.line.map_or_else(String::new, |line| format!(r#","line":{line}"#));
    let id =
        call.tool_call_id.as_deref().map_or_else(String::new, |id| format!(r#","toolCallId":{}"#, quote(id)));
    format!(
        r#""id":{},"number":{number},"tool":{},"arguments":{},"rollback":{},"start":{}{line}{id}"#,
        call.id,
        quote(&call.tool),
        call.arguments.to_json(),
        call.rollback,
        milliseconds(call.start),
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// An event, as in `src/types.ts`.
fn event(event: &Event) -> Option<String> {
    Some(match event {
        Event::Start(call) => format!(r#"{{"type":"start",{}}}"#, called(call)),
        Event::End { call, duration, result } => format!(
            r#"{{"type":"end",{},"duration":{},"ok":{},"value":{}}}"#,
            called(call),
            milliseconds(*duration),
            result.is_ok(),
            shown(result),
        ),
        Event::Dropped(count) => format!(r#"{{"type":"dropped","count":{count}}}"#),
        // Events of a later release.
        _ => return None,
    })
}

/// An ended call, as `Made` of `src/types.ts`.
fn made(made: &Made<()>) -> String {
    let turn = &made.turn;
    let value = shown(&made.result);
    format!(
        r#"{{"seq":{},"number":{},"tool":{},"arguments":{},"ok":{},"value":{value},"rollback":{},"ahead":{},"inDoubt":{}}}"#,
        turn.seq,
        turn.number,
        quote(&turn.tool),
        turn.arguments.to_json(),
        made.result.is_ok(),
        turn.rollback,
        turn.ahead,
        made.doubt.is_some(),
    )
}

impl Drive {
    fn settled(&mut self, ticket: u32, result: Result<Data, Failure>) {
        self.inner.settle(CallTicket(u64::from(ticket)), result, (), &self.world);
    }

    /// A call for JavaScript: its ticket, the tool's own name, arguments, kind, and whether the run can do
    /// nothing else until it has ended.
    fn start(&self, start: &Start) -> String {
        let own = self.world.tools.own_name(&start.tool).unwrap_or(&start.tool);
        let CallTicket(ticket) = start.ticket;
        let (name, arguments) = (quote(own), start.arguments.to_json());
        format!("[{ticket},{name},{arguments},{},{}]", start.kind as u8, start.alone)
    }
}

#[wasm_bindgen]
impl Drive {
    /// Takes a run that was started or restored. `time` is its limit in milliseconds.
    #[wasm_bindgen(constructor)]
    pub fn new(run: Run, tools: &Catalogue, at_once: u32, time: f64, observed: bool) -> Drive {
        let time = Duration::try_from_secs_f64(time / 1000.0).unwrap_or(Duration::MAX);
        let slots = CallSlots::new(usize::try_from(at_once).unwrap_or(usize::MAX));
        Drive {
            inner: Loop::new(run.inner, slots, time),
            world: Around {
                tools: tools.shared(),
                late: false,
                cancelled: false,
                reason: String::new(),
                elapsed: Duration::ZERO,
            },
            limits: run.limits,
            observed,
            text: String::new(),
        }
    }

    /// Returns the next action: start 0, drop 1, made 2, computing 3, wait 4, done 5, value 6. `text` has the
    /// details of the first three and the last two.
    pub fn next(&mut self, late: bool, cancelled: bool) -> u8 {
        (self.world.late, self.world.cancelled) = (late, cancelled);
        loop {
            return match self.inner.next(&self.world, &mut ()) {
                Next::Due => continue,
                Next::Made if !self.observed => continue,
                Next::Start(start) => {
                    self.text = self.start(&start);
                    0
                }
                Next::Drop { ticket: CallTicket(ticket), .. } => {
                    self.text = ticket.to_string();
                    1
                }
                Next::Made => {
                    self.text = self.inner.made().map_or_else(|| "null".to_owned(), made);
                    2
                }
                Next::Computing => 3,
                Next::Wait => 4,
                next @ (Next::Done | Next::Value) => {
                    let run = self.inner.run();
                    self.text = run.outcome().map_or_else(|| "null".to_owned(), |found| outcome(run, found));
                    if next == Next::Done { 5 } else { 6 }
                }
            };
        }
    }

    /// Says by a JSON Schema what the value of the run must be; with `asks` there is an action "value" before
    /// its end, after which JavaScript may refuse it.
    pub fn expect(&mut self, schema: &str, asks: bool) -> Result<(), String> {
        let schema: OutputSchema = schema.parse().map_err(|error: String| out_of_range(&error))?;
        self.inner.expect_output(Some(Arc::new(schema)));
        if asks {
            self.inner.hold_value();
        }
        Ok(())
    }

    /// Refuses the value of the run, after the action "value".
    #[wasm_bindgen(js_name = refuseValue)]
    pub fn refuse_value(&mut self, why: &str) {
        self.inner.refuse_value(why);
    }

    /// Turns events on, with the identity that a framework has given to the run.
    pub fn watch(&mut self, id: Option<String>) {
        self.inner.watch(id.as_deref());
    }

    /// Says how many milliseconds ago the run began, for the events that follow.
    pub fn clock(&mut self, elapsed: f64) {
        self.world.elapsed = Duration::try_from_secs_f64(elapsed / 1000.0).unwrap_or_default();
    }

    /// The events that were not taken yet, as a list; nothing if there are none.
    pub fn events(&mut self) -> Option<String> {
        let all: Vec<String> =
            std::iter::from_fn(|| self.inner.event()).filter_map(|found| event(&found)).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(",")))
    }

    /// Tells in the events that a call has ended without a result so far.
    pub fn left(&mut self, ticket: u32) {
        self.inner.left(CallTicket(u64::from(ticket)), &self.world);
    }

    /// Tells in the events that all calls have ended, since the run is left before its end.
    pub fn leave(&mut self) {
        self.inner.leave(&self.world);
    }

    /// Says why the run is cancelled.
    pub fn because(&mut self, reason: String) {
        self.world.reason = reason;
    }

    /// The details of the last `next`.
    pub fn text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Takes the answer to a call.
    pub fn settle(&mut self, ticket: u32, value: &str) {
        let result = answer(value, &self.limits);
        self.settled(ticket, result);
    }

    /// Takes the failure of a call.
    pub fn fail(&mut self, ticket: u32, failure: &str) {
        let failure = answer(failure, &self.limits).map_or_else(|failure| failure, Failure::Failed);
        self.settled(ticket, Err(failure));
    }

    /// Reports that the answer to a call exceeds a bound: depth 0, values 1, bytes 2.
    pub fn refuse(&mut self, ticket: u32, bound: u8) {
        let failure = past(bound, &self.limits);
        self.settled(ticket, Err(failure));
    }

    /// Reports that a call may have been made and has no answer.
    #[wasm_bindgen(js_name = inDoubt)]
    pub fn in_doubt(&mut self, ticket: u32, message: String) {
        self.settled(ticket, Err(Failure::InDoubt(message)));
    }

    /// Reports that the time of the run was over before a call had ended.
    #[wasm_bindgen(js_name = timedOut)]
    pub fn timed_out(&mut self, ticket: u32) {
        self.settled(ticket, Err(Failure::TimedOut));
    }

    /// Reports that a call was ended because the run was cancelled.
    pub fn interrupted(&mut self, ticket: u32) {
        self.settled(ticket, Err(Failure::Interrupted));
    }

    /// Reports that a call was not started ahead. The run makes it in its turn.
    #[wasm_bindgen(js_name = notStarted)]
    pub fn not_started(&mut self, ticket: u32) {
        self.inner.not_started(CallTicket(u64::from(ticket)), &self.world);
    }

    /// The least and longest pause in milliseconds before a failed call is made again; nothing if it is not.
    pub fn pause(&self, tool: &str, retry: u32) -> Option<Vec<f64>> {
        let policy = self.world.tools.policy(tool)?;
        let (least, most) = Policy::pause(retry);
        let again = policy.retries(&Failure::text(""), retry);
        again.then(|| vec![least.as_secs_f64() * 1000.0, most.as_secs_f64() * 1000.0])
    }

    /// The run as bytes, while it waits for the answer to a call.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.inner.run().snapshot(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The call that the run waits for.
    pub fn waiting(&self) -> Option<String> {
        waiting(self.inner.run())
    }
}
