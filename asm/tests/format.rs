//! The canonical layout of JSON and YAML: its form, that it is stable, and that it keeps the meaning.

use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, read};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format::{Formatted, format};
use ilo_asm::notation::Notation;
use ilo_asm::print;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn formatted(source: &str, notation: Notation) -> Formatted {
    let options = Options::default();
    format(source, notation, &options.reading, &mut Diagnostics::default())
}

/// The layout of a source, which does not change when laid out again.
#[track_caller]
fn is(source: &str, notation: Notation, expected: &str) {
    assert_eq!(formatted(source, notation), Formatted::Text(expected.to_owned()), "{source}");
    assert_eq!(formatted(expected, notation), Formatted::Text(expected.to_owned()), "again: {expected}");
}

#[test]
fn yaml_keeps_its_comments_and_gets_its_indents() {
    let source = "\u{feff}# what it does\r\nname:   notify \ninput:\n    user-id: text   # who\n\n\n    # why\n    \
                  message: text\noutput: result nil, text\nsteps:\n\n    # first\n    fetch:\n        call: get-user\n        \
                  # in between\n        args: {user-id: $.user-id,\n          b: [1,\n            2]}\n        catch:\n            return:\n        \
                  \x20       error: \"failed:\n                  ${error}\"\n    check:\n     if:\n      and:\n      -   not: \
                  ${fetch.verified}\n      -   - a\n          - b: c\n            d: e\n     # the end\n    done:\n        return: |\n            \
                  two\n              lines\n\n            here\n---\nname: other\nsteps:\n  a:\n    return: 1\n# last\n\n\n";
    let expected = "# what it does\nname:   notify\ninput:\n  user-id: text   # who\n\n  # why\n  message: text\noutput: \
                    result nil, text\n\nsteps:\n  # first\n  fetch:\n    call: get-user\n    # in between\n    args: {user-id: \
                    $.user-id,\n      b: [1,\n        2]}\n    catch:\n      return:\n        error: \"failed:\n          \
                    ${error}\"\n\n  check:\n    if:\n      and:\n        - not: ${fetch.verified}\n        - - a\n          - b: \
                    c\n            d: e\n    # the end\n\n  done:\n    return: |\n      two\n        lines\n\n      \
                    here\n\n---\nname: other\n\nsteps:\n  a:\n    return: 1\n# last\n";
    is(source, Notation::Workflow, expected);
}

#[test]
fn a_comment_that_is_deeper_than_the_first_line_after_it_has_its_indent() {
    for source in
        ["steps:\n    # why\n  a:\n    return: 1\n", "steps:\n      # why\n    a:\n      return: 1\n"]
    {
        is(source, Notation::Workflow, "steps:\n  # why\n  a:\n    return: 1\n");
    }
    is("input:\n  # of x\n\n x: text\n", Notation::Workflow, "input:\n  # of x\n\n  x: text\n");
    // One after the lines of an inner block stays with them.
    is("a:\n    b: 1\n    # of b\nc: 1\n", Notation::Workflow, "a:\n  b: 1\n  # of b\nc: 1\n");
}

#[test]
fn json_is_written_anew() {
    let source = "{\"function\":\"f\",\"input\":{},\"output\":\"nil\",\"steps\":[{\"return\":{\"ok\" : [1,2.50,\"\\u00e9\"]}}]}\n{\"function\":\"g\",\"steps\":[]}";
    let expected = "{\n  \"function\": \"f\",\n  \"input\": {},\n  \"output\": \"nil\",\n  \"steps\": [\n    {\"return\": \
                    {\"ok\": [1, 2.5, \"é\"]}}\n  ]\n}\n\n{\n  \"function\": \"g\",\n  \"steps\": []\n}\n";
    is(source, Notation::ToolCalling, expected);
    is(source, Notation::Mcp, expected);
}

#[test]
fn the_constrained_notation_stays_a_line_a_function() {
    let source = "{\"fn\": \"f\",\n \"body\": [ {\"ret\": 1.0} ]}\n\n[{\"fn\": \"g\"},\n\n{\"fn\": \"h\"}]";
    let expected = "{\"fn\":\"f\",\"body\":[{\"ret\":1.0}]}\n[\n{\"fn\":\"g\"},\n{\"fn\":\"h\"}\n]\n";
    is(source, Notation::Constrained, expected);
}

#[test]
fn what_is_none_is_refused_and_what_would_change_left_alone() {
    assert_eq!(formatted("{\"a\":1", Notation::Mcp), Formatted::Refused);
    assert_eq!(formatted("a: ,b", Notation::Workflow), Formatted::Refused);
    // Comments would be lost.
    assert_eq!(formatted("{\"a\":1 /* one */}", Notation::Mcp), Formatted::LeftAlone);
    // Each empty line after such a block counts.
    assert_eq!(formatted("a: |+\n  b\n\n\nc: 1\n", Notation::Workflow), Formatted::LeftAlone);
    // A number counts the blanks from the key, and so stays right.
    is("a:\n     b: |2\n         c\n", Notation::Workflow, "a:\n  b: |2\n      c\n");
}

#[test]
fn what_is_printed_has_the_canonical_layout() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "ilo")) {
        let source = fs::read_to_string(&path).unwrap();
        let arena = Arena::new();
        let mut diagnostics = Diagnostics::default();
        let file = read(&source, &arena, &Options::default(), &mut diagnostics);
        for notation in [Notation::ToolCalling, Notation::Constrained, Notation::Workflow, Notation::Mcp] {
            let text = print::print(&file, notation, &mut diagnostics);
            assert_eq!(formatted(&text, notation), Formatted::Text(text), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 20, "{count} of them");
}

#[test]
fn an_example_in_yaml_is_laid_out_already() {
    let source = include_str!("document/notify.workflow.yaml");
    is(source, Notation::Workflow, source);
}

/// Lines of YAML as they come.
fn yaml() -> impl Strategy<Value = String> {
    let line = "( {0,6}(- ){0,2}([a-c]|steps): ?(|x|1|[|]|[>]|'a|b'|[{]a: 1,|b: 2[}]|\\[1|\\])| {0,6}(# c|x|- x|)|---)";
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Laying out twice gives the same, and the result reads as the same document: [`format`] itself refuses
    /// everything else.
    #[test]
    fn a_layout_stays(source in yaml()) {
        if let Formatted::Text(text) = formatted(&source, Notation::Workflow) {
            prop_assert_eq!(formatted(&text, Notation::Workflow), Formatted::Text(text));
        }
    }
}
