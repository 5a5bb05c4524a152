//! Prints grammars. GBNF and EBNF have the same syntax. In Lark the tokens are regular expressions, and the
//! text between blanks is one token, as its lexer needs.

use super::Syntax;
use super::rules::{Item, Rules, rule};
use ilo_spec::json::quoted;
use std::fmt::Write as _;

/// The tokens: the name of each in a grammar, and its syntax in Lark and in the others.
const TOKENS: [(&str, &str, &str); 5] = [
    (
        "string",
        r#""([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u([0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2})))*""#,
        r#""\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9A-CE-Fa-ce-f] [0-9A-Fa-f]{3} | [Dd] [0-7] [0-9A-Fa-f]{2})))* "\"""#,
    ),
    (
        "number",
        r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?",
        r#""-"? ("0" | [1-9] [0-9]{0,17}) ("." [0-9]{1,17})? ([eE] [+-]? [0-9]{1,2})?"#,
    ),
    ("whole", "-?(0|[1-9][0-9]{0,14})", r#""-"? ("0" | [1-9] [0-9]{0,14})"#),
    ("count", "[1-9][0-9]?", "[1-9] [0-9]?"),
    ("slot", "[0-9]|[1-5][0-9]|6[0-3]", r#"[0-9] | [1-5] [0-9] | "6" [0-3]"#),
];

pub(super) fn text(rules: &Rules, head: &str, syntax: Syntax) -> String {
    let mut out = String::new();
    let comment = if syntax == Syntax::Lark { "//" } else { "#" };
    for line in head.lines() {
        let _ = writeln!(out, "{}", format!("{comment} {line}").trim_end());
    }
    out.push('\n');
    for (name, choices) in &rules.all {
        let choices: Vec<String> = choices.iter().map(|choice| sequence(choice, syntax)).collect();
        let is = if syntax == Syntax::Lark { ":" } else { " ::=" };
        let name = if syntax == Syntax::Lark && name == "root" { "start" } else { name };
        let _ = writeln!(out, "{name}{is} {}", choices.join(" | "));
    }
    for (name, lark, other) in TOKENS {
        if rules.all.iter().flat_map(|it| &it.1).flatten().any(|item| *item == rule(name)) {
            let _ = match syntax {
                Syntax::Lark => writeln!(out, "{}: /{lark}/", name.to_uppercase()),
                _ => writeln!(out, "{name} ::= {other}"),
            };
        }
    }
    out
}

fn sequence(items: &[Item], syntax: Syntax) -> String {
    let is_lark = syntax == Syntax::Lark;
    // Words and blanks are tokens of their own in Lark.
    let are_one = |a: &Item, b: &Item| !is_lark && matches!((a, b), (Item::Text(_), Item::Text(_)));
    let parts = items.chunk_by(are_one).map(|part| match part {
        [Item::Rule(name)] if is_lark && TOKENS.iter().any(|it| it.0 == name) => name.to_uppercase(),
        [Item::Rule(name)] => name.clone(),
        texts => quoted(
            &texts.iter().map(|(Item::Text(text) | Item::Rule(text))| text.as_str()).collect::<String>(),
        ),
    });
    parts.collect::<Vec<_>>().join(" ")
}
