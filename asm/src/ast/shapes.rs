//! Forms of expressions that several passes must recognise in the same way: reads of fields, the parts of a
//! joined text, and expressions whose value is certainly not a list.
//!
//! CONCAT of two lists is a list, so nested CONCATs are flattened only where the inner one is certainly a
//! text. Only the form of an expression decides this, since declared types are not enforced during a run.

use super::{Binary, Expr, ExprKind, Literal, Unary};
use ilo_spec::types::{Base, Type};
use smallvec::SmallVec;

impl<'a> Expr<'a> {
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
            | ExprKind::List(_) => false,
        }
    }

    /// Whether it is a CONCAT or a template whose value is certainly a text.
    pub fn is_text_join(&self) -> bool {
        matches!(self.kind, ExprKind::Template(_) | ExprKind::Binary(Binary::Concat, ..)) && self.is_no_list()
    }

    /// The parts that are rendered and joined, from left to right. Empty texts are left out if two other
    /// parts remain. An expression that may be something other than a text is its own only part.
    pub fn text_parts(&self) -> SmallVec<[&Expr<'a>; 8]> {
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
