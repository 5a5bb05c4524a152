//! The page that shows each construct in every notation, generated from the cases of
//! `spec/corpus/constructs`, which the corpus test runs.
//!
//! `UPDATE=1 cargo test -p ilo-asm --test corpus` rewrites it.

use crate::case;
use ilo_asm::notation::Notation;
use std::fmt::Write;
use std::fs;

/// The notations in the order of the page, with the word that their code blocks begin with.
pub(crate) const NOTATIONS: [(Notation, &str); 5] = [
    (Notation::Id, "text"),
    (Notation::ToolCalling, "json"),
    (Notation::Constrained, "json"),
    (Notation::Workflow, "yaml"),
    (Notation::Mcp, "json"),
];

const HEAD: &str = "\
# Constructs

This page shows each construct in all five notations. The five programs of a construct do the same. This page is
generated from the cases in [`../corpus/constructs`](../corpus/constructs). Each case also has the input, the outcome and
the calls of its programs, and a test runs it.

";

fn page() -> String {
    let cases = case::all(&case::folder("corpus/constructs"));
    let mut page = HEAD.to_owned();
    for case in &cases {
        let about = case.header("about").unwrap();
        writeln!(page, "- [{about}](#{})", anchor(about)).unwrap();
    }
    for case in &cases {
        write!(page, "\n## {}\nRules: {}.\n", case.header("about").unwrap(), case.header("rule").unwrap())
            .unwrap();
        page.push_str("<table>\n");
        for (notation, language) in NOTATIONS {
            let source = case.section_for("source", notation).unwrap().trim_end();
            write!(page, "<tr><th>{notation}</th><td>\n\n```{language}\n{source}\n```\n\n</td></tr>\n")
                .unwrap();
        }
        page.push_str("</table>\n");
    }
    page
}

/// The anchor that GitHub gives a title.
pub(crate) fn anchor(title: &str) -> String {
    let kept =
        title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>();
    kept.to_lowercase().replace(' ', "-")
}

/// Compares a page of the specification with its new text, or writes it.
pub(crate) fn hold(name: &str, page: &str) {
    let path = case::folder("doc").join(name);
    if page != fs::read_to_string(&path).unwrap_or_default() {
        assert!(std::env::var_os("UPDATE").is_some(), "{name} is not current: run with UPDATE=1");
        fs::write(path, page).unwrap();
    }
}

#[test]
fn the_page_is_current() {
    hold("constructs.md", &page());
}
