//! Prints grammars. GBNF and EBNF have the same syntax. In Lark the tokens are regular expressions, and the
//! text between blanks is one token, as its lexer needs.

use super::Syntax;
use super::rules::{Item, Rules, Sequence, TOKENS, Token};
use ilo_spec::json::quoted;
use std::fmt::Write as _;

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
    for (token, name) in TOKENS {
        let used = rules.all.iter().flat_map(|it| &it.1).flatten().any(|item| *item == Item::Token(token));
        if used {
            let _ = match syntax {
                Syntax::Lark => writeln!(out, "{}: /{}/", name.to_uppercase(), lark_token(token)),
                _ => writeln!(out, "{name} ::= {}", gbnf_token(token)),
            };
        }
    }
    out
}

fn sequence(items: &Sequence, syntax: Syntax) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut written = String::new();
    for item in items {
        if let Item::Text(text) = item {
            // Words and blanks are tokens of their own in Lark.
            if syntax == Syntax::Lark {
                parts.push(quoted(text));
            } else {
                written += text;
            }
            continue;
        }
        if !written.is_empty() {
            parts.push(quoted(&std::mem::take(&mut written)));
        }
        parts.push(match item {
            Item::Rule(name) => name.clone(),
            Item::Token(token) => {
                let name = TOKENS.iter().find(|it| it.0 == *token).map_or("", |it| it.1);
                if syntax == Syntax::Lark { name.to_uppercase() } else { name.to_owned() }
            }
            Item::Text(_) => String::new(),
        });
    }
    if !written.is_empty() {
        parts.push(quoted(&written));
    }
    parts.join(" ")
}

fn lark_token(token: Token) -> &'static str {
    match token {
        Token::Text => {
            r#""([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u([0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2})))*""#
        }
        Token::Number => r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?",
        Token::Whole => "-?(0|[1-9][0-9]{0,14})",
        Token::Count => "[1-9][0-9]?",
        Token::Slot => "[0-9]|[1-5][0-9]|6[0-3]",
    }
}

fn gbnf_token(token: Token) -> &'static str {
    match token {
        Token::Text => {
            r#""\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9A-CE-Fa-ce-f] [0-9A-Fa-f]{3} | [Dd] [0-7] [0-9A-Fa-f]{2})))* "\"""#
        }
        Token::Number => r#""-"? ("0" | [1-9] [0-9]{0,17}) ("." [0-9]{1,17})? ([eE] [+-]? [0-9]{1,2})?"#,
        Token::Whole => r#""-"? ("0" | [1-9] [0-9]{0,14})"#,
        Token::Count => "[1-9] [0-9]?",
        Token::Slot => r#"[0-9] | [1-5] [0-9] | "6" [0-3]"#,
    }
}
