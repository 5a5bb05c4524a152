//! What checking knows about a value: its type, whether that type is certain, and which part of a tool's
//! answer, or of an input whose type lists fields, it is.

use crate::ast::{File, Parameter};
use crate::catalog::{Declared, SchemaShape, ToolSignature};
use crate::span::Span;
use crate::types::Inferred;
use core::mem::discriminant;
use hashbrown::HashMap;
use ilo_spec::pure::Kinds;

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
    /// Why it may be nil, if that is known.
    pub nil: Option<Nil>,
}

/// Why a value may be nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nil {
    /// A schema lists the field as one that may be absent.
    Optional,
    /// A schema allows null.
    Nullable,
    /// FIND found no record.
    Find,
    /// INDEX found no position.
    Index,
    /// GET without a default.
    Get,
    /// An input that may be nil.
    Input,
}

impl Nil {
    /// The reason for which a value of a shape may be nil.
    fn of(shape: SchemaShape<'_>) -> Option<Nil> {
        let kinds = shape.kinds();
        (kinds != Kinds::ANY && kinds != Kinds::NIL && kinds.meets(Kinds::NIL)).then_some(Nil::Nullable)
    }
}

/// What is known about a value; `None` before any binding, or without a value.
pub type Seen<'t> = Option<ValueInfo<'t>>;

/// What is known about a slot from all its bindings; `None` without such a binding.
#[derive(Clone, Copy, Default)]
pub struct KnownSlot<'t> {
    /// Its plain values.
    pub plain: Seen<'t>,
    /// The values of the calls whose results a MATCH handles.
    pub ok: Seen<'t>,
    /// The failures of these calls.
    pub err: Seen<'t>,
}

/// The part of a tool's answer that a value is.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Part<'t> {
    /// A value without fields and items: nil, an empty list.
    Nothing,
    /// The whole answer of a tool without a schema for its answers, which may be JSON as a text.
    Answer,
    /// What a slot holds where a whole answer or other values may reach the read.
    Mixed,
    /// A list that whole answers were joined with, unless one of them was another text.
    Grown,
    /// A constant of the program, or the failure of a call: beside a whole answer it may be read.
    Own,
    /// A part of this shape, in `lists` nested lists.
    Of {
        /// The part.
        shape: SchemaShape<'t>,
        /// The number of enclosing lists.
        lists: u32,
    },
    /// A record of two fields, `key` and another one, in `lists` nested lists: an item of GROUP or ENTRIES.
    Pair {
        /// The other field.
        other: &'static str,
        /// The number of enclosing lists.
        lists: u32,
    },
    /// What a suspect gives, about whose type nothing is reported: it is probably not what was meant.
    Suspect(Span),
    /// It is unknown.
    #[default]
    Unknown,
}

impl<'t> Part<'t> {
    pub(super) fn of(shape: SchemaShape<'t>) -> Part<'t> {
        if shape.is_any() { Part::Unknown } else { Part::Of { shape, lists: 0 } }
    }

    fn same(self, other: Part<'_>) -> bool {
        match (self, other) {
            (Part::Of { shape: a, lists: n }, Part::Of { shape: b, lists: m }) => n == m && a.same(b),
            (Part::Pair { other: a, lists: n }, Part::Pair { other: b, lists: m }) => n == m && a == b,
            (a, b) => discriminant(&a) == discriminant(&b),
        }
    }

    /// The join of two values.
    #[must_use]
    pub fn join(self, other: Part<'t>) -> Part<'t> {
        match (self, other) {
            (Part::Nothing, _) | (_, Part::Suspect(_)) => other,
            (_, Part::Nothing) | (Part::Suspect(_), _) => self,
            (a, b) if a.same(b) => a,
            _ => Part::Unknown,
        }
    }

    /// A list of these.
    #[must_use]
    pub fn list(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists } => Part::Of { shape, lists: lists.saturating_add(1) },
            Part::Pair { other, lists } => Part::Pair { other, lists: lists.saturating_add(1) },
            Part::Answer | Part::Mixed | Part::Grown | Part::Own => Part::Unknown,
            part => part,
        }
    }

    /// The item of a list.
    #[must_use]
    pub fn item(self) -> Part<'t> {
        match self {
            Part::Of { shape, lists: 0 } => Part::of(shape.item()),
            Part::Of { shape, lists } => Part::Of { shape, lists: lists - 1 },
            Part::Pair { other, lists } => {
                lists.checked_sub(1).map_or(Part::Unknown, |lists| Part::Pair { other, lists })
            }
            Part::Answer | Part::Mixed | Part::Grown | Part::Own => Part::Unknown,
            part => part,
        }
    }

    /// The shape, if it is not inside lists that the program built.
    pub fn shape(self) -> Option<SchemaShape<'t>> {
        if let Part::Of { shape, lists: 0 } = self { Some(shape) } else { None }
    }
}

impl<'t> ValueInfo<'t> {
    /// A value about which nothing is known.
    pub const ANY: ValueInfo<'static> =
        ValueInfo { ty: Inferred::ANY, held: true, part: Part::Unknown, nil: None };

    /// A value whose type is certain.
    pub const fn held(ty: Inferred) -> ValueInfo<'t> {
        ValueInfo { ty, held: true, part: Part::Unknown, nil: None }
    }

    /// A value whose type is declared or in a schema, but not validated.
    pub fn declared(ty: Inferred) -> ValueInfo<'t> {
        ValueInfo { ty, held: ty == Inferred::ANY, part: Part::Unknown, nil: None }
    }

    /// The answer of a tool.
    pub fn answer(tool: &'t ToolSignature) -> ValueInfo<'t> {
        if tool.is_validated() { ValueInfo::described(tool.output()) } else { ValueInfo::ANY }
    }

    /// A part of an answer.
    pub fn described(shape: SchemaShape<'t>) -> ValueInfo<'t> {
        ValueInfo { part: Part::of(shape), nil: Nil::of(shape), ..ValueInfo::declared(shape.ty()) }
    }

    /// A part of an answer that may be absent, of unknown type.
    pub fn unlisted(shape: SchemaShape<'t>) -> ValueInfo<'t> {
        ValueInfo::declared(Inferred::ANY).with_part(Part::of(shape))
    }

    /// A field of a part of an answer; `None` if its schema does not list it. One that may be absent is of
    /// unknown type.
    pub fn field_of(record: SchemaShape<'t>, name: &str) -> Option<ValueInfo<'t>> {
        let (shape, required) = record.field(name)?;
        let field = ValueInfo::described(shape);
        if required {
            return Some(field);
        }
        let nil = if record.may_lack(name) { Some(Nil::Optional) } else { field.nil };
        Some(ValueInfo::unlisted(shape).or_nil(nil))
    }

    /// The item of a list.
    #[must_use]
    pub fn item(self) -> ValueInfo<'t> {
        let ty = crate::rules::item(self.ty);
        // What a list that the program built holds is not known.
        let nil = self.part.shape().and_then(|list| Nil::of(list.item()));
        ValueInfo { ty, held: self.held || ty == Inferred::ANY, part: self.part.item(), nil }
    }

    /// A list of such items.
    #[must_use]
    pub fn listed(self) -> ValueInfo<'t> {
        ValueInfo { ty: self.ty.list(), part: self.part.list(), nil: None, ..self }
    }

    /// The same value where it may be nil.
    #[must_use]
    pub fn or_nil(self, nil: Option<Nil>) -> ValueInfo<'t> {
        ValueInfo { nil, ..self }
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
        let part = match (self.part, other.part) {
            (Part::Answer, Part::Own | Part::Suspect(_)) => self.part,
            (Part::Own | Part::Suspect(_), Part::Answer) => other.part,
            (part @ (Part::Answer | Part::Own), _) if other.is_no_text() => part,
            (_, part @ (Part::Answer | Part::Own)) if self.is_no_text() => part,
            (part, of_other) => part.join(of_other),
        };
        ValueInfo { ty, held, part, nil: self.nil.or(other.nil) }
    }

    /// Whether it is certainly no text, which a whole answer may be: to read it as JSON changes nothing.
    fn is_no_text(self) -> bool {
        self.held && self.ty != Inferred::ANY && self.ty != Inferred::TEXT
    }

    /// Whether the same is known about another value.
    pub fn same(self, other: ValueInfo<'_>) -> bool {
        let alike = self.ty == other.ty && self.held == other.held && self.nil == other.nil;
        alike && self.part.same(other.part)
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

/// The suspect from which a value comes.
pub(super) fn suspect(seen: Seen<'_>) -> Option<Span> {
    if let Some(ValueInfo { part: Part::Suspect(place), .. }) = seen { Some(place) } else { None }
}

/// The type that a value certainly has: that of what comes from a suspect is unknown.
pub(super) fn sure(seen: Seen<'_>) -> Option<Inferred> {
    if suspect(seen).is_some() { Some(Inferred::ANY) } else { ty(seen) }
}

/// The inputs of the functions of a file whose types list fields, by the places of their names.
pub(super) struct RecordInputs(HashMap<Span, Declared>);

impl RecordInputs {
    pub(super) fn of(file: &File<'_>) -> RecordInputs {
        let inputs = file.functions.iter().flat_map(|function| function.parameters);
        let records = inputs.filter(|input| !input.ty.fields.is_empty());
        RecordInputs(
            records.map(|input| (input.name.span, Declared::input(input.name.text, &input.ty))).collect(),
        )
    }

    /// The shape of an input, if its type lists fields.
    pub(super) fn shape_of(&self, input: &Parameter<'_>) -> Option<SchemaShape<'_>> {
        self.0.get(&input.name.span).map(Declared::shape)
    }
}
