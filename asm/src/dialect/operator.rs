//! The operators of the JSON and YAML notations: one table for `{"+": […]}` and for infix text, and what the operators
//! of other languages are called here.
//!
//! It knows neither documents nor infix text; those who read them look here.

use crate::ast::{Binary, Unary};
use crate::text::nearest;

/// Which node an operator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// Of one operand.
    Unary(Unary),
    /// Of two operands.
    Binary(Binary),
}

/// How an operator is written in infix text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between its operands; a higher number binds closer.
    Between(u8),
    /// Before its operand, which goes on as far as operators of at least this number.
    Before(u8),
    /// As a function, `len(x)`.
    Function,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// As it is written.
    pub spelling: &'static str,
    /// What it makes.
    pub makes: Makes,
    /// How infix text has it.
    pub form: Form,
    /// Whether more than two operands are taken in pairs from the left: `{"and": [a, b, c]}`, `concat(a, b, c)`.
    pub folds: bool,
}

/// How close comparisons bind: they do not chain.
pub const COMPARISON: u8 = 4;

const fn between(spelling: &'static str, binary: Binary, closeness: u8, folds: bool) -> Operator {
    Operator { spelling, makes: Makes::Binary(binary), form: Form::Between(closeness), folds }
}

const fn function(spelling: &'static str, makes: Makes, folds: bool) -> Operator {
    Operator { spelling, makes, form: Form::Function, folds }
}

/// Every operator.
pub const TABLE: [Operator; 19] = [
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

/// All spellings, for a message that lists them.
pub const LIST: &str = "`+ - * / % == != > >= < <= and or not len at has append concat`";

/// What operators of other languages are called here.
const FOREIGN: &[(&str, &str)] = &[
    ("&&", "and"),
    ("&", "and"),
    ("||", "or"),
    ("|", "or"),
    ("!", "not"),
    ("===", "=="),
    ("=", "=="),
    ("is", "=="),
    ("eq", "=="),
    ("equals", "=="),
    ("!==", "!="),
    ("<>", "!="),
    ("=!", "!="),
    ("~=", "!="),
    ("ne", "!="),
    ("neq", "!="),
    ("=>", ">="),
    ("gte", ">="),
    ("ge", ">="),
    ("=<", "<="),
    ("lte", "<="),
    ("le", "<="),
    ("gt", ">"),
    ("lt", "<"),
    ("≥", ">="),
    ("≤", "<="),
    ("≠", "!="),
    ("×", "*"),
    ("÷", "/"),
    ("−", "-"),
    ("+=", "+"),
    ("-=", "-"),
    ("add", "+"),
    ("sub", "-"),
    ("subtract", "-"),
    ("minus", "-"),
    ("plus", "+"),
    ("mul", "*"),
    ("multiply", "*"),
    ("times", "*"),
    ("div", "/"),
    ("divide", "/"),
    ("mod", "%"),
    ("rem", "%"),
    ("length", "len"),
    ("size", "len"),
    ("count", "len"),
    ("strlen", "len"),
    ("get", "at"),
    ("index", "at"),
    ("nth", "at"),
    ("push", "append"),
    ("add_item", "append"),
    ("join", "concat"),
    ("cat", "concat"),
    ("has_key", "has"),
    ("haskey", "has"),
    ("has_field", "has"),
    ("++", "concat"),
    ("..", "concat"),
];

/// Functions of other languages that no operator is.
const FUNCTIONS: [&str; 34] = [
    "sum",
    "max",
    "min",
    "round",
    "abs",
    "floor",
    "ceil",
    "avg",
    "upper",
    "lower",
    "trim",
    "split",
    "sort",
    "reverse",
    "unique",
    "keys",
    "values",
    "first",
    "last",
    "slice",
    "substring",
    "replace",
    "format",
    "now",
    "uuid",
    "coalesce",
    "parse",
    "json",
    "string",
    "number",
    "flatten",
    "group",
    "sqrt",
    "pow",
];

/// What to do in place of a function of another language.
pub(crate) fn in_place_of(spelling: &str) -> Option<&'static str> {
    let plain = spelling.trim_start_matches('$').to_ascii_lowercase();
    Some(match plain.as_str() {
        "sum" | "max" | "min" | "avg" => {
            "a loop, `for`, does it: bind a variable before it, and bind that again in each pass"
        }
        "first" => "the first item of a list is `{\"at\": [list, 0]}`",
        "last" => "the last item of a list is `{\"at\": [list, {\"-\": [{\"len\": list}, 1]}]}`",
        "coalesce" => "one of two values is a step with `let`, `if`, `then` and `else`",
        _ if FUNCTIONS.contains(&plain.as_str()) => {
            "what no operator computes a tool does, in a step with `call`"
        }
        _ => return None,
    })
}

/// What asks elsewhere whether a list holds a value, which no operator does.
pub(crate) const MEMBERSHIP: [&str; 7] =
    ["in", "contains", "includes", "member", "any_of", "one_of", "not in"];

/// What asks for one thing elsewhere, and what stands before and behind the operand here.
const PREDICATES: &[(&[&str], &str, &str)] = &[
    (&["is_null", "isnull", "is_none", "is_nil", "null", "missing", "absent"], "{\"==\": [", ", null]}"),
    (&["is_not_null", "not_null", "notnull", "exists", "present", "defined"], "{\"!=\": [", ", null]}"),
    (&["is_empty", "isempty", "empty"], "{\"==\": [{\"len\": ", "}, 0]}"),
    (&["is_not_empty", "not_empty", "notempty", "nonempty"], "{\">\": [{\"len\": ", "}, 0]}"),
];

/// What stands before and behind the operand of a question of other languages, such as `is_null`.
pub(crate) fn predicate(spelling: &str) -> Option<(&'static str, &'static str)> {
    let plain = spelling.to_ascii_lowercase().replace('-', "_");
    PREDICATES
        .iter()
        .find(|(words, ..)| words.contains(&plain.as_str()))
        .map(|&(_, before, after)| (before, after))
}

impl Operator {
    /// The fewest operands it takes.
    pub const fn least(&self) -> usize {
        match self.makes {
            Makes::Unary(_) => 1,
            Makes::Binary(_) => 2,
        }
    }

    /// Whether it takes so many operands.
    pub const fn takes(&self, operands: usize) -> bool {
        operands == self.least() || (self.folds && operands > self.least())
    }

    /// How many operands it takes, in words.
    pub const fn operands(&self) -> &'static str {
        match (self.least(), self.folds) {
            (1, _) => "one operand",
            (_, false) => "two operands",
            (_, true) => "two operands or more",
        }
    }
}

/// The row of what an operator makes.
pub fn row(makes: Makes) -> &'static Operator {
    const FIRST: &Operator = &TABLE[0];
    TABLE.iter().find(|row| row.makes == makes).unwrap_or(FIRST)
}

/// The operator of this spelling.
pub fn find(spelling: &str) -> Option<&'static Operator> {
    TABLE.iter().find(|operator| operator.spelling == spelling)
}

/// The operator that a spelling which is none stands for: that of another language, or in another case.
pub fn meant(spelling: &str) -> Option<&'static Operator> {
    let plain = spelling.to_ascii_lowercase();
    let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == plain).map(|&(_, ours)| ours);
    find(foreign.unwrap_or(&plain)).filter(|operator| operator.spelling != spelling)
}

/// The operator nearest to a spelling that is none: the one it stands for, else one that is spelt like it.
pub fn near(spelling: &str) -> Option<&'static Operator> {
    meant(spelling)
        .or_else(|| {
            // Of signs none is like another.
            let words = TABLE
                .iter()
                .map(|operator| operator.spelling)
                .filter(|word| word.starts_with(char::is_alphabetic));
            find(nearest(spelling, words)?)
        })
        .filter(|operator| operator.spelling != spelling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_in_messages_has_every_operator() {
        let mut listed: Vec<&str> = LIST.trim_matches('`').split(' ').collect();
        let mut table: Vec<&str> = TABLE.iter().map(|operator| operator.spelling).collect();
        listed.sort_unstable();
        table.sort_unstable();
        assert_eq!(listed, table);
    }

    #[test]
    fn operators_of_other_languages_are_known() {
        let cases = [
            ("&&", "and"),
            ("AND", "and"),
            ("Not", "not"),
            ("===", "=="),
            ("<>", "!="),
            ("GTE", ">="),
            ("length", "len"),
            ("apend", "append"),
        ];
        for (written, ours) in cases {
            assert_eq!(near(written).map(|operator| operator.spelling), Some(ours), "{written}");
        }
        for ours in TABLE {
            assert!(meant(ours.spelling).is_none(), "{}", ours.spelling);
        }
        assert!(FOREIGN.iter().all(|(_, ours)| find(ours).is_some()));
        assert!(near("**").is_none() && near("sqrt").is_none());
    }

    #[test]
    fn operands_are_counted() {
        let takes = |spelling: &str, operands| find(spelling).unwrap().takes(operands);
        assert!(takes("not", 1) && !takes("not", 2) && !takes("not", 0));
        assert!(takes("-", 2) && !takes("-", 1) && !takes("-", 3));
        assert!(takes("and", 2) && takes("and", 5) && !takes("and", 1));
    }
}
