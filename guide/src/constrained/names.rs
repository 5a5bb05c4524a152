//! Names that the model chooses: their form, and their slots.

use super::machine::{Around, Binds, JsonMachine, Named, Next, Owner};
use super::{handlers, loops, parts};
use crate::automaton::offers;
use crate::automaton::state::{NONE, SLOTS};
use crate::tokens::letters;
use ilo_asm::ast::Literal;
use ilo_asm::expr::reference::{FAILURES, INPUT};
use ilo_asm::text::is_name;
use ilo_spec::program::Number;
use std::sync::Arc;

/// The most bytes of a name, and the most of one that may be free: with four more letters, some name is
/// unused.
pub(super) const NAME: usize = 32;
pub(super) const FREE: usize = NAME - 4;
/// The slots that `let` and loops may bind; the others are for failures.
pub(super) const BOUND: u8 = 56;
/// Names that have another meaning, or that a reader would mistake for it.
const KEPT: [&str; 6] = ["null", "nil", "none", "true", "false", "text"];

/// Whether a name can be written as a reference.
pub(super) fn is_reference(name: &str) -> bool {
    is_name(name) && name != INPUT && !FAILURES.contains(&name)
}

/// Whether a name may be bound, if it is new.
pub(super) fn may_be_bound(name: &str) -> bool {
    is_reference(name) && !KEPT.contains(&name)
}

/// The slot of a new name; `None` if none is left.
pub(super) fn new_slot(machine: &JsonMachine<'_>, of: Binds) -> Option<u8> {
    // Each open `try` needs one for its failure.
    let is_try = |it: &Around| matches!(it, Around::Block { kind: Owner::Try, .. });
    let kept = || u8::try_from(machine.constructs().filter(is_try).count()).unwrap_or(SLOTS);
    let most = if of == Binds::Failure { SLOTS.saturating_sub(kept()) } else { BOUND };
    if machine.core.state.next < most {
        return Some(machine.core.state.next);
    }
    // The slot of a name that is no longer read.
    let is_free = |slot: u8| {
        let live = machine.place.names.iter().any(|named| named.live && named.slot == slot);
        !live && machine.core.bindable(slot)
    };
    let ended = machine.place.names.iter().filter(|named| !named.live).map(|named| named.slot);
    ended.filter(|_| of == Binds::Failure).find(|&slot| is_free(slot))
}

/// The slot of a name that is bound here.
fn slot_of(machine: &JsonMachine<'_>, name: &str, of: Binds) -> Option<u8> {
    if of == Binds::Part {
        return is_name(name).then_some(SLOTS);
    }
    if !may_be_bound(name) {
        return None;
    }
    match machine.place.names.iter().rev().find(|named| *named.name == *name) {
        Some(named) if named.live && of == Binds::Let => {
            Some(named.slot).filter(|&slot| machine.core.bindable(slot))
        }
        Some(_) => None,
        None => new_slot(machine, of),
    }
}

pub(super) fn in_name(machine: &mut JsonMachine<'_>, start: usize, of: Binds, byte: u8) -> bool {
    let length = machine.text.len() - start;
    let written = machine.text.get(start..).unwrap_or_default();
    let before = written.len().checked_sub(2).and_then(|at| written.get(at).copied());
    match byte {
        b'"' if of == Binds::Part => parts::end_part(machine),
        b'.' => length > 1 && parts::begin_part(machine, start, of),
        b'"' => end_name(machine, start, of),
        b'a'..=b'z' => length <= FREE || is_free(machine, start, of),
        b'0'..=b'9' | b'_' => length > 1 && (length <= FREE || is_free(machine, start, of)),
        b'-' => length > 1 && length < FREE && before != Some(b'-'),
        _ => false,
    }
}

fn written<'a>(machine: &'a JsonMachine<'_>, start: usize) -> &'a str {
    core::str::from_utf8(machine.text.get(start..).unwrap_or_default()).unwrap_or_default()
}

fn is_free(machine: &JsonMachine<'_>, start: usize, of: Binds) -> bool {
    let name = written(machine, start);
    let is_begun = |named: &Named| named.name.starts_with(name);
    name.len() <= NAME
        && if of != Binds::Part && !machine.place.names.iter().any(is_begun) {
            new_slot(machine, of).is_some()
        } else {
            rest_of_name(machine, start, of).is_some()
        }
}

/// The letters that complete a beginning to a name that may be bound.
pub(super) fn rest_of_name(machine: &JsonMachine<'_>, start: usize, of: Binds) -> Option<String> {
    let begun = written(machine, start);
    let fits = |end: &String| slot_of(machine, &(begun.to_owned() + end), of).is_some();
    let most = u32::try_from(NAME.saturating_sub(begun.len())).unwrap_or_default().min(4);
    (0..=most).flat_map(letters).find(fits)
}

/// Takes the closing quote.
fn end_name(machine: &mut JsonMachine<'_>, start: usize, of: Binds) -> bool {
    let name = written(machine, start).trim_end_matches('"').to_owned();
    let Some(slot) = slot_of(machine, &name, of) else { return false };
    bind_name(machine, &name, slot, of);
    true
}

/// Takes the closing quote of some new name.
pub(super) fn end_new_name(machine: &mut JsonMachine<'_>, of: Binds) -> bool {
    let Some(slot) = new_slot(machine, of) else { return false };
    machine.place.is_guess = true;
    bind_name(machine, "", slot, of);
    true
}

fn bind_name(machine: &mut JsonMachine<'_>, name: &str, slot: u8, of: Binds) {
    let names = machine.place.names.len();
    if !machine.place.names.iter().any(|named| *named.name == *name) {
        Arc::make_mut(&mut machine.place.names).push(Named { name: name.into(), slot, live: true });
    }
    if !matches!(of, Binds::Part | Binds::Failure) {
        machine.core.take_integer(slot.into());
    }
    match of {
        Binds::Let => machine.goes_on(Next::Let),
        Binds::Item => machine.opens(Around::For(names), Next::In),
        Binds::Index => {
            loops::given(machine, Literal::Number(Number::Int(0)));
            machine.goes_on(Next::Passes);
        }
        Binds::Part => {}
        Binds::Failure => {
            handlers::begin_failure(machine, slot);
            if let Some(Around::Handler { slot, end, .. }) = machine.around() {
                machine.replace(Around::Handler { slot, names, end });
                machine.goes_on(Next::Handler);
            } else {
                machine.goes_on(Next::Arm(names));
            }
        }
    }
}

/// Ends the names of a loop, from an index on, if it has no BREAK: they are no longer read or bound.
pub(super) fn end_loop_names(machine: &mut JsonMachine<'_>, from: usize) {
    let block = machine.core.block();
    if machine.core.innermost_loop(&block).is_some_and(|of| of.broken != NONE) {
        return;
    }
    Arc::make_mut(&mut machine.place.names).iter_mut().skip(from).for_each(|named| named.live = false);
}

/// The names whose slots the next node may take.
pub(super) fn named(machine: &JsonMachine<'_>) -> Vec<(String, u8)> {
    let live = machine.place.names.iter().filter(|named| named.live);
    let fit = live.filter(|named| offers::takes_integer(&machine.core, named.slot.into()));
    fit.map(|named| (named.name.to_string(), named.slot)).collect()
}
