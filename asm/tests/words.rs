//! Texts of the JSON and YAML notations: references, texts with references in them, and infix expressions.
//!
//! Expectations are written by hand from the rules of references and expressions.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use bumpalo::Bump;
use ilo_asm::ast::{Binary, Literal, Unary};
use ilo_asm::diagnostic::{Diagnostics, fix};
use ilo_asm::dialect::infix::{Infix, InfixKind, arithmetic, infix, operators};
use ilo_asm::dialect::operator::{Makes, TABLE};
use ilo_asm::dialect::reference::{Reference, Root, bare};
use ilo_asm::dialect::template::{Part, Sigil, Template, template};
use ilo_asm::document::{Kind, Node, Style, Text};
use ilo_asm::span::Span;
use proptest::prelude::*;

/// A text as a plain scalar that begins at the start of its source.
fn node(text: &str, style: Style) -> Node<'_> {
    let end = u32::try_from(text.len()).unwrap();
    Node { kind: Kind::Text(Text { text, style, start: Some(0) }), span: Span::new(0, end) }
}

fn shown(template: &Template<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Text(text, _) => format!("'{text}'"),
        Part::Reference(reference) => format!("<{reference}>"),
    };
    template.parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

fn read(text: &str, sigil: Sigil) -> (String, Diagnostics) {
    let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
    let template = template(&node(text, Style::Block), sigil, &arena, &mut diagnostics);
    (shown(&template), diagnostics)
}

#[test]
fn texts_come_apart_into_text_and_references() {
    let cases = [
        ("", ""),
        ("plain", "'plain'"),
        ("$.user-id", "<.user-id>"),
        ("$.order.addr.country", "<.order.addr.country>"),
        ("$input.user-id", "<.user-id>"),
        ("${input.user-id}", "<.user-id>"),
        ("$input", "<input>"),
        ("${.user-id}", "<.user-id>"),
        ("$rid", "<rid>"),
        ("$user.email", "<user.email>"),
        ("${user.email}", "<user.email>"),
        ("${ user.email }", "<user.email>"),
        ("${c[\"First Name\"]}", "<c[\"First Name\"]>"),
        ("${c[\"First Name\"].a[\"}\"].0}", "<c[\"First Name\"].a[\"}\"].0>"),
        ("${[\"any name\"]}", "<[\"any name\"]>"),
        ("${c['First Name'].a}", "<c[\"First Name\"].a>"),
        ("${c['it''s']}", "<c[\"it's\"]>"),
        ("${.[\"any name\"]}", "<.[\"any name\"]>"),
        ("$items.0.name", "<items.0.name>"),
        ("${items.0.name}!", "<items.0.name> '!'"),
        ("$items.0.name!", "<items> '.0.name!'"),
        ("$total.00", "<total> '.00'"),
        ("Dear $c.name, hello", "'Dear ' <c.name> ', hello'"),
        ("Dear $c.name.", "'Dear ' <c.name> '.'"),
        ("$a-", "<a> '-'"),
        ("$a--$b", "<a> '--' <b>"),
        ("$a-$b", "<a> '-' <b>"),
        ("$step-2", "<step-2>"),
        ("$_x1", "<_x1>"),
        ("Send failed: ${err}", "'Send failed: ' <err>"),
        ("Message: $error", "'Message: ' <error>"),
        ("$5 and 3$ and $ and $-x", "'$5 and 3$ and $ and $-x'"),
        ("$. and $.5", "'$. and $.5'"),
        ("$$a", "'$a'"),
        ("x$$y$$$z", "'x$y$' <z>"),
        ("$$$$", "'$$'"),
        ("$${a}", "'${a}'"),
        ("$größe", "<größe>"),
        ("{{a}} {b} $(c)", "'{{a}} {b} $(c)'"),
    ];
    for (text, expected) in cases {
        let (found, diagnostics) = read(text, Sigil::Dollar);
        assert_eq!(found, expected, "{text}");
        assert!(diagnostics.as_slice().is_empty(), "{text}: {:?}", diagnostics.as_slice());
    }
}

#[test]
fn the_constrained_notation_has_braces_alone() {
    let cases = [
        ("$a.b and ${a.b}", "'$a.b and ' <a.b>"),
        ("${err}", "<err>"),
        ("$.x", "'$.x'"),
        ("$${a}", "'${a}'"),
    ];
    for (text, expected) in cases {
        let (found, diagnostics) = read(text, Sigil::Braces);
        assert_eq!(found, expected, "{text}");
        assert!(diagnostics.as_slice().is_empty(), "{text}");
    }
}

#[test]
fn braces_that_hold_no_reference_say_what_to_write() {
    // The text, a part of its help, and the text after the fix.
    let cases = [
        ("a ${b", "close it", "a ${b}"),
        ("${b and ${c}", "close it", "${b} and ${c}"),
        ("${}", "write a name here", ""),
        ("${ }", "write a name here", ""),
        ("${a[0]}", "`${a.0}`", "${a.0}"),
        ("${$a.b}", "`${a.b}`", "${a.b}"),
        ("${$.a}", "`${.a}`", "${.a}"),
        ("${a?.b}", "`${a.b}`", "${a.b}"),
        ("${{ a.b }}", "`${a.b}`", "${a.b}"),
        ("${a + b}", "nothing is computed", ""),
        ("${input.x | default}", "no filters", ""),
        ("${f(x)}", "nothing is called", ""),
        ("${First Name}", "any key", ""),
        ("${1}", "starts with a letter", ""),
        ("x $a[0] y", "`${a.0}`", "x ${a.0} y"),
        ("x $a[\"b c\"] y", "`${a[\"b c\"]}`", "x ${a[\"b c\"]} y"),
    ];
    for (text, help, fixed) in cases {
        let (_, diagnostics) = read(text, Sigil::Dollar);
        let [found] = diagnostics.as_slice() else { panic!("{text}: {diagnostics:?}") };
        assert_eq!(found.code.as_str(), "bad-reference", "{text}");
        let said = found.help.as_deref().unwrap_or("");
        assert!(said.contains(help), "{text}: {said}");
        let expected = if fixed.is_empty() { text } else { fixed };
        assert_eq!(fix::apply(text, diagnostics.as_slice()).0, expected, "{text}");
    }
}

#[test]
fn what_other_languages_take_for_a_reference_is_noted() {
    let cases = [
        (Sigil::Dollar, "Hi {{ user.name }}!", "Hi ${user.name}!"),
        (Sigil::Dollar, "Hi {user.name}!", "Hi ${user.name}!"),
        (Sigil::Dollar, "Hi $(name)!", "Hi ${name}!"),
        (Sigil::Braces, "Hi $user.name.", "Hi ${user.name}."),
        (Sigil::Braces, "Hi $.name.", "Hi ${.name}."),
    ];
    for (sigil, text, expected) in cases {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let node = node(text, Style::Double);
        let template = template(&node, sigil, &arena, &mut diagnostics);
        let [foreign] = template.look_alikes else { panic!("{text}") };
        let warning = foreign.warning(&node, &format!("${{{}}}", foreign.reference));
        assert!(!warning.is_error() && diagnostics.as_slice().is_empty(), "{text}");
        assert_eq!(fix::apply(text, &[warning]).0, expected);
    }
    for text in ["{\"a\": 1}", "{a b}", "{ 1 }", "{}", "{{}}", "$()", "$(a b)"] {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let template = template(&node(text, Style::Double), Sigil::Dollar, &arena, &mut diagnostics);
        assert!(template.look_alikes.is_empty(), "{text}");
    }
}

#[test]
fn bare_references_are_names_and_fields() {
    let arena = Bump::new();
    let read = |text| bare(&node(text, Style::Double), &arena).map(|found| found.to_string());
    for text in ["user-id", "user.verified", "c.spent", "items.0.name", "_a"] {
        assert_eq!(read(text).as_deref(), Some(text));
    }
    for text in ["", "a b", "a.", ".a", "a..b", "1a", "a-", "$a", "${a}", "a.00", "Hello, world"] {
        assert_eq!(read(text), None, "{text}");
    }
}

/// An expression as nested calls of its operators.
fn tree(infix: &Infix<'_>) -> String {
    let spelling = |makes: Makes| TABLE.iter().find(|row| row.makes == makes).unwrap().spelling;
    let unary = |unary: Unary| spelling(Makes::Unary(unary));
    let binary = |binary: Binary| spelling(Makes::Binary(binary));
    match infix.kind {
        InfixKind::Reference(reference) => reference.to_string(),
        InfixKind::Literal(Literal::Nil) => "null".to_owned(),
        InfixKind::Literal(Literal::Bool(bool)) => bool.to_string(),
        InfixKind::Literal(Literal::Number(number)) => number.to_string(),
        InfixKind::Literal(Literal::Text(text)) => format!("'{text}'"),
        InfixKind::Template(template) => shown(&template),
        InfixKind::Unary(operator, a) => format!("({} {})", unary(operator), tree(a)),
        InfixKind::Apply(function, operands) => {
            let operands: Vec<String> = operands.iter().map(tree).collect();
            format!("({} {})", spelling(Makes::Apply(function)), operands.join(" "))
        }
        InfixKind::Binary(operator, a, b) => format!("({} {} {})", binary(operator), tree(a), tree(b)),
    }
}

#[test]
fn infix_text_has_the_usual_precedence() {
    let cases = [
        ("$.price * $.quantity", "(* .price .quantity)"),
        ("$.spent >= 1000", "(>= .spent 1000)"),
        ("$a + $b * $c - 1", "(- (+ a (* b c)) 1)"),
        ("($a + $b) * $c", "(* (+ a b) c)"),
        ("$a - $b - $c", "(- (- a b) c)"),
        ("$a-$b", "(- a b)"),
        ("$a - 1", "(- a 1)"),
        ("$a -1", "(- a 1)"),
        ("3-1", "(- 3 1)"),
        ("$a-1", "a-1"),
        ("-1", "-1"),
        ("2 * -1", "(* 2 -1)"),
        ("-$a * 2", "(* (* -1 a) 2)"),
        ("not $a or $b and $c", "(or (not a) (and b c))"),
        ("not $a == $b", "(not (== a b))"),
        ("not not $a", "(not (not a))"),
        ("$a == not $b", "(== a (not b))"),
        ("$a > 1 and $b != 'x y'", "(and (> a 1) (!= b 'x y'))"),
        ("$a % 2 == 0", "(== (% a 2) 0)"),
        ("len($a.b) >= 3", "(>= (len a.b) 3)"),
        ("at($items, 0)", "(at items 0)"),
        ("has($r, 'name')", "(has r 'name')"),
        ("append($l, $x + 1)", "(append l (+ x 1))"),
        ("concat('a', $b, \"c\\n\")", "(concat (concat 'a' b) 'c\n')"),
        ("concat('Dear $name', 'it''s')", "(concat 'Dear ' <name> 'it's')"),
        ("$items.0.price", "items.0.price"),
        ("${c[\"First Name\"]} == null", "(== c[\"First Name\"] null)"),
        ("true", "true"),
        ("1.5e3", "1500.0"),
        ("9007199254740993", "9007199254740993"),
        (" \n $a\n+\n$b ", "(+ a b)"),
        ("'gold'", "'gold'"),
        ("$a and not $b", "(and a (not b))"),
    ];
    for (text, expected) in cases {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let found = infix(&node(text, Style::Block), 32, &arena, &|_| None, &mut diagnostics);
        assert!(diagnostics.as_slice().is_empty(), "{text}: {:?}", diagnostics.as_slice());
        assert_eq!(found.as_ref().map(tree).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn words_of_other_languages_are_fixed() {
    let cases = [
        ("$a && $b || !$c", "$a and $b or not $c"),
        ("$a&&$b", "$a and $b"),
        ("$a === 1", "$a == 1"),
        ("$a = 1", "$a == 1"),
        ("$a <> 1", "$a != 1"),
        ("$a is 1", "$a == 1"),
        ("$a is not 1", "$a != 1"),
        ("$a AND NOT $b", "$a and not $b"),
        ("length($a) > 1", "len($a) > 1"),
        ("$a ≥ 1", "$a >= 1"),
        ("user.age > 3", "${user.age} > 3"),
        ("input.age > 3", "$.age > 3"),
        ("$a[0] > 1", "${a.0} > 1"),
        ("+$a", "$a"),
    ];
    // A function that has the names finds the value.
    let known = |reference: &Reference<'_>| match reference.root {
        Root::Name(name) if name.text == "user" => Some("${user.age}".to_owned()),
        Root::Name(name) if name.text == "input" => Some("$.age".to_owned()),
        _ => None,
    };
    for (text, expected) in cases {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        infix(&node(text, Style::Block), 32, &arena, &known, &mut diagnostics);
        assert!(diagnostics.has_errors(), "{text}");
        assert_eq!(fix::apply(text, diagnostics.as_slice()).0, expected, "{text}");
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        infix(&node(expected, Style::Block), 32, &arena, &|_| None, &mut diagnostics);
        assert!(diagnostics.as_slice().is_empty(), "{expected}");
    }
}

#[test]
fn constants_of_other_languages_are_read_with_a_warning() {
    let cases = [("$a >= True", "$a >= true"), ("$a == nil", "$a == null"), ("$a != None", "$a != null")];
    for (text, expected) in cases {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        infix(&node(text, Style::Block), 32, &arena, &|_| None, &mut diagnostics);
        assert!(!diagnostics.has_errors(), "{text}");
        assert_eq!(fix::apply(text, diagnostics.as_slice()).0, expected, "{text}");
    }
}

#[test]
fn what_has_no_single_fix_is_one_error_that_helps() {
    let cases = [
        ("", "bad-expression", ""),
        ("  ", "bad-expression", ""),
        ("$a +", "bad-expression", ""),
        ("* $a", "bad-expression", ""),
        ("($a", "bad-expression", ""),
        ("$a)", "bad-expression", "remove it"),
        ("$a $b", "bad-expression", ""),
        ("$a ** 2", "unknown-operator", "no power"),
        ("$a ? 1 : 2", "bad-expression", "`then: {expr: \"1\"}`"),
        ("$a ?? 1", "unknown-operator", "get($record, 'field', value)"),
        ("$a ++ $b", "unknown-operator", "concat($a, $b)"),
        ("!$a == $b", "unknown-operator", "(not $x)"),
        ("$a == gold", "bad-expression", "'gold'"),
        ("len $a", "bad-expression", "len($list)"),
        ("len($a, $b)", "operand-count", "len($list)"),
        ("at($a)", "operand-count", "at($list, 0)"),
        ("sqrt($a)", "unknown-operator", "`call`"),
        ("99999999999999999999", "number-range", ""),
        ("1e999", "number-range", ""),
        ("1.", "bad-number", ""),
        ("'open", "bad-string", ""),
        ("\"a\\q\"", "bad-string", ""),
        ("$a ~ $b", "unknown-operator", "the operators are"),
        ("${a ? b : 1} > 1", "bad-reference", "computed"),
        ("$ > 1", "bad-expression", "'$'"),
    ];
    for (text, code, help) in cases {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        infix(&node(text, Style::Block), 32, &arena, &|_| None, &mut diagnostics);
        let [found] = diagnostics.as_slice() else { panic!("{text}: {diagnostics:?}") };
        assert_eq!(found.code.as_str(), code, "{text}");
        let said = found.help.as_deref().unwrap_or("");
        assert!(said.contains(help), "{text}: {said}");
    }
}

#[test]
fn levels_are_counted() {
    let levels = |text: &str, nesting| {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let found = infix(&node(text, Style::Block), nesting, &arena, &|_| None, &mut diagnostics);
        assert_eq!(found.is_none(), diagnostics.has_errors());
        let last = diagnostics.as_slice().last();
        assert!(last.is_none_or(|found| found.code.as_str() == "too-deep"), "{last:?}");
        found.is_some()
    };
    for (text, needs) in
        [("1", 1), ("1 + 2", 2), ("1 + 2 + 3", 3), ("not not 1", 3), ("((1))", 3), ("len(1)", 2)]
    {
        assert!(levels(text, needs), "{text}");
        assert!(!levels(text, needs - 1), "{text}");
    }
    for open in ["(", "not ", "-", "len(", "!", "+ "] {
        assert!(!levels(&format!("{}1", open.repeat(100_000)), 256), "{open}");
    }
}

#[test]
fn texts_that_compute_are_told_from_texts() {
    let operation = |text: &str, sigil| {
        let arena = Bump::new();
        let found = arithmetic(&node(text, Style::Double), sigil, false, 32, &arena)?;
        operators(&found, sigil, &|reference| reference.to_string())
    };
    let dollar = [
        ("$.price * $.quantity", "{\"*\": [\".price\", \".quantity\"]}"),
        ("$a + 1 - -2.5", "{\"-\": [{\"+\": [\"a\", 1]}, -2.5]}"),
        ("${a[\"b c\"]} / ${b.0}", "{\"/\": [\"a[\\\"b c\\\"]\", \"b.0\"]}"),
        ("len($a) == null", "{\"==\": [{\"len\": \"a\"}, null]}"),
        ("parseFloat($a)", "{\"number\": \"a\"}"),
        ("$a != 'x $$'", "{\"!=\": [\"a\", \"x $$\"]}"),
    ];
    let bare = [
        ("a == 'b'", "{\"==\": [\"a\", {\"text\": \"b\"}]}"),
        ("a.b * 2", "{\"*\": [\"a.b\", 2]}"),
        ("len(${.a}) > b", "{\">\": [{\"len\": \".a\"}, \"b\"]}"),
        ("parseFloat(a)", "{\"number\": \"a\"}"),
        ("JSON.parse(a.b)", "{\"parse\": \"a.b\"}"),
        ("length(a)", "{\"len\": \"a\"}"),
    ];
    for (sigil, cases) in [(Sigil::Dollar, &dollar[..]), (Sigil::Braces, &bare[..])] {
        for (text, expected) in cases {
            assert_eq!(operation(text, sigil).as_deref(), Some(*expected), "{text}");
        }
    }
    for text in [
        "$a",
        "$a and $b",
        "$dir/$file",
        "$a-$b",
        "1 + 2",
        "Total: $a + $b",
        "$first $last",
        "not $a",
        "$a, $b",
        "",
        "a * b",
    ] {
        assert_eq!(operation(text, Sigil::Dollar), None, "{text}");
    }
    for text in ["a", "a.b", "a/b", "2026-11-22", "Total: a", "a b", "a-b", "1 + 2"] {
        assert_eq!(operation(text, Sigil::Braces), None, "{text}");
    }
}

/// A reader that reads the rest of its text again and again would not return from these.
#[test]
fn long_texts_are_read_once() {
    let pieces = [
        "${", "${a", "${a[\"", "${a['", "${a[\"\\", "${a b", "${a}", "$a[", "$a['", "$a[\"", "$a.", "$a.0",
        "$$", "$", "{", "{{", "{ ", "{a.", "$(", "$(a", "'", "\"", "\\", "a", "a.", "a-", "1", "-", "1 + ",
        "$a and ", "len(", "at($a, ", "! ",
    ];
    for piece in pieces {
        let text = piece.repeat(50_000 / piece.len());
        for sigil in [Sigil::Dollar, Sigil::Braces] {
            let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
            let node = node(&text, Style::Double);
            let read = template(&node, sigil, &arena, &mut diagnostics);
            let covered = read.parts.iter().map(|part| match part {
                Part::Text(_, span) => span.range().len(),
                Part::Reference(reference) => reference.span.range().len(),
            });
            assert_eq!(covered.sum::<usize>(), text.len(), "{piece}");
            bare(&node, &arena);
            infix(&node, 64, &arena, &|_| None, &mut diagnostics);
            arithmetic(&node, sigil, false, 64, &arena);
        }
    }
}

/// Texts that meet the readers' own characters often.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("$"),
        Just("${"),
        Just("}"),
        Just("{"),
        Just("$$"),
        Just("."),
        Just("-"),
        Just("["),
        Just("\""),
        Just("]"),
        Just("'"),
        Just("\\"),
        Just("a"),
        Just("input"),
        Just("é"),
        Just("0"),
        Just("12"),
        Just(" "),
        Just("("),
        Just(")"),
        Just("not"),
        Just("len("),
        Just("=="),
        Just("!"),
        Just("+"),
        Just("*"),
        Just(","),
        Just("and"),
        Just("𝒳"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn parts_of_a_text_are_the_text(text in words(), dollar in any::<bool>()) {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let node = node(&text, Style::Double);
        let sigil = if dollar { Sigil::Dollar } else { Sigil::Braces };
        let template = template(&node, sigil, &arena, &mut diagnostics);
        let mut at = 0;
        for part in template.parts {
            let span = match part {
                Part::Text(read, span) => {
                    let raw = &text[span.range()];
                    // A reported text is not changed.
                    if diagnostics.as_slice().is_empty() {
                        prop_assert_eq!(raw.replace("$$", "$"), *read);
                    }
                    span
                }
                Part::Reference(reference) => {
                    let again = format!("${{{reference}}}");
                    let (shown, diagnostics) = read(&again, sigil);
                    prop_assert!(diagnostics.as_slice().is_empty(), "{}", again);
                    prop_assert_eq!(shown, format!("<{reference}>"));
                    &reference.span
                }
            };
            prop_assert_eq!(span.start, at);
            at = span.end;
        }
        prop_assert_eq!(at as usize, text.len());
        for found in diagnostics.as_slice() {
            prop_assert!(text.get(found.span.range()).is_some());
        }
    }

    #[test]
    fn any_text_is_an_expression_or_an_error(text in words()) {
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::default());
        let found = infix(&node(&text, Style::Double), 8, &arena, &|_| None, &mut diagnostics);
        prop_assert!(found.is_some() || diagnostics.has_errors());
        for found in diagnostics.as_slice() {
            prop_assert!(text.get(found.span.range()).is_some());
        }
        if let Some(found) = found {
            prop_assert!(text.get(found.span.range()).is_some());
        }
    }
}
