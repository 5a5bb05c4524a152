//! What the parser of a function has: what is lent to it, its state, and where it can go back to.

use super::names::Counts;
use crate::ast::{Arm, Case, Expr, Field, Stmt};
use crate::diagnostic;
use crate::syntax::header::Header;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::registry::Registries;
use crate::syntax::unknown_token::Habits;
use bumpalo::Bump;
use ilo_spec::node::Word;

/// Why reading something stopped. The diagnostic, where there is one, is reported already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The statement is wrong: go on at the next one.
    Bad,
    /// The block whose header begins at this token is read again in another way.
    Rewind(usize),
    /// Nesting is too deep: go on at the function's next statement.
    Abandon,
}

/// The indent that every line of an open block begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor<'a> {
    pub(crate) indent: &'a str,
    /// The token that begins the block's header.
    pub(crate) header: usize,
    /// Whether the block may still be read by its count.
    pub(crate) open: bool,
    /// The floor of the block around it.
    pub(crate) outer: Option<&'a Floor<'a>>,
}

/// What the formatter needs beside the tree.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) functions: Vec<Section<'a>>,
    /// The token that begins each statement, arm and ELSE, with its depth.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Count tokens that are wrong, with what is right.
    pub(crate) counts: Vec<(usize, u32)>,
}

/// A function as the formatter sees it.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    pub(crate) header: Header<'a>,
    pub(crate) registries: Registries<'a>,
    /// Its comments that are written anew: header and registries.
    pub(crate) consumed: Vec<usize>,
    pub(crate) tokens: std::ops::Range<usize>,
    pub(crate) comments: std::ops::Range<usize>,
}

/// What is lent to the parser of a function, and never changes while it is read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'p, 'a> {
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    pub(crate) habits: &'p dyn Habits,
    /// The tokens up to the function's last. Those before it are of other functions.
    pub(crate) tokens: &'p [Token],
    /// How many tokens the whole file has, which no count exceeds.
    pub(crate) words: usize,
    /// How deep expressions and blocks may nest.
    pub(crate) max_depth: u16,
    /// Whether the function succeeds with nil.
    pub(crate) gives_nil: bool,
}

/// Where the parser is in the nesting of expressions and blocks. It is handed down by value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    /// How many expressions and blocks are around the cursor.
    pub(crate) depth: u16,
    /// How many blocks are.
    pub(crate) blocks: u16,
    /// Whether a block around the cursor may be followed by an ELSE.
    pub(crate) in_if: bool,
    /// Whether a loop's body is around the cursor.
    pub(crate) in_loop: bool,
    /// Whether a block around the cursor may be followed by another arm.
    pub(crate) in_match: bool,
}

/// What going back restores.
#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    /// The index of the token under the cursor.
    pub(crate) at: usize,
    /// That token as the floors show it.
    pub(crate) current: Token,
    /// The end of the token before it.
    pub(crate) last_end: u32,
    /// The innermost floor.
    pub(crate) floor: Option<&'a Floor<'a>>,
    /// The header of the innermost block that is tried by its count.
    pub(crate) trial: Option<usize>,
    /// Errors of form in this function so far; the count of a block with one in it is not checked.
    pub(crate) errors: usize,
    pub(crate) calls: u32,
    pub(crate) loops: u32,
    /// How many BREAKs of the innermost open loop have been read.
    pub(crate) breaks: u32,
    pub(super) too_deep: bool,
    /// The token whose indent was reported.
    pub(super) mixed_at: Option<usize>,
    /// A misspelt word that was reported, and the instruction that it is read as.
    pub(crate) read_as: Option<(usize, Word)>,
    /// Where the last MERGE ended: an integer that is missing there went into it.
    pub(crate) merge_end: Option<usize>,
    /// The last counted list: its count's token and the token after it.
    pub(crate) last_count: Option<(usize, usize)>,
}

impl State<'_> {
    pub(super) fn at_start(at: usize, start: u32) -> Self {
        State {
            at,
            current: END,
            last_end: start,
            floor: None,
            trial: None,
            errors: 0,
            calls: 0,
            loops: 0,
            breaks: 0,
            too_deep: false,
            mixed_at: None,
            read_as: None,
            merge_end: None,
            last_count: None,
        }
    }
}

/// The token after the last.
pub(super) const END: Token = Token { start: 0, end: 0, value: 0, kind: Kind::End, word: None, first: true };

/// The items of lists that are not complete, each list above those around it.
#[derive(Default)]
pub(crate) struct Scratch<'a> {
    pub(crate) statements: Vec<Stmt<'a>>,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) exprs: Vec<Expr<'a>>,
    pub(crate) cases: Vec<Case<'a>>,
    pub(crate) arms: Vec<(Word, Arm<'a>)>,
}

/// What is around a statement, to go on there after an error in it.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(super) floor: Option<&'a Floor<'a>>,
    pub(super) trial: Option<usize>,
    pub(super) fields: usize,
    pub(super) exprs: usize,
    pub(super) cases: usize,
    pub(super) arms: usize,
}

/// A place to go back to.
#[derive(Clone, Copy)]
pub(crate) struct Checkpoint<'a> {
    pub(super) state: State<'a>,
    pub(super) frame: Frame<'a>,
    pub(super) statements: usize,
    pub(super) names: Counts,
    pub(super) lines: usize,
    pub(super) counts: usize,
    pub(super) diagnostics: diagnostic::Mark,
}
