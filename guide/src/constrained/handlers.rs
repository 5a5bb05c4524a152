//! Further parts of steps: handlers of failed calls, and ways out of the function or loop beside `if`.

use super::choice::{Act, Choice, choice};
use super::machine::{Around, Binds, JsonMachine, Named, Next, Owner};
use super::{loops, names};
use crate::automaton::blocks;
use crate::automaton::offers::{self, TEXT, Words, one};
use crate::automaton::state::{Block, NONE, Phase};
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_asm::check::Gives;
use ilo_asm::expr::reference::FAILURES;
use ilo_spec::node::Word;
use std::sync::Arc;

/// The words of ways out and of handlers: how each begins beside `if` or the name of a failure, and as a
/// handler without that name, and the bytes that end a handler behind a value.
const WAYS: [(Word, &str, &str, &str); 7] = [
    (Word::Ret, ",\"ret\":", ",\"err\":{\"ret\":", "}}"),
    (Word::RetOk, ",\"ret\":{\"ok\":", ",\"err\":{\"ret\":{\"ok\":", "}}}"),
    (Word::RetErr, ",\"ret\":{\"err\":", ",\"err\":{\"ret\":{\"err\":", "}}}"),
    (Word::Let, ",\"value\":", ",\"err\":{\"value\":", "}}"),
    (Word::Let, "", ",\"err\":{\"ignore\":true}}", ""),
    (Word::Break, ",\"break\":true", ",\"err\":{\"break\":true}}", ""),
    (Word::Skip, ",\"skip\":true", ",\"err\":{\"skip\":true}}", ""),
];

/// The ways out that may be the branch of the enclosing `if`, each with the bytes that end its value.
pub(super) fn leaves(machine: &mut JsonMachine<'_>) -> Vec<Choice> {
    let fit = WAYS.into_iter().filter(|it| it.0 != Word::Let && may_leave_by(machine, it.0));
    let end = |end: &'static str| end.strip_suffix("}}").unwrap_or_default();
    fit.map(|it| choice(it.1, Act::Leave(it.0, end(it.3)))).collect()
}

/// Whether the branch of the enclosing `if` may be a way out beside it.
fn may_leave_by(machine: &mut JsonMachine<'_>, word: Word) -> bool {
    machine.tried(|this| {
        this.begin_block();
        let begin = |this: &mut JsonMachine<'_>, word: Word| {
            this.statement(word);
        };
        may_be(this, word, 1, begin) && this.may_follow(Owner::Then, this.place.around)
    })
}

/// Whether the innermost block may end with a statement with this word, and this many levels with it, as
/// if the value of the statement were complete.
fn may_be(
    machine: &mut JsonMachine<'_>,
    word: Word,
    levels: u8,
    begin: impl FnOnce(&mut JsonMachine<'_>, Word),
) -> bool {
    let level = blocks::level(&machine.core);
    if !machine.may_begin(word) {
        return false;
    }
    begin(machine, word);
    match word {
        Word::Let => loops::given(machine, Literal::Nil),
        Word::Break | Word::Skip => {}
        _ => {
            if matches!(word, Word::Ret | Word::RetOk) {
                machine.core.leave();
            }
            blocks::end_statement(&mut machine.core, Gives::NEVER, NONE);
        }
    }
    blocks::up_to(&mut machine.core, level.saturating_sub(levels))
}

/// The parts that the enclosing call may have behind its arguments: `then` and handlers.
pub(super) fn parts_of_call(machine: &mut JsonMachine<'_>) -> Vec<Choice> {
    let Some(Around::Call(slot)) = machine.around() else { return Vec::new() };
    let mut found = vec![choice(",\"then\":[", Act::Then)];
    machine.tried(|this| {
        loops::without_arguments(this);
        let level = blocks::level(&this.core);
        if this.step_words() & one(Word::Match) == 0 || !this.core.matchable(slot) {
            return;
        }
        begin_handler(this);
        let Some(failure) = names::new_slot(this, Binds::Failure) else { return };
        if blocks::line_words(&mut this.core, level + 1) & one(Word::Err) == 0 {
            return;
        }
        begin_failure(this, failure);
        let fit = words(this);
        if !ways_by(fit).is_empty() {
            found.push(choice(",\"err\":{\"as\":\"", Act::Handler));
        }
        let unnamed = WAYS.iter().filter(|it| fit & one(it.0) != 0);
        found.extend(unnamed.map(|it| choice(it.2, Act::Unnamed(it.0, it.3))));
        if fit & one(Word::RetErr) != 0 && may_be_message(this) {
            found.push(choice(",\"err\":\"", Act::Message));
        }
    });
    found
}

/// Whether the failure that the enclosing handler returns may be a text.
fn may_be_message(machine: &mut JsonMachine<'_>) -> bool {
    machine.tried(|this| {
        begin_way(this, Word::RetErr);
        let want = this.core.state.want;
        offers::is_kind(&this.core, TEXT, want)
    })
}

/// How the handler of a call may go on after the name of the failure.
pub(super) fn ways(machine: &mut JsonMachine<'_>) -> Vec<Choice> {
    ways_by(words(machine))
}

fn ways_by(fit: Words) -> Vec<Choice> {
    let named = WAYS.iter().filter(|it| !it.3.is_empty() && fit & one(it.0) != 0);
    let mut found: Vec<Choice> = named.map(|it| choice(it.1, Act::Way(it.0, it.3))).collect();
    if fit & one(Word::Fail) != 0 {
        found.push(choice(",\"then\":[", Act::OpenHandler));
    }
    found
}

/// The words that the handler of a call may begin with.
fn words(machine: &mut JsonMachine<'_>) -> Words {
    let all = [Word::Ret, Word::RetOk, Word::RetErr, Word::Let, Word::Break, Word::Skip, Word::Fail];
    let fit = all.into_iter().filter(|&word| may_handle_by(machine, word));
    fit.fold(0, |words, word| words | one(word))
}

/// Whether a handler may consist of a statement that begins with this word.
fn may_handle_by(machine: &mut JsonMachine<'_>, word: Word) -> bool {
    let Some(Around::Handler { slot, .. }) = machine.around() else { return false };
    machine.tried(|this| {
        this.core.take_integer(1);
        let bindable = word != Word::Let || this.core.bindable(slot);
        bindable && may_be(this, word, 2, take_way) && this.step_may_end(this.place.around)
    })
}

/// The slot of the call whose handler has the innermost block.
fn handled(machine: &JsonMachine<'_>) -> Option<u8> {
    let all: Vec<Around> = machine.constructs().take(2).collect();
    match all[..] {
        [Around::Block { kind: Owner::Handler, .. }, Around::Handler { slot, .. }] => Some(slot),
        _ => None,
    }
}

/// Whether the steps of a handler may end with a value, which the name of its call has then.
pub(super) fn may_give(machine: &mut JsonMachine<'_>) -> bool {
    let block = machine.block_from(machine.place.around);
    let Some((slot, (_, outer))) = handled(machine).zip(block) else { return false };
    let gives = |this: &mut JsonMachine<'_>| {
        may_be(this, Word::Let, 2, |this, _| begin_giving(this)) && this.step_may_end(outer)
    };
    machine.core.bindable(slot) && machine.tried(gives)
}

pub(super) fn begin_giving(machine: &mut JsonMachine<'_>) {
    let Some(slot) = handled(machine) else { return };
    let block = machine.core.block();
    machine.core.set_block(Block { hard: false, ..block });
    blocks::begin_line(&mut machine.core, block.level, Word::Let);
    machine.core.take_integer(slot.into());
    machine.opens(Around::Giving, Next::Value);
}

/// Begins the MATCH of the enclosing call.
pub(super) fn begin_handler(machine: &mut JsonMachine<'_>) {
    loops::without_arguments(machine);
    let Some(Around::Call(slot)) = machine.pop() else { return };
    machine.push(Around::Handler { slot, names: 0, end: "}}" });
    machine.statement(Word::Match);
    machine.core.take_integer(slot.into());
    machine.core.take_integer(1);
}

/// Begins a handler with one statement, in which the failure has the name that it has in every handler.
pub(super) fn begin_unnamed(machine: &mut JsonMachine<'_>, word: Word, end: &'static str) {
    begin_handler(machine);
    let Some(slot) = names::new_slot(machine, Binds::Failure) else { return };
    begin_failure(machine, slot);
    if let Some(Around::Handler { slot, .. }) = machine.around() {
        machine.replace(Around::Handler { slot, names: machine.place.names.len(), end });
    }
    let [name, _] = FAILURES;
    Arc::make_mut(&mut machine.place.names).push(Named { name: name.into(), slot, live: true });
    begin_way(machine, word);
}

/// Begins the arm of a failure, which has this slot.
pub(super) fn begin_failure(machine: &mut JsonMachine<'_>, slot: u8) {
    machine.statement(Word::Err);
    machine.core.take_integer(slot.into());
}

/// Begins the only statement of a handler.
pub(super) fn begin_way(machine: &mut JsonMachine<'_>, word: Word) {
    machine.core.take_integer(1);
    take_way(machine, word);
}

fn take_way(machine: &mut JsonMachine<'_>, word: Word) {
    machine.core.state.phase = Phase::Line;
    machine.statement(word);
    if let (Word::Let, Some(Around::Handler { slot, .. })) = (word, machine.around()) {
        machine.core.take_integer(slot.into());
    }
}
