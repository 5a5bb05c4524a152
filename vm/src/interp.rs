//! The interpreter loop: one match over the instructions; each arm is one call.
//!
//! It runs verified programs only. It stops at a tool call, at the end of the function that was started, or
//! at a fault, and stores where it stopped.

use crate::fault::Trap;
use crate::frame::{Frame, window};
use crate::heap::Heap;
use crate::machine::{CallKind, Machine, PendingCall, Stop, is_compensation, note};
use crate::ops::arith::{Add, Mul, Sub};
use crate::ops::compare::{Ge, Gt, Le, Lt};
use crate::ops::{arith, compare, get, list, loops, pure, record, set, span, text, truth};
use crate::program::{Program, ProgramData};
use crate::rollbacks::Rollbacks;
use crate::type_check;
use crate::value::{Value, at};
use alloc::vec::Vec;
use core::hint::cold_path;
use ilo_spec::isa::{Op, ToolCall};
use ilo_spec::operand::NumberId;

/// Runs until something stops it. It is never inlined, so that its register allocation does not depend on the
/// caller; the result fits in two registers as well.
#[inline(never)]
pub(crate) fn execute(machine: &mut Machine) -> (Stop, Option<Trap>) {
    let Machine {
        program: Program(program),
        heap,
        stack,
        frames,
        notes,
        rollbacks,
        rewind_scope,
        pc: kept_pc,
        base,
        pending_call,
        result,
    } = machine;
    // Borrowed from the machine, so that each table is read where it is used: otherwise a dozen tables would
    // be loaded and spilled whenever the loop is entered.
    let program = &mut *program;
    let code = &program.spec.code[..];
    let mut pc = *kept_pc;
    let stop = 'run: {
        // The window of a frame. Verification has shown that it lies within the stack.
        macro_rules! enter {
            () => {
                match window(stack, *base) {
                    Some(window) => window,
                    None => break 'run (Stop::Returned, None),
                }
            };
        }
        let mut w = enter!();
        macro_rules! fallible {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(trap) => {
                        cold_path();
                        break 'run (Stop::Failed, Some(trap));
                    }
                }
            };
        }
        // Ends the function with a value, which goes to the caller's window or out of the machine.
        macro_rules! leave {
            ($value:expr) => {{
                let value = $value;
                leave!(in place value);
            }};
            // A value that is not in the window is read only where it is stored.
            (in place $value:expr) => {{
                let Some(&frame) = frames.last() else {
                    *result = $value;
                    break 'run (Stop::Returned, None);
                };
                w = match window(stack, frame.base_unless_owner()) {
                    Some(window) => window,
                    None => {
                        *result = $value;
                        break 'run (Stop::HandOver, None);
                    }
                };
                frames.pop();
                pc = frame.pc();
                *base = frame.base_unless_owner();
                set(w, frame.dst, $value);
            }};
        }
        // This must stay a jump: with a conditional move, fetching the next instruction would wait for the
        // data.
        macro_rules! go_if {
            ($condition:expr, $to:expr) => {
                if $condition {
                    cold_path();
                    pc += usize::from($to.0);
                }
            };
        }
        macro_rules! unless {
            ($relation:ty, $a:expr, $b:expr, $to:expr) => {
                go_if!(!fallible!(compare::related::<$relation>(heap, program, get(w, $a), $b)), $to)
            };
        }
        macro_rules! unless_constant {
            ($relation:ty, $a:expr, $b:expr, $to:expr) => {{
                let constant = program.number($b);
                go_if!(
                    !fallible!(compare::related_constant::<$relation>(heap, program, get(w, $a), constant)),
                    $to
                )
            }};
        }
        macro_rules! next {
            ($base:expr, $item:expr) => {
                if let Some(body) = fallible!(loops::next(heap, w, $base, $item)) {
                    pc = body;
                }
            };
        }
        let number = |id: NumberId| program.number(id);
        loop {
            // Matched by reference: each arm reads only its own operands.
            let Some(op) = code.get(pc) else {
                cold_path();
                break (Stop::Returned, None);
            };
            pc += 1;
            match *op {
                Op::Nil { dst } => set(w, dst, Value::NIL),
                Op::False { dst } => set(w, dst, Value::bool(false)),
                Op::True { dst } => set(w, dst, Value::bool(true)),
                Op::Int { dst, value } => set(w, dst, Value::int(value.0.into())),
                Op::Number { dst, number: id } => set(w, dst, number(id).value),
                Op::Text { dst, text } => set(w, dst, program.texts[at(text.0)]),
                Op::Move { dst, src } => set(w, dst, get(w, src).in_halves()),

                Op::Add { dst, a, b } => fallible!(arith::add(heap, program, w, op, (dst, a, b))),
                Op::Sub { dst, a, b } => fallible!(arith::registers::<Sub>(w, op, (dst, a, b))),
                Op::Mul { dst, a, b } => fallible!(arith::registers::<Mul>(w, op, (dst, a, b))),
                Op::Div { dst, a, b } => {
                    let value = fallible!(arith::quotient(get(w, a), get(w, b)));
                    set(w, dst, value);
                }
                Op::Mod { dst, a, b } => {
                    let value = fallible!(arith::remainder(get(w, a), get(w, b)));
                    set(w, dst, value);
                }
                Op::AddC { dst, a, number: b } => fallible!(arith::constant::<Add>(w, dst, a, number(b))),
                Op::SubC { dst, a, number: b } => fallible!(arith::constant::<Sub>(w, dst, a, number(b))),
                Op::MulC { dst, a, number: b } => fallible!(arith::constant::<Mul>(w, dst, a, number(b))),
                Op::DivC { dst, a, number: b } => {
                    let value = fallible!(arith::quotient(get(w, a), &number(b).value));
                    set(w, dst, value);
                }
                Op::ModC { dst, a, number: b } => {
                    let value = fallible!(arith::remainder(get(w, a), &number(b).value));
                    set(w, dst, value);
                }

                Op::Eq { dst, a, b } => fallible!(compare::equate(heap, program, w, dst, (a, b), false)),
                Op::Ne { dst, a, b } => fallible!(compare::equate(heap, program, w, dst, (a, b), true)),
                Op::Lt { dst, a, b } => fallible!(compare::relate::<Lt>(heap, program, w, dst, (a, b))),
                Op::Le { dst, a, b } => fallible!(compare::relate::<Le>(heap, program, w, dst, (a, b))),
                Op::Gt { dst, a, b } => fallible!(compare::relate::<Gt>(heap, program, w, dst, (a, b))),
                Op::Ge { dst, a, b } => fallible!(compare::relate::<Ge>(heap, program, w, dst, (a, b))),
                Op::Not { dst, src } => fallible!(compare::condition(w, dst, src, true)),
                Op::Truth { dst, src } => fallible!(compare::condition(w, dst, src, false)),

                Op::Concat { dst, first, count } => {
                    fallible!(text::concat(heap, program, w, dst, (first, count)));
                }
                Op::ConcatTwo { dst, a, b } => {
                    fallible!(text::concat_two(heap, program, w, dst, (a, b)));
                }
                Op::Record { dst, first, shape } => {
                    fallible!(record::make(heap, program, w, dst, (first, shape)));
                }
                Op::Merge { dst, src, first, shape } => {
                    fallible!(record::merge(heap, program, w, (dst, src), (first, shape)));
                }
                Op::Field { dst, src, field } => {
                    fallible!(record::field(heap, program, w, op, (dst, src, field)));
                }
                Op::Has { dst, src, field } => fallible!(record::has(heap, program, w, dst, (src, field))),
                Op::HasName { dst, src, name } => {
                    fallible!(record::has_name(heap, program, w, dst, (src, name)));
                }
                Op::List { dst, first, count } => fallible!(list::make(heap, w, dst, (first, count))),
                Op::Append { dst, list, item } => fallible!(list::append(heap, w, dst, (list, item))),
                Op::At { dst, list, index } => fallible!(list::item(heap, program, w, dst, (list, index))),
                Op::Len { dst, src } => fallible!(list::length(heap, program, w, dst, src)),

                Op::Jump { to } => pc += usize::from(to.0),
                Op::JumpIf { src, to } => go_if!(fallible!(truth(get(w, src))), to),
                Op::JumpUnless { src, to } => go_if!(!fallible!(truth(get(w, src))), to),
                Op::UnlessEq { a, b, to } => {
                    go_if!(!fallible!(compare::equal(heap, program, get(w, a), get(w, b))), to);
                }
                Op::UnlessNe { a, b, to } => {
                    go_if!(fallible!(compare::equal(heap, program, get(w, a), get(w, b))), to);
                }
                Op::UnlessLt { a, b, to } => unless!(Lt, a, get(w, b), to),
                Op::UnlessLe { a, b, to } => unless!(Le, a, get(w, b), to),
                Op::UnlessGt { a, b, to } => unless!(Gt, a, get(w, b), to),
                Op::UnlessGe { a, b, to } => unless!(Ge, a, get(w, b), to),
                Op::UnlessEqC { a, number: b, to } => {
                    go_if!(!fallible!(compare::equal_constant(heap, program, get(w, a), number(b))), to);
                }
                Op::UnlessNeC { a, number: b, to } => {
                    go_if!(fallible!(compare::equal_constant(heap, program, get(w, a), number(b))), to);
                }
                Op::UnlessLtC { a, number: b, to } => unless_constant!(Lt, a, b, to),
                Op::UnlessLeC { a, number: b, to } => unless_constant!(Le, a, b, to),
                Op::UnlessGtC { a, number: b, to } => unless_constant!(Gt, a, b, to),
                Op::UnlessGeC { a, number: b, to } => unless_constant!(Ge, a, b, to),
                Op::UnlessField { src, field, to } => {
                    go_if!(!fallible!(record::flag(heap, program, get(w, src), field)), to);
                }
                Op::IfField { src, field, to } => {
                    go_if!(fallible!(record::flag(heap, program, get(w, src), field)), to);
                }
                Op::Switch { src, map } => {
                    pc += fallible!(compare::switch(heap, program, get(w, src), map));
                }
                Op::Select { dst, src, map } => {
                    fallible!(compare::select(heap, program, w, op, (dst, src, map)));
                }

                Op::For { base, list, to } => {
                    fallible!(loops::begin(heap, program, w, (base, list), pc, true));
                    pc += usize::from(to.0);
                }
                Op::Each { base, list, to } => {
                    fallible!(loops::begin(heap, program, w, (base, list), pc, false));
                    pc += usize::from(to.0);
                }
                Op::Next { base, item, .. } => next!(base, item),
                Op::Yield { base, src } => fallible!(loops::add(heap, w, base, *get(w, src))),
                Op::YieldRecord { base, first, shape } => {
                    fallible!(loops::add_record(heap, program, w, base, (first, shape)));
                }
                Op::YieldTwo { .. } => fallible!(loops::add_two(heap, w, op)),
                Op::YieldThree { .. } => fallible!(loops::add_three(heap, w, op)),
                Op::YieldFour { .. } => fallible!(loops::add_four(heap, w, op)),
                Op::Collect { dst, base } => loops::collect(w, dst, base),
                Op::Break { dst, base, to } => {
                    loops::collect(w, dst, base);
                    pc += usize::from(to.0);
                }

                Op::Tool { dst, first, call, .. } => {
                    fallible!(heap.budget.take_call());
                    fallible!(heap.budget.burn(1));
                    *pending_call = PendingCall { call, first, dst, kind: CallKind::Plain };
                    let arguments = span(w, first, at(program.call(call).arguments));
                    if arguments.iter().any(|value| value.is_container()) {
                        cold_path();
                        break 'run (Stop::LargeCall, None);
                    }
                    break 'run (Stop::Call, None);
                }
                Op::Invoke { dst, first, function, .. } => {
                    let entry = program.facts.entries[usize::from(function.0)];
                    fallible!(heap.budget.burn_or_pause(entry.cost.into()));
                    // The capacity covers the deepest nesting of calls.
                    if frames.len() == frames.capacity() {
                        cold_path();
                        debug_assert!(false, "the calls under way at once are counted before");
                        break 'run (Stop::Returned, None);
                    }
                    frames.push(Frame::new(pc, *base, dst));
                    *base += u32::from(first.0);
                    pc = at(entry.start);
                    w = enter!();
                }
                Op::ToolRollback { dst, first, call, .. } => {
                    rewind_scope.require_all();
                    fallible!(promise(program, rollbacks, heap, pc));
                    *pending_call = PendingCall { call, first, dst, kind: CallKind::Covered };
                    break 'run (Stop::LargeCall, None);
                }
                Op::Rollback { first, call } => {
                    rewind_scope.require_all();
                    let arguments = span(w, first, at(program.call(call).arguments));
                    fallible!(rollbacks.push(&mut heap.budget, frames.last_mut(), pc, arguments));
                    if rollbacks.must_end() {
                        cold_path();
                        break 'run (Stop::Waited, None);
                    }
                }
                Op::Note { src, tool } => {
                    rewind_scope.require_all();
                    rollbacks.used = true;
                    fallible!(note(heap, notes, tool, *get(w, src)));
                }

                Op::Apply { .. } => {
                    let distance = fallible!(pure::apply(heap, program, w, op));
                    // In a section even a failure with a handler ends the section first.
                    if distance != 0 && (distance == pure::UNHANDLED || rollbacks.in_section()) {
                        cold_path();
                        break 'run (Stop::Unhandled, None);
                    }
                    pc += distance;
                }

                Op::Return { src } => {
                    leave!(get(w, src).in_halves());
                }
                Op::ReturnNil {} => {
                    leave!(Value::NIL);
                }
                Op::Fail { src } => {
                    let value = get(w, src).in_halves();
                    let (stop, place) = fail(code, stack, frames, rollbacks, (pc, *base), (result, value));
                    (pc, *base) = place;
                    if let Some(stop) = stop {
                        break 'run (stop, None);
                    }
                    w = enter!();
                }
                Op::ReturnAdd { a, b } => match arith::quick::<Add>(get(w, a), get(w, b)) {
                    Some(sum) => leave!(Value::double(sum)),
                    None => leave!(fallible!(arith::sum(heap, program, get(w, a), get(w, b)))),
                },

                Op::ReturnAs { src, ty } => {
                    if !type_check::is_scalar_of(get(w, src), ty) {
                        cold_path();
                        fallible!(type_check::check(heap, *get(w, src), ty));
                    }
                    leave!(get(w, src).in_halves());
                }

                Op::ReturnText { text } => leave!(in place program.texts[at(text.0)]),

                Op::MulUnlessGe { to, .. } => {
                    if let Op::MulUnlessGe { dst, a, by, least, .. } = *op
                        && let Some(product) = arith::product(get(w, a), by)
                    {
                        // The product is nearly always finite, so that check comes after the branch that is
                        // needed anyway.
                        if product >= arith::small(least) {
                            if product <= f64::MAX {
                                set(w, dst, Value::double(product));
                                continue;
                            }
                        } else if product >= f64::MIN {
                            set(w, dst, Value::double(product));
                            pc += usize::from(to.0);
                            // Takes the next item if the loop ends here, which saves one dispatch.
                            if let Some(&Op::Next { base, item, .. }) = code.get(pc) {
                                pc += 1;
                                next!(base, item);
                            }
                            continue;
                        }
                    }
                    cold_path();
                    go_if!(!fallible!(compare::product_at_least_slowly(heap, program, w, op)), to);
                }
                Op::MulCUnlessGeC { to, .. } => {
                    go_if!(!fallible!(compare::product_at_least(heap, program, w, op)), to);
                }
            }
        }
    };
    *kept_pc = pc;
    stop
}

/// Takes the room for the entries of the `tool.rollback` before `pc`, and the call.
#[cold]
#[inline(never)]
fn promise(program: &ProgramData, rollbacks: &mut Rollbacks, heap: &mut Heap, pc: usize) -> Result<(), Trap> {
    let (entries, arguments) = program.section(pc - 1);
    rollbacks.promise(&mut heap.budget, entries, arguments)?;
    heap.budget.take_call()?;
    heap.budget.burn(1)
}

/// Passes a failure to the nearest caller that handles it. Returns why it stops, if it does, and where
/// execution continues.
///
/// The frames that did not handle it are popped. If none handles it, the place is in the function that was
/// started. If entries must run first, the frame that handles it stays, and `result` is the failure.
#[cold]
#[inline(never)]
fn fail(
    code: &[Op],
    stack: &mut [Value],
    frames: &mut Vec<Frame>,
    rollbacks: &mut Rollbacks,
    place: (usize, u32),
    (result, value): (&mut Value, Value),
) -> (Option<Stop>, (usize, u32)) {
    let handles = |frame: &Frame| matches!(code[frame.pc() - 1], Op::Invoke { fail, .. } if fail.0 != 0);
    let Some(index) = frames.iter().rposition(handles) else {
        let place = frames.first().map_or(place, |frame| (frame.pc(), frame.base()));
        frames.clear();
        *result = value;
        return (Some(Stop::Failed), place);
    };
    if rollbacks.gather(frames, index) {
        *result = value;
        return (Some(Stop::Unwind), place);
    }
    (None, handle(code, stack, frames, value).unwrap_or(place))
}

/// Gives the last frame the failure that it handles; returns where execution continues.
fn handle(code: &[Op], stack: &mut [Value], frames: &mut Vec<Frame>, value: Value) -> Option<(usize, u32)> {
    let frame = frames.pop()?;
    let Op::Invoke { fail, .. } = code[frame.pc() - 1] else { return None };
    set(window(stack, frame.base())?, frame.dst, value);
    Some((frame.pc() + usize::from(fail.0), frame.base()))
}

/// Continues where the failure in `result` is handled, once the entries have run.
pub(crate) fn handle_failure(machine: &mut Machine) {
    let Machine { program, stack, frames, rollbacks, pc, base, result, .. } = machine;
    if let Some(frame) = frames.last() {
        rollbacks.disown(frame);
    }
    if let Some(place) = handle(&program.inner().spec.code, stack, frames, *result) {
        (*pc, *base) = place;
    }
}

/// Returns the value in `result` from a function with ROLLBACK entries. They are its caller's now, except
/// that a compensation has none left to undo.
#[cold]
#[inline(never)]
pub(crate) fn hand_over(machine: &mut Machine) {
    let Machine { program, stack, frames, rollbacks, pc, base, result, .. } = machine;
    let Some(frame) = frames.pop() else { return };
    match rollbacks.disown(&frame) {
        Some(height) if is_compensation(&program.inner().spec.code, frame.pc()) => {
            rollbacks.drop_above(height);
        }
        Some(height) => rollbacks.give(frames.last_mut(), height),
        None => {}
    }
    (*pc, *base) = (frame.pc(), frame.base());
    if let Some(window) = window(stack, *base) {
        set(window, frame.dst, *result);
    }
}

/// Gives the pending tool call its answer, or a failure. Returns why the machine cannot continue, if it
/// cannot: no function handles the failure, or entries must run first.
#[inline]
pub(crate) fn resume(machine: &mut Machine, value: Value, failed: bool) -> Option<Stop> {
    let Machine { program, stack, frames, rollbacks, pc, base, result, .. } = machine;
    let program = program.inner();
    let code = &program.spec.code[..];
    let Some(ToolCall { dst, fail: on_fail, entries, .. }) = code[*pc - 1].tool_call() else {
        return Some(Stop::Failed);
    };
    if entries.0 > 0 {
        cold_path();
        if failed {
            let (entries, arguments) = program.section(*pc - 1);
            rollbacks.release(&mut machine.heap.budget, entries, arguments);
        } else {
            // A program has fewer than 2^32 instructions.
            rollbacks.begin_section(u32::try_from(*pc - 1).unwrap_or(u32::MAX), entries.0);
        }
    }
    if failed && on_fail.0 == 0 {
        let (stop, place) = fail(code, stack, frames, rollbacks, (*pc, *base), (result, value));
        (*pc, *base) = place;
        return stop;
    }
    if let Some(place) = stack.get_mut(at(*base) + usize::from(dst.0)) {
        *place = value;
    }
    if failed {
        *pc += usize::from(on_fail.0);
    }
    None
}

/// Passes on the failure of the pure function at which the machine stopped. Returns why the machine cannot
/// continue, if it cannot.
#[cold]
#[inline(never)]
pub(crate) fn pass_on(machine: &mut Machine) -> Option<Stop> {
    let Machine { program, stack, frames, rollbacks, pc, base, result, .. } = machine;
    let code = &program.inner().spec.code[..];
    let Op::Apply { dst, fail: handler, .. } = code[*pc - 1] else { return Some(Stop::Failed) };
    if handler.0 != 0 {
        if rollbacks.in_section() {
            rollbacks.abandon_section();
        }
        *pc += usize::from(handler.0);
        return None;
    }
    let value = stack[at(*base) + usize::from(dst.0)];
    let (stop, place) = fail(code, stack, frames, rollbacks, (*pc, *base), (result, value));
    (*pc, *base) = place;
    stop
}
