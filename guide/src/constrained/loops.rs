//! Loops with a condition, `push`, and `then` beside a call. The automaton sees a loop as the FOR over RANGE
//! that it is written out as: with a BREAK where its condition ends it, and an ELSE that fails.

use super::machine::{Around, Binds, JsonMachine, Next, Owner};
use super::names;
use crate::automaton::offers::{self, one};
use crate::automaton::state::{Block, Phase};
use crate::automaton::{blocks, ends};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;
use ilo_spec::program::Number;

/// Begins the passes of `while` or `until`. Their values are not used.
fn begin_loop(machine: &mut JsonMachine<'_>, until: bool) {
    let level = blocks::level(&machine.core);
    let Some(slot) = names::new_slot(machine, Binds::Item) else { return };
    blocks::begin_line(&mut machine.core, level, Word::For);
    machine.core.take_integer(slot.into());
    machine.core.take_word(Word::Range);
    given(machine, Literal::Number(Number::Int(1)));
    machine.begin_block();
    let block = machine.core.block();
    // Without an end of a pass, the condition of `until` would have no place.
    let must_live = block.must_live || until;
    machine.core.set_block(Block { goes: None, to_pass: false, must_live, ..block });
    machine.core.change_loop(&block, |of| (of.item, of.until) = (None, until));
}

/// Takes a constant as a value that is not written.
pub(super) fn given(machine: &mut JsonMachine<'_>, constant: Literal<'_>) {
    machine.core.take_word(Word::Lit);
    machine.core.take_integer(constant.kind().into());
    machine.core.take_constant(constant);
}

pub(super) fn begin_while(machine: &mut JsonMachine<'_>) {
    let names = machine.place.names.len();
    begin_loop(machine, false);
    machine.statement(Word::If);
    machine.opens(Around::While(names), Next::Value);
}

/// Begins the steps of `while`, after its condition.
pub(super) fn open_while(machine: &mut JsonMachine<'_>) -> bool {
    let Some(Around::While(names)) = machine.pop() else { return false };
    machine.opens(Around::Block { kind: Owner::While, names }, Next::First);
    break_if(machine)
}

pub(super) fn begin_until(machine: &mut JsonMachine<'_>) {
    let names = machine.place.names.len();
    begin_loop(machine, true);
    machine.opens(Around::Block { kind: Owner::Until, names }, Next::First);
}

/// Begins the condition of `until`, which may read names of the pass.
pub(super) fn begin_condition(machine: &mut JsonMachine<'_>) {
    machine.pop();
    machine.statement(Word::If);
    machine.opens(Around::Until, Next::Value);
}

/// Ends `until`. The names of its last pass may be read behind it.
pub(super) fn end_until(machine: &mut JsonMachine<'_>) -> bool {
    machine.pop();
    let ended = break_if(machine) && end_passes(machine);
    machine.behind();
    ended
}

/// Completes IF with a BREAK.
fn break_if(machine: &mut JsonMachine<'_>) -> bool {
    let level = blocks::level(&machine.core);
    machine.begin_block();
    blocks::begin_line(&mut machine.core, level + 1, Word::Break);
    machine.core.state.phase = Phase::Line;
    blocks::up_to(&mut machine.core, level) && ends::settle(&mut machine.core)
}

/// Ends the passes of a loop with a condition: if they are over, it may fail.
pub(super) fn end_passes(machine: &mut JsonMachine<'_>) -> bool {
    let level = blocks::level(&machine.core).saturating_sub(1);
    if !(blocks::up_to(&mut machine.core, level) && machine.may_begin(Word::Else)) {
        return false;
    }
    let done = machine.core.block_at(machine.core.block().pending);
    let is_until = machine.core.innermost_loop(&done).is_some_and(|of| of.until);
    blocks::begin_line(&mut machine.core, level, Word::Else);
    machine.begin_block();
    let mut above = level + 1;
    if !is_until {
        blocks::begin_line(&mut machine.core, above, Word::If);
        given(machine, Literal::Bool(true));
        machine.begin_block();
        above += 1;
    }
    blocks::begin_line(&mut machine.core, above, Word::Fail);
    given(machine, Literal::Nil);
    machine.core.state.phase = Phase::Line;
    blocks::up_to(&mut machine.core, level) && ends::settle(&mut machine.core)
}

/// Ends the passes of the unfinished `until`, with a condition that is always there.
pub(super) fn end_any_until(machine: &mut JsonMachine<'_>) -> bool {
    machine.may_begin(Word::If) && {
        machine.statement(Word::If);
        given(machine, Literal::Bool(true));
        break_if(machine) && end_passes(machine)
    }
}

/// Whether an expression with this word may change the value of a slot.
pub(super) fn may_change(machine: &mut JsonMachine<'_>, word: Word, slot: u8) -> bool {
    let begins = [word, Word::Ref].into_iter().all(|word| {
        let fits = offers::words(&mut machine.core) & one(word) != 0;
        if fits {
            machine.core.take_word(word);
        }
        fits
    });
    begins && offers::takes_integer(&machine.core, slot.into())
}

pub(super) fn begin_push(machine: &mut JsonMachine<'_>) {
    let slot = machine.core.state.slot.into();
    machine.core.take_word(Word::Append);
    machine.core.take_word(Word::Ref);
    machine.core.take_integer(slot);
    machine.opens(Around::Ends("}"), Next::Value);
}

/// Completes a call that has no arguments.
pub(super) fn without_arguments(machine: &mut JsonMachine<'_>) {
    if machine.core.state.phase == Phase::PairCount {
        machine.core.take_integer(0);
    }
}

/// Begins the steps of `then` beside a call, which are steps of the block that has the call.
pub(super) fn begin_then(machine: &mut JsonMachine<'_>) {
    without_arguments(machine);
    machine.core.state.phase = Phase::Line;
    machine.pop();
    machine.pop();
    machine.opens(Around::Block { kind: Owner::Behind, names: machine.place.names.len() }, Next::First);
}
