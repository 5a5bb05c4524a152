//! The parameters of a function: their types, and what they take in place of a value of their type.

use super::expression::{Expr, ExprKind};
use super::{Name, TypeName};
use crate::types::Inferred;
use ilo_spec::types::{Base, Type};

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its type.
    pub ty: TypeName<'a>,
    /// What it takes in place of a value of its type.
    pub need: Need<'a>,
}

/// What a parameter takes in place of a value of its type.
#[derive(Clone, Copy, Debug)]
pub enum Need<'a> {
    /// Nothing.
    Required,
    /// Nil.
    Nullable,
    /// Nil, and it may be left out, which means nil.
    Optional,
    /// The same, and both mean this constant: literals in lists and records.
    Default(&'a Expr<'a>),
}

impl<'a> Parameter<'a> {
    /// The type of its values in the function: unknown if they may be nil.
    pub fn inside(&self) -> Inferred {
        match self.need {
            Need::Required | Need::Default(_) if !self.ty.fields.is_empty() => {
                (0..self.ty.ty.lists).fold(Inferred::RECORD, |ty, _| ty.list())
            }
            Need::Required | Need::Default(_) => self.ty.ty.into(),
            Need::Nullable | Need::Optional => Inferred::ANY,
        }
    }

    /// Whether its value in the function may be nil.
    pub fn is_nil_inside(&self) -> bool {
        matches!(self.need, Need::Nullable | Need::Optional)
    }

    /// Whether it takes nil besides values of its type.
    pub fn takes_nil(&self) -> bool {
        !matches!(self.need, Need::Required)
    }

    /// Whether a call may leave it out.
    pub fn may_be_absent(&self) -> bool {
        matches!(self.need, Need::Optional | Need::Default(_))
    }

    /// Its value where it is left out or nil.
    pub fn default(&self) -> Option<&'a Expr<'a>> {
        match self.need {
            Need::Default(constant) => Some(constant),
            _ => None,
        }
    }
}

/// Whether a constant has a type.
pub(crate) fn is_constant_of(constant: &Expr<'_>, ty: Type) -> bool {
    match (constant.kind, ty.item()) {
        (ExprKind::List(items), Some(item)) => items.iter().all(|inner| is_constant_of(inner, item)),
        (ExprKind::Literal(literal), _) => ty == Type::ANY || literal.ty() == ty,
        (ExprKind::Record(_), _) => ty == Type::plain(Base::Any),
        _ => false,
    }
}
