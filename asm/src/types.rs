//! Inferred types: what is known of a value before the program runs.
//!
//! Types are gradual: [`InferredBase::Any`] is an unknown type, which agrees with every other type. An
//! [`Inferred`] type has no fields, like a declared [`Type`]. It adds the kind record, which operators make
//! and schemas and lists of fields describe.

use core::fmt;
use ilo_spec::limits::TYPE_LISTS;
use ilo_spec::pure::Kinds;
use ilo_spec::types::{Base, Type};

/// The type below the `list`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the type of that name")]
pub enum InferredBase {
    Any,
    Number,
    Text,
    Bool,
    Nil,
    Record,
}

impl InferredBase {
    fn name(self) -> &'static str {
        match self {
            InferredBase::Any => Base::Any.name(),
            InferredBase::Number => Base::Number.name(),
            InferredBase::Text => Base::Text.name(),
            InferredBase::Bool => Base::Bool.name(),
            InferredBase::Nil => Base::Nil.name(),
            InferredBase::Record => "record",
        }
    }
}

/// The inferred type of a value: `lists` times `list`, then a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inferred {
    /// How many `list` there are before the base, at most [`TYPE_LISTS`].
    pub lists: u8,
    /// The type below them.
    pub base: InferredBase,
}

impl Inferred {
    /// An unknown type.
    pub const ANY: Inferred = Inferred::plain(InferredBase::Any);
    /// A number.
    pub const NUMBER: Inferred = Inferred::plain(InferredBase::Number);
    /// A text.
    pub const TEXT: Inferred = Inferred::plain(InferredBase::Text);
    /// A bool.
    pub const BOOL: Inferred = Inferred::plain(InferredBase::Bool);
    /// Nil.
    pub const NIL: Inferred = Inferred::plain(InferredBase::Nil);
    /// A record.
    pub const RECORD: Inferred = Inferred::plain(InferredBase::Record);

    /// A base type that is not a list.
    pub const fn plain(base: InferredBase) -> Inferred {
        Inferred { lists: 0, base }
    }

    /// A list of this. What is deeper than a type can express is unknown.
    #[must_use]
    pub fn list(self) -> Inferred {
        match self.lists.checked_add(1).filter(|&n| usize::from(n) <= TYPE_LISTS) {
            Some(lists) => Inferred { lists, base: self.base },
            None => Inferred { lists: self.lists, base: InferredBase::Any },
        }
    }

    /// The kinds of value that it may have.
    pub fn kinds(self) -> Kinds {
        match self.base {
            _ if self.lists > 0 => Kinds::LIST,
            InferredBase::Any => Kinds::ANY,
            InferredBase::Number => Kinds::NUMBER,
            InferredBase::Text => Kinds::TEXT,
            InferredBase::Bool => Kinds::BOOL,
            InferredBase::Nil => Kinds::NIL,
            InferredBase::Record => Kinds::RECORD,
        }
    }

    /// The type of the items, where this may be a list.
    pub fn item(self) -> Option<Inferred> {
        match (self.lists, self.base) {
            (0, InferredBase::Any) => Some(Inferred::ANY),
            (0, _) => None,
            (lists, base) => Some(Inferred { lists: lists - 1, base }),
        }
    }

    /// Whether some value could have both types.
    pub fn meets(self, other: Inferred) -> bool {
        let (shallow, deep) = if self.lists <= other.lists { (self, other) } else { (other, self) };
        shallow.base == InferredBase::Any
            || (shallow.lists == deep.lists && (shallow.base == deep.base || deep.base == InferredBase::Any))
    }

    /// Whether every value of this type has the other type.
    pub fn is_within(self, other: Inferred) -> bool {
        if other.base == InferredBase::Any { self.lists >= other.lists } else { self == other }
    }

    /// The type of a value that has one type or the other: unknown, unless they agree.
    #[must_use]
    pub fn join(self, other: Inferred) -> Inferred {
        if self == other { self } else { Inferred::ANY }
    }
}

impl From<Type> for Inferred {
    fn from(ty: Type) -> Inferred {
        let base = match ty.base {
            Base::Any => InferredBase::Any,
            Base::Number => InferredBase::Number,
            Base::Text => InferredBase::Text,
            Base::Bool => InferredBase::Bool,
            Base::Nil => InferredBase::Nil,
        };
        Inferred { lists: ty.lists, base }
    }
}

impl fmt::Display for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.lists {
            f.write_str("list ")?;
        }
        f.write_str(self.base.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_meets_only_records_and_the_unknown() {
        assert!(Inferred::RECORD.meets(Inferred::ANY));
        assert!(Inferred::RECORD.meets(Inferred::RECORD));
        assert!(!Inferred::RECORD.meets(Inferred::NUMBER));
        assert!(!Inferred::RECORD.meets(Inferred::ANY.list()));
        assert!(Inferred::RECORD.list().meets(Inferred::ANY.list()));
        assert!(!Inferred::RECORD.list().meets(Inferred::TEXT.list()));
    }

    #[test]
    fn a_type_is_within_those_that_say_less() {
        for (of, within, expected) in [
            (Inferred::TEXT, Inferred::ANY, true),
            (Inferred::ANY, Inferred::TEXT, false),
            (Inferred::TEXT, Inferred::TEXT, true),
            (Inferred::TEXT.list(), Inferred::ANY.list(), true),
            (Inferred::ANY, Inferred::ANY.list(), false),
            (Inferred::ANY.list(), Inferred::TEXT.list(), false),
            (Inferred::TEXT.list().list(), Inferred::TEXT.list(), false),
        ] {
            assert_eq!(of.is_within(within), expected, "{of} {within}");
        }
    }

    #[test]
    fn lists_past_the_ceiling_are_lists_of_the_unknown() {
        let deepest = (0..TYPE_LISTS).fold(Inferred::TEXT, |ty, _| ty.list());
        assert_eq!(usize::from(deepest.lists), TYPE_LISTS);
        assert_eq!(deepest.base, InferredBase::Text);
        assert_eq!(deepest.list(), Inferred { base: InferredBase::Any, ..deepest });
    }

    #[test]
    fn only_what_agrees_stays_known() {
        assert_eq!(Inferred::TEXT.join(Inferred::TEXT), Inferred::TEXT);
        assert_eq!(Inferred::TEXT.join(Inferred::NIL), Inferred::ANY);
        assert_eq!(Inferred::TEXT.list().item(), Some(Inferred::TEXT));
        assert_eq!(Inferred::ANY.item(), Some(Inferred::ANY));
        assert_eq!(Inferred::RECORD.item(), None);
    }
}
