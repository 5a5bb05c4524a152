//! The state of an unfinished program: the position of the next token.

use crate::automaton::flow::Slots;
use crate::automaton::session::Session;
use crate::automaton::want::{ANY, Arena, Want, WantId};
use ilo_asm::check::{Gives, ValueInfo};
use ilo_asm::rules::Demand;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;

/// No entry of an arena: the number of the first entry is 1.
pub(crate) const NONE: u32 = 0;
/// Slots that a program may use.
pub(crate) const SLOTS: u8 = 64;
/// Calls that LET may bind.
pub(crate) const CALLS: u8 = 64;
/// Levels of blocks, and of loops among them.
pub(crate) const LEVELS: u8 = 10;
pub(crate) const LOOPS: u8 = 4;
/// The most levels of a line in ID text.
pub(crate) const LINES: u8 = 14;
/// Levels of expressions.
pub(crate) const DEPTH: u8 = 12;
/// The most items, pairs and cases.
pub(crate) const ITEMS: u32 = 32;
/// The most statements that the header of a block may count.
pub(crate) const COUNT: u32 = 99;

/// The kind of token that may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// The first word of a line.
    #[default]
    Line,
    /// An operand.
    Operand,
    /// The value that LET binds: an operand, or IF, MATCH or FOR.
    Bound,
    /// The slot of the statement: of LET, FOR, MATCH or an arm.
    Slot,
    MatchCount,
    BlockCount,
    /// The slot of REF.
    RefSlot,
    /// The operand from which FIELD reads.
    Path,
    /// The field of FIELD.
    PathField,
    /// A field number or an operand.
    FieldOrName,
    LitKind,
    LitValue(u8),
    Tool,
    PairCount,
    PairField,
    ItemCount,
    CaseCount,
    CaseKey,
    /// MERGE: a count of fields, or the record.
    MergeStart,
    /// After the fields of a MERGE without a count: one more field, or what follows.
    MergeMore,
    /// CALL, after UNDO or ROLLBACK.
    CallWord,
    /// The end of the line.
    End,
}

impl Phase {
    /// Whether a slot is next.
    pub(crate) fn is_slot(self) -> bool {
        matches!(self, Phase::Slot | Phase::RefSlot | Phase::Path)
    }

    /// Whether a field is next, if an integer is.
    pub(crate) fn is_field(self) -> bool {
        matches!(self, Phase::PathField | Phase::FieldOrName | Phase::PairField | Phase::MergeMore)
    }
}

/// The unfinished statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stmt {
    #[default]
    Value,
    Let,
    Exit(Word),
    /// IF, FOR, MATCH, TRY, or what opens a block behind one.
    Opens(Word),
    Yield,
    Mark(Word),
}

/// An unfinished expression.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) word: Word,
    pub(crate) parent: u32,
    /// The want of the whole expression.
    pub(crate) want: WantId,
    pub(crate) depth: u8,
    /// Whether an integer follows the whole expression.
    pub(crate) behind: bool,
    /// Operands that are complete.
    pub(crate) index: u8,
    /// Remaining pairs, items or cases, if they are counted.
    pub(crate) left: u32,
    pub(crate) counted: bool,
    /// The values of the first operand, and of the others.
    pub(crate) first: u32,
    pub(crate) others: u32,
    /// The tool.
    pub(crate) number: u32,
    /// Fields or keys that were given, and the place of the arm that one of them has selected.
    pub(crate) given: u32,
    pub(crate) arm: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Body,
    Then,
    Else,
    Match,
    Err,
    Ok,
    Pass,
    LoopElse,
    Try,
    /// The handler of a TRY.
    Caught,
}

/// How a branch ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Branch {
    pub(crate) slots: u32,
    pub(crate) gives: Gives,
    pub(crate) value: u32,
    /// Whether its last statement is a value that nothing can follow.
    pub(crate) sealed: bool,
    /// Whether its last statement, or one at the end of that, is LET.
    pub(crate) binds: bool,
}

impl Branch {
    /// A path without a value.
    pub(crate) fn lacking(slots: u32) -> Branch {
        Branch { slots, gives: Gives::nothing(()), ..Branch::default() }
    }
}

/// An open block.
#[allow(clippy::struct_excessive_bools, reason = "each is a demand of its own")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) parent: u32,
    pub(crate) level: u8,
    pub(crate) loops: u8,
    /// The want of its value, if that is used.
    pub(crate) goes: Option<WantId>,
    /// Whether its end must not be reached without a value.
    pub(crate) hard: bool,
    /// Whether a value that nothing can follow must be there on every path.
    pub(crate) chain: bool,
    /// Whether some path must reach its end.
    pub(crate) must_live: bool,
    /// Whether some path must reach its end with a value.
    pub(crate) must_some: bool,
    /// Whether it has a statement, or its header counts none.
    pub(crate) started: bool,
    /// How its last statement ends, apart from the slots.
    pub(crate) last: Branch,
    /// Whether a ROLLBACK must be next.
    pub(crate) rollback: bool,
    /// An inner block that has ended, and that ELSE may follow.
    pub(crate) pending: u32,
    /// The slots where the paths part.
    pub(crate) fork: u32,
    pub(crate) first: Option<Branch>,
    /// The slot that LET binds to the whole statement.
    pub(crate) bound: Option<u8>,
    /// Calls whose results are held by completed paths.
    pub(crate) held: u64,
    /// Calls that were bound before the innermost loop.
    pub(crate) before: u64,
    /// The slot of MATCH, and the remaining arms.
    pub(crate) slot: u8,
    pub(crate) arms: u8,
    /// The values of MATCH's success and failure.
    pub(crate) ok: u32,
    pub(crate) err: u32,
    /// Whether its value is that of a pass.
    pub(crate) to_pass: bool,
    /// The slots of the handler around this TRY, as [`State::tried`].
    pub(crate) tried: u32,
}

/// An open loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loop {
    /// The slots at its BREAKs.
    pub(crate) broken: u32,
    /// Slots that are read before the pass has bound them.
    pub(crate) read_first: u64,
    /// Slots that a MATCH leaves unset.
    pub(crate) unset_in: u64,
    /// The slots at its SKIPs.
    pub(crate) skipped: u32,
    /// What YIELD may add; nothing if the list is not used.
    pub(crate) item: Option<WantId>,
    /// Whether it has a YIELD, and a value that is the last of a pass or a branch.
    pub(crate) yields: bool,
    pub(crate) valued: bool,
    /// The values of the YIELDs.
    pub(crate) value: u32,
    /// Whether a condition follows its passes, which none may skip.
    pub(crate) until: bool,
}

/// The position of the next token.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) stmt: Stmt,
    pub(crate) slots: u32,
    pub(crate) frame: u32,
    pub(crate) block: u32,
    /// The want of the next operand, and whether an integer follows it.
    pub(crate) want: WantId,
    pub(crate) behind: bool,
    /// The slot of the statement, and that of the enclosing LET.
    pub(crate) slot: u8,
    pub(crate) bound: Option<u8>,
    /// The first slot that is not used yet.
    pub(crate) next: u8,
    pub(crate) calls: u8,
    /// Calls whose results are plain values, and those whose results a MATCH takes.
    pub(crate) plain: u64,
    pub(crate) checked: u64,
    pub(crate) loops: [Loop; LOOPS as usize],
    /// The outermost word of the statement's value, and the target of its call.
    pub(crate) top: Option<Word>,
    pub(crate) callee: u32,
    /// Tools of ROLLBACK so far.
    pub(crate) registered: u32,
    /// Tokens of the program so far, and the sum of its counts, which bound the growth of an end.
    pub(crate) taken: u32,
    pub(crate) counted: u32,
    /// The slots in the handler of the innermost TRY, if a failure goes to one: what its block has bound has
    /// either value there if it was set before, and no value if a MATCH has taken its result.
    pub(crate) tried: u32,
    /// Tools and fields that the program names, as lists.
    pub(crate) tools: u32,
    pub(crate) fields: u32,
}

/// The automaton: all growing data, and the state.
#[derive(Clone)]
pub struct Core<'s> {
    pub(crate) session: &'s Session<'s>,
    pub(crate) arena: Arena<'s>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) slots: Vec<Slots>,
    /// Linked lists of numbers.
    pub(crate) lists: Vec<(u64, u32)>,
    /// The failure of each call that LET binds.
    pub(crate) failures: Vec<ValueInfo<'s>>,
    /// Integers of sets.
    pub(crate) ids: Vec<u32>,
    pub(crate) state: State,
}

/// The state, and the lengths of the arenas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CorePoint {
    pub(crate) state: State,
    lengths: [usize; 8],
}

impl<'s> Core<'s> {
    pub(crate) fn new(session: &'s Session<'s>) -> Core<'s> {
        let mut arena = Arena::new();
        let slots = Slots::new(session, &mut arena);
        let want = arena.add_want(Want::Demand(Demand::Is(session.output)));
        let gives = session.output != Inferred::NIL;
        let goes = Some(if gives { want } else { ANY });
        let body = Block { goes, hard: gives, chain: gives, started: true, ..Block::new(Kind::Body) };
        let next = u8::try_from(session.parameters.len()).unwrap_or(SLOTS).min(SLOTS);
        Core {
            session,
            arena,
            frames: Vec::new(),
            blocks: vec![body],
            slots: vec![slots],
            lists: Vec::new(),
            failures: Vec::new(),
            ids: Vec::new(),
            state: State { slots: 1, block: 1, next, ..State::default() },
        }
    }

    /// The approximate number of bytes of all growing data.
    pub(crate) fn memory(&self) -> usize {
        self.arena.memory()
            + self.frames.capacity() * size_of::<Frame>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.slots.capacity() * size_of::<Slots>()
            + self.lists.capacity() * size_of::<(u64, u32)>()
            + self.failures.capacity() * size_of::<ValueInfo<'_>>()
            + 4 * self.ids.capacity()
    }

    /// The position, to return to.
    pub(crate) fn point(&self) -> CorePoint {
        let lengths = [
            self.arena.wants.len(),
            self.arena.values.len(),
            self.frames.len(),
            self.blocks.len(),
            self.slots.len(),
            self.lists.len(),
            self.failures.len(),
            self.ids.len(),
        ];
        CorePoint { state: self.state, lengths }
    }

    pub(crate) fn back(&mut self, point: &CorePoint) {
        let [wants, values, frames, blocks, slots, lists, failures, ids] = point.lengths;
        self.state = point.state;
        self.ids.truncate(ids);
        self.arena.wants.truncate(wants);
        self.arena.values.truncate(values);
        self.frames.truncate(frames);
        self.blocks.truncate(blocks);
        self.slots.truncate(slots);
        self.lists.truncate(lists);
        self.failures.truncate(failures);
    }

    /// Tries a step and undoes it.
    pub(crate) fn trial<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let point = self.point();
        let result = run(self);
        self.back(&point);
        result
    }

    /// The innermost block. If its loop has a YIELD, no value of its pass is used, and none is needed.
    pub(crate) fn block(&self) -> Block {
        let block = self.block_at(self.state.block);
        if !block.to_pass || !self.innermost_loop(&block).is_some_and(|of| of.yields) {
            return block;
        }
        let free = Block { goes: None, hard: false, chain: false, must_some: false, ..block };
        Block { must_live: false, ..free }
    }

    /// The loop around a block.
    pub(crate) fn innermost_loop(&self, block: &Block) -> Option<&Loop> {
        self.state.loops.get(usize::from(block.loops).checked_sub(1)?)
    }

    /// Changes the loop around a block.
    pub(crate) fn change_loop(&mut self, block: &Block, change: impl FnOnce(&mut Loop)) {
        let at = usize::from(block.loops).checked_sub(1);
        if let Some(of) = at.and_then(|at| self.state.loops.get_mut(at)) {
            change(of);
        }
    }

    pub(crate) fn block_at(&self, at: u32) -> Block {
        entry(&self.blocks, at).copied().unwrap_or(Block::new(Kind::Body))
    }

    /// Replaces the innermost block.
    pub(crate) fn set_block(&mut self, block: Block) {
        self.state.block = add(&mut self.blocks, block);
    }

    pub(crate) fn frame(&self) -> Option<Frame> {
        entry(&self.frames, self.state.frame).copied()
    }

    pub(crate) fn set_frame(&mut self, frame: Frame) {
        self.state.frame = add(&mut self.frames, frame);
    }

    pub(crate) fn push_list(&mut self, list: u32, number: u64) -> u32 {
        add(&mut self.lists, (number, list))
    }

    pub(crate) fn list(&self, mut list: u32) -> impl Iterator<Item = u64> + '_ {
        core::iter::from_fn(move || {
            let &(number, rest) = entry(&self.lists, list)?;
            list = rest;
            Some(number)
        })
    }

    pub(crate) fn in_list(&self, list: u32, number: u32) -> bool {
        self.list(list).any(|one| one == u64::from(number))
    }
}

/// Adds an entry to an arena. Returns its number.
pub(crate) fn add<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    u32::try_from(all.len()).unwrap_or(NONE)
}

/// The entry of an arena with a number.
pub(crate) fn entry<T>(all: &[T], number: u32) -> Option<&T> {
    all.get((number as usize).wrapping_sub(1))
}

impl Block {
    pub(crate) fn new(kind: Kind) -> Block {
        Block { kind, last: Branch::lacking(NONE), ..Block::default() }
    }
}
