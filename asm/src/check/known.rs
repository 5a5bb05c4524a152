//! What is known of a value when checking: its type, whether every run gives that type, and which part of a
//! tool's answer it is.

use crate::catalog::{Shape, Tool};
use crate::types::Inferred;

/// What is known of a value.
#[derive(Clone, Copy)]
pub(super) struct Known<'t> {
    pub(super) ty: Inferred,
    /// Every run gives this type, whatever tools answer and callers pass: it is that of a constant, of an
    /// operator, of the result of a function.
    pub(super) held: bool,
    pub(super) part: Part<'t>,
}

/// What is known of a value; `None` before any binding, or where there is no value.
pub(super) type Seen<'t> = Option<Known<'t>>;

/// Which part of a tool's answer a value is.
#[derive(Clone, Copy, Default)]
pub(super) enum Part<'t> {
    /// A value without fields and items: nil, an empty list.
    Nothing,
    /// It is this, `lists` times in a list.
    Of { shape: Shape<'t>, lists: u32 },
    /// It may be anything.
    #[default]
    Unknown,
}

impl<'t> Part<'t> {
    fn of(shape: Shape<'t>) -> Part<'t> {
        if shape.is_any() { Part::Unknown } else { Part::Of { shape, lists: 0 } }
    }

    fn same(self, other: Part<'_>) -> bool {
        match (self, other) {
            (Part::Nothing, Part::Nothing) | (Part::Unknown, Part::Unknown) => true,
            (Part::Of { shape: a, lists: n }, Part::Of { shape: b, lists: m }) => n == m && a.same(b),
            _ => false,
        }
    }

    pub(super) fn join(self, other: Part<'t>) -> Part<'t> {
        match (self, other) {
            (Part::Nothing, part) | (part, Part::Nothing) => part,
            (a, b) if a.same(b) => a,
            _ => Part::Unknown,
        }
    }

    /// A list of these.
    pub(super) fn list(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists } => Part::Of { shape, lists: lists.saturating_add(1) },
            part => part,
        }
    }

    /// An item of it.
    pub(super) fn item(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists: 0 } => Part::of(shape.item()),
            Part::Of { shape, lists } => Part::Of { shape, lists: lists - 1 },
            part => part,
        }
    }

    /// The shape, where it is not in lists of the program's own.
    pub(super) fn shape(self) -> Option<Shape<'t>> {
        if let Part::Of { shape, lists: 0 } = self { Some(shape) } else { None }
    }
}

impl<'t> Known<'t> {
    /// Nothing.
    pub(super) const ANY: Known<'static> = Known { ty: Inferred::ANY, held: true, part: Part::Unknown };

    /// A type that every run gives.
    pub(super) const fn held(ty: Inferred) -> Known<'t> {
        Known { ty, held: true, part: Part::Unknown }
    }

    /// A type that is declared or described, and that no run looks at.
    pub(super) fn declared(ty: Inferred) -> Known<'t> {
        Known { ty, held: ty == Inferred::ANY, part: Part::Unknown }
    }

    /// The answer of a tool.
    pub(super) fn answer(tool: &'t Tool) -> Known<'t> {
        if tool.is_validated() { Known::described(tool.output(), true) } else { Known::ANY }
    }

    /// A part of an answer. One that may be absent is of unknown type.
    pub(super) fn described(shape: Shape<'t>, required: bool) -> Known<'t> {
        let ty = if required { shape.ty() } else { Inferred::ANY };
        Known { part: Part::of(shape), ..Known::declared(ty) }
    }

    #[must_use]
    pub(super) fn with_part(self, part: Part<'t>) -> Known<'t> {
        Known { part, ..self }
    }

    /// A value that is one or the other.
    pub(super) fn join(self, other: Known<'t>) -> Known<'t> {
        let ty = self.ty.join(other.ty);
        let held = ty == Inferred::ANY || (self.held && other.held);
        Known { ty, held, part: self.part.join(other.part) }
    }

    pub(super) fn same(self, other: Known<'_>) -> bool {
        self.ty == other.ty && self.held == other.held && self.part.same(other.part)
    }

    /// Whether every run gives a value of a type.
    pub(super) fn is_surely(self, wanted: Inferred) -> bool {
        wanted == Inferred::ANY || (self.held && self.ty.is_within(wanted))
    }
}

/// A value that is one or the other, as far as it has been seen.
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
