//! The results of checking that lowering needs.

use crate::span::Span;
use smallvec::SmallVec;

/// The facts about a file.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The indices of the functions, in an order in which every call goes to an earlier one.
    pub order: Vec<u32>,
    /// The facts of each function, in source order.
    pub functions: Vec<Facts>,
}

/// The facts about a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By [`crate::ast::CallId`].
    pub(crate) calls: SmallVec<[CallFacts; 4]>,
    /// By [`crate::ast::LoopId`]: whether an iteration of the loop can yield a value.
    pub(crate) yields: SmallVec<[bool; 8]>,
    /// The spans of the values whose type is tested at run time when the function returns them, in order.
    pub returns: Vec<Span>,
    /// The reads of whole answers that are read as JSON, in order.
    pub answers: Vec<Answer>,
    /// The reads of fields that answers may lack, where these are in memory, in order.
    pub(crate) optional: Vec<usize>,
}

/// Where the whole answer of a tool without a schema for its answers is needed as a record or list: a text
/// that is a JSON object or array is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Where the slot is read or bound.
    pub span: Span,
    /// Whether it is bound there.
    pub binds: bool,
    /// Whether the slot may hold what was read from then on, since nothing reads it as a text.
    pub in_place: bool,
}

impl Answer {
    /// Their order.
    pub(crate) fn key(&self) -> (u32, u32, bool) {
        (self.span.start, self.span.end, self.binds)
    }
}

/// The facts about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// The index of the function that it calls, if it does not call a tool.
    pub function: Option<u32>,
    /// Whether LET binds it and a MATCH handles its result.
    pub checked: bool,
    /// Whether it is a compensation: if it fails, the failure is recorded and execution continues.
    pub undo: bool,
    /// Whether LET binds it and nothing reads or matches the slot before it is bound again.
    pub unread: bool,
}
