//! The syntax tree, which is the same for all notations: functions and statements. Expressions are in
//! `expression`.
//!
//! Nodes are in an [`Arena`](crate::arena::Arena) and borrow names from it or from the source. Slots are
//! dense: the reader numbers them by first appearance, parameters first. Calls and loops have dense numbers,
//! so that facts about them are plain arrays. A reader guarantees that nesting is at most
//! [`ilo_spec::limits::NESTING`], so passes over the tree may recurse.

mod expression;
mod inputs;

pub use expression::{Apply, Binary, Call, Case, Expr, ExprKind, Field, Literal, MatchMap, Unary};
pub(crate) use inputs::is_constant_of;
pub use inputs::{Need, Parameter};

use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::types::{Base, Output, Type};

/// A name with its position.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The name.
    pub text: &'a str,
    /// The span of the name, or of the number that refers to it.
    pub span: Span,
}

/// The number of a slot in a function, from 0 without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The number of a CALL or of a fallible pure function (one that can fail) in a function, from 0 in source
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub u32);

/// The number of a FOR in a function, from 0 in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopId(pub u32);

/// The functions of a source.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The functions, in source order.
    pub functions: &'a [Function<'a>],
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its parameters, which fill slots 0, 1, ….
    pub parameters: &'a [Parameter<'a>],
    /// Its output type.
    pub output: OutputName<'a>,
    /// The number and the name of each slot.
    pub slots: &'a [SlotInfo<'a>],
    /// The tools and functions that it may call, if it lists them.
    pub allowed: Option<&'a [Name<'a>]>,
    /// Its statements.
    pub body: Block<'a>,
    /// The spans of expressions that the reader warned about because something else was probably meant, in
    /// order. If a type error follows from one, checking reports the error instead of the warning.
    pub suspects: &'a [Span],
    /// Each `or` of an expression that is no condition, with the span of the word. It may be meant as a
    /// default.
    pub ors: &'a [(Span, Span)],
    /// The steps that set a part of a variable.
    pub parts: &'a [PartSet<'a>],
    /// The number of CALLs and fallible pure functions in it.
    pub calls: u32,
    /// The number of FORs in it.
    pub loops: u32,
    /// The notation of the source. Messages use its terms.
    pub notation: Notation,
    /// The source, for fixes in documents; empty for ID text.
    pub source: &'a str,
    /// The header.
    pub span: Span,
}

impl Function<'_> {
    /// Whether the expression with this span is a suspect.
    #[inline]
    pub(crate) fn is_suspect(&self, place: Span) -> bool {
        !self.suspects.is_empty() && self.suspects.binary_search(&place).is_ok()
    }
}

/// A step that sets a part of a variable: `let` with a path. Statements that the reader adds set it.
#[derive(Clone, Copy, Debug)]
pub struct PartSet<'a> {
    /// The span of the path, which is that of the slot in which the value is bound first.
    pub path: Span,
    /// The variable, and its span in the path.
    pub root: (Slot, Span),
    /// The keys of the path.
    pub keys: &'a [Expr<'a>],
    /// The number of statements that set the part. The last one binds the variable.
    pub statements: usize,
    /// Whether the value is appended to the part.
    pub appends: bool,
    /// Whether the value is that of the block too.
    pub gives: bool,
}

/// How the source refers to a slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotInfo<'a> {
    /// The number in the source, if the notation numbers slots. A slot without a number has a name.
    pub number: Option<u32>,
    /// The name, if it has one.
    pub name: Option<&'a str>,
}

/// A type as written in the source.
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a> {
    /// The type that it denotes.
    pub ty: Type,
    /// The name inside the `list`s: the canonical name of a base type, otherwise that of the record type, or
    /// the type itself if it lists fields.
    pub name: &'a str,
    /// The fields of the record inside the `list`s, if the type lists them.
    pub fields: &'a [FieldType<'a>],
    /// Its span in the source.
    pub span: Span,
}

impl TypeName<'_> {
    /// A base type that the source does not write.
    pub fn implied(base: Base, span: Span) -> TypeName<'static> {
        TypeName { ty: Type::plain(base), name: base.name(), fields: &[], span }
    }
}

/// A field in the type of a record.
#[derive(Clone, Copy, Debug)]
pub struct FieldType<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its type.
    pub ty: TypeName<'a>,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether it may be nil.
    pub nullable: bool,
}

/// An output type as written in the source.
#[derive(Clone, Copy, Debug)]
pub struct OutputName<'a> {
    /// The type of the value.
    pub ok: TypeName<'a>,
    /// The type of the failure, if the function returns a result.
    pub err: Option<TypeName<'a>>,
    /// Its span in the source.
    pub span: Span,
}

impl OutputName<'_> {
    /// The type that it denotes.
    pub fn output(&self) -> Output {
        Output { ok: self.ok.ty, err: self.err.map(|err| err.ty) }
    }
}

/// A sequence of statements.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The statements.
    pub statements: &'a [Stmt<'a>],
}

impl Block<'_> {
    /// Whether control can reach its end.
    pub fn completes(&self) -> bool {
        self.statements.iter().all(Stmt::completes)
    }

    /// Whether it binds a slot. A block whose end cannot be reached binds none.
    pub fn binds(&self, slot: Slot) -> bool {
        let control = |control: &Control<'_>| {
            control.blocks().any(|(bound, block)| bound == Some(slot) || block.binds(slot))
        };
        self.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Let { slot: bound, value, .. } => {
                let Bound::Control(node) = value else { return *bound == slot };
                control(node) || (*bound == slot && node.completes())
            }
            StmtKind::Control(node) => control(node),
            _ => false,
        })
    }
}

impl<'a> Block<'a> {
    /// Whether its last statement is itself a LET of a slot.
    pub(crate) fn binds_last(&self, slot: Slot) -> bool {
        self.statements.last().is_some_and(|last| last.binds(slot))
    }

    /// Whether some path through it has a value.
    pub(crate) fn may_give(&self) -> bool {
        self.statements.last().is_some_and(Stmt::may_give)
    }

    /// Whether it reads or matches a slot.
    pub fn uses(&self, slot: Slot) -> bool {
        self.statements.iter().any(|statement| {
            let control = statement.control();
            let mut found = matches!(control, Some(Control::Match(node)) if node.slot == slot);
            statement.each_value(|value| found |= value.reads(slot));
            found || control.is_some_and(|control| control.blocks().any(|(_, block)| block.uses(slot)))
        })
    }

    /// Whether every path through it leaves the function: none leaves an enclosing loop by BREAK, or its pass
    /// by SKIP.
    pub fn leaves_function(&self) -> bool {
        !self.completes() && !self.goes_on_elsewhere()
    }

    /// Whether a BREAK or a SKIP in it ends an enclosing loop or its pass.
    pub fn goes_on_elsewhere(&self) -> bool {
        self.has_of_loop(&|kind| matches!(kind, StmtKind::Break | StmtKind::Skip))
    }

    /// Whether a BREAK, SKIP or YIELD in it belongs to an enclosing loop.
    pub fn belongs_to_loop(&self) -> bool {
        self.has_of_loop(&|kind| matches!(kind, StmtKind::Break | StmtKind::Skip | StmtKind::Yield(_)))
    }

    /// Whether a YIELD in it belongs to an enclosing loop.
    pub fn yields(&self) -> bool {
        self.has_of_loop(&|kind| matches!(kind, StmtKind::Yield(_)))
    }

    /// Whether a statement of a kind in it belongs to an enclosing loop: it is not in the body of a FOR.
    fn has_of_loop(&self, is: &impl Fn(&StmtKind<'a>) -> bool) -> bool {
        let control = |control: &Control<'a>| match control {
            Control::For(node) => node.otherwise.is_some_and(|block| block.has_of_loop(is)),
            _ => control.blocks().any(|(_, block)| block.has_of_loop(is)),
        };
        self.statements
            .iter()
            .any(|statement| is(&statement.kind) || statement.control().is_some_and(control))
    }

    /// Visits each call in it, rollbacks included; a call is visited before the calls in its arguments.
    pub fn each_call(&self, each: &mut impl FnMut(&'a Call<'a>)) {
        for statement in self.statements {
            if let StmtKind::Undo(call) | StmtKind::Rollback(call) = statement.kind {
                each(call);
            }
            statement.each_value(|value| value.each_call(each));
            let blocks = statement.control().into_iter().flat_map(Control::blocks);
            blocks.for_each(|(_, block)| block.each_call(each));
        }
    }

    /// Whether it reads, matches or binds a slot.
    pub fn touches(&self, slot: Slot) -> bool {
        self.binds(slot) || self.uses(slot)
    }
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt<'a> {
    /// The kind.
    pub kind: StmtKind<'a>,
    /// From its first token to its last.
    pub span: Span,
}

impl Stmt<'_> {
    /// Whether control can reach its end.
    pub fn completes(&self) -> bool {
        match &self.kind {
            StmtKind::Return(..) | StmtKind::Fail(_) | StmtKind::Break | StmtKind::Skip => false,
            _ => self.control().is_none_or(Control::completes),
        }
    }
}

impl<'a> Stmt<'a> {
    /// Whether some path through it has a value.
    pub(crate) fn may_give(&self) -> bool {
        match self.kind {
            StmtKind::Control(Control::For(node)) => node.yields || node.body.may_give(),
            StmtKind::Control(control) => control.blocks().any(|(_, block)| block.may_give()),
            kind => matches!(kind, StmtKind::Value(_)),
        }
    }

    /// Visits each value that it computes outside its blocks: those of a ROLLBACK or UNDO are its arguments.
    pub fn each_value(&self, mut each: impl FnMut(&Expr<'a>)) {
        match &self.kind {
            StmtKind::Let { value: Bound::Expr(value), .. }
            | StmtKind::Value(value)
            | StmtKind::Yield(value)
            | StmtKind::Return(_, value)
            | StmtKind::Fail(value) => each(value),
            StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                call.arguments.iter().for_each(|argument| each(&argument.value));
            }
            StmtKind::Let { value: Bound::Control(control), .. } | StmtKind::Control(control) => {
                match control {
                    Control::If(node) => each(&node.condition),
                    Control::For(node) => each(&node.list),
                    Control::Match(_) | Control::Try(_) => {}
                }
            }
            StmtKind::Break | StmtKind::Skip => {}
        }
    }

    /// Whether it is itself a LET of a slot.
    pub(crate) fn binds(&self, slot: Slot) -> bool {
        matches!(self.kind, StmtKind::Let { slot: bound, .. } if bound == slot)
    }

    /// The IF, MATCH, FOR or TRY that it is, or whose value it binds.
    pub fn control(&self) -> Option<&Control<'a>> {
        match &self.kind {
            StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => {
                Some(control)
            }
            _ => None,
        }
    }
}

/// A statement's kind.
#[derive(Clone, Copy, Debug)]
pub enum StmtKind<'a> {
    /// Binds a slot.
    Let {
        /// The slot.
        slot: Slot,
        /// The span of the slot.
        slot_span: Span,
        /// The value that is bound.
        value: Bound<'a>,
    },
    /// An expression. As the last statement it is the value of the block.
    Value(Expr<'a>),
    /// RET, `RET_OK` or `RET_ERR`.
    Return(ReturnKind, Expr<'a>),
    /// FAIL.
    Fail(Expr<'a>),
    /// UNDO.
    Undo(&'a Call<'a>),
    /// BREAK out of the innermost enclosing loop.
    Break,
    /// SKIP the rest of the pass of the innermost enclosing loop.
    Skip,
    /// YIELD: adds a value to the list of the innermost enclosing loop.
    Yield(Expr<'a>),
    /// ROLLBACK: registers the call without making it.
    Rollback(&'a Call<'a>),
    /// IF, MATCH, FOR or TRY.
    Control(Control<'a>),
}

impl<'a> StmtKind<'a> {
    /// The value of the block that ends with it.
    pub fn given(self) -> Option<Bound<'a>> {
        match self {
            StmtKind::Value(value) => Some(Bound::Expr(value)),
            StmtKind::Control(control) => Some(Bound::Control(control)),
            _ => None,
        }
    }
}

/// The value of a LET.
#[derive(Clone, Copy, Debug)]
pub enum Bound<'a> {
    /// An expression.
    Expr(Expr<'a>),
    /// The value of a block.
    Control(Control<'a>),
}

/// The three kinds of return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnKind {
    /// A plain value.
    Plain,
    /// The success of a function that returns a result.
    Ok,
    /// The failure of a function that returns a result.
    Err,
}

/// A statement with blocks of its own.
#[derive(Clone, Copy, Debug)]
pub enum Control<'a> {
    /// IF.
    If(&'a If<'a>),
    /// MATCH.
    Match(&'a Match<'a>),
    /// FOR.
    For(&'a For<'a>),
    /// TRY.
    Try(&'a Try<'a>),
}

impl<'a> Control<'a> {
    /// Whether control can reach its end.
    pub fn completes(&self) -> bool {
        let arm = |arm: &Option<Arm<'_>>| arm.as_ref().is_some_and(|arm| arm.body.completes());
        match self {
            Control::If(node) => {
                node.otherwise.as_ref().is_none_or(|block| node.then.completes() || block.completes())
            }
            Control::Match(node) => node.ok.is_none() || arm(&node.ok) || arm(&node.err),
            Control::For(node) => node.breaks || node.otherwise.is_none_or(|block| block.completes()),
            Control::Try(node) => node.body.completes() || node.handler.body.completes(),
        }
    }

    /// Its blocks, each with the slot that is bound at its start. The ERR arm comes before the OK arm.
    pub fn blocks(&self) -> impl Iterator<Item = (Option<Slot>, &'a Block<'a>)> {
        let arm = |arm: &'a Option<Arm<'a>>| arm.as_ref().map(|arm| (Some(arm.bind), &arm.body));
        let plain = |block: &'a Option<Block<'a>>| block.as_ref().map(|block| (None, block));
        let blocks = match self {
            Control::If(node) => [Some((None, &node.then)), plain(&node.otherwise)],
            Control::Match(node) => [arm(&node.err), arm(&node.ok)],
            Control::For(node) => [Some((Some(node.item), &node.body)), plain(&node.otherwise)],
            Control::Try(node) => {
                [Some((None, &node.body)), Some((Some(node.handler.bind), &node.handler.body))]
            }
        };
        blocks.into_iter().flatten()
    }

    /// Whether some path through it has no value; for a loop, whether no pass can give one.
    pub(crate) fn lacks_value(&self) -> bool {
        let lacks = |block: &Block<'a>| {
            block.completes()
                && match block.statements.last().map(|last| last.kind) {
                    Some(StmtKind::Control(control)) => control.lacks_value(),
                    last => !matches!(last, Some(StmtKind::Value(_))),
                }
        };
        match self {
            Control::If(node) if node.otherwise.is_none() => true,
            Control::For(node) if node.otherwise.is_none() => !(node.yields || node.body.may_give()),
            _ => self.blocks().any(|(_, block)| lacks(block)),
        }
    }

    /// The span of its keyword.
    pub fn span(&self) -> Span {
        match self {
            Control::If(node) => node.span,
            Control::Match(node) => node.span,
            Control::For(node) => node.span,
            Control::Try(node) => node.span,
        }
    }
}

/// IF … ELSE ….
#[derive(Clone, Copy, Debug)]
pub struct If<'a> {
    /// The condition.
    pub condition: Expr<'a>,
    /// The block that runs if it is true.
    pub then: Block<'a>,
    /// The block that runs if it is false or nil.
    pub otherwise: Option<Block<'a>>,
    /// The word IF.
    pub span: Span,
}

/// MATCH on the result of a call. It has at least one arm.
#[derive(Clone, Copy, Debug)]
pub struct Match<'a> {
    /// The slot that holds the result.
    pub slot: Slot,
    /// The span of the slot.
    pub slot_span: Span,
    /// The arm for a failure.
    pub err: Option<Arm<'a>>,
    /// The arm for a success.
    pub ok: Option<Arm<'a>>,
    /// The word MATCH.
    pub span: Span,
}

impl Match<'_> {
    /// Whether control can reach its end after the call has failed.
    pub fn handles(&self) -> bool {
        self.err.as_ref().is_some_and(|err| err.body.completes())
    }
}

/// An arm of MATCH.
#[derive(Clone, Copy, Debug)]
pub struct Arm<'a> {
    /// The slot to which the value or the failure is bound.
    pub bind: Slot,
    /// The span of the slot.
    pub bind_span: Span,
    /// The body.
    pub body: Block<'a>,
    /// The word ERR or OK.
    pub span: Span,
}

/// TRY, whose handler takes the failures in its block that nothing else handles.
#[derive(Clone, Copy, Debug)]
pub struct Try<'a> {
    /// The block.
    pub body: Block<'a>,
    /// The handler, with the slot to which the failure is bound.
    pub handler: Arm<'a>,
    /// The word TRY.
    pub span: Span,
}

/// FOR over the items of a list.
#[derive(Clone, Copy, Debug)]
pub struct For<'a> {
    /// Its number in the function.
    pub id: LoopId,
    /// The slot to which each item is bound.
    pub item: Slot,
    /// The span of the slot.
    pub item_span: Span,
    /// The list.
    pub list: Expr<'a>,
    /// The body, which runs for each item.
    pub body: Block<'a>,
    /// The block that runs if no BREAK ended the loop.
    pub otherwise: Option<Block<'a>>,
    /// Whether its body has a BREAK that ends it.
    pub breaks: bool,
    /// Whether its body has a YIELD that adds to its list: then the values of its passes add nothing.
    pub yields: bool,
    /// The word FOR.
    pub span: Span,
}
