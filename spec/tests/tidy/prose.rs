//! Checks the width and the words of comments and messages.

use crate::root::FOLDERS;
use crate::source::{Kind, Token, tokens};
use crate::tree::{below, complain, read};

/// The longest comment line in columns. rustfmt wraps code at the same width, but does not wrap comments.
const WIDTH: usize = 110;

/// The most words of the README, which a newcomer reads whole.
const README: usize = 1_500;

/// Files without [`BANNED`] words, apart from the [`FOLDERS`].
const CLEAN: &[&str] = &["README.md", "ARCHITECTURE.md"];

/// Words and phrases that are not usual in their meaning here, with the usual ones.
const BANNED: &[(&str, &str)] = &[
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("a sister", "another notation"),
    ("sisters", "other notations"),
    ("is told", "gets, knows"),
    ("are told", "get, know"),
    ("one piece", "whole, at once"),
    ("a yes", "accepted, true"),
    ("stands", "is, is in"),
    ("held against", "compared with"),
    ("came of", "the result of"),
];

/// Files that contain these words on purpose.
const NAMING: &[&str] = &["spec/tests/tidy/prose.rs"];

/// The lines of a source with a comment that exceeds the width.
fn wide(source: &str) -> Vec<usize> {
    let comments = tokens(source).into_iter().filter(|token| token.kind == Kind::Comment);
    let mut found: Vec<usize> = comments
        .flat_map(|comment| (comment.line..).take(comment.text.lines().count()))
        .filter(|&line| source.lines().nth(line - 1).is_some_and(|text| text.chars().count() > WIDTH))
        .collect();
    found.dedup();
    found
}

/// The words of a text in lower case with their lines; `line` is the first line.
fn words(text: &str, line: usize) -> impl Iterator<Item = (String, usize)> {
    (line..).zip(text.lines()).flat_map(|(line, text)| {
        let words =
            text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(move |word| (word.to_lowercase(), line))
    })
}

/// The banned phrases in a file, with their lines. In a Rust source, only comments and strings count.
fn banned(path: &str, text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let of = |wanted: Kind| -> Vec<(String, usize)> {
        let found = tokens(text).into_iter().filter(|token| token.kind == wanted);
        found.flat_map(|Token { text, line, .. }| words(&text, line).collect::<Vec<_>>()).collect()
    };
    let is_rust = path.rsplit('.').next() == Some("rs");
    let streams =
        if is_rust { vec![of(Kind::Comment), of(Kind::Text)] } else { vec![words(text, 1).collect()] };
    let mut found = Vec::new();
    for words in &streams {
        for &(phrase, usual) in BANNED {
            let parts: Vec<&str> = phrase.split(' ').collect();
            let hits =
                words.windows(parts.len()).filter(|hit| hit.iter().map(|(word, _)| word).eq(parts.iter()));
            found.extend(hits.map(|hit| (hit[0].1, phrase, usual)));
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn comments_stay_within_their_width() {
    let mut problems = Vec::new();
    for path in FOLDERS.iter().flat_map(|folder| below(folder, &[".rs"])) {
        let lines = wide(&read(path));
        problems
            .extend(lines.into_iter().map(|line| format!("{path}:{line}: a comment past {WIDTH} columns")));
    }
    complain(&problems);
}

#[test]
fn comments_and_messages_use_the_usual_words() {
    let mut problems = Vec::new();
    for path in FOLDERS
        .iter()
        .chain(CLEAN)
        .flat_map(|folder| below(folder, &[".rs", ".md", ".sh", ".toml", ".yml", "/run"]))
    {
        if !NAMING.contains(&path) {
            let found = banned(path, &read(path));
            problems.extend(
                found
                    .into_iter()
                    .map(|(line, word, usual)| format!("{path}:{line}: `{word}`; usual: {usual}")),
            );
        }
    }
    complain(&problems);
}

#[test]
fn the_readme_is_short() {
    let words = read("README.md").split_whitespace().count();
    assert!(words <= README, "README.md has {words} words, at most {README}");
}

#[test]
fn folders_in_the_tables_exist() {
    for folder in FOLDERS.iter().chain(CLEAN).chain(NAMING) {
        assert!(below(folder, &[""]).next().is_some(), "{folder}");
    }
}

#[test]
fn a_wide_comment_is_found_and_wide_code_is_not() {
    let long = "x".repeat(WIDTH);
    let source = format!("//{long}\nlet a = \"{long}\";\n{}// é\n/* a\n{long}y\n*/\n", "é".repeat(WIDTH - 4));
    assert_eq!(wide(&source), [1, 5]);
}

#[test]
fn banned_words_are_found_in_comments_and_strings_only() {
    let source = "// It amends; Mends\n// in one\n// piece.\nfn mend() { \"a sister\"; }\n";
    let found: Vec<_> = banned("a.rs", source).into_iter().map(|(line, word, _)| (line, word)).collect();
    assert_eq!(found, [(1, "mends"), (2, "one piece"), (4, "a sister")]);
    assert_eq!(banned("a.md", "It is\ntold so.").len(), 1);
}
