//! The facts that checking finds and lowering needs.

use crate::ast::Function;
use crate::span::Span;
use smallvec::{SmallVec, smallvec};

/// The facts about a file.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The functions in an order in which every call goes to an earlier one, as indexes into the file's.
    pub order: Vec<u32>,
    /// The facts of each function, in the file's order.
    pub functions: Vec<Facts>,
}

/// The facts about a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By [`crate::ast::CallId`].
    pub calls: SmallVec<[CallFacts; 4]>,
    /// By [`crate::ast::LoopId`]: whether a pass of the loop can yield a value.
    pub yields: SmallVec<[bool; 8]>,
    /// The places of the values whose type is looked at when the function returns them, in order.
    pub returns: Vec<Span>,
}

impl Facts {
    /// No fact about any call or loop.
    pub(super) fn blank(function: &Function<'_>) -> Facts {
        let (calls, loops) = (function.calls as usize, function.loops as usize);
        Facts {
            calls: smallvec![CallFacts::default(); calls],
            yields: smallvec![false; loops],
            returns: Vec::new(),
        }
    }
}

/// The facts about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// The function of the file that it calls, as an index into the file's; otherwise it calls a tool.
    pub function: Option<u32>,
    /// LET binds it and a MATCH handles its result.
    pub checked: bool,
    /// It is a compensation: its failure is recorded and execution goes on.
    pub undo: bool,
    /// LET binds it and nothing reads or matches the slot before it is bound again.
    pub unread: bool,
}
