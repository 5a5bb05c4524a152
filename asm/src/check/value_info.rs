//! What checking knows about a value: its type, whether that type is certain, and which part of a tool's
//! answer it is.

use crate::catalog::{Shape, Tool};
use crate::types::Inferred;

/// What is known about a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueInfo<'t> {
    /// Its type.
    pub ty: Inferred,
    /// Whether the type is certain, whatever tools answer and callers pass: the type of a constant, an
    /// operator, or the result of a function.
    pub held: bool,
    /// The part of an answer that it is.
    pub part: Part<'t>,
}

/// What is known about a value; `None` before any binding, or without a value.
pub type Seen<'t> = Option<ValueInfo<'t>>;

/// The part of a tool's answer that a value is.
#[derive(Clone, Copy, Debug, Default)]
pub enum Part<'t> {
    /// A value without fields and items: nil, an empty list.
    Nothing,
    /// The whole answer of a tool without a schema for its answers, which may be JSON as a text.
    Answer,
    /// A part of this shape, in `lists` nested lists.
    Of {
        /// The part.
        shape: Shape<'t>,
        /// The number of enclosing lists.
        lists: u32,
    },
    /// It is unknown.
    #[default]
    Unknown,
}

impl<'t> Part<'t> {
    fn of(shape: Shape<'t>) -> Part<'t> {
        if shape.is_any() { Part::Unknown } else { Part::Of { shape, lists: 0 } }
    }

    fn same(self, other: Part<'_>) -> bool {
        match (self, other) {
            (Part::Nothing, Part::Nothing)
            | (Part::Answer, Part::Answer)
            | (Part::Unknown, Part::Unknown) => true,
            (Part::Of { shape: a, lists: n }, Part::Of { shape: b, lists: m }) => n == m && a.same(b),
            _ => false,
        }
    }

    /// The join of two values.
    #[must_use]
    pub fn join(self, other: Part<'t>) -> Part<'t> {
        match (self, other) {
            (Part::Nothing, part) | (part, Part::Nothing) => part,
            (a, b) if a.same(b) => a,
            _ => Part::Unknown,
        }
    }

    /// A list of these.
    #[must_use]
    pub fn list(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists } => Part::Of { shape, lists: lists.saturating_add(1) },
            Part::Answer => Part::Unknown,
            part => part,
        }
    }

    /// The item of a list.
    #[must_use]
    pub fn item(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists: 0 } => Part::of(shape.item()),
            Part::Of { shape, lists } => Part::Of { shape, lists: lists - 1 },
            Part::Answer => Part::Unknown,
            part => part,
        }
    }

    /// The shape, if it is not inside lists that the program built.
    pub fn shape(self) -> Option<Shape<'t>> {
        if let Part::Of { shape, lists: 0 } = self { Some(shape) } else { None }
    }
}

impl<'t> ValueInfo<'t> {
    /// A value about which nothing is known.
    pub const ANY: ValueInfo<'static> = ValueInfo { ty: Inferred::ANY, held: true, part: Part::Unknown };

    /// A value whose type is certain.
    pub const fn held(ty: Inferred) -> ValueInfo<'t> {
        ValueInfo { ty, held: true, part: Part::Unknown }
    }

    /// A value whose type is declared or in a schema, but not validated.
    pub fn declared(ty: Inferred) -> ValueInfo<'t> {
        ValueInfo { ty, held: ty == Inferred::ANY, part: Part::Unknown }
    }

    /// The answer of a tool.
    pub fn answer(tool: &'t Tool) -> ValueInfo<'t> {
        if tool.is_validated() { ValueInfo::described(tool.output(), true) } else { ValueInfo::ANY }
    }

    /// A part of an answer. One that may be absent is of unknown type.
    pub fn described(shape: Shape<'t>, required: bool) -> ValueInfo<'t> {
        let ty = if required { shape.ty() } else { Inferred::ANY };
        ValueInfo { part: Part::of(shape), ..ValueInfo::declared(ty) }
    }

    /// The same value as another part.
    #[must_use]
    pub fn with_part(self, part: Part<'t>) -> ValueInfo<'t> {
        ValueInfo { part, ..self }
    }

    /// The join of two values.
    #[must_use]
    pub fn join(self, other: ValueInfo<'t>) -> ValueInfo<'t> {
        let ty = self.ty.join(other.ty);
        let held = ty == Inferred::ANY || (self.held && other.held);
        ValueInfo { ty, held, part: self.part.join(other.part) }
    }

    /// Whether the same is known about another value.
    pub fn same(self, other: ValueInfo<'_>) -> bool {
        self.ty == other.ty && self.held == other.held && self.part.same(other.part)
    }

    /// Whether the value certainly has a type.
    pub fn is_surely(self, wanted: Inferred) -> bool {
        wanted == Inferred::ANY || (self.held && self.ty.is_within(wanted))
    }
}

/// The join of two values, as far as they are known.
pub(super) fn join<'t>(a: Seen<'t>, b: Seen<'t>) -> Seen<'t> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (seen, None) | (None, seen) => seen,
    }
}

/// The type alone.
pub(super) fn ty(seen: Seen<'_>) -> Option<Inferred> {
    seen.map(|known| known.ty)
}
