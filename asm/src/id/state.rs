//! The data of the parser of a function: its context, its state, and the names in scope (registries and
//! slots), with the remaining budget of comparisons for better messages.

use crate::arena::Arena;
use crate::ast::{Arm, Case, Expr, Field, Slot, Stmt};
use crate::syntax::header::FunctionHeader;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::registry;
use crate::syntax::registry::Registries;
use crate::syntax::registry::SlotTable;
use crate::text::nearest;
use ilo_spec::node::{Shape, Word};

/// Why parsing stopped. The diagnostic, if there is one, is reported already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The statement is wrong: continue with the next one.
    Bad,
    /// Nesting is too deep: continue with the next statement of the function.
    Abandon,
}

/// The indent with which each line of an open block must begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor<'a> {
    pub(crate) indent: &'a str,
    /// The first token of the header of the block.
    pub(crate) header: usize,
}

/// What the formatter and editors need in addition to the tree.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) functions: Vec<FunctionLayout<'a>>,
    /// The first token of each statement, arm and ELSE, with its depth.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Wrong count tokens, with the correct counts.
    pub(crate) counts: Vec<(usize, u32)>,
    /// What the function that is read lacks at its end.
    pub(super) lack: Option<Lack<'a>>,
}

/// What the last instruction of a function lacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lack<'a> {
    /// The instruction, or that of its innermost operand.
    pub(crate) of: Word,
    pub(crate) shape: Shape,
    /// The tool of the innermost call.
    pub(crate) tool: Option<&'a str>,
    /// The record of a field.
    pub(crate) record: Option<Expr<'a>>,
}

/// A function for the formatter and for editors.
#[derive(Debug)]
pub(crate) struct FunctionLayout<'a> {
    pub(crate) header: FunctionHeader<'a>,
    pub(crate) registries: Registries<'a>,
    /// Its comments that are rewritten: header and registries.
    pub(crate) consumed: Vec<usize>,
    pub(crate) tokens: std::ops::Range<usize>,
    pub(crate) comments: std::ops::Range<usize>,
    pub(crate) lack: Option<Lack<'a>>,
}

/// The context of a function, which does not change while it is parsed.
#[derive(Clone, Copy)]
pub(crate) struct Context<'p, 'a> {
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Arena,
    /// The tokens up to the last one of the function; the first ones belong to earlier functions.
    pub(crate) tokens: &'p [Token],
    /// The number of tokens of the whole file, which no count can exceed.
    pub(crate) words: usize,
    /// The maximum nesting of expressions and blocks.
    pub(crate) max_depth: u16,
    /// Whether the function succeeds with nil.
    pub(crate) gives_nil: bool,
}

/// The position of the parser in the nesting of expressions and blocks. It is passed down by value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    /// The number of enclosing expressions and blocks.
    pub(crate) depth: u16,
    /// The number of enclosing blocks.
    pub(crate) blocks: u16,
    /// Whether an enclosing block may be followed by an ELSE.
    pub(crate) in_if: bool,
    /// Whether the cursor is in the body of a loop.
    pub(crate) in_loop: bool,
    /// Whether an enclosing block may be followed by another arm.
    pub(crate) in_match: bool,
}

/// The state while a function is parsed.
#[derive(Default)]
pub(crate) struct Progress<'a> {
    /// The index of the token at the cursor.
    pub(crate) at: usize,
    /// That token, considering the floors.
    pub(crate) current: Token,
    /// The end of the previous token.
    pub(crate) last_end: u32,
    /// The innermost floor.
    pub(crate) floor: Option<Floor<'a>>,
    /// The number of syntax errors in this function so far. The count of a block with one in it is not
    /// checked.
    pub(crate) errors: usize,
    pub(crate) calls: u32,
    pub(crate) loops: u32,
    /// The number of BREAKs of the innermost open loop so far.
    pub(crate) breaks: u32,
    /// The number of YIELDs of the innermost open loop so far.
    pub(crate) yields: u32,
    pub(super) too_deep: bool,
    /// The token whose indent was reported.
    pub(super) mixed_at: Option<usize>,
    /// A misspelt word that was reported, and the instruction as which it is read.
    pub(crate) read_as: Option<(usize, Word)>,
    /// The end of the last MERGE: an integer that is missing there became part of it.
    pub(crate) merge_end: Option<usize>,
    /// The last counted list: the token of its count and the token after the list.
    pub(crate) last_count: Option<(usize, usize)>,
    /// Whether an enclosing MATCH_MAP has more cases, to which an ELSE belongs.
    pub(crate) more_cases: bool,
}

impl Progress<'_> {
    pub(super) fn at_start(at: usize, start: u32) -> Self {
        Progress { at, current: END, last_end: start, ..Progress::default() }
    }
}

/// The token after the last.
pub(super) const END: Token = Token { start: 0, end: 0, value: 0, kind: Kind::End, word: None, first: true };

/// The items of incomplete lists, inner lists after outer ones.
#[derive(Default)]
pub(crate) struct Scratch<'a> {
    pub(crate) statements: Vec<Stmt<'a>>,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) exprs: Vec<Expr<'a>>,
    pub(crate) cases: Vec<Case<'a>>,
    pub(crate) arms: Vec<(Word, Arm<'a>)>,
}

/// Takes the items of a complete list, which begin at `start`.
pub(crate) fn complete<'a, T: Copy>(items: &mut Vec<T>, start: usize, arena: &'a Arena) -> &'a [T] {
    let list = arena.alloc_slice_copy(items.get(start..).unwrap_or_default());
    items.truncate(start);
    list
}

/// The context of a statement, to continue there after an error in it.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(super) floor: Option<Floor<'a>>,
    pub(super) fields: usize,
    pub(super) exprs: usize,
    pub(super) cases: usize,
    pub(super) arms: usize,
}

/// The most comparisons of names for the messages of a file: enough for a thousand errors with sixty names.
/// Without this limit the work would grow with errors times names.
const SEARCHES: usize = 1 << 20;

/// The names of a function. The object is reused for the next function.
pub(crate) struct Names<'a> {
    pub(crate) registries: Registries<'a>,
    pub(crate) slots: SlotTable<'a>,
    /// The tools and fields that the function names but no registry has.
    missing: Vec<(registry::NameKind, &'a str)>,
    /// The remaining comparisons of names.
    searches: usize,
}

impl<'a> Names<'a> {
    pub(crate) fn new() -> Names<'a> {
        Names {
            registries: Registries::new(),
            slots: SlotTable::default(),
            missing: Vec::new(),
            searches: SEARCHES,
        }
    }

    /// Clears the names before the next function.
    pub(crate) fn clear(&mut self) {
        self.registries.clear();
        self.slots.clear();
        self.missing.clear();
    }

    /// The slot with a number. At its first occurrence a new slot is created.
    #[inline]
    pub(crate) fn slot(&mut self, number: u32) -> Slot {
        let registries = &self.registries;
        self.slots.slot(number, || registries.get(registry::NameKind::Vars).name(number))
    }

    fn may_search(&mut self, names: usize) -> bool {
        let enough = names <= self.searches;
        if enough {
            self.searches -= names;
        }
        enough
    }

    /// The id of a name in a registry.
    pub(crate) fn id_of(&mut self, kind: registry::NameKind, name: &str) -> Option<u32> {
        let names = self.registries.get(kind).entries.len();
        if self.may_search(names) { self.registries.get(kind).id(name) } else { None }
    }

    /// The name in a registry that is nearest to another.
    pub(crate) fn nearest_of(&mut self, kind: registry::NameKind, name: &str) -> Option<&'a str> {
        // Computing the distance of two names costs about this many comparisons.
        const COST: usize = 16;
        let names = self.registries.get(kind).entries.len();
        if !self.may_search(names.saturating_mul(COST)) {
            return None;
        }
        nearest(name, self.registries.get(kind).entries.iter().map(|entry| entry.name))
    }

    /// The number of the slot with a name.
    pub(crate) fn slot_of(&mut self, name: &str) -> Option<u32> {
        if !self.may_search(self.slots.list().len()) {
            return None;
        }
        let parameter = self.slots.list().iter().find(|info| info.name == Some(name));
        let number = parameter.and_then(|info| info.number);
        number.or_else(|| self.id_of(registry::NameKind::Vars, name))
    }

    /// A free id for a name that is in no registry, for the fix of a message.
    pub(crate) fn next_id(&mut self, kind: registry::NameKind, name: &'a str) -> u32 {
        if !self.may_search(self.missing.len() + self.registries.get(kind).entries.len()) {
            return 0;
        }
        let free = self.registries.get(kind).entries.iter().map(|entry| entry.id.saturating_add(1)).max();
        let mut id = free.unwrap_or(0);
        for &(other, missing) in &self.missing {
            if other == kind && missing == name {
                return id;
            }
            id = id.saturating_add(u32::from(other == kind));
        }
        self.missing.push((kind, name));
        id
    }
}
