//! Drives a run without threads. A function of the arguments answers calls, in an order that a script gives.
#![allow(dead_code, reason = "each test uses some of it")]

use ilo_asm::catalog::{Catalog, Lookup, ToolSignature};
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::failure::Failure;
use ilo_drive::lifecycle::start;
use ilo_drive::observer::Ended;
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::recorder::Recorder;
use ilo_drive::trace::line;
use ilo_drive::{CallKind, CallTicket, Drive, End, Next, Start, World};
use ilo_vm::{Limits, Program, Run};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many calls at once.
pub(crate) const SLOTS: usize = 4;

pub(crate) fn program(source: &str) -> Program {
    let (built, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    Program::new(built.unwrap_or_else(|| panic!("{source}\n{:?}", diagnostics.as_slice()))).unwrap()
}

pub(crate) fn data(json: &str) -> Data {
    read(json.as_bytes(), &Bounds::default()).unwrap()
}

/// The run of a program's only entry.
pub(crate) fn run(program: &Program, input: &str) -> Run {
    let mut run = Run::new(program, Limits::default());
    start(&mut run, program.entry().unwrap(), &data(input)).unwrap();
    run
}

type Answer = dyn Fn(&str, &Data) -> Result<Data, Failure>;

/// The environment of a run in a test.
pub(crate) struct Around {
    pub(crate) policies: BTreeMap<&'static str, Policy>,
    pub(crate) catalog: Catalog,
    pub(crate) answer: Box<Answer>,
    /// The look at which the time of the run ends.
    pub(crate) late_at: Cell<Option<u64>>,
    /// The look from which the run is cancelled.
    pub(crate) cancelled_at: Cell<Option<u64>>,
    pub(crate) interrupted_at: Cell<Option<u64>>,
}

impl Around {
    /// `get` only reads; every other tool changes something.
    pub(crate) fn new(answer: impl Fn(&str, &Data) -> Result<Data, Failure> + 'static) -> Around {
        let reads = Policy { read_only: true, ..Policy::default() };
        Around {
            policies: BTreeMap::from([
                ("get", reads),
                ("put", Policy::default()),
                ("undo", Policy::default()),
            ]),
            catalog: Catalog::default(),
            answer: Box::new(answer),
            late_at: Cell::new(None),
            cancelled_at: Cell::new(None),
            interrupted_at: Cell::new(None),
        }
    }
}

/// Counts down to 0, and stays there.
fn comes(at: &Cell<Option<u64>>) -> bool {
    let left = at.get().map(|left| left.saturating_sub(1));
    let came = at.get() == Some(0);
    at.set(left);
    came
}

impl Policies for Around {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.policies.get(tool)
    }
}

impl World for Around {
    fn is_late(&self) -> bool {
        comes(&self.late_at)
    }

    fn is_cancelled(&self) -> bool {
        comes(&self.cancelled_at)
    }

    fn cancel_reason(&self) -> Option<String> {
        Some("the person left".to_owned())
    }

    fn is_interrupted(&self) -> bool {
        comes(&self.interrupted_at)
    }

    fn signature(&self, tool: &str) -> Option<&ToolSignature> {
        match self.catalog.lookup(tool) {
            Lookup::Found(tool) => Some(tool),
            _ => None,
        }
    }
}

/// Choices among a number of options each. The scripts are tried one after another until all were tried.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// What was chosen, and among how many.
    taken: Vec<(usize, usize)>,
    next: usize,
}

impl Script {
    /// Chooses a number below `among`.
    pub(crate) fn choose(&mut self, among: usize) -> usize {
        if self.next == self.taken.len() {
            self.taken.push((0, among));
        }
        let (choice, of) = self.taken[self.next];
        assert_eq!(of, among, "the same script leads to the same choices");
        self.next += 1;
        choice
    }

    /// Continues with the next script, and returns whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((choice, of)) = self.taken.pop() {
            if choice + 1 < of {
                self.taken.push((choice + 1, of));
                return true;
            }
        }
        false
    }
}

/// The visible behaviour of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) outcome: Option<String>,
    pub(crate) end: End,
    pub(crate) fuel: u64,
    pub(crate) memory: u64,
    /// The lines of a trace.
    pub(crate) calls: Vec<String>,
    /// The calls that were started, in order, with their kinds.
    pub(crate) started: Vec<(CallKind, String)>,
    /// The tools of calls whose answers were dropped.
    pub(crate) dropped: usize,
}

/// Drives a run to its end; `choose` says which of the calls under way ends next.
pub(crate) fn driven(
    run: Run,
    around: &Around,
    slots: &CallSlots,
    recorder: &mut dyn Recorder,
    mut choose: impl FnMut(usize) -> usize,
) -> Seen {
    let mut drive: Drive<()> = Drive::new(run, slots.clone(), Duration::from_secs(1));
    let mut open: Vec<(CallTicket, String, Data)> = Vec::new();
    let (mut calls, mut started, mut dropped) = (Vec::new(), Vec::new(), 0);
    let mut settle = |drive: &mut Drive<()>, open: &mut Vec<(CallTicket, String, Data)>| {
        let (ticket, tool, arguments) = open.remove(choose(open.len()));
        drive.settle(ticket, (around.answer)(&tool, &arguments), (), around);
    };
    for _ in 0..1_000_000 {
        match drive.next(around, recorder) {
            Next::Due => assert!(drive.due().is_some() && drive.made().is_none()),
            Next::Start(Start { ticket, tool, arguments, kind, .. }) => {
                started.push((kind, format!("{tool} {}", arguments.to_json())));
                open.push((ticket, tool, arguments));
                assert!(open.len() <= SLOTS, "no more calls are under way than there are slots");
            }
            Next::Drop { .. } => dropped += 1,
            Next::Made => {
                let made = drive.made().unwrap();
                let turn = &made.turn;
                calls.push(line(&Ended {
                    seq: turn.seq,
                    number: turn.number,
                    rollback: turn.rollback,
                    tool: &turn.tool,
                    arguments: &turn.arguments,
                    result: &made.result,
                    start: Duration::ZERO,
                    duration: Duration::ZERO,
                    ahead: turn.ahead,
                    sent: turn.sent,
                    doubt: made.doubt,
                    cancelled: made.cancelled,
                }));
            }
            Next::Computing | Next::Value => {}
            Next::Wait => settle(&mut drive, &mut open),
            Next::Done => {
                let end = drive.end().cloned().unwrap();
                while !open.is_empty() {
                    settle(&mut drive, &mut open);
                }
                let finished = drive.finish();
                let (run, outcome) = (finished.run(), finished.outcome());
                let outcome = outcome.map(|outcome| outcome.to_string());
                let (fuel, memory) = (run.fuel_used(), run.memory_used());
                assert!(slots.has_room() || slots.most() == 1, "every slot is free again");
                return Seen { outcome, end, fuel, memory, calls, started, dropped };
            }
        }
    }
    panic!("a run ends");
}
