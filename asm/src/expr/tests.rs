//! Tests of the parser, the printer and templates. Expectations are written by hand from the rules of
//! references and expressions.

mod print;

use super::names::Used;
use super::reference::bare;
use super::template::{Part, Template};
use super::{Sigil, Tree, TreeKind, names, path, template, whole};
use crate::arena::Arena;
use crate::diagnostic::{Diagnostics, fix};
use crate::document::{Node, NodeKind, Style, Text};
use crate::span::Span;
use print::write;
use proptest::prelude::*;

/// A text that begins at the start of its source.
fn node(text: &str) -> Node<'_> {
    let end = u32::try_from(text.len()).unwrap();
    let kind = NodeKind::Text(Text { text, style: Style::Block, start: Some(0) });
    Node { kind, span: Span::new(0, end) }
}

/// The canonical form of a text that is an expression, and what was reported.
fn read(text: &str) -> (Option<String>, Diagnostics) {
    let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
    let tree = whole(&node(text), Sigil::Dollar, 64, &arena, &mut diagnostics);
    (tree.map(|tree| write(&tree)), diagnostics)
}

fn shown(template: &Template<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Text(text, _) => format!("'{text}'"),
        Part::Reference(reference) => format!("<{reference}>"),
        Part::Value(tree) => format!("<{}>", write(tree)),
        Part::Bad(_) => "<?>".to_owned(),
    };
    template.parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

fn parts(text: &str, sigil: Sigil) -> (String, Diagnostics) {
    let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
    let template = template(&node(text), sigil, 64, &arena, &mut diagnostics);
    (shown(&template), diagnostics)
}

#[test]
fn expressions_are_read_by_precedence_and_written_in_one_form() {
    let cases = [
        ("$.price * $.quantity", ".price * .quantity"),
        ("a + b * c - 1", "a + b * c - 1"),
        ("(a + b) * c", "(a + b) * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("$a-$b", "a - b"),
        ("a -1", "a - 1"),
        ("a-1", "a-1"),
        ("3-1", "3 - 1"),
        ("2 * -1", "2 * -1"),
        ("-a.b", "-a.b"),
        ("-(a + b)", "-(a + b)"),
        ("not a or b and c", "not a or b and c"),
        ("!a || b && c", "not a or b and c"),
        ("not a == b", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("(a or b) and c", "(a or b) and c"),
        ("a === 1", "a == 1"),
        ("a !== 1", "a != 1"),
        ("a <> 1", "a != 1"),
        ("a is null", "a == null"),
        ("a is not None", "a != null"),
        ("a AND NOT b", "a and not b"),
        ("a in xs and b not in ys", "a in xs and b not in ys"),
        ("0 <= x < 9", "0 <= x < 9"),
        ("9 > x >= 0", "9 > x >= 0"),
        ("(a < b) == c", "(a < b) == c"),
        ("a // 2 % 3", "a // 2 % 3"),
        ("a if c else b", "a if c else b"),
        ("c ? a : b", "a if c else b"),
        ("a if b else c if d else e", "a if b else c if d else e"),
        ("(a if b else c) if d else e", "(a if b else c) if d else e"),
        ("c ? a : d ? b : e", "a if c else b if d else e"),
        ("a ?? b ?? c", "a ?? b ?? c"),
        ("(a ?? b) ?? c", "(a ?? b) ?? c"),
        ("a ?? b or c", "a ?? b or c"),
        ("(a ?? b) + 1", "(a ?? b) + 1"),
        ("a?.b.c", "a?.b?.c"),
        ("t.0.5", "t.0.5"),
        ("$.t.0.5", ".t.0.5"),
        ("input.x + $input.y", ".x + .y"),
        ("$.x + .y", ".x + .y"),
        ("a.if.not", "a.if.not"),
        ("not.in", "not.in"),
        ("in", "in"),
        ("true.x", "true.x"),
        ("xs[0].name", "xs.0.name"),
        ("xs[-1]", "xs[-1]"),
        ("xs[i + 1]", "xs[i + 1]"),
        ("c[\"First Name\"]", "c[\"First Name\"]"),
        ("c['it''s'].a", "c[\"it's\"].a"),
        (".[\"any name\"]", ".[\"any name\"]"),
        ("xs[1:3]", "xs[1:3]"),
        ("xs[:n]", "xs[:n]"),
        ("xs[2:]", "xs[2:]"),
        ("len(a.b) >= 3", "len(a.b) >= 3"),
        ("x.trim().length", "x.trim().length"),
        ("f(a, b)(", ""),
        ("[1, a, [b]]", "[1, a, [b]]"),
        ("{a: 1, \"b c\": x,}", "{a: 1, 'b c': x}"),
        ("[x * 2 for x in xs if x > 1]", "[x * 2 for x in xs if x > 1]"),
        ("xs.map(x => x.id)", "xs.map(x => x.id)"),
        ("xs.map((x) => x + 1)", "xs.map(x => x + 1)"),
        ("sort(xs, reverse=True)", "sort(xs, reverse=true)"),
        ("'a' + \"b\\n\"", "'a' + 'b\n'"),
        ("'it''s' + 'it\\'s'", "'it''s' + 'it''s'"),
        ("'\\d'", "'\\d'"),
        ("'Dear $name, ${n + 1}}'", "'Dear ${name}, ${n + 1}}'"),
        ("'$$x'", "'$$x'"),
        ("${a} + ${ b }", "a + b"),
        ("{{ a }} > 3", "a > 3"),
        ("a = 1", "a == 1"),
        ("f'Dear {name}'", "'Dear ${name}'"),
        ("`Dear ${name}`", "'Dear ${name}'"),
        ("${{ a + 1 }}", "a + 1"),
        ("9007199254740993", "9007199254740993"),
        ("-9223372036854775808", "-9223372036854775808"),
        (" \n a\n+\n b ", "a + b"),
    ];
    for (text, expected) in cases.into_iter().filter(|(_, expected)| !expected.is_empty()) {
        let (found, diagnostics) = read(text);
        assert!(!diagnostics.has_errors(), "{text}: {:?}", diagnostics.as_slice());
        assert_eq!(found.as_deref(), Some(expected), "{text}");
        assert_eq!(read(expected).0.as_deref(), Some(expected), "{expected}");
    }
}

#[test]
fn what_is_no_expression_is_one_error() {
    // The text, the code, a part of the help or of the fixed text.
    let cases = [
        ("", "bad-expression", ""),
        ("a +", "bad-expression", ""),
        ("* a", "bad-expression", ""),
        ("+a", "bad-expression", "leave it out"),
        ("(a", "bad-expression", ""),
        ("a)", "bad-expression", "remove it"),
        ("a b", "bad-expression", ""),
        ("a < b > c", "bad-expression", "chain"),
        ("a == b == c", "bad-expression", "chain"),
        ("a < b < c < d", "bad-expression", "chain"),
        ("a in b in c", "bad-expression", "chain"),
        ("!a == b", "bad-expression", "not (a == b)"),
        ("a if b", "bad-expression", ""),
        ("a ? b", "bad-expression", ""),
        ("a => 1", "unknown-operator", ">="),
        ("a & b", "unknown-operator", "and"),
        ("a ** 2", "unknown-operator", "no power"),
        ("a | upper", "unknown-operator", "no filters"),
        ("$ > 1", "bad-expression", "'$'"),
        ("99999999999999999999", "number-range", ""),
        ("1e999", "number-range", ""),
        ("1. ", "bad-number", ""),
        ("'open", "bad-string", ""),
        ("{a: 1, a: 2}", "duplicate-key", ""),
        ("x + ${{a}}", "bad-reference", "blank"),
        ("a.", "bad-expression", ""),
        ("r'Dear {name}'", "bad-expression", ""),
        ("f'{x:.2f}'", "bad-expression", ""),
        ("{", "bad-expression", ""),
        ("[a", "bad-expression", ""),
        ("[x for x xs]", "bad-expression", ""),
    ];
    for (text, code, help) in cases {
        let (found, diagnostics) = read(text);
        let [wrong] = diagnostics.as_slice() else { panic!("{text}: {diagnostics:?}") };
        assert_eq!((found, wrong.code.as_str()), (None, code), "{text}");
        let said = wrong.help.as_deref().unwrap_or("");
        assert!(
            said.contains(help) || fix::apply(text, std::slice::from_ref(wrong)).0.contains(help),
            "{text}: {said}"
        );
    }
}

#[test]
fn texts_come_apart_into_text_and_expressions() {
    let cases = [
        ("", ""),
        ("plain", "'plain'"),
        ("$.user-id", "<.user-id>"),
        ("${input.user-id}", "<.user-id>"),
        ("$input", "<input>"),
        ("$user.email", "<user.email>"),
        ("${ user.email }", "<user.email>"),
        ("${c[\"First Name\"].a[\"}\"].0}", "<c[\"First Name\"].a[\"}\"].0>"),
        ("${['any name']}", "<['any name']>"),
        ("$items.0.name", "<items.0.name>"),
        ("$items.0.name!", "<items> '.0.name!'"),
        ("$total.00", "<total> '.00'"),
        ("Dear $c.name, hello", "'Dear ' <c.name> ', hello'"),
        ("$a--$b", "<a> '--' <b>"),
        ("$5 and 3$ and $ and $-x", "'$5 and 3$ and $ and $-x'"),
        ("x$$y$$$z", "'x$y$' <z>"),
        ("$${a}", "'${a}'"),
        ("{{a}} {b} $(c)", "'{{a}} {b} $(c)'"),
        ("${n + 1} of ${len(xs)}", "<n + 1> ' of ' <len(xs)>"),
        ("${'}' if x else '{'}!", "<'}' if x else '{'> '!'"),
        ("${'a ${'b'}'}", "<?>"),
        ("${ {a: x} } and", "<{a: x}> ' and'"),
        ("${{ n }}", "<n>"),
        ("${not}", "<not>"),
    ];
    for (text, expected) in cases {
        let (found, diagnostics) = parts(text, Sigil::Dollar);
        assert_eq!(found.starts_with("<?>"), diagnostics.has_errors(), "{text}: {diagnostics:?}");
        if !diagnostics.has_errors() {
            assert_eq!(found, expected, "{text}");
        }
    }
    for (text, expected) in [("$a.b and ${a.b}", "'$a.b and ' <a.b>"), ("${err}", "<err>"), ("$.x", "'$.x'")]
    {
        assert_eq!(parts(text, Sigil::Braces).0, expected, "{text}");
    }
}

#[test]
fn braces_that_cannot_be_read_say_what_to_write() {
    // The text, the code, a part of its help, and the text after the fix.
    let cases = [
        ("a ${b", "bad-reference", "close it", "a ${b}"),
        ("${}", "bad-reference", "write a name here", ""),
        ("a ${{b}}", "bad-reference", "a blank before", ""),
        ("${First Name}", "bad-expression", "operator", ""),
        ("${a +}", "bad-expression", "", ""),
        ("x $a[0] y", "bad-reference", "`${a[0]}`", "x ${a[0]} y"),
        ("x $a[$i] y", "bad-reference", "", "x ${a[$i]} y"),
        ("${'${'${'${'${x}'}'}'}'}", "bad-expression", "", ""),
    ];
    for (text, code, help, fixed) in cases {
        let (_, diagnostics) = parts(text, Sigil::Dollar);
        let [found] = diagnostics.as_slice() else { panic!("{text}: {diagnostics:?}") };
        assert_eq!(found.code.as_str(), code, "{text}");
        let said = found.help.as_deref().unwrap_or("");
        assert!(said.contains(help), "{text}: {said}");
        let expected = if fixed.is_empty() { text } else { fixed };
        assert_eq!(fix::apply(text, diagnostics.as_slice()).0, expected, "{text}");
    }
}

#[test]
fn braces_are_nested_at_most_four_deep() {
    let nested = |depth: usize| format!("{}x{}", "${".repeat(depth), "}".repeat(depth));
    assert!(!parts(&nested(4), Sigil::Dollar).1.has_errors());
    let (_, diagnostics) = parts(&nested(5), Sigil::Dollar);
    assert_eq!(diagnostics.as_slice()[0].code.as_str(), "too-deep");
}

#[test]
fn one_path_is_told_from_a_text() {
    let arena = Arena::new();
    let found = |text| path(&node(arena.alloc_str(text)), 64, &arena).map(|found| found.to_string());
    for (text, expected) in [
        ("items", "items"),
        ("order.lines.0", "order.lines.0"),
        ("input.items", ".items"),
        ("${xs[0]}", "xs.0"),
        ("{{ xs }}", "xs"),
        ("$.xs", ".xs"),
        ("in", "in"),
    ] {
        assert_eq!(found(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", "a b", "a + b", "null", "3", "len(xs)", "'x'", "a.", "Hello, world"] {
        assert_eq!(found(text), None, "{text}");
    }
    let bare = |text: &'static str| bare(&node(text), &arena).map(|found| found.to_string());
    for text in ["user-id", "user.verified", "items.0.name", "_a"] {
        assert_eq!(bare(text).as_deref(), Some(text));
    }
    for text in ["", "a b", "a.", ".a", "a..b", "1a", "a-", "$a", "${a}", "a.00"] {
        assert_eq!(bare(text), None, "{text}");
    }
}

#[test]
fn the_survey_finds_the_names_of_expressions() {
    let found = |text: &str, whole: bool| {
        let mut all = Vec::new();
        names::used(text, whole, &mut |used| {
            all.push(match used {
                Used::Name(name) => name.to_owned(),
                Used::Input(name) => format!(".{name}"),
                Used::Quoted(word) => format!("'{word}'"),
            });
        });
        all.join(" ")
    };
    let cases = [
        ("plain text", false, ""),
        ("a $b.c and ${d.e + .f}", false, "b d .f"),
        ("$$x ${g}", false, "g"),
        ("price * $.rate", true, "price .rate"),
        ("'not ${a} but b' + c", true, "a c"),
        ("a == 'open' or ['b c', \"shut\"]", true, "a 'open' or 'shut'"),
        ("plain 'open'", false, ""),
        ("${'x ${y + z}'} ${input.w}", false, "y z .w"),
        ("${.[\"a b\"]}", false, ".a b"),
        ("$input", false, ".input"),
    ];
    for (text, whole, expected) in cases {
        assert_eq!(found(text, whole), expected, "{text}");
    }
}

#[test]
fn levels_are_counted() {
    let levels = |text: &str, nesting| {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let found = whole(&node(text), Sigil::Dollar, nesting, &arena, &mut diagnostics);
        assert_eq!(found.is_none(), diagnostics.has_errors());
        let last = diagnostics.as_slice().last();
        assert!(last.is_none_or(|found| found.code.as_str() == "too-deep"), "{last:?}");
        found.is_some()
    };
    for (text, needs) in [("1", 1), ("1 + 2", 2), ("1 + 2 + 3", 3), ("not not 1", 3), ("len(1)", 2)] {
        assert!(levels(text, needs), "{text}");
        assert!(!levels(text, needs - 1), "{text}");
    }
    for open in ["(", "not ", "-", "len(", "!", "[", "{a: ", "a ?? ", "a ? ", "1 + (", "x[", "f(x => "] {
        assert!(!levels(&format!("{}1", open.repeat(100_000)), 256), "{open}");
    }
    for chain in ["a + ", "a and ", "a.f() + ", "a if b else "] {
        assert!(!levels(&format!("{}1", chain.repeat(100_000)), 256), "{chain}");
    }
}

/// A reader that reads the rest of its text again and again would not return from these.
#[test]
fn long_texts_are_read_once() {
    let pieces = [
        "${",
        "${a",
        "${a[\"",
        "${a['",
        "${a b",
        "${a}",
        "$a[",
        "$a['",
        "$a.",
        "$a.0",
        "$$",
        "$${",
        "{",
        "{{",
        "{a.",
        "$(",
        "$(a",
        "'",
        "\"",
        "\\",
        "a",
        "a.",
        "a-",
        "1",
        "-",
        "1 + ",
        "$a and ",
        "len(",
        "! ",
        "${'",
        "'${",
        "a ? b : ",
        "?.",
        "[x for x in ",
        "${a} }",
        "a ?? ",
        "{{a | b}}",
        "${{",
        "''",
    ];
    for piece in pieces {
        let text = piece.repeat(200_000 / piece.len());
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let node = node(&text);
        let read = template(&node, Sigil::Dollar, 64, &arena, &mut diagnostics);
        let covered = read.parts.iter().map(|part| match part {
            Part::Text(_, span) | Part::Bad(span) => span.range().len(),
            Part::Reference(reference) => reference.span.range().len(),
            Part::Value(tree) => tree.span.range().len(),
        });
        assert_eq!(covered.sum::<usize>(), text.len(), "{piece}");
        whole(&node, Sigil::Dollar, 64, &arena, &mut diagnostics);
        path(&node, 64, &arena);
        names::used(&text, true, &mut |_| {});
    }
}

/// Texts that meet the readers' own characters often.
fn words() -> impl Strategy<Value = String> {
    const PIECES: [&str; 46] = [
        "$", "${", "}", "{", "$$", ".", "-", "[", "\"", "]", "'", "\\", "a", "input", "é", "0", "12", " ",
        "(", ")", "not", "len(", "==", "!", "+", "*", ",", "and", "𝒳", "?", " ? ", ":", "??", "?.", " if ",
        " else ", "in", "//", "<", ">=", "=>", "for", "null", "b", "c.d", "||",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24).prop_map(|pieces| pieces.concat())
}

fn spans_are_in(tree: &Tree<'_>, text: &str) -> bool {
    let mut all = text.get(tree.span.range()).is_some();
    tree.children(&mut |child| all &= spans_are_in(child, text));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_an_expression_or_an_error(text in words()) {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let found = whole(&node(&text), Sigil::Dollar, 16, &arena, &mut diagnostics);
        prop_assert_eq!(found.is_none(), diagnostics.has_errors());
        for found in diagnostics.as_slice() {
            prop_assert!(text.get(found.span.range()).is_some());
        }
        let Some(tree) = found else { return Ok(()) };
        prop_assert!(spans_are_in(&tree, &text));
        let written = write(&tree);
        let again = read(&written);
        prop_assert_eq!(again.0.as_deref(), Some(written.as_str()), "{:?}", again.1.as_slice());
    }

    #[test]
    fn parts_of_a_text_are_the_text(text in words(), dollar in any::<bool>()) {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let sigil = if dollar { Sigil::Dollar } else { Sigil::Braces };
        let template = template(&node(&text), sigil, 16, &arena, &mut diagnostics);
        prop_assert_eq!(template.is_bad(), diagnostics.has_errors());
        prop_assert!(template.values().all(|tree| matches!(tree.kind, TreeKind::Literal(_)) || spans_are_in(&tree, &text)));
    }
}
