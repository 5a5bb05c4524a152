//! Runs the example of every habit of ID text, with the habits and without.

use crate::compile::{Options, read};
use crate::diagnostic::{Diagnostics, fix};
use crate::habits::tokens::rows::ROWS;
use crate::habits::tokens::words::INSTRUCTIONS;
use crate::id;
use crate::notation::Notation;
use crate::source::Limits;
use bumpalo::Bump;

const HEAD: &str =
    "; fn f(a: text, b: number) -> number\n; Vars: 0=a 1=b 2=c\n; Tools: 0=t\n; Fields: 0=k 1=l\n";

/// The diagnostics of a body, and what their fixes make of it.
fn read_body(body: &str) -> (Diagnostics, String) {
    let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
    let source = format!("{HEAD}{body}\n");
    let options = Options { from: Some(Notation::Id), ..Options::default() };
    read(&source, &arena, &options, &mut diagnostics);
    let (fixed, _) = fix::apply(&source, diagnostics.as_slice());
    (diagnostics, fixed.strip_prefix(HEAD).unwrap_or(&fixed).trim_end().to_owned())
}

/// Whether a body is refused where nobody knows the habits of other languages.
fn is_refused(body: &str) -> bool {
    let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
    id::parse(&format!("{HEAD}{body}\n"), &arena, &Limits::default(), &mut diagnostics);
    diagnostics.has_errors()
}

#[test]
fn every_row_does_what_its_example_shows() {
    for row in ROWS {
        let (body, fixed) = row.example;
        let (diagnostics, found) = read_body(body);
        let begins = |template: &str| template.split('{').next().unwrap_or("").to_owned();
        let is_row = diagnostics.as_slice().iter().any(|diagnostic| {
            let help = diagnostic.help.as_deref().unwrap_or("");
            diagnostic.message.starts_with(&begins(row.message)) && help.starts_with(&begins(row.help))
        });
        assert!(is_row, "{body}\n{diagnostics:?}");
        assert_eq!(found, fixed, "{body}");
        assert_eq!(row.fix.is_some(), body != fixed, "{body}");
        assert!(is_refused(body), "{body}");
    }
}

#[test]
fn every_word_is_read_as_its_instruction() {
    for habit in INSTRUCTIONS {
        let (diagnostics, fixed) = read_body(habit.example);
        assert_eq!(diagnostics.as_slice().len(), 1, "{}\n{diagnostics:?}", habit.example);
        assert!(fixed.contains(habit.means.mnemonic()), "{fixed}");
        assert!(read_body(&fixed).0.as_slice().is_empty(), "{fixed}");
        assert!(is_refused(habit.example), "{}", habit.example);
    }
}

#[test]
fn a_program_without_habits_is_the_same_without_them() {
    let source = include_str!("../../../tests/id/notify.ilo");
    let (arena, mut canonical, mut found) = (Bump::new(), Diagnostics::default(), Diagnostics::default());
    let file = id::parse(source, &arena, &Limits::default(), &mut canonical);
    let options = Options { from: Some(Notation::Id), ..Options::default() };
    let with_habits = read(source, &arena, &options, &mut found);
    assert!(!found.has_errors());
    assert_eq!(canonical.as_slice(), found.as_slice());
    assert_eq!(format!("{file:?}"), format!("{with_habits:?}"));
}
