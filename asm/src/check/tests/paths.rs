//! Compares the flow analysis with its definition: each path of a small random function is followed on its
//! own; loops run 0, 1 or 2 times.

use super::with;
use crate::ast::{
    Arm, Block, Bound, CallId, Control, Expr, ExprKind, File, Function, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::check::Checked;
use crate::diagnostic::Diagnostics;
use ilo_spec::error::Code;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A function of more paths than this is left alone; no part of one is cut off below it.
const PATHS: usize = 4_000;

/// What happens on a path, with the end of its place.
#[derive(Clone, Copy)]
enum Step {
    Read(Slot, u32),
    Bind(Slot, u32),
    Call(Slot, u32, CallId),
    Match(Slot, u32),
    Leave { failure: bool, end: u32 },
}

#[derive(Clone, Default)]
struct Path {
    steps: Vec<Step>,
    ended: bool,
}

type Paths = Vec<Path>;

fn after(before: Paths, next: &Paths) -> Paths {
    let mut all = Vec::new();
    for path in before {
        if path.ended {
            all.push(path);
            continue;
        }
        for next in next.iter().take(PATHS + 1) {
            let steps = path.steps.iter().chain(&next.steps).copied().collect();
            all.push(Path { steps, ended: next.ended });
        }
        if all.len() > PATHS {
            break;
        }
    }
    all
}

fn one(steps: Vec<Step>) -> Paths {
    vec![Path { steps, ended: false }]
}

fn leave(failure: bool, end: u32) -> Paths {
    vec![Path { steps: vec![Step::Leave { failure, end }], ended: true }]
}

fn reads(value: &Expr<'_>) -> Paths {
    one(match value.kind {
        ExprKind::Ref(slot) => vec![Step::Read(slot, value.span.end)],
        _ => vec![],
    })
}

fn block(block: &Block<'_>) -> Paths {
    block.statements.iter().fold(one(vec![]), |paths, next| after(paths, &statement(next)))
}

fn statement(statement: &Stmt<'_>) -> Paths {
    let end = statement.span.end;
    match &statement.kind {
        StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
            let bind = match value.kind {
                ExprKind::Call(call) => Step::Call(*slot, end, call.id),
                _ => Step::Bind(*slot, end),
            };
            after(reads(value), &one(vec![bind]))
        }
        StmtKind::Return(kind, _) => leave(*kind == ReturnKind::Err, end),
        StmtKind::Fail(_) => leave(true, end),
        StmtKind::Control(Control::If(node)) => {
            let mut paths = block(&node.then);
            paths.extend(node.otherwise.as_ref().map_or(one(vec![]), block));
            paths
        }
        StmtKind::Control(Control::Match(node)) => {
            let arm =
                |arm: &Arm<'_>| after(one(vec![Step::Bind(arm.bind, arm.bind_span.end)]), &block(&arm.body));
            let mut paths = node.err.as_ref().map_or(leave(true, end), arm);
            let left_out = || one(vec![Step::Bind(node.slot, node.slot_span.end)]);
            paths.extend(node.ok.as_ref().map_or_else(left_out, arm));
            after(one(vec![Step::Match(node.slot, node.slot_span.end)]), &paths)
        }
        StmtKind::Control(Control::For(node)) => {
            let pass = after(one(vec![Step::Bind(node.item, node.item_span.end)]), &block(&node.body));
            let mut paths = one(vec![]);
            paths.extend(pass.clone());
            paths.extend(after(pass.clone(), &pass));
            paths
        }
        _ => panic!("no such statement is made"),
    }
}

/// For every call that is bound on some path: whether a MATCH takes it apart, whether nothing reads it.
fn bindings(paths: &Paths, calls: usize) -> Vec<Option<(bool, bool)>> {
    let mut found = vec![None; calls];
    for path in paths {
        for (index, step) in path.steps.iter().enumerate() {
            let &Step::Call(bound, _, call) = step else { continue };
            let (checked, unread) = found[call.0 as usize].get_or_insert((false, true));
            for step in &path.steps[index + 1..] {
                match *step {
                    Step::Match(slot, _) if slot == bound => (*checked, *unread) = (true, false),
                    Step::Read(slot, _) if slot == bound => *unread = false,
                    Step::Bind(slot, _) | Step::Call(slot, _, _) if slot == bound => break,
                    _ => {}
                }
            }
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Nothing,
    Plain,
    Checked,
}

/// What is wrong on one path.
fn judge(
    path: &Path,
    function: &Function<'_>,
    calls: &[Option<(bool, bool)>],
    wrong: &mut BTreeSet<(Code, u32)>,
) {
    let mut slots = vec![Holds::Nothing; function.slots.len()];
    slots[..function.parameters.len()].fill(Holds::Plain);
    let end = function.body.statements.last().map_or(function.span, |last| last.span).end;
    let last = Step::Leave { failure: false, end };
    for step in path.steps.iter().chain((!path.ended).then_some(&last)) {
        match *step {
            Step::Read(slot, end) => match slots[slot.0 as usize] {
                Holds::Nothing => {
                    wrong.insert((Code::UnsetSlot, end));
                    slots[slot.0 as usize] = Holds::Plain;
                }
                Holds::Plain => {}
                Holds::Checked => {
                    wrong.insert((Code::UncheckedRead, end));
                }
            },
            Step::Bind(slot, end) | Step::Call(slot, end, _) => {
                if slots[slot.0 as usize] == Holds::Checked {
                    wrong.insert((Code::DroppedResult, end));
                }
                let checked = matches!(*step, Step::Call(_, _, call) if calls[call.0 as usize].unwrap().0);
                slots[slot.0 as usize] = if checked { Holds::Checked } else { Holds::Plain };
            }
            Step::Match(slot, end) => {
                if slots[slot.0 as usize] != Holds::Checked {
                    wrong.insert((Code::MatchUnchecked, end));
                }
                slots[slot.0 as usize] = Holds::Nothing;
            }
            Step::Leave { failure, end } => {
                if !failure && slots.contains(&Holds::Checked) {
                    wrong.insert((Code::DroppedResult, end));
                }
            }
        }
    }
}

/// Makes a function of random bytes.
struct Maker<'b> {
    bytes: std::slice::Iter<'b, u8>,
    text: String,
}

impl Maker<'_> {
    fn next(&mut self, below: u8) -> u8 {
        self.bytes.next().map_or(0, |byte| byte % below)
    }

    fn block(&mut self, depth: usize) -> (u8, String) {
        let outer = std::mem::take(&mut self.text);
        let count = self.next(4);
        for _ in 0..count {
            self.statement(depth);
        }
        (count, std::mem::replace(&mut self.text, outer))
    }

    fn headed(&mut self, head: &str, depth: usize) {
        let (count, body) = self.block(depth + 1);
        write!(self.text, "{head} {count}\n{body}").unwrap();
    }

    fn statement(&mut self, depth: usize) {
        let kind = self.next(if depth < 3 { 11 } else { 6 });
        let slot = self.next(4);
        match kind {
            0 => writeln!(self.text, "LET {slot} LIT 1 1").unwrap(),
            1 | 2 => writeln!(self.text, "LET {slot} CALL 0 0").unwrap(),
            3 | 4 => writeln!(self.text, "LET 4 REF {slot}").unwrap(),
            5 => self.text.push_str(["RET LIT 2 nil\n", "FAIL LIT 1 1\n"][usize::from(slot % 2)]),
            6 => self.headed("IF LIT 3 true", depth),
            7 => {
                self.headed("IF LIT 3 true", depth);
                self.headed("ELSE", depth);
            }
            8 => self.headed(&format!("FOR {slot} LIST 0"), depth),
            _ => {
                let arms = self.next(3);
                writeln!(self.text, "MATCH {slot} {}", if arms == 0 { 2 } else { 1 }).unwrap();
                for (arm, word) in [(1, "ERR"), (2, "OK")] {
                    if arms == 0 || arms == arm {
                        let bind = self.next(4);
                        self.headed(&format!("{word} {bind}"), depth);
                    }
                }
            }
        }
    }
}

fn compare(source: &str, file: &File<'_>, checked: &Checked, diagnostics: &Diagnostics) {
    let function = &file.functions[0];
    let paths = block(&function.body);
    if paths.len() > PATHS {
        return;
    }
    let calls = bindings(&paths, function.calls as usize);
    for (call, facts) in calls.iter().zip(&checked.functions[0].calls) {
        if let Some(call) = call {
            assert_eq!((facts.checked, facts.unread), *call, "{source}");
        }
    }
    let mut expected = BTreeSet::new();
    for path in &paths {
        judge(path, function, &calls, &mut expected);
    }
    let errors = diagnostics.as_slice().iter().filter(|found| found.is_error());
    let found: BTreeSet<(Code, u32)> = errors.map(|error| (error.code, error.span.end)).collect();
    assert_eq!(found, expected, "{source}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn flow_finds_what_walking_every_path_finds(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut maker = Maker { bytes: bytes.iter(), text: "; fn f(a: thing) -> nil\n; Tools: 0=t\n".to_owned() };
        while maker.bytes.len() > 0 {
            maker.statement(0);
        }
        let source = maker.text;
        with(&source, None, |file, checked, diagnostics| compare(&source, file, checked, diagnostics));
    }
}
