//! What is known of a value before the program runs.
//!
//! Types are gradual: [`Kind::Any`] stands for whatever is not known and meets everything. A [`Inferred`] is flat like
//! [`ilo_spec::types::Type`], and only adds records, which no program can declare but operators and schemas tell of.

use core::fmt;
use ilo_spec::limits::TYPE_LISTS;
use ilo_spec::types::{Base, Type};

/// What stands under the `list`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the type of that name")]
pub enum Kind {
    Any,
    Number,
    Text,
    Bool,
    Nil,
    Record,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Any => Base::Any.name(),
            Kind::Number => Base::Number.name(),
            Kind::Text => Base::Text.name(),
            Kind::Bool => Base::Bool.name(),
            Kind::Nil => Base::Nil.name(),
            Kind::Record => "record",
        }
    }
}

/// What is known of a value: `lists` times `list`, then a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inferred {
    /// How many `list` stand before the kind, at most [`TYPE_LISTS`].
    pub lists: u8,
    /// What stands under them.
    pub kind: Kind,
}

impl Inferred {
    /// Nothing is known.
    pub const ANY: Inferred = Inferred::plain(Kind::Any);
    /// A number.
    pub const NUMBER: Inferred = Inferred::plain(Kind::Number);
    /// A text.
    pub const TEXT: Inferred = Inferred::plain(Kind::Text);
    /// A bool.
    pub const BOOL: Inferred = Inferred::plain(Kind::Bool);
    /// Nil.
    pub const NIL: Inferred = Inferred::plain(Kind::Nil);
    /// A record.
    pub const RECORD: Inferred = Inferred::plain(Kind::Record);

    /// A kind without `list`.
    pub const fn plain(kind: Kind) -> Inferred {
        Inferred { lists: 0, kind }
    }

    /// A list of this. Nothing is known of what lies deeper than a type can say.
    #[must_use]
    pub fn list(self) -> Inferred {
        match self.lists.checked_add(1).filter(|&n| usize::from(n) <= TYPE_LISTS) {
            Some(lists) => Inferred { lists, kind: self.kind },
            None => Inferred { lists: self.lists, kind: Kind::Any },
        }
    }

    /// What the items are, where this may be a list.
    pub fn item(self) -> Option<Inferred> {
        match (self.lists, self.kind) {
            (0, Kind::Any) => Some(Inferred::ANY),
            (0, _) => None,
            (lists, kind) => Some(Inferred { lists: lists - 1, kind }),
        }
    }

    /// Whether some value could be both.
    pub fn meets(self, other: Inferred) -> bool {
        let (shallow, deep) = if self.lists <= other.lists { (self, other) } else { (other, self) };
        shallow.kind == Kind::Any
            || (shallow.lists == deep.lists && (shallow.kind == deep.kind || deep.kind == Kind::Any))
    }

    /// What is known of a value that is one or the other: nothing, unless they agree.
    #[must_use]
    pub fn join(self, other: Inferred) -> Inferred {
        if self == other { self } else { Inferred::ANY }
    }
}

impl From<Type> for Inferred {
    fn from(ty: Type) -> Inferred {
        let kind = match ty.base {
            Base::Any => Kind::Any,
            Base::Number => Kind::Number,
            Base::Text => Kind::Text,
            Base::Bool => Kind::Bool,
            Base::Nil => Kind::Nil,
        };
        Inferred { lists: ty.lists, kind }
    }
}

impl fmt::Display for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.lists {
            f.write_str("list ")?;
        }
        f.write_str(self.kind.name())
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
    fn lists_past_the_ceiling_are_lists_of_the_unknown() {
        let deepest = (0..TYPE_LISTS).fold(Inferred::TEXT, |known, _| known.list());
        assert_eq!(usize::from(deepest.lists), TYPE_LISTS);
        assert_eq!(deepest.kind, Kind::Text);
        assert_eq!(deepest.list(), Inferred { kind: Kind::Any, ..deepest });
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
