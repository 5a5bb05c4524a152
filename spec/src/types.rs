//! The types that a program declares: a base type inside any number of `list`s.
//!
//! A type is flat on purpose: `list list number` is a base and a count, so reading, comparing and printing a
//! type never recurses. `result` is not a type but a form of [`Output`].

use core::fmt;

/// The innermost part of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Base {
    /// Any value: an undeclared record type, or an unknown type.
    Any = 0,
    /// An exact 64-bit integer or a finite double.
    Number = 1,
    /// UTF-8 text.
    Text = 2,
    /// `true` or `false`.
    Bool = 3,
    /// `nil`.
    Nil = 4,
}

impl Base {
    /// All bases with their canonical names; the only list of type names.
    pub const ALL: [(Base, &'static str); 5] = [
        (Base::Any, "any"),
        (Base::Number, "number"),
        (Base::Text, "text"),
        (Base::Bool, "bool"),
        (Base::Nil, "nil"),
    ];

    /// The base with this number in the packed form.
    #[inline]
    pub fn from_number(number: u8) -> Option<Base> {
        Base::ALL.iter().map(|&(base, _)| base).find(|&base| base as u8 == number)
    }

    /// The canonical name.
    pub fn name(self) -> &'static str {
        Base::ALL.iter().find(|&&(base, _)| base == self).map_or("any", |&(_, name)| name)
    }
}

/// A type: `lists` times `list`, then a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The number of `list`s before the base; at most [`crate::limits::TYPE_LISTS`].
    pub lists: u8,
    /// The base.
    pub base: Base,
}

impl Type {
    /// Any value.
    pub const ANY: Type = Type::plain(Base::Any);
    /// A number.
    pub const NUMBER: Type = Type::plain(Base::Number);
    /// A text.
    pub const TEXT: Type = Type::plain(Base::Text);
    /// A bool.
    pub const BOOL: Type = Type::plain(Base::Bool);
    /// Nil.
    pub const NIL: Type = Type::plain(Base::Nil);

    /// A type without `list`.
    #[inline]
    pub const fn plain(base: Base) -> Type {
        Type { lists: 0, base }
    }

    /// The packed form: the number of `list`s above three bits of the base.
    #[inline]
    pub const fn packed(self) -> u16 {
        (self.lists as u16) << 3 | self.base as u16
    }

    /// The type with this packed form.
    #[inline]
    pub fn from_packed(packed: u16) -> Option<Type> {
        let [low, _] = packed.to_le_bytes();
        let lists =
            u8::try_from(packed >> 3).ok().filter(|&n| usize::from(n) <= crate::limits::TYPE_LISTS)?;
        Some(Type { lists, base: Base::from_number(low & 7)? })
    }

    /// A list of this type; `None` above [`crate::limits::TYPE_LISTS`].
    #[inline]
    pub fn list(self) -> Option<Type> {
        let lists = self.lists.checked_add(1).filter(|&n| usize::from(n) <= crate::limits::TYPE_LISTS)?;
        Some(Type { lists, base: self.base })
    }

    /// The type of the items of a list; `Any` for `Any`.
    #[inline]
    pub fn item(self) -> Option<Type> {
        match (self.lists, self.base) {
            (0, Base::Any) => Some(Type::ANY),
            (0, _) => None,
            (n, base) => Some(Type { lists: n - 1, base }),
        }
    }

    /// Whether some value has both types. `Any` matches everything, at any depth of lists.
    pub fn meets(self, other: Type) -> bool {
        let (shallow, deep) = if self.lists <= other.lists { (self, other) } else { (other, self) };
        shallow.base == Base::Any
            || (shallow.lists == deep.lists && (shallow.base == deep.base || deep.base == Base::Any))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.lists {
            f.write_str("list ")?;
        }
        f.write_str(self.base.name())
    }
}

/// The result of a function: a plain value, or in a `result` function a value or a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The type of the value.
    pub ok: Type,
    /// The type of the failure, if the function's type is `result`.
    pub err: Option<Type>,
}

impl Output {
    /// A plain result of this type.
    #[inline]
    pub const fn plain(ok: Type) -> Output {
        Output { ok, err: None }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.err {
            None => self.ok.fmt(f),
            Some(err) => write!(f, "result {}, {err}", self.ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_meets_everything_at_its_depth() {
        let list = |t: Type| t.list().unwrap();
        assert!(Type::ANY.meets(list(Type::TEXT)));
        assert!(list(Type::ANY).meets(list(list(Type::NUMBER))));
        assert!(!list(Type::ANY).meets(Type::NUMBER));
        assert!(!list(Type::TEXT).meets(list(Type::NUMBER)));
        assert!(!Type::TEXT.meets(list(Type::TEXT)));
        assert!(list(Type::TEXT).meets(list(Type::ANY)));
    }

    #[test]
    fn list_depth_stops_at_its_ceiling() {
        let mut t = Type::NIL;
        for _ in 0..crate::limits::TYPE_LISTS {
            t = t.list().unwrap();
        }
        assert_eq!(t.list(), None);
    }
}
