//! The operators of the JSON and YAML notations: one table for `{"+": […]}` and for infix text. The pure
//! functions are operators by their names. The operators of other languages are in [`super::other_operator`].
//!
//! This module does not depend on documents or on infix text.

use crate::ast::{Binary, Unary};
use ilo_spec::node::{Shape, Word};
use ilo_spec::pure::{self, Omitted, Pure};
use std::sync::LazyLock;

/// The node that an operator produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A unary operator.
    Unary(Unary),
    /// A binary operator.
    Binary(Binary),
    /// A pure function.
    Apply(Pure),
}

impl Makes {
    /// The instruction.
    pub fn word(self) -> Word {
        match self {
            Makes::Unary(operator) => operator.word(),
            Makes::Binary(operator) => operator.word(),
            Makes::Apply(function) => Word::of_pure(function),
        }
    }
}

/// How an operator is written in infix text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between its operands, with this precedence; a higher number binds more tightly.
    Between(u8),
    /// Before its operand, which includes operators of at least this precedence.
    Before(u8),
    /// As a function, `len(x)`.
    Function,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// Its spelling.
    pub spelling: &'static str,
    /// The node that it produces.
    pub makes: Makes,
    /// Its form in infix text.
    pub form: Form,
    /// Whether it may have more than two operands, which associate to the left: `{"and": [a, b, c]}`,
    /// `concat(a, b, c)`.
    pub folds: bool,
}

/// The precedence of comparisons, which do not chain.
pub const COMPARISON: u8 = 4;

const fn between(spelling: &'static str, binary: Binary, closeness: u8, folds: bool) -> Operator {
    Operator { spelling, makes: Makes::Binary(binary), form: Form::Between(closeness), folds }
}

const fn function(spelling: &'static str, makes: Makes, folds: bool) -> Operator {
    Operator { spelling, makes, form: Form::Function, folds }
}

/// The operators that are no pure functions.
static WITHOUT_PURE: [Operator; 19] = [
    between("or", Binary::Or, 1, true),
    between("and", Binary::And, 2, true),
    Operator { spelling: "not", makes: Makes::Unary(Unary::Not), form: Form::Before(3), folds: false },
    between("==", Binary::Eq, COMPARISON, false),
    between("!=", Binary::Neq, COMPARISON, false),
    between(">=", Binary::Gte, COMPARISON, false),
    between("<=", Binary::Lte, COMPARISON, false),
    between(">", Binary::Gt, COMPARISON, false),
    between("<", Binary::Lt, COMPARISON, false),
    between("+", Binary::Add, 5, true),
    between("-", Binary::Sub, 5, false),
    between("*", Binary::Mul, 6, true),
    between("/", Binary::Div, 6, false),
    between("%", Binary::Mod, 6, false),
    function("len", Makes::Unary(Unary::Len), false),
    function("at", Makes::Binary(Binary::At), false),
    function("has", Makes::Binary(Binary::HasName), false),
    function("append", Makes::Binary(Binary::Append), false),
    function("concat", Makes::Binary(Binary::Concat), true),
];

/// Every operator: each pure function by its name in lower case, unless it has a sign.
pub static TABLE: LazyLock<Vec<Operator>> = LazyLock::new(|| {
    let pure = pure::TABLE.iter().map(|row| match (row.function, Makes::Apply(row.function)) {
        (Pure::FloorDiv, makes) => Operator { spelling: "//", makes, form: Form::Between(6), folds: false },
        (_, makes) => function(row.name.to_ascii_lowercase().leak(), makes, false),
    });
    WITHOUT_PURE.iter().copied().chain(pure).collect()
});

/// What to write if a range has two bounds, as in other languages.
pub(crate) const RANGE_BEGINS_AT_ZERO: &str = "`range` takes how many items there are, and begins at 0: add the first number to \
     each item";

/// What to write for an `or` that gives a default.
pub(crate) const NO_DEFAULT: &str = "`a ?? b` is b where a is null or absent, but an empty text stays: write `a if a != '' else b` if \
     that counts as none; two bools are compared with `true` first";

impl Operator {
    /// The minimum number of operands.
    pub const fn least(&self) -> usize {
        match self.makes {
            Makes::Unary(_) => 1,
            Makes::Binary(_) => 2,
            Makes::Apply(function) => required(function),
        }
    }

    /// The maximum number of operands, unless it associates.
    pub const fn most(&self) -> usize {
        if let Makes::Apply(function) = self.makes { function.row().operands.len() } else { self.least() }
    }

    /// Whether it may have this number of operands.
    pub const fn takes(&self, operands: usize) -> bool {
        (operands >= self.least() && operands <= self.most()) || (self.folds && operands > self.least())
    }

    /// Whether its second operand may be the name of a field.
    pub const fn takes_field(&self) -> bool {
        match self.makes {
            Makes::Binary(Binary::At | Binary::HasName) => true,
            Makes::Apply(function) => {
                matches!(Word::of_pure(function).row().operands, [_, Shape::FieldOrName, ..])
            }
            _ => false,
        }
    }

    /// Whether a record with this key alone is an operation in every place. The functions that were added
    /// later are operators only where something is computed: elsewhere such a record is data, as before.
    pub const fn is_everywhere(&self) -> bool {
        !matches!(self.makes, Makes::Apply(function) if function as u8 >= Pure::Floor as u8)
    }

    /// Its number of operands, in words.
    pub const fn operands(&self) -> &'static str {
        match (self.least(), self.most()) {
            _ if self.folds => "two operands or more",
            (1, 1) => "one operand",
            (1, _) => "one or two operands",
            (2, 2) => "two operands",
            (2, _) => "two or three operands",
            _ => "three operands",
        }
    }
}

/// The number of required operands of a pure function.
const fn required(function: Pure) -> usize {
    let operands = function.row().operands;
    let mut at = 0;
    while at < operands.len() && matches!(operands[at].omitted, Omitted::Never) {
        at += 1;
    }
    at
}

/// The row of a node.
pub fn row(makes: Makes) -> &'static Operator {
    const FIRST: &Operator = &WITHOUT_PURE[0];
    TABLE.iter().find(|row| row.makes == makes).unwrap_or(FIRST)
}

/// The operator with this spelling.
pub fn find(spelling: &str) -> Option<&'static Operator> {
    TABLE.iter().find(|operator| operator.spelling == spelling)
}

/// Whether a record with this key alone is an operation in every place.
pub(crate) fn is(spelling: &str) -> bool {
    find(spelling).is_some_and(Operator::is_everywhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_counted() {
        let takes = |spelling: &str, operands| find(spelling).unwrap().takes(operands);
        assert!(takes("not", 1) && !takes("not", 2) && !takes("not", 0));
        assert!(takes("-", 2) && !takes("-", 1) && !takes("-", 3));
        assert!(takes("and", 2) && takes("and", 5) && !takes("and", 1));
    }
}
