//! Figures of how foreign forms are met: the programs that are refused although their fix is right in full,
//! and the lists of foreign words in `asm`. They only go down.

use crate::tree::{below, read};
use std::collections::HashSet;

/// The cases that are refused although `fixed` is right in full: guesses by nearness, and what is to be
/// read yet.
const REFUSED: usize = 19;
/// The lists of words of other languages, with the table of `asm/src/foreign.rs`.
const LISTS: usize = 1;
/// The lists of words that are neither of ilo's documents nor in that table: of other languages, or of JSON
/// Schema, of ID text and of types.
const OTHERS: usize = 33;

/// The texts in quotes of a source, each with what is between it and the one before.
fn texts(source: &str) -> Vec<(&str, &str)> {
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(open) = rest.find('"') {
        let (before, after) = rest.split_at(open);
        let mut escaped = false;
        let close = after.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let Some(close) = close else { break };
        found.push((before, &after[1..=close]));
        rest = &after[close + 2..];
    }
    found
}

/// The lists of a source, as arrays or alternatives of three or more, of which two and more than a third are
/// foreign words.
fn lists(source: &str, is_foreign: impl Fn(&str) -> bool) -> usize {
    let (mut count, mut length, mut foreign) = (0, 0, 0);
    for (before, text) in texts(source).into_iter().chain([("end", "")]) {
        let goes_on = before.trim() == "," || before.trim() == "|";
        if !goes_on {
            count += usize::from(length > 2 && foreign > 1 && foreign * 3 > length);
            (length, foreign) = (0, 0);
        }
        length += 1;
        foreign += usize::from(is_foreign(text));
    }
    count
}

#[test]
fn foreign_forms_are_read_and_stand_in_one_table() {
    let table = read("asm/src/foreign.rs");
    let rows = table.split_once("static ROWS").unwrap().1.split_once("\n];").unwrap().0;
    let functions = read("spec/src/pure.rs").to_lowercase();
    let dialect = read("asm/src/dialect/mod.rs") + &read("asm/src/dialect/operator.rs") + &functions;
    let own: HashSet<&str> = texts(&dialect).into_iter().map(|(_, text)| text).collect();
    // Words of YAML's own core schema too.
    let literal = |text: &str| ["null", "true", "false"].contains(&text.to_lowercase().as_str());
    let is_word = |text: &&str| {
        text.contains(char::is_alphabetic)
            && !text.contains([' ', '/', '`'])
            && !own.contains(text)
            && !literal(text)
    };
    let words = texts(rows).into_iter().map(|(_, text)| text).filter(is_word).map(str::to_owned);
    let words: HashSet<String> = words.collect();
    let sources =
        below("asm/src", &[".rs"]).filter(|path| !path.contains("/tests") && !path.ends_with("/foreign.rs"));
    let in_program = |path: &'static str| {
        let source = read(path);
        let program = source.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
        (lists(program, |text| words.contains(text)), lists(program, |text| is_word(&text)), path)
    };
    let found: Vec<(usize, usize, &str)> = sources.map(in_program).filter(|found| found.1 > 0).collect();
    let lists = 1 + found.iter().map(|found| found.0).sum::<usize>();
    let others = found.iter().map(|found| found.1).sum::<usize>() + 1 - lists;
    let is_refused = |path: &&str| {
        let case = read(path);
        let has = |section: &str| case.contains(&format!("\n=== {section}"));
        has("fixed") && !has("outcome") && case.contains("\nerror ")
    };
    let refused: Vec<&str> = below("spec/corpus/first-try", &[".case"]).filter(is_refused).collect();
    println!("refused though fixable in full: {}", refused.len());
    println!("lists of foreign words: {lists}");
    println!("lists of other words: {others}");
    assert!(lists <= LISTS, "lists of foreign words: {lists}, at most {LISTS}: {found:?}");
    assert!(others <= OTHERS, "lists of other words: {others}, at most {OTHERS}: {found:?}");
    assert!(refused.len() <= REFUSED, "refused: {}, at most {REFUSED}: {refused:?}", refused.len());
}
