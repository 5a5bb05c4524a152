//! Operators and functions of other languages: their equivalents here, and what to write instead of those
//! without one.

use super::operator::{Operator, find};
use crate::foreign::{self, Place};
use crate::text::nearest;
use std::borrow::Cow;

/// How messages write an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// `{"len": x}`.
    Record,
    /// `len($x)`.
    Infix,
}

/// A function of other languages that does not exist here, and what to write instead.
struct Instead {
    word: &'static str,
    /// The result of the expression.
    what: &'static str,
    record: &'static str,
    infix: &'static str,
}

const fn instead(word: &'static str, what: &'static str, [record, infix]: [&'static str; 2]) -> Instead {
    Instead { word, what, record, infix }
}

/// Whether a word gives a value, or another one where it is absent or nil.
pub(crate) fn is_default(spelling: &str) -> bool {
    function(&plain(spelling)) == Some("default")
}

/// The first word of [`INSTEAD`] that a function of another language means.
fn function(plain: &str) -> Option<&'static str> {
    foreign::word(Place::Function, &without_module(plain))
}

/// Functions of other languages that can be expressed with the functions here.
const INSTEAD: [Instead; 10] = [
    instead(
        "avg",
        "the average of a list",
        [r#"{"/": [{"sum": list}, {"len": list}]}"#, "sum($list) / len($list)"],
    ),
    instead("first", "the first item of a list", [r#"{"at": [list, 0]}"#, "at($list, 0)"]),
    instead("last", "the last item of a list", [r#"{"at": [list, -1]}"#, "at($list, -1)"]),
    instead(
        "indexof",
        "where a text begins in another, or an item in a list, else nil,",
        [r#"{"index": [text, part]}"#, "index($text, $part)"],
    ),
    instead("neg", "a number with the other sign", [r#"{"-": [0, x]}"#, "0 - $x"]),
    instead(
        "trunc",
        "a number from 0 on without its fraction",
        [r#"{"-": [x, {"%": [x, 1]}]}"#, "$x - $x % 1"],
    ),
    instead("string", "a value as text", [r#"{"concat": [x, ""]}"#, "concat($x, '')"]),
    instead(
        "any",
        "how many items pass a test, if a loop `v` over the list collects them with an `if`,",
        [r#"{"len": v}"#, "len(${v})"],
    ),
    instead(
        "zip",
        "an item of each list, in a loop over their positions,",
        [
            r#"{"at": [list, i]}`, with `i` in `{"range": {"len": list}}"#,
            "at($list, ${i})`, with `i` in `{range: {len: $list}}",
        ],
    ),
    instead(
        "default",
        "a field, or another value where it is absent or nil,",
        [
            r#"{"get": [record, "field", value]}`, and of any value `{"get": [[x], 0, value]}"#,
            "get($record, 'field', value)`, and of any value `{get: [[$x], 0, value]}",
        ],
    ),
];

/// Whether a word is a function of other languages that only a tool can compute here.
pub(crate) fn is_of_tool(spelling: &str) -> bool {
    function(&plain(spelling)) == Some("tool")
}

/// Module prefixes of functions in other languages.
const PREFIXES: [&str; 9] =
    ["math.", "number.", "string.", "strings.", "str.", "object.", "array.", "json.", "date."];

/// A spelling in lower case, without sign, blanks and parentheses.
fn plain(spelling: &str) -> String {
    spelling.trim_start_matches('$').trim_end_matches("()").to_ascii_lowercase()
}

/// The name of a function without its module and without underscores.
fn without_module(plain: &str) -> Cow<'_, str> {
    let name = PREFIXES.iter().find_map(|prefix| plain.strip_prefix(prefix)).unwrap_or(plain);
    if name.contains('_') { Cow::Owned(name.replace('_', "")) } else { Cow::Borrowed(name) }
}

/// What to write instead of a function of another language.
pub(crate) fn in_place_of(spelling: &str, written: Written) -> Option<String> {
    let word = function(&plain(spelling))?;
    if let Some(found) = INSTEAD.iter().find(|row| row.word == word) {
        let form = match written {
            Written::Record => found.record,
            Written::Infix => found.infix,
        };
        return Some(format!("{} is `{form}`", found.what));
    }
    (word == "tool").then(|| "a tool computes it, in a step with `call`".to_owned())
}

/// An operator of another language that tests whether a list has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    /// Whether the list is the first operand.
    pub(crate) list_first: bool,
    /// Whether the test is negated.
    pub(crate) negated: bool,
}

impl Membership {
    /// What to write instead.
    pub(crate) fn help(self, written: Written) -> String {
        let (has, not) = match written {
            Written::Record => (r#"{"has": [list, value]}"#, r#"`{"not": …}` around it"#),
            Written::Infix => ("has($list, $value)", "`not` before it"),
        };
        let negation = if self.negated { format!(", and {not} that it does not") } else { String::new() };
        format!("`{has}` tells whether a list holds a value, a text a part, or a record a field{negation}")
    }
}

/// The operators of other languages that test whether a list has a value, without signs and blanks.
const MEMBERSHIP: [(Membership, &[&str]); 4] = [
    (
        Membership { list_first: false, negated: false },
        &["in", "isin", "member", "memberof", "anyof", "oneof"],
    ),
    (Membership { list_first: true, negated: false }, &["contains", "includes"]),
    (Membership { list_first: false, negated: true }, &["notin", "isnotin", "nin", "noneof"]),
    (
        Membership { list_first: true, negated: true },
        &["notcontains", "excludes", "notincludes", "doesnotcontain", "nothas"],
    ),
];

/// The membership test that a word means: `in`, `not in`, `!in`, `$nin`, `not_contains`.
pub(crate) fn membership(spelling: &str) -> Option<Membership> {
    let rest = spelling.trim_start_matches('$');
    let (not, rest) = rest.strip_prefix('!').map_or(("", rest), |rest| ("not", rest));
    let letters = rest.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase());
    let plain: String = not.chars().chain(letters).collect();
    let is_word = rest.bytes().all(|byte| byte.is_ascii_alphabetic() || b" _-".contains(&byte));
    MEMBERSHIP.iter().find(|(_, words)| is_word && words.contains(&&*plain)).map(|&(found, _)| found)
}

/// The text before and after an operand.
type Affixes = (&'static str, &'static str);

/// Unary tests of other languages, each with what is before and after the operand here: in records and in
/// infix text.
const PREDICATES: &[(&[&str], [Affixes; 2])] = &[
    (
        &["is_null", "isnull", "is_none", "is_nil", "null", "missing", "absent"],
        [("{\"==\": [", ", null]}"), ("", " == null")],
    ),
    (
        &["is_not_null", "not_null", "notnull", "exists", "present", "defined"],
        [("{\"!=\": [", ", null]}"), ("", " != null")],
    ),
    (&["is_empty", "isempty", "empty"], [("{\"==\": [{\"len\": ", "}, 0]}"), ("len(", ") == 0")]),
    (
        &["is_not_empty", "not_empty", "notempty", "nonempty"],
        [("{\">\": [{\"len\": ", "}, 0]}"), ("len(", ") > 0")],
    ),
];

/// A unary test of other languages: the comparison that it is, of the length of the operand with 0 or else of
/// the operand with null.
pub(crate) fn question(spelling: &str) -> Option<(&'static str, bool)> {
    let (before, _) = predicate(spelling, Written::Record)?;
    let operator = before.strip_prefix("{\"").and_then(|rest| rest.split('"').next())?;
    Some((operator, before.contains("len")))
}

/// The text before and after the operand for a unary test of other languages, such as `is_null`.
pub(crate) fn predicate(spelling: &str, written: Written) -> Option<Affixes> {
    let plain = spelling.to_ascii_lowercase().replace('-', "_");
    let &(_, [record, infix]) = PREDICATES.iter().find(|(words, _)| words.contains(&plain.as_str()))?;
    Some(match written {
        Written::Record => record,
        Written::Infix => infix,
    })
}

/// What to write instead of a function or a test of other languages, as [`in_place_of`] says or with the
/// operators here.
pub(crate) fn instead_of(spelling: &str, written: Written) -> Option<String> {
    let operand = match written {
        Written::Record => "…",
        Written::Infix => "$x",
    };
    in_place_of(spelling, written)
        .or_else(|| {
            let (before, after) = predicate(spelling, written)?;
            Some(format!("write `{before}{operand}{after}`"))
        })
        .or_else(|| membership(spelling).map(|asked| asked.help(written)))
}

/// The operator that an unknown spelling means: that of another language, or the same in another case.
pub fn meant(spelling: &str) -> Option<&'static Operator> {
    named(spelling).map(|(operator, _)| operator)
}

/// The operator that does the same as one of another language, or is the same in another case.
pub fn same(spelling: &str) -> Option<&'static Operator> {
    named(spelling).filter(|(_, same)| *same).map(|(operator, _)| operator)
}

fn named(spelling: &str) -> Option<(&'static Operator, bool)> {
    let plain = plain(spelling);
    let ours = |name: &str| {
        let same = foreign::word(Place::Operation, name).map(|own| (own, true));
        let (own, same) = same.or_else(|| Some((foreign::word(Place::Nearly, name)?, false)))?;
        Some((find(own)?, same))
    };
    let own = |name: &str| find(name).map(|operator| (operator, true));
    let found = ours(&plain).or_else(|| own(&plain)).or_else(|| {
        let name = without_module(&plain);
        ours(&name).or_else(|| own(&name).filter(|_| plain.contains('.')))
    });
    found.filter(|(operator, _)| operator.spelling != spelling)
}

/// The operator nearest to an unknown spelling: the one that it means, otherwise one with a similar spelling.
pub fn near(spelling: &str) -> Option<&'static Operator> {
    meant(spelling)
        .or_else(|| {
            let negated = membership(spelling).is_some_and(|found| found.negated);
            if negated || in_place_of(spelling, Written::Record).is_some() {
                return None;
            }
            // Signs have no similar spellings.
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
            ("parseFloat", "number"),
            ("JSON.parse", "parse"),
            ("JSON.stringify", "json"),
            ("Object.keys", "keys"),
            ("Date.parse", "time"),
            ("Math.max", "max"),
            ("to_lower_case", "lower"),
            ("is not", "!="),
        ];
        for (written, ours) in cases {
            assert_eq!(near(written).map(|operator| operator.spelling), Some(ours), "{written}");
        }
        for ours in TABLE {
            assert!(meant(ours.spelling).is_none(), "{}", ours.spelling);
        }
        assert!(near("**").is_none() && near("sqrt").is_none());
    }

    #[test]
    fn no_question_means_its_opposite() {
        for word in ["not in", "not_in", "notIn", "$nin", "nin", "none_of", "not contains"] {
            assert!(membership(word).is_some_and(|found| found.negated), "{word}");
            assert_eq!(near(word).map(|operator| operator.spelling), None, "{word}");
        }
        assert!(membership("in").is_some_and(|found| !found.negated && !found.list_first));
        assert!(membership("contains").is_some_and(|found| !found.negated && found.list_first));
        assert!(membership("i.n").is_none() && membership("has").is_none());
    }
}
