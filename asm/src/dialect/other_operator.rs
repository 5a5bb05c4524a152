//! Operators and functions of other languages: what they are called here, and what to do in place of those
//! that there are none of.

use super::operator::{Operator, find};
use crate::text::nearest;

/// What operators of other languages are called here.
const OTHERS: &[(&str, &str)] = &[
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
    ("index", "at"),
    ("nth", "at"),
    ("push", "append"),
    ("add_item", "append"),
    ("cat", "concat"),
    ("contains", "has"),
    ("includes", "has"),
    ("tolowercase", "lower"),
    ("lowercase", "lower"),
    ("to_lower", "lower"),
    ("downcase", "lower"),
    ("touppercase", "upper"),
    ("uppercase", "upper"),
    ("to_upper", "upper"),
    ("upcase", "upper"),
    ("strip", "trim"),
    ("substring", "slice"),
    ("substr", "slice"),
    ("sorted", "sort"),
    ("sort_by", "sort"),
    ("reversed", "reverse"),
    ("tofixed", "fixed"),
    ("stringify", "json"),
    ("to_json", "json"),
    ("tojson", "json"),
    ("object_keys", "keys"),
    ("has_key", "has"),
    ("haskey", "has"),
    ("has_field", "has"),
    ("++", "concat"),
    ("..", "concat"),
];

/// Functions of other languages that no operator is.
const FUNCTIONS: [&str; 17] = [
    "abs", "floor", "ceil", "avg", "unique", "values", "first", "last", "format", "now", "uuid", "coalesce",
    "string", "flatten", "group", "sqrt", "pow",
];

/// What to do in place of a function of another language.
pub(crate) fn in_place_of(spelling: &str) -> Option<&'static str> {
    let plain = spelling.trim_start_matches('$').to_ascii_lowercase();
    Some(match plain.as_str() {
        "avg" => "the average of a list is `{\"/\": [{\"sum\": list}, {\"len\": list}]}`",
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

/// What asks for one thing elsewhere, and what is before and behind the operand here.
const PREDICATES: &[(&[&str], &str, &str)] = &[
    (&["is_null", "isnull", "is_none", "is_nil", "null", "missing", "absent"], "{\"==\": [", ", null]}"),
    (&["is_not_null", "not_null", "notnull", "exists", "present", "defined"], "{\"!=\": [", ", null]}"),
    (&["is_empty", "isempty", "empty"], "{\"==\": [{\"len\": ", "}, 0]}"),
    (&["is_not_empty", "not_empty", "notempty", "nonempty"], "{\">\": [{\"len\": ", "}, 0]}"),
];

/// What is before and behind the operand of a question of other languages, such as `is_null`.
pub(crate) fn predicate(spelling: &str) -> Option<(&'static str, &'static str)> {
    let plain = spelling.to_ascii_lowercase().replace('-', "_");
    PREDICATES
        .iter()
        .find(|(words, ..)| words.contains(&plain.as_str()))
        .map(|&(_, before, after)| (before, after))
}

/// The operator that a spelling which is none means: that of another language, or in another case.
pub fn meant(spelling: &str) -> Option<&'static Operator> {
    let plain = spelling.to_ascii_lowercase();
    let ours = OTHERS.iter().find(|(other, _)| *other == plain).map(|&(_, ours)| ours);
    find(ours.unwrap_or(&plain)).filter(|operator| operator.spelling != spelling)
}

/// The operator nearest to a spelling that is none: the one it means, else one that is spelt like it.
pub fn near(spelling: &str) -> Option<&'static Operator> {
    meant(spelling)
        .or_else(|| {
            if FUNCTIONS.contains(&spelling.to_ascii_lowercase().as_str()) {
                return None;
            }
            // Of signs none is like another.
            let words = super::operator::TABLE
                .iter()
                .map(|operator| operator.spelling)
                .filter(|word| word.starts_with(char::is_alphabetic));
            find(nearest(spelling, words)?)
        })
        .filter(|operator| operator.spelling != spelling)
}

#[cfg(test)]
mod tests {
    use super::super::operator::TABLE;
    use super::*;

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
        assert!(OTHERS.iter().all(|(_, ours)| find(ours).is_some()));
        assert!(near("**").is_none() && near("sqrt").is_none());
    }
}
