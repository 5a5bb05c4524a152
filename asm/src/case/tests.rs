//! Reading cases, their errors, and writing sections.

use super::*;

fn errors(text: &str) -> Vec<String> {
    Case::read(text).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn sections_keep_every_byte() {
    let case =
        Case::read("\u{feff}about: a\n\n=== source id\n; x\r\n\n=== trace id\n=== outcome\n{}").unwrap();
    assert_eq!(case.header("about"), Some("a"));
    assert_eq!(case.sources()[0].text, "; x\r\n\n");
    assert_eq!(case.sources()[0].line, 3);
    assert_eq!(case.section_for("trace", Notation::Id), Some(""));
    assert_eq!(case.section_for("outcome", Notation::Id), Some("{}"));
    assert_eq!(case.section_for("outcome id", Notation::Mcp), None);
}

#[test]
fn every_error_has_its_line_and_its_fix() {
    let none = "a case has a program, and this has none; \
        write `=== source NOTATION` with the program below it, or a header `program: FILE`";
    for (text, expected) in [
        ("", vec![format!("line 1: {none}")]),
        ("=== outcome\n{}\n", vec![format!("line 1: {none}")]),
        (
            "abuot: x\nno colon\nabout:\n=== source\n",
            vec![
                "line 1: no header is named `abuot`; did you mean `about`?".to_owned(),
                "line 2: expected a header `key: value`, or a section `=== source NOTATION`, \
                 found `no colon`"
                    .to_owned(),
                "line 3: the header `about` has no value; write one or remove the line".to_owned(),
                "line 4: the notation is missing: `=== source NOTATION`, \
                 one of id, tool-calling, constrained, workflow, mcp"
                    .to_owned(),
            ],
        ),
        (
            "rule: 1\nrule: 2\n=== source id\n=== source  id\n=== outcomes\n=== trace yaml\n",
            vec![
                "line 2: the header `rule` is in line 1 already; remove one".to_owned(),
                "line 4: the section `source id` is in line 3 already; remove one".to_owned(),
                "line 5: no section is named `outcomes`; did you mean `outcome`?".to_owned(),
                "line 6: `yaml` is not a notation; there are id, tool-calling, constrained, workflow, mcp"
                    .to_owned(),
            ],
        ),
        (
            "program: a.ilo\ntools: t.json\n=== source id\n=== tools\n=== outcome mcp\n",
            vec![
                "line 1: the program is both a header and a section; remove one".to_owned(),
                "line 2: the tools are both a header and a section; remove one".to_owned(),
                "line 5: `outcome mcp` is of a source that is not here: `source mcp`".to_owned(),
            ],
        ),
        (
            "=== source id\n=== diagnostics\nsays x\nwrong\n",
            vec![
                "line 3: expected `error CODE LINE:COLUMN`, `warning CODE LINE:COLUMN`, \
                 or below such a line `says WORDS`"
                    .to_owned(),
                "line 4: expected `error CODE LINE:COLUMN`, `warning CODE LINE:COLUMN`, \
                 or below such a line `says WORDS`"
                    .to_owned(),
            ],
        ),
    ] {
        assert_eq!(errors(text), expected, "{text}");
    }
}

#[test]
fn a_hostile_file_costs_no_more_than_its_size() {
    let many = "=== outcome\n".repeat(100_000) + &"=== x\n".repeat(100_000);
    assert_eq!(errors(&many).len(), MOST);
    assert_eq!(errors(&"x: y\n".repeat(100_000)).len(), MOST);
    assert_eq!(errors("\0\u{1}\n\u{7f}").len(), 2);
    assert!(errors(&"x".repeat(1 << 20))[0].len() < 200);
}

#[test]
fn contents_are_replaced_where_they_are_and_added_at_the_end() {
    let text = "about: a\n=== source id\nx\n=== outcome\nold\n=== input\n{}";
    let case = Case::read(text).unwrap();
    let contents = [("trace".to_owned(), "new\n".to_owned()), ("outcome".to_owned(), "1\n".to_owned())];
    let expected = "about: a\n=== source id\nx\n=== outcome\n1\n=== input\n{}\n=== trace\nnew\n";
    assert_eq!(case.with_sections(text, &contents), expected);
    let again = Case::read(expected).unwrap();
    assert_eq!(again.with_sections(expected, &contents), expected);
    let open = "=== source id\nx\n=== outcome";
    let case = Case::read(open).unwrap();
    assert_eq!(case.with_sections(open, &contents[1..]), format!("{open}\n1\n"));
}
