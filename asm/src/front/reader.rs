//! What reading a function has at hand: its names, the tree so far, where to report, how deep it is.

use super::dialect::Dialect;
use super::scope::{Scope, Survey};
use super::tree::Node;
use crate::ast::{
    Binary, Block, Call, CallId, Expr, ExprKind, Field, Literal, LoopId, Name, OutputName, Slot, Stmt,
    StmtKind,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(super) struct Functions<'f, 'a> {
    /// In the order of the source: the name, and whether it was given.
    pub(super) list: &'f [(&'a str, bool)],
    /// The one being read.
    pub(super) own: usize,
}

/// A loop that is being read.
pub(super) struct Loop {
    /// Where it begins in the source.
    pub(super) start: u32,
    /// How many blocks were open where its body began.
    pub(super) level: usize,
    /// What says that the rest of the pass is left out, where a handler deeper in the body asked for it.
    pub(super) skipped: Option<Slot>,
}

/// What was most likely meant otherwise, of which warnings tell.
#[derive(Default)]
pub(super) struct Doubts<'a> {
    /// The expressions.
    pub(super) places: Vec<Span>,
    /// What is read was doubted as a whole, and is not in its parts.
    pub(super) told: bool,
    /// The inputs that are lists.
    pub(super) lists: Vec<&'a str>,
}

/// Reads one function.
pub(super) struct Reader<'r, 'a> {
    pub(super) dialect: Dialect,
    pub(super) source: &'a str,
    pub(super) arena: &'a Bump,
    pub(super) diagnostics: &'r mut Diagnostics,
    pub(super) nesting: usize,
    pub(super) depth: usize,
    pub(super) too_deep: bool,
    pub(super) output: OutputName<'a>,
    pub(super) scope: Scope<'a>,
    pub(super) survey: Survey<'a>,
    pub(super) functions: Functions<'r, 'a>,
    pub(super) calls: u32,
    pub(super) loops: u32,
    /// The loops around what is read.
    pub(super) open_loops: Vec<Loop>,
    /// How many blocks are open.
    pub(super) blocks: usize,
    /// The slots of the failures whose handlers are being read.
    pub(super) failures: Vec<Slot>,
    /// Whether the innermost of them is a tool's, and so a text.
    pub(super) failure_is_text: bool,
    /// The step just read has taken those behind it into a branch of its own.
    pub(super) took_rest: bool,
    /// The names of the steps that are being read, the innermost last.
    pub(super) naming: Vec<&'a str>,
    /// Where the step being read ends, of those in the function's own block.
    pub(super) step_end: u32,
    /// A `return` in the switch being read.
    pub(super) switched: Option<Span>,
    /// What was most likely meant otherwise.
    pub(super) doubts: Doubts<'a>,
    /// Statements of the blocks that are being read, the innermost last.
    pub(super) statements: Vec<Stmt<'a>>,
}

impl<'a> Reader<'_, 'a> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reads something nested, unless that would be too deep; says so once for each function.
    pub(super) fn deeper<T>(&mut self, at: Span, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= self.nesting {
            self.deep(at);
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        Some(found)
    }

    fn deep(&mut self, at: Span) {
        let most = self.nesting;
        if !core::mem::replace(&mut self.too_deep, true) {
            self.report(
                Diagnostic::new(Code::TooDeep, at, format!("this is nested deeper than {most} levels"))
                    .expected(format!("at most {most} levels"), format!("{} levels", most + 1))
                    .help("bind what is inside in a step of its own first"),
            );
        }
    }

    /// Whether so many levels more may be nested here; says so where not.
    pub(super) fn fits(&mut self, levels: usize, at: Span) -> bool {
        let fits = self.depth + levels <= self.nesting;
        if !fits {
            self.deep(at);
        }
        fits
    }

    pub(super) fn new_call(
        &mut self,
        tool: Name<'a>,
        arguments: &'a [Field<'a>],
        span: Span,
    ) -> &'a Call<'a> {
        let id = CallId(self.calls);
        self.calls += 1;
        self.arena.alloc(Call { id, tool, arguments, span })
    }

    pub(super) fn new_loop(&mut self) -> LoopId {
        let id = LoopId(self.loops);
        self.loops += 1;
        id
    }

    pub(super) fn push(&mut self, kind: StmtKind<'a>, span: Span) {
        self.statements.push(Stmt { kind, span });
    }

    /// The statements since `start` as a block.
    pub(super) fn block_since(&mut self, start: usize) -> Block<'a> {
        let statements = self.arena.alloc_slice_copy(self.statements.get(start..).unwrap_or_default());
        self.statements.truncate(start);
        Block { statements }
    }

    /// A block of what `read` makes.
    pub(super) fn block(&mut self, read: impl FnOnce(&mut Self)) -> Block<'a> {
        let start = self.statements.len();
        self.blocks += 1;
        read(self);
        self.blocks -= 1;
        self.block_since(start)
    }

    pub(super) fn alloc(&self, expr: Expr<'a>) -> &'a Expr<'a> {
        self.arena.alloc(expr)
    }

    pub(super) fn binary(&self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Binary(operator, self.alloc(a), self.alloc(b)), span }
    }

    /// Whether the function is of type `result`.
    pub(super) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }

    /// The slots that must not be taken for something else now.
    pub(super) fn hidden(&mut self, name: Option<&'a str>) -> Slot {
        self.scope.hidden(name, &self.failures)
    }
}

pub(super) fn literal(literal: Literal<'_>, span: Span) -> Expr<'_> {
    Expr { kind: ExprKind::Literal(literal), span }
}

/// What stands in the place of something that could not be read; the function is checked no further.
pub(super) fn nothing<'a>(node: &Node<'a>) -> Expr<'a> {
    literal(Literal::Nil, node.span)
}

pub(super) fn of_slot<'a>(slot: Slot, span: Span) -> Expr<'a> {
    Expr { kind: ExprKind::Ref(slot), span }
}
