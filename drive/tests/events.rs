//! The events of a run: their order, what they say, and their bound.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_asm::catalog::ToolSignature;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::event::{Event, MOST_EVENTS};
use ilo_drive::failure::Failure;
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::{CallTicket, Drive, Next, World};
use std::cell::Cell;
use std::time::Duration;
use support::{Around, data, program, run};

/// A world whose clock the test sets.
struct Timed {
    around: Around,
    now: Cell<u64>,
}

impl Policies for Timed {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.around.policy(tool)
    }
}

impl World for Timed {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now.get())
    }

    fn signature(&self, tool: &str) -> Option<&ToolSignature> {
        self.around.signature(tool)
    }
}

const HEAD: &str = "; fn main(x: thing) -> thing\n; Tools: 0=get 1=put 2=undo\n; Fields: 0=id 1=name\n";

fn shown(event: &Event) -> String {
    match event {
        Event::Start(call) => {
            let (number, line) = (call.number.unwrap_or(0), call.line.unwrap_or(0));
            let (id, at, arguments) = (call.id, call.start.as_millis(), call.arguments.to_json());
            format!("start {id} number {number} line {line} {}{arguments} at {at}", call.tool)
        }
        Event::End { call, duration, result } => {
            let value = match result {
                Ok(value) => value.to_json(),
                Err(failure) => format!("failed {}", failure.shown().to_json()),
            };
            let number = call.number.unwrap_or(0);
            format!("end {} number {number} after {}: {value}", call.id, duration.as_millis())
        }
        Event::Dropped(count) => format!("dropped {count}"),
        _ => "?".to_owned(),
    }
}

/// Drives a run whose calls end 10 ms after one another, the last or the first of those under way. Takes the
/// events as they come.
fn events(body: &str, is_stack: bool, answer: fn(&str, &Data) -> Result<Data, Failure>) -> Vec<String> {
    let program = program(&format!("{HEAD}{body}\n"));
    let world = Timed { around: Around::new(answer), now: Cell::new(0) };
    let mut drive: Drive<()> = Drive::new(run(&program, r#"{"x":1}"#), CallSlots::new(4), Duration::MAX);
    drive.watch(Some("call_1"));
    let (mut open, mut seen): (Vec<(CallTicket, String, Data)>, _) = (Vec::new(), Vec::new());
    let take = |drive: &mut Drive<()>, seen: &mut Vec<String>| {
        while let Some(event) = drive.event() {
            if let Event::Start(call) = &event {
                assert_eq!(call.tool_call_id.as_deref(), Some("call_1"));
            }
            seen.push(shown(&event));
        }
    };
    loop {
        let next = drive.next(&world, &mut ());
        take(&mut drive, &mut seen);
        match next {
            Next::Start(start) => open.push((start.ticket, start.tool, start.arguments)),
            Next::Wait => {
                world.now.set(world.now.get() + 10);
                let (ticket, tool, arguments) = open.remove(if is_stack { open.len() - 1 } else { 0 });
                drive.settle(ticket, (world.around.answer)(&tool, &arguments), (), &world);
                take(&mut drive, &mut seen);
            }
            Next::Done => return seen,
            _ => {}
        }
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the type of an answer")]
fn same(_tool: &str, arguments: &Data) -> Result<Data, Failure> {
    Ok(arguments.clone())
}

#[test]
fn a_call_starts_and_ends_with_its_number_line_and_times() {
    let found = events("LET 1 CALL 1 1 0 REF 0\nMATCH 1 0\n  ERR 2 1\n    RET REF 2\nREF 1", true, |_, _| {
        Err(Failure::text("no"))
    });
    assert_eq!(
        found,
        [r#"start 1 number 1 line 4 put{"id":1} at 0"#, r#"end 1 number 1 after 10: failed "no""#]
    );
}

#[test]
fn calls_ahead_have_no_number_until_the_run_comes_to_them() {
    let two = "LET 1 CALL 0 1 0 LIT 1 7\nLET 2 CALL 0 1 0 LIT 1 8\nFIELD 2 0";
    let starts =
        [r#"start 1 number 0 line 5 get{"id":8} at 0"#, r#"start 2 number 1 line 4 get{"id":7} at 0"#];
    let found = events(two, true, same);
    assert_eq!(found[..2], starts);
    // The run has come to it before it has ended.
    assert_eq!(found[2..], [r#"end 2 number 1 after 10: {"id":7}"#, r#"end 1 number 2 after 20: {"id":8}"#]);
    let found = events(two, false, same);
    assert_eq!(found[..2], starts);
    assert_eq!(found[2..], [r#"end 1 number 0 after 10: {"id":8}"#, r#"end 2 number 1 after 20: {"id":7}"#]);
}

#[test]
fn a_call_that_was_left_has_ended_once_and_the_rest_ends_with_the_run() {
    let body = "LET 1 CALL 0 1 0 LIT 1 7\nLET 2 CALL 0 1 0 LIT 1 8\nREF 1";
    let program = program(&format!("{HEAD}{body}\n"));
    let world = Timed { around: Around::new(same), now: Cell::new(0) };
    let mut drive: Drive<()> = Drive::new(run(&program, r#"{"x":1}"#), CallSlots::new(4), Duration::MAX);
    drive.watch(None);
    let mut first = None;
    loop {
        match drive.next(&world, &mut ()) {
            Next::Start(start) => first = first.or(Some(start.ticket)),
            Next::Due => {}
            _ => break,
        }
    }
    drive.left(first.unwrap(), &world);
    // It has ended already: its answer tells nothing more.
    drive.settle(first.unwrap(), Ok(data("1")), (), &world);
    let found: Vec<String> = std::iter::from_fn(|| drive.event()).map(|event| shown(&event)).collect();
    assert_eq!(found.iter().filter(|line| line.starts_with("end")).count(), 1, "{found:?}");
    assert!(found.iter().any(|line| line.ends_with(r#"failed "interrupted""#)), "{found:?}");
    // A host that leaves the run tells the end of the other call too.
    drive.leave(&world);
    let left = drive.event().map(|event| shown(&event)).unwrap();
    assert!(left.starts_with("end") && left.ends_with(r#"failed "interrupted""#), "{left}");
    assert_eq!(drive.event(), None);
}

#[test]
fn the_oldest_events_are_dropped_and_counted() {
    let body = "LET 1 RANGE LIT 1 600\nFOR 2 REF 1 2\n  LET 3 CALL 1 1 0 REF 2\n  REF 3";
    let program = program(&format!("{HEAD}{body}\n"));
    let world = Timed { around: Around::new(same), now: Cell::new(0) };
    let mut drive: Drive<()> = Drive::new(run(&program, r#"{"x":1}"#), CallSlots::new(4), Duration::MAX);
    drive.watch(None);
    loop {
        match drive.next(&world, &mut ()) {
            Next::Start(start) => drive.settle(start.ticket, Ok(Data::Nil), (), &world),
            Next::Done => break,
            _ => {}
        }
    }
    let calls = 600;
    assert_eq!(drive.event(), Some(Event::Dropped(2 * calls - MOST_EVENTS as u64)));
    assert_eq!(std::iter::from_fn(|| drive.event()).count(), MOST_EVENTS);
}
