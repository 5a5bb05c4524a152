//! Expressions of the syntax tree: values, operators, calls and what they are made of; and forms that several
//! passes must recognise in the same way, such as reads of fields and the parts of a joined text.
//!
//! CONCAT of two lists is a list, so nested CONCATs are flattened only where the inner one is certainly a
//! text. Only the form of an expression decides this, since declared types are not enforced during a run.

use super::{CallId, Name, Slot};
use crate::span::Span;
use crate::text::{quoted, shorten};
use ilo_spec::node::Word;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;
use ilo_spec::types::{Base, Type};
use smallvec::SmallVec;

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
    /// What could not be read, which is an error: nothing else is reported about it, and it is never lowered.
    Bad,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
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

    /// The number of its kind in ID text.
    pub const fn kind(self) -> u8 {
        match self {
            Literal::Text(_) => 0,
            Literal::Number(_) => 1,
            Literal::Nil => 2,
            Literal::Bool(_) => 3,
        }
    }

    /// It in ID text.
    pub fn written(self) -> String {
        match self {
            Literal::Nil => "nil".to_owned(),
            Literal::Bool(truth) => truth.to_string(),
            Literal::Number(number) => number.to_string(),
            Literal::Text(text) => quoted(text),
        }
    }

    /// It as messages show it.
    pub(crate) fn shown(self) -> String {
        if let Literal::Text(text) = self { quoted(&shorten(text)) } else { self.written() }
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

impl Call<'_> {
    /// Whether it gives an argument.
    pub fn gives(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name.text == name)
    }
}

/// A named value: an argument of a call, a field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The value.
    pub value: Expr<'a>,
}

impl Field<'_> {
    /// Whether it is an argument without a name: the arguments of its call are no record.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.name.text.is_empty() && self.value.span.start < self.name.span.end
    }
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

    /// Whether a part of it could not be read.
    pub fn is_bad(&self) -> bool {
        let mut found = matches!(self.kind, ExprKind::Bad);
        self.children(|child| found |= child.is_bad());
        found
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
            ExprKind::Ref(_) | ExprKind::Literal(_) | ExprKind::Bad => {}
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

    /// The record and the name of the field, if the expression reads a field: FIELD, or AT with a constant
    /// text.
    pub fn as_field(&self) -> Option<(&'a Expr<'a>, &'a str)> {
        match self.kind {
            ExprKind::Field(record, name) => Some((record, name.text)),
            ExprKind::Binary(
                Binary::At,
                record,
                Expr { kind: ExprKind::Literal(Literal::Text(name)), .. },
            ) => Some((record, name)),
            _ => None,
        }
    }

    /// The text that it is as a constant.
    pub fn constant_text(&self) -> Option<&'a str> {
        if let ExprKind::Literal(Literal::Text(text)) = self.kind { Some(text) } else { None }
    }

    /// Whether it is the constant nil.
    pub fn is_nil(&self) -> bool {
        matches!(self.kind, ExprKind::Literal(Literal::Nil))
    }

    /// Its type, if its form shows it.
    pub fn evident_type(&self) -> Option<Type> {
        match self.kind {
            ExprKind::Literal(literal) => Some(literal.ty()),
            _ if self.is_text_join() => Some(Type::TEXT),
            _ => None,
        }
    }

    /// Whether it is a bool if it can be evaluated: a comparison, a test, or a combination of them.
    pub fn is_comparison(&self) -> bool {
        match self.kind {
            ExprKind::Literal(Literal::Bool(_)) | ExprKind::Unary(Unary::Not, _) | ExprKind::Has(..) => true,
            ExprKind::Binary(operator, ..) => matches!(
                operator,
                Binary::Eq
                    | Binary::Neq
                    | Binary::Gt
                    | Binary::Gte
                    | Binary::Lt
                    | Binary::Lte
                    | Binary::And
                    | Binary::Or
                    | Binary::HasName
            ),
            _ => false,
        }
    }

    /// Whether its value is certainly not a list.
    pub fn is_no_list(&self) -> bool {
        match self.kind {
            ExprKind::Literal(_)
            | ExprKind::Template(_)
            | ExprKind::Unary(..)
            | ExprKind::Has(..)
            | ExprKind::Record(_)
            | ExprKind::Merge(..) => true,
            ExprKind::Apply(apply) => {
                let result = apply.function.row().result;
                result.lists == 0 && result.base != Base::Any
            }
            ExprKind::Binary(Binary::Concat | Binary::Add, a, b) => b.is_no_list() || a.is_no_list(),
            ExprKind::Binary(operator, ..) => !matches!(operator, Binary::Append | Binary::At),
            ExprKind::Ref(_)
            | ExprKind::Field(..)
            | ExprKind::Call(_)
            | ExprKind::MatchMap(_)
            | ExprKind::List(_)
            | ExprKind::Bad => false,
        }
    }

    /// Whether it is a CONCAT or a template whose value is certainly a text.
    pub fn is_text_join(&self) -> bool {
        matches!(self.kind, ExprKind::Template(_) | ExprKind::Binary(Binary::Concat, ..)) && self.is_no_list()
    }

    /// The parts that are rendered and joined, from left to right. Empty texts are left out if two other
    /// parts remain. An expression that may be something other than a text is its own only part.
    pub(crate) fn text_parts(&self) -> SmallVec<[&Expr<'a>; 8]> {
        let mut parts: SmallVec<[&Expr<'a>; 8]> = SmallVec::new();
        let mut rest: SmallVec<[&Expr<'a>; 8]> = SmallVec::from_iter([self]);
        while let Some(next) = rest.pop() {
            match next.kind {
                _ if !next.is_text_join() => parts.push(next),
                ExprKind::Binary(_, a, b) => rest.extend([b, a]),
                ExprKind::Template(items) => rest.extend(items.iter().rev()),
                _ => parts.push(next),
            }
        }
        let is_empty = |part: &Expr<'_>| matches!(part.kind, ExprKind::Literal(Literal::Text("")));
        if parts.iter().filter(|part| !is_empty(part)).count() >= 2 {
            parts.retain(|part| !is_empty(part));
        }
        parts
    }
}
