//! Lines: which statements may begin at which level, and how blocks open and end.

use crate::automaton::ends;
use crate::automaton::flow::bit;
use crate::automaton::offers::{self, Words, one};
use crate::automaton::state::{Block, Branch, Core, Kind, LEVELS, LOOPS, Loop, NONE, Phase, Stmt};
use crate::automaton::want::{ANY, Want, WantId};
use ilo_asm::check::{Gives, ValueInfo};
use ilo_asm::rules::Demand;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;

/// Levels that a block may have beyond the offered ones, so that results that must be matched can be.
const SPARE: u8 = 2;

/// The level of the innermost block, where the next statement may be.
pub(crate) fn level(core: &Core<'_>) -> u8 {
    core.block().level
}

/// Closes blocks up to the block of a level; `false` if a block cannot end here.
pub(crate) fn up_to(core: &mut Core<'_>, level: u8) -> bool {
    while core.block().level > level {
        if !ends::settle(core) || !ends::close_block(core) {
            return false;
        }
    }
    core.block().level == level
}

/// Ends the program, if it may end here. Returns whether it does.
pub(crate) fn end(core: &mut Core<'_>) -> bool {
    up_to(core, 0) && ends::settle(core) && {
        let body = core.block();
        body.may_close() && !(body.last.gives.completes() && core.owes())
    }
}

/// The words that a line of a level may begin with.
pub(crate) fn line_words(core: &mut Core<'_>, level: u8) -> Words {
    core.trial(|this| if up_to(this, level) { words_here(this) } else { 0 })
}

fn words_here(core: &mut Core<'_>) -> Words {
    let block = core.block();
    let mut words = second_words(core, &block);
    if ends::settle(core) {
        words |= statements(core);
    }
    words
}

/// ELSE, or the arm of a MATCH.
fn second_words(core: &mut Core<'_>, block: &Block) -> Words {
    if block.kind == Kind::Match {
        let slot = (0..=core.state.next).any(|slot| core.bindable(slot));
        return match (block.arms, block.first) {
            _ if !slot => 0,
            (2, None) => one(Word::Err),
            (1, Some(_)) => one(Word::Ok),
            (1, None) if block.hard => one(Word::Ok),
            (1, None) => one(Word::Ok) | one(Word::Err),
            _ => 0,
        };
    }
    let done = core.block_at(block.pending);
    match done.kind {
        _ if block.pending == NONE => 0,
        Kind::Try => one(Word::Err),
        Kind::Pass if done.ok == NONE => 0,
        _ => one(Word::Else),
    }
}

/// Whether FAIL may be the next statement of the innermost block.
pub(crate) fn may_fail(core: &Core<'_>) -> bool {
    let block = core.block();
    block.takes_statements() && !block.rollback && !block.must_live
}

/// Whether FAIL may have a text here.
pub(crate) fn may_fail_with_text(core: &Core<'_>) -> bool {
    let of_function = core.session.err.unwrap_or(Inferred::ANY);
    core.state.tried != NONE || Demand::Is(of_function).accepts(Inferred::TEXT)
}

/// The words that begin a statement of the innermost block.
fn statements(core: &mut Core<'_>) -> Words {
    let block = core.block();
    if !block.takes_statements() {
        return 0;
    }
    core.state.frame = NONE;
    if block.rollback {
        return marked(core, Word::Rollback);
    }
    let mut words = controls(core) | marked(core, Word::Rollback) | marked(core, Word::Undo);
    if (0..=core.state.next).any(|slot| core.bindable(slot)) {
        words |= one(Word::Let);
    }
    core.state.stmt = Stmt::Value;
    if offers::some_call(core, ANY) {
        words |= one(Word::Call);
    }
    if !block.must_live {
        words |= one(Word::Fail);
        if core.session.err.is_some() {
            words |= one(Word::RetErr);
        }
        if !core.owes() {
            words |= one(if core.session.err.is_some() { Word::RetOk } else { Word::Ret });
        }
        if block.loops > 0 && !core.owes_in_loop(block.before) {
            words |= one(Word::Break);
            if !core.innermost_loop(&block).is_some_and(|of| of.until) {
                words |= one(Word::Skip);
            }
        }
    }
    let item = item_want(core).map(|want| core.arena.want(want));
    if item.is_some_and(|want| core.arena.plain(core.session, want).is_some()) {
        words |= one(Word::Yield);
    }
    if let Some(want) = block.goes
        && !core.owes()
    {
        words |= offers::expressions(core, want) & !one(Word::Call);
    }
    words
}

/// What a YIELD may add here, if one may be next.
fn item_want(core: &Core<'_>) -> Option<WantId> {
    let block = core.block();
    let of = core.innermost_loop(&block)?;
    let is_free = of.yields || !of.valued;
    of.item.filter(|_| is_free && !core.owes())
}

/// UNDO or ROLLBACK, if there is a call for it.
fn marked(core: &mut Core<'_>, word: Word) -> Words {
    core.state.stmt = Stmt::Mark(word);
    if offers::some_call(core, ANY) { one(word) } else { 0 }
}

/// IF, FOR and MATCH, if they are allowed.
pub(crate) fn controls(core: &Core<'_>) -> Words {
    let block = core.block();
    let mut words = 0;
    if block.level < LEVELS {
        words |= one(Word::If);
        if !core.owes() {
            words |= one(Word::Try);
        }
        let slot = (0..=core.state.next).any(|slot| core.bindable(slot));
        if block.loops < LOOPS && slot {
            words |= one(Word::For);
        }
    }
    let owed = |slot: &u8| core.now().calls(*slot) & core.state.checked != 0;
    let spare = |slot: &u8| if owed(slot) { SPARE } else { 0 };
    let fits = |slot: &u8| core.matchable(*slot) && block.level + 1 < LEVELS + spare(slot);
    if (0..core.state.next).any(|slot| fits(&slot)) {
        words |= one(Word::Match);
    }
    words
}

/// Begins a line at a level, with a word that may begin it.
pub(crate) fn begin_line(core: &mut Core<'_>, level: u8, word: Word) {
    up_to(core, level);
    let block = core.block();
    core.state.frame = NONE;
    core.state.bound = None;
    if word == Word::Else || (block.kind == Kind::Match && matches!(word, Word::Err | Word::Ok)) {
        core.state.stmt = Stmt::Opens(word);
        core.state.phase = if word == Word::Else { Phase::BlockCount } else { Phase::Slot };
        return;
    }
    if word == Word::Err {
        return begin_caught(core);
    }
    ends::settle(core);
    let block = core.block();
    match word {
        Word::Let => {
            core.state.stmt = Stmt::Let;
            core.state.phase = Phase::Slot;
        }
        Word::If | Word::For | Word::Match | Word::Try => control(core, word),
        Word::Ret | Word::RetOk | Word::RetErr | Word::Fail => {
            core.state.stmt = Stmt::Exit(word);
            let ty = match word {
                Word::Fail if core.state.tried != NONE => Inferred::ANY,
                Word::RetErr | Word::Fail => core.session.err.unwrap_or(Inferred::ANY),
                _ => core.session.output,
            };
            let want = core.arena.add_want(Want::Demand(Demand::Is(ty)));
            core.operand(want, false);
        }
        Word::Break | Word::Skip => leave_pass(core, word),
        Word::Yield => {
            core.state.stmt = Stmt::Yield;
            let want = item_want(core).unwrap_or(ANY);
            core.operand(want, false);
        }
        Word::Undo | Word::Rollback => {
            core.state.stmt = Stmt::Mark(word);
            core.state.want = ANY;
            core.state.behind = false;
            core.state.phase = Phase::CallWord;
        }
        _ => {
            core.state.stmt = Stmt::Value;
            let want = block.goes.filter(|_| word != Word::Call).unwrap_or(ANY);
            core.operand(want, false);
            core.take_word(word);
        }
    }
}

/// Begins IF, FOR, MATCH or TRY.
pub(crate) fn control(core: &mut Core<'_>, word: Word) {
    core.state.stmt = Stmt::Opens(word);
    match word {
        Word::If => {
            let want = core.arena.add_want(Want::Demand(Demand::CONDITION));
            core.operand(want, true);
        }
        Word::Try => {
            // The handler cannot match what was bound before.
            core.leave();
            core.state.phase = Phase::BlockCount;
        }
        _ => core.state.phase = Phase::Slot,
    }
}

/// BREAK or SKIP.
fn leave_pass(core: &mut Core<'_>, word: Word) {
    let block = core.block();
    core.state.plain |= core.now().held() & !block.before;
    let of = core.innermost_loop(&block).copied().unwrap_or_default();
    let left = if word == Word::Skip { of.skipped } else { of.broken };
    let joined = core.join(left, core.state.slots);
    core.change_loop(&block, |of| {
        *(if word == Word::Skip { &mut of.skipped } else { &mut of.broken }) = joined;
    });
    end_statement(core, Gives::NEVER, NONE);
}

/// Completes a YIELD.
pub(crate) fn end_yield(core: &mut Core<'_>, value: u32) {
    let block = core.block();
    let before = core.innermost_loop(&block).map_or(NONE, |of| of.value);
    let joined = core.arena.either(before, value);
    core.change_loop(&block, |of| (of.yields, of.value) = (true, joined));
    end_statement(core, Gives::nothing(()), NONE);
}

/// Begins the handler of a TRY.
fn begin_caught(core: &mut Core<'_>) {
    let done = core.block_at(core.block().pending);
    core.state.slots = core.state.tried;
    // An enclosing TRY has bound all of it.
    let around = |core: &mut Core<'_>| core.join(done.tried, core.state.tried);
    core.state.tried = if done.tried == NONE { NONE } else { around(core) };
    core.state.stmt = Stmt::Opens(Word::Err);
    core.state.phase = Phase::Slot;
}

/// Completes a statement.
pub(crate) fn end_statement(core: &mut Core<'_>, gives: Gives, value: u32) {
    let block = core.block();
    let binds = core.state.stmt == Stmt::Let && gives.completes();
    let last = Branch { gives, value, binds, ..block.last };
    core.set_block(Block { started: true, last, rollback: false, pending: NONE, ..block });
    core.state.phase = Phase::End;
}

/// Completes a value that is a statement.
pub(crate) fn end_statement_value(core: &mut Core<'_>, value: u32) {
    let block = core.block();
    let is_call = core.state.top == Some(Word::Call);
    let fits = core.arena.takes(core.session, block.goes.unwrap_or(ANY), core.arena.value(value));
    end_statement(core, if fits { Gives::VALUE } else { Gives::nothing(()) }, value);
    let block = core.block();
    core.set_block(Block { last: Branch { sealed: !is_call, ..block.last }, ..block });
    if is_call {
        core.demand_rollback();
    } else if block.to_pass {
        core.change_loop(&block, |of| of.valued = true);
    }
}

/// Takes the count of a header and opens its block.
pub(crate) fn open_block(core: &mut Core<'_>, count: u32) {
    let started = count == 0;
    let Stmt::Opens(word) = core.state.stmt else { return };
    match word {
        Word::If => {
            let block = inside(core, Kind::Then, started);
            core.set_block(block);
        }
        Word::For => open_pass(core, started),
        Word::Else => open_behind(core, started),
        Word::Try => open_try(core, started),
        Word::Err if core.block().kind != Kind::Match => open_behind(core, started),
        Word::Err | Word::Ok => open_arm(core, started),
        _ => {}
    }
    core.state.phase = Phase::End;
}

/// A block inside the innermost one.
fn inside(core: &Core<'_>, kind: Kind, started: bool) -> Block {
    let around = core.block();
    let bound = core.state.bound;
    let is_bound = bound.is_some();
    Block {
        kind,
        parent: core.state.block,
        level: around.level + 1,
        loops: around.loops,
        goes: if is_bound { Some(ANY) } else { around.goes },
        hard: is_bound,
        chain: around.chain || is_bound,
        started,
        fork: core.state.slots,
        bound,
        held: around.held,
        before: around.before,
        to_pass: around.to_pass && !is_bound,
        ..Block::new(kind)
    }
}

fn open_try(core: &mut Core<'_>, started: bool) {
    let block = Block { tried: core.state.tried, ..inside(core, Kind::Try, started) };
    core.state.tried = core.state.slots;
    core.set_block(block);
}

fn open_pass(core: &mut Core<'_>, started: bool) {
    let around = core.block();
    let mut block = inside(core, Kind::Pass, started);
    let is_bound = block.bound.is_some();
    // A FOR always reaches its end, and has a value there if some pass has one.
    block.must_some |= block.hard;
    block.hard = false;
    block.chain = false;
    block.must_live = block.must_some;
    block.loops = around.loops + 1;
    block.before = bit(core.state.calls).wrapping_sub(1);
    if !is_bound {
        let is_list = |want: &WantId| core.arena.takes_type(core.session, *want, Inferred::ANY.list());
        let item = around.goes.filter(is_list).map(|want| core.arena.item_want(want));
        block.goes = item.map(|item| core.arena.add_want(item));
    }
    block.to_pass = true;
    core.change_loop(&block, |of| *of = Loop { item: block.goes, ..Loop::default() });
    let (slot, value) = (core.state.slot, core.state.want);
    core.set_block(block);
    core.change(|slots| slots.keep(around.loops, u64::MAX));
    core.bind(slot, value, 0);
}

pub(crate) fn open_match(core: &mut Core<'_>, both: bool) {
    let mut block = inside(core, Kind::Match, false);
    block.slot = core.state.slot;
    block.arms = if both { 2 } else { 1 };
    block.must_live = core.block().must_live;
    (block.ok, block.err) = core.take(block.slot);
    block.fork = core.state.slots;
    core.set_block(block);
    core.state.phase = Phase::End;
}

fn open_arm(core: &mut Core<'_>, started: bool) {
    let around = core.block();
    let is_err = core.state.stmt == Stmt::Opens(Word::Err);
    let kind = if is_err { Kind::Err } else { Kind::Ok };
    core.state.bound = around.bound;
    let mut block = inside(core, kind, started);
    block.bound = None;
    core.state.slots = around.fork;
    if is_err && around.arms == 1 {
        block.held |= core.slots_at(around.fork).held();
        if around.chain {
            block.goes = None;
        }
    }
    match around.first {
        Some(first) => second(core, &mut block, &first, around.must_live),
        None => block.must_live = around.must_live && !is_err,
    }
    let has_some = around.first.is_some_and(|first| first.gives.value);
    block.must_some = around.must_some && !is_err && !has_some;
    block.must_live |= block.must_some;
    let value = if is_err { around.err } else { around.ok };
    let slot = core.state.slot;
    core.set_block(block);
    core.bind(slot, value, 0);
}

/// The requirements on the second of two branches.
fn second(core: &Core<'_>, block: &mut Block, first: &Branch, must_live: bool) {
    if first.slots != NONE {
        block.held |= core.slots_at(first.slots).held();
    }
    block.must_live = must_live && first.slots == NONE;
    if block.chain && first.sealed {
        block.hard = true;
    } else if block.chain && first.gives.lack.is_some() {
        block.goes = None;
    }
}

/// Opens the block behind another one: ELSE, or the handler of a TRY.
fn open_behind(core: &mut Core<'_>, started: bool) {
    let (block, slot) = (core.block(), core.state.slot);
    let done = core.block_at(block.pending);
    core.state.bound = done.bound;
    core.set_block(Block { pending: NONE, ..block });
    let around = core.block();
    if done.kind == Kind::Pass {
        return open_loop_else(core, started, &around, &done);
    }
    let is_caught = done.kind == Kind::Try;
    let mut block = inside(core, if is_caught { Kind::Caught } else { Kind::Else }, started);
    block.first = done.first;
    if let Some(first) = done.first {
        second(core, &mut block, &first, around.must_live);
        block.must_some = done.must_some && !first.gives.value;
        block.must_live |= block.must_some;
    }
    core.set_block(block);
    if is_caught {
        let failure = core.arena.add_value(ValueInfo::ANY);
        core.bind(slot, failure, 0);
    } else {
        core.state.slots = done.fork;
    }
}

fn open_loop_else(core: &mut Core<'_>, started: bool, around: &Block, done: &Block) {
    if done.first.is_some_and(|first| first.gives.value) && around.to_pass {
        // A YIELD in the ELSE would make the list of the loop one that nothing collects.
        core.change_loop(around, |of| of.valued = true);
    }
    let mut block = inside(core, Kind::LoopElse, started);
    let broken = done.ok;
    block.ok = broken;
    block.goes = None;
    block.first = done.first;
    let sealed = done.first.is_some_and(|first| first.sealed);
    block.hard |= block.chain && sealed;
    block.must_live = around.must_live && broken == NONE;
    block.must_some = false;
    if broken != NONE {
        block.held |= core.slots_at(broken).held();
    }
    core.state.slots = done.first.map_or(core.state.slots, |first| first.slots);
    core.set_block(block);
}
