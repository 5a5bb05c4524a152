//! The syntax tree, which is the same for all notations.
//!
//! Nodes are in a [`bumpalo`] arena and borrow names from it or from the source. Slots are dense: the reader
//! numbers them by first appearance, parameters first. Calls and loops have dense numbers, so that facts
//! about them are plain arrays. A reader guarantees that nesting is at most [`ilo_spec::limits::NESTING`], so
//! passes over the tree may recurse.

mod names;
mod shapes;

pub use names::NameUse;

use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::node::Word;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;
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
    /// The spans of expressions that the reader warned about because something else was probably meant. If a
    /// type error follows from one, checking reports the error instead of the warning.
    pub suspects: &'a [Span],
    /// The number of CALLs and fallible pure functions in it.
    pub calls: u32,
    /// The number of FORs in it.
    pub loops: u32,
    /// The notation of the source. Messages use its terms.
    pub notation: Notation,
    /// The header.
    pub span: Span,
}

/// How the source refers to a slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotInfo<'a> {
    /// The number in the source, if the notation numbers slots. A slot without a number has a name.
    pub number: Option<u32>,
    /// The name, if it has one.
    pub name: Option<&'a str>,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its type.
    pub ty: TypeName<'a>,
}

/// A type as written in the source.
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a> {
    /// The type that it denotes.
    pub ty: Type,
    /// The name inside the `list`s: the canonical name of a base type, otherwise that of the record type.
    pub name: &'a str,
    /// Its span in the source.
    pub span: Span,
}

impl TypeName<'_> {
    /// A base type that the source does not write.
    pub fn implied(base: Base, span: Span) -> TypeName<'static> {
        TypeName { ty: Type::plain(base), name: base.name(), span }
    }
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
    /// Whether it reads or matches a slot.
    pub fn uses(&self, slot: Slot) -> bool {
        let control = |control: &Control<'a>| {
            let read = match control {
                Control::If(node) => node.condition.reads(slot),
                Control::Match(node) => node.slot == slot,
                Control::For(node) => node.list.reads(slot),
            };
            read || control.blocks().any(|(_, block)| block.uses(slot))
        };
        self.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Let { value: Bound::Expr(value), .. }
            | StmtKind::Value(value)
            | StmtKind::Return(_, value)
            | StmtKind::Fail(value) => value.reads(slot),
            StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                call.arguments.iter().any(|argument| argument.value.reads(slot))
            }
            StmtKind::Break => false,
            StmtKind::Let { value: Bound::Control(node), .. } | StmtKind::Control(node) => control(node),
        })
    }

    /// Whether every path through it leaves the function, and none leaves an enclosing loop by BREAK.
    pub fn leaves_function(&self) -> bool {
        !self.completes() && !self.breaks()
    }

    /// Whether a BREAK in it ends an enclosing loop.
    pub fn breaks(&self) -> bool {
        let control = |control: &Control<'_>| match control {
            Control::For(node) => node.otherwise.is_some_and(|block| block.breaks()),
            _ => control.blocks().any(|(_, block)| block.breaks()),
        };
        self.statements.iter().any(|statement| {
            matches!(statement.kind, StmtKind::Break) || statement.control().is_some_and(control)
        })
    }

    /// Visits each call in it, rollbacks included; a call is visited before the calls in its arguments.
    pub fn each_call(&self, each: &mut impl FnMut(&'a Call<'a>)) {
        for statement in self.statements {
            match &statement.kind {
                StmtKind::Let { value: Bound::Expr(value), .. }
                | StmtKind::Value(value)
                | StmtKind::Return(_, value)
                | StmtKind::Fail(value) => value.each_call(each),
                StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                    each(call);
                    call.arguments.iter().for_each(|argument| argument.value.each_call(each));
                }
                StmtKind::Let { value: Bound::Control(control), .. } | StmtKind::Control(control) => {
                    control.each_call(each);
                }
                StmtKind::Break => {}
            }
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
            StmtKind::Return(..) | StmtKind::Fail(_) | StmtKind::Break => false,
            _ => self.control().is_none_or(Control::completes),
        }
    }
}

impl<'a> Stmt<'a> {
    /// The IF, MATCH or FOR that it is, or whose value it binds.
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
    /// ROLLBACK: registers the call without making it.
    Rollback(&'a Call<'a>),
    /// IF, MATCH or FOR.
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
        };
        blocks.into_iter().flatten()
    }

    fn each_call(&self, each: &mut impl FnMut(&'a Call<'a>)) {
        match self {
            Control::If(node) => node.condition.each_call(each),
            Control::Match(_) => {}
            Control::For(node) => node.list.each_call(each),
        }
        self.blocks().for_each(|(_, block)| block.each_call(each));
    }

    /// The span of its keyword.
    pub fn span(&self) -> Span {
        match self {
            Control::If(node) => node.span,
            Control::Match(node) => node.span,
            Control::For(node) => node.span,
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
    /// The word FOR.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// The kind.
    pub kind: ExprKind<'a>,
    /// From its first token to its last.
    pub span: Span,
}

/// An expression's kind.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// The value of a slot. The expression's span ends with the slot's number.
    Ref(Slot),
    /// A constant.
    Literal(Literal<'a>),
    /// A field of a record.
    Field(&'a Expr<'a>, Name<'a>),
    /// A call.
    Call(&'a Call<'a>),
    /// A unary operator.
    Unary(Unary, &'a Expr<'a>),
    /// A binary operator.
    Binary(Binary, &'a Expr<'a>, &'a Expr<'a>),
    /// Whether a record has a field.
    Has(&'a Expr<'a>, Name<'a>),
    /// `MATCH_MAP`.
    MatchMap(&'a MatchMap<'a>),
    /// OBJ.
    Record(&'a [Field<'a>]),
    /// MERGE.
    Merge(&'a Expr<'a>, &'a [Field<'a>]),
    /// LIST.
    List(&'a [Expr<'a>]),
    /// A call of a pure function.
    Apply(Apply<'a>),
    /// A text with references in it: all parts are rendered and joined. Only JSON and YAML have it.
    Template(&'a [Expr<'a>]),
}

/// A constant.
#[derive(Clone, Copy, Debug)]
pub enum Literal<'a> {
    /// nil.
    Nil,
    /// true or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(&'a str),
}

impl Literal<'_> {
    /// Its type.
    pub const fn ty(self) -> Type {
        match self {
            Literal::Nil => Type::NIL,
            Literal::Bool(_) => Type::BOOL,
            Literal::Number(_) => Type::NUMBER,
            Literal::Text(_) => Type::TEXT,
        }
    }
}

/// Defines an enum of operators, each with its instruction.
macro_rules! operators {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $operator:ident $word:ident;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is the text instruction of that name")]
        pub enum $name {
            $($(#[$doc])* $operator,)*
        }

        impl $name {
            /// The instruction.
            pub const fn word(self) -> Word {
                match self {
                    $($name::$operator => Word::$word,)*
                }
            }
        }
    };
}

operators! {
    /// A unary operator.
    Unary {
        Not Not;
        Len Len;
    }
}

operators! {
    /// A binary operator.
    Binary {
        Add Add;
        Sub Sub;
        Mul Mul;
        Div Div;
        Mod Mod;
        Eq Eq;
        Neq Neq;
        Gt Gt;
        Gte Gte;
        Lt Lt;
        Lte Lte;
        And And;
        Or Or;
        Concat Concat;
        Append Append;
        At At;
        /// HAS with a computed name.
        HasName Has;
    }
}

/// A call of a tool or of a function of the file.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its number in the function.
    pub id: CallId,
    /// The tool or function.
    pub tool: Name<'a>,
    /// The arguments. Their names are distinct.
    pub arguments: &'a [Field<'a>],
    /// The word CALL.
    pub span: Span,
}

/// A call of a pure function.
#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    /// The function.
    pub function: Pure,
    /// Its operands.
    pub operands: &'a [Expr<'a>],
    /// Its call number, if it is fallible.
    pub id: Option<CallId>,
}

/// A named value: an argument of a call, a field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The value.
    pub value: Expr<'a>,
}

/// `MATCH_MAP`.
#[derive(Clone, Copy, Debug)]
pub struct MatchMap<'a> {
    /// The value that is compared.
    pub subject: Expr<'a>,
    /// The cases. Their keys are distinct.
    pub cases: &'a [Case<'a>],
    /// The value if no key is equal.
    pub default: Option<Expr<'a>>,
}

/// A case of `MATCH_MAP`.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The key.
    pub key: Literal<'a>,
    /// The span of the key.
    pub key_span: Span,
    /// The value, which is evaluated only if the case is selected.
    pub value: Expr<'a>,
}

impl<'a> Expr<'a> {
    /// Whether it reads a slot.
    pub fn reads(&self, slot: Slot) -> bool {
        let mut found = matches!(self.kind, ExprKind::Ref(read) if read == slot);
        self.children(|child| found |= child.reads(slot));
        found
    }

    /// Whether it contains a call or a fallible pure function.
    pub fn calls(&self) -> bool {
        let mut found = self.attempt().is_some();
        self.children(|child| found |= child.calls());
        found
    }

    /// The number of the call or fallible pure function whose value it is. If LET binds the expression, a
    /// MATCH can handle its failure.
    pub fn attempt(&self) -> Option<CallId> {
        match self.kind {
            ExprKind::Call(call) => Some(call.id),
            ExprKind::Apply(apply) => apply.id,
            _ => None,
        }
    }

    /// Visits each call in it; a call is visited before the calls in its arguments.
    pub fn each_call(&self, each: &mut impl FnMut(&'a Call<'a>)) {
        if let ExprKind::Call(call) = self.kind {
            each(call);
        }
        self.children(|child| child.each_call(each));
    }

    /// Visits each operand, in the order of evaluation.
    pub fn children(&self, mut each: impl FnMut(&Expr<'a>)) {
        match self.kind {
            ExprKind::Ref(_) | ExprKind::Literal(_) => {}
            ExprKind::Field(operand, _) | ExprKind::Has(operand, _) | ExprKind::Unary(_, operand) => {
                each(operand);
            }
            ExprKind::Binary(_, a, b) => {
                each(a);
                each(b);
            }
            ExprKind::Call(call) => call.arguments.iter().for_each(|argument| each(&argument.value)),
            ExprKind::MatchMap(map) => {
                each(&map.subject);
                map.cases.iter().for_each(|case| each(&case.value));
                map.default.iter().for_each(each);
            }
            ExprKind::Record(fields) => fields.iter().for_each(|field| each(&field.value)),
            ExprKind::Merge(base, fields) => {
                each(base);
                fields.iter().for_each(|field| each(&field.value));
            }
            ExprKind::List(items)
            | ExprKind::Template(items)
            | ExprKind::Apply(Apply { operands: items, .. }) => items.iter().for_each(each),
        }
    }
}
