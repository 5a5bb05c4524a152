//! What reading a function has at hand: its names, the tree so far, where to report, how deep it is.

use super::scope::Scope;
use crate::ast::{
    Binary, Block, Call, CallId, Expr, ExprKind, Field, Literal, LoopId, Name, OutputName, Slot, Stmt,
    StmtKind,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::Dialect;
use crate::dialect::survey::Survey;
use crate::document::Node;
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'f, 'a> {
    /// In the order of the source: the name, and whether it was given.
    pub(crate) list: &'f [(&'a str, bool)],
    /// The one being read.
    pub(crate) own: usize,
}

/// A loop that is being read.
pub(crate) struct Loop {
    /// Where it begins in the source.
    pub(crate) start: u32,
    /// How many blocks were open where its body began.
    pub(crate) level: usize,
    /// What says that the rest of the pass is left out, where a handler deeper in the body asked for it.
    pub(crate) skipped: Option<Slot>,
}

/// What was most likely meant otherwise, of which warnings tell.
#[derive(Default)]
pub(crate) struct Doubts<'a> {
    /// The expressions.
    pub(crate) places: Vec<Span>,
    /// What is read was doubted as a whole, and is not in its parts.
    pub(crate) told: bool,
    /// The inputs that are lists.
    pub(crate) lists: Vec<&'a str>,
}

/// Reads one function.
pub(crate) struct Reader<'r, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    pub(crate) diagnostics: &'r mut Diagnostics,
    pub(crate) nesting: usize,
    pub(crate) depth: usize,
    pub(crate) too_deep: bool,
    pub(crate) output: OutputName<'a>,
    pub(crate) scope: Scope<'a>,
    pub(crate) survey: Survey<'a>,
    pub(crate) functions: Functions<'r, 'a>,
    pub(crate) calls: u32,
    pub(crate) loops: u32,
    /// The loops around what is read.
    pub(crate) open_loops: Vec<Loop>,
    /// How many blocks are open.
    pub(crate) blocks: usize,
    /// The slots of the failures whose handlers are being read.
    pub(crate) failures: Vec<Slot>,
    /// Whether the innermost of them is a tool's, and so a text.
    pub(crate) failure_is_text: bool,
    /// The step just read has taken those behind it into a branch of its own.
    pub(crate) took_rest: bool,
    /// The names of the steps that are being read, the innermost last.
    pub(crate) naming: Vec<&'a str>,
    /// Where the step being read ends, of those in the function's own block.
    pub(crate) step_end: u32,
    /// A `return` in the switch being read.
    pub(crate) switched: Option<Span>,
    /// What was most likely meant otherwise.
    pub(crate) doubts: Doubts<'a>,
    /// Whether something was read that may be another form of something else.
    pub(crate) inexact: bool,
    /// Statements of the blocks that are being read, the innermost last.
    pub(crate) statements: Vec<Stmt<'a>>,
}

impl<'a> Reader<'_, 'a> {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reads something nested, unless that would be too deep; says so once for each function.
    pub(crate) fn deeper<T>(&mut self, at: Span, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
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
    pub(crate) fn fits(&mut self, levels: usize, at: Span) -> bool {
        let fits = self.depth + levels <= self.nesting;
        if !fits {
            self.deep(at);
        }
        fits
    }

    pub(crate) fn new_call(
        &mut self,
        tool: Name<'a>,
        arguments: &'a [Field<'a>],
        span: Span,
    ) -> &'a Call<'a> {
        let id = CallId(self.calls);
        self.calls += 1;
        self.arena.alloc(Call { id, tool, arguments, span })
    }

    pub(crate) fn new_loop(&mut self) -> LoopId {
        let id = LoopId(self.loops);
        self.loops += 1;
        id
    }

    pub(crate) fn push(&mut self, kind: StmtKind<'a>, span: Span) {
        self.statements.push(Stmt { kind, span });
    }

    /// The statements since `start` as a block.
    pub(crate) fn block_since(&mut self, start: usize) -> Block<'a> {
        let statements = self.arena.alloc_slice_copy(self.statements.get(start..).unwrap_or_default());
        self.statements.truncate(start);
        Block { statements }
    }

    /// A block of what `read` makes.
    pub(crate) fn block(&mut self, read: impl FnOnce(&mut Self)) -> Block<'a> {
        let start = self.statements.len();
        self.blocks += 1;
        read(self);
        self.blocks -= 1;
        self.block_since(start)
    }

    pub(crate) fn alloc(&self, expr: Expr<'a>) -> &'a Expr<'a> {
        self.arena.alloc(expr)
    }

    pub(crate) fn binary(&self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Binary(operator, self.alloc(a), self.alloc(b)), span }
    }

    /// Whether the function is of type `result`.
    pub(crate) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }

    /// The slots that must not be taken for something else now.
    pub(crate) fn hidden(&mut self, name: Option<&'a str>) -> Slot {
        self.scope.hidden(name, &self.failures)
    }
}

pub(crate) fn literal(literal: Literal<'_>, span: Span) -> Expr<'_> {
    Expr { kind: ExprKind::Literal(literal), span }
}

/// What stands in the place of something that could not be read; the function is checked no further.
pub(crate) fn nothing<'a>(node: &Node<'a>) -> Expr<'a> {
    literal(Literal::Nil, node.span)
}

pub(crate) fn of_slot<'a>(slot: Slot, span: Span) -> Expr<'a> {
    Expr { kind: ExprKind::Ref(slot), span }
}
