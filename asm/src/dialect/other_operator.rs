//! Operators and functions of other languages: their equivalents here, and what to write instead of those
//! without one.

use super::operator::{Operator, find};
use crate::foreign::{self, Place};
use crate::text::nearest;
use std::borrow::Cow;

/// Whether a word gives a value, or another one where it is absent or nil.
pub(crate) fn is_default(spelling: &str) -> bool {
    in_place_of(spelling) == in_place_of("default")
}

/// Whether a word gives a value as a text.
pub(crate) fn is_text(spelling: &str) -> bool {
    in_place_of(spelling) == in_place_of("str")
}

/// Module prefixes of functions in other languages.
const PREFIXES: [&str; 9] =
    ["math.", "number.", "string.", "strings.", "str.", "object.", "array.", "json.", "date."];

/// A spelling in lower case, without sign, blanks and parentheses.
fn plain(spelling: &str) -> String {
    spelling.trim_start_matches('$').trim_end_matches("()").to_ascii_lowercase()
}

/// The name of a function without its module, underscores and hyphens.
fn without_module(plain: &str) -> Cow<'_, str> {
    let name = PREFIXES.iter().find_map(|prefix| plain.strip_prefix(prefix)).unwrap_or(plain);
    if name.contains(['_', '-']) { Cow::Owned(name.replace(['_', '-'], "")) } else { Cow::Borrowed(name) }
}

/// What to write instead of a function of another language.
pub(crate) fn in_place_of(spelling: &str) -> Option<&'static str> {
    foreign::instead(Place::Function, &without_module(&plain(spelling)))
}

/// The same where it is the key of a record.
pub(crate) fn in_place_of_record(spelling: &str) -> Option<String> {
    let help = in_place_of(spelling)?;
    Some(if help.contains(" is `") { format!("{help}, in `${{…}}`") } else { help.to_owned() })
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
    pub(crate) fn help(self) -> String {
        let negation = if self.negated { ", and `not` before it that it does not" } else { "" };
        format!(
            "`has(list, value)` tells whether a list holds a value, a text a part, or a record a field{negation}"
        )
    }
}

/// The membership test that a word means: `in`, `not in`, `!in`, `$nin`, `not_contains`.
pub(crate) fn membership(spelling: &str) -> Option<Membership> {
    let rest = spelling.trim_start_matches('$');
    let (not, rest) = rest.strip_prefix('!').map_or(("", rest), |rest| ("not", rest));
    let letters = rest.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase());
    let plain: String = not.chars().chain(letters).collect();
    let is_word = rest.bytes().all(|byte| byte.is_ascii_alphabetic() || b" _-".contains(&byte));
    let own = foreign::word(Place::Membership, &plain).filter(|_| is_word)?;
    Some(Membership { list_first: own.ends_with("has"), negated: own.starts_with("not") })
}

/// The comparison that a test of other languages such as `is_null` is: of its operand with null, or of its
/// length with 0.
pub(crate) fn question(spelling: &str) -> Option<(&'static str, bool)> {
    let plain = spelling.to_ascii_lowercase().replace('-', "_");
    let asks = foreign::word(Place::Question, &plain)?;
    Some(asks.strip_prefix("len ").map_or((asks, false), |operator| (operator, true)))
}

/// What to write instead of a function or a test of other languages, as [`in_place_of`] says or with the
/// operators here.
pub(crate) fn instead_of(spelling: &str) -> Option<String> {
    let asks = |(operator, measures)| {
        let (test, than) = if measures { ("len(x)", "0") } else { ("x", "null") };
        format!("write `{test} {operator} {than}`")
    };
    let help = in_place_of(spelling).map(str::to_owned).or_else(|| question(spelling).map(asks));
    help.or_else(|| membership(spelling).map(Membership::help))
}

/// The operator that an unknown spelling means: that of another language, or the same in another case.
pub fn meant(spelling: &str) -> Option<&'static Operator> {
    named(spelling).map(|(operator, _)| operator)
}

/// The operator with a spelling, or the one that it means.
pub(crate) fn known(spelling: &str) -> Option<&'static Operator> {
    find(spelling).or_else(|| meant(spelling))
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
            if negated || in_place_of(spelling).is_some() {
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

/// The help for a function that does not exist: up to three of similar names, and where all are listed.
pub(crate) fn similar(word: &str) -> String {
    let mut near: Vec<&'static str> = Vec::new();
    while near.len() < 3 {
        let own = super::operator::TABLE.iter().map(|operator| operator.spelling);
        let all = own.chain(foreign::words_of(Place::Operation));
        let left = all.filter(|name| name.starts_with(char::is_alphabetic) && !near.contains(name));
        let Some(next) = nearest(word, left) else { break };
        near.push(next);
    }
    let mut own: Vec<&str> =
        near.iter().filter_map(|name| find(name).or_else(|| meant(name))).map(|own| own.spelling).collect();
    own.dedup();
    let most = if own.is_empty() { String::new() } else { format!("similar are `{}`; ", own.join("`, `")) };
    format!("{most}the card of the notation lists all functions; what a tool computes is a step with `call`")
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
        for ours in TABLE.iter() {
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
